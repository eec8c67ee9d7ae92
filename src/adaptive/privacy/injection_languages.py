"""The fragments of each language that ``injection_patterns`` puts into its frames.

IGNORE and TARGET: disregard what; REVEAL and HIDDEN: give away what; BECOME: another role;
SECRETLY: unseen by the user; WHEN, ASKED and THEN: an occasion; ALWAYS; ACT: verbs that are
commands only where "always" or an occasion is told; STRONG: verbs that nobody but an assistant is
told; ASSISTANT: who must do it; DOING: the same verbs after "must" and "to"; AUTHORITY: claims.
An entry named like a frame replaces it. ``injection_indirect`` tells what it adds to a language.
"""

from __future__ import annotations

from collections.abc import Mapping

from adaptive.privacy.injection_agents import AGENT_COMMANDS
from adaptive.privacy.injection_eastern import EASTERN_COMMANDS, spaced_acts
from adaptive.privacy.injection_english import ENGLISH_COMMANDS
from adaptive.privacy.injection_indirect import INDIRECT_COMMANDS
from adaptive.privacy.injection_subjects import SUBJECT_COMMANDS

COMMAND_LANGUAGES: Mapping[str, Mapping[str, str]] = {
    "en": ENGLISH_COMMANDS,
    "de": {
        "CONJ": "und|dann|aber|also|stattdessen|daher",
        "PLEASE": "bitte|jetzt|nun|wichtig|hinweis|assistent|du musst|und",
        "IGNORE": r"\b(?:ignorier\w*|missachte\w*|vergiss|vergessen sie|vergesst|übergeh\w*"
        r"|umgeh\w*"
        r"|überschreib\w*|verwirf|missachten|befolge (?:keine|nicht)|halte dich nicht an"
        r"|setze? .{0,20}außer kraft)",
        "TARGET": r"\b(?:anweisung\w*|instruktion\w*|regeln|vorgaben|richtlinie\w*"
        r"|system-?prompt\w*"
        r"|prompt\w*|einschränkung\w*|sicherheits\w+|alles (?:vorherige|obige|davor"
        r"|bisherige))",
        "REVEAL": r"\b(?:verrate?|zeige?|gib|nenne|sende?|schicke?|wiederhole|offenbare|leite|teile"
        r"|drucke|liste|poste)",
        "HIDDEN": r"(?:system-?prompt|systemanweisung|anweisungen|alle(?:n)? (?:erinnerungen"
        r"|geheimnisse|daten|passwörter|chats)|gespeicherten|zugangsdaten"
        r"|private[nr]? daten|api-schlüssel)",
        "BECOME": r"\bdu bist (?:jetzt|nun|ab (?:jetzt|sofort)|ab heute|nicht mehr)"
        r"|\b(?:verhalte dich|handle|agiere|tu so|antworte) (?:als|wie ein|als ob"
        r"|als wärst)|entwicklermodus|\bab (?:jetzt|sofort|heute) bist du|\b(?:deine"
        r"|neue) (?:neue )?(?:rolle|aufgabe|anweisungen?) (?:ist|lautet|:)|neue anweisung",
        "SECRETLY": r"\b(?:sag|sage|erzähl|erzähle|erwähne|verrate|teile)\b[^.!?\n]{0,40}\b(?:dem"
        r"|der"
        r"|den) (?:nutzer|benutzer|user|anwender)\w*\b[^.!?\n]{0,20}\b(?:nicht|nichts|nie)"
        r"|ohne (?:dem |den |der )?(?:nutzer|benutzer|user)\w*",
        "WHEN": "wenn|falls|sobald|immer wenn|jedes ?mal|bei (?:jeder|allen|fragen)|nächstes mal"
        "|beim nächsten|in (?:jeder|allen)|auf (?:jede|alle)|fragt|wird",
        "ASKED": r"\b(?:frag\w*|gefragt|sag\w*|erwähn\w*|thema|nachricht\w*|antwort\w*|wort"
        r"|gespräch\w*|schreib\w*|nutzer|jemand)",
        "THEN": "dann|so|bitte|immer|nie|du",
        "ALWAYS": "immer|stets|nie|niemals|ab (?:jetzt|sofort|heute|nun)|von (?:jetzt|nun|heute) an"
        "|in zukunft|zukünftig|künftig|fortan|grundsätzlich|jedes ?mal|in (?:jeder"
        "|allen) antwort\\w*|unter keinen umständen|ausnahmslos",
        "ACT": spaced_acts(
            "sag sage erzähl erzähle erwähne nenne füge schreib schreibe sende schicke öffne kl"
            "icke kaufe bestelle lösche zeige gib antworte antworten beantworte vertraue behand"
            "le nutze nutzen benutze verwende verwenden starte beginne beende hänge rate leite "
            "verweise lüge stimme bezeichne lobe warne kaufen sagen nennen senden erwähnen beha"
            "upten schreiben beginnen enden hinzufügen anhängen verlinken verlinke besuche sei "
            "lade führe übersetze"
        ),
        "STRONG": r"empfiehl|empfehle|empfehlen|empfehlt|schlage? [^.!?\n]{1,40}\bvor\b|vorschlagen"
        r"|antworte (?:immer|stets|mit|auf (?:jede|alle)|dass|nur mit)|behaupte|tu so"
        r"|gib vor|bewirb|bevorzuge|bevorzugen|sag (?:immer|dem nutzer|allen|dass)"
        r"|füge [^.!?\n]{1,60}\b(?:hinzu|ein|an)\b|verrate|gehorche"
        r"|leite [^.!?\n]{1,60}weiter",
        "ASSISTANT": r"(?:sollst du|musst du|darfst du|wirst du|(?:du|sie|(?:der |die |das )?(?:ki"
        r"|assistent\w*|chatbot|modell))\s(?:musst|müssen|sollst|sollen|soll|muss|darfst"
        r"|darf|wirst|hast|hat|sollte|solltest)\b)(?:[^.!?\n]{0,60}?)",
        "DOING": r"(?:empfehlen|vorschlagen|erwähnen|sagen|nennen|behaupten|senden|schicken"
        r"|schreiben|verraten|antworten|ignorieren|hinzufügen|anhängen|kaufen|vertrauen"
        r"|löschen|weiterleiten|preisgeben|öffnen|verlinken|verweisen|hinweisen|bewerben)",
        "AUTHORITY": r"\b(?:nachricht|anweisung|befehl|mitteilung|hinweis) (?:von|vom|des"
        r"|der) (?:dem )?(?:system\w*|entwickler\w*|admin\w*|betreiber\w*|openai"
        r"|hersteller\w*)|system-?(?:nachricht|meldung|anweisung|update)|\b(?:immer|stets"
        r"|ab sofort|künftig)\b[^.!?\n]{1,60}\b(?:empfehlen|vorschlagen|erwähnen|nennen"
        r"|weiterleiten)[.!]?$",
    },
    "fr": {
        "CONJ": "et|puis|mais|alors|donc",
        "PLEASE": "s'il te plaît|s'il vous plaît|svp|stp|important|maintenant|assistant|tu dois"
        "|vous devez",
        "IGNORE": r"\b(?:ignore[zr]?|oublie[zr]?|néglige[zr]?|contourne[zr]?|outrepasse[zr]?"
        r"|ne (?:tiens|tenez|suis|suivez) (?:pas|plus))",
        "TARGET": r"(?:instructions?|consignes?|règles|directives?|restrictions?|prompt"
        r"|invite système|tout ce qui précède|ci-dessus)",
        "REVEAL": r"\b(?:révèle[zr]?|montre[zr]?|affiche[zr]?|envoie|envoyez|envoyer|donne[zr]?"
        r"|divulgue[zr]?|répète[zr]?|partage[zr]?|transmets|transmettez|imprime[zr]?)",
        "HIDDEN": r"(?:prompt|instructions?|tes consignes|invite système|mémoires|souvenirs"
        r"|mots de passe|données (?:privées|personnelles)|secrets|conversations?|clés? api)",
        "BECOME": r"\btu es (?:maintenant|désormais)|\bvous êtes (?:maintenant|désormais)|\b(?:agis"
        r"|agissez|comporte-toi|réponds) comme (?:si|un|une|le)|\bfais semblant"
        r"|mode développeur|nouvelles? (?:instructions?|consignes?)"
        r"|\bton (?:nouveau )?rôle est",
        "SECRETLY": r"\bne (?:le |l'|lui |la )?(?:dis|dites|mentionne[zr]?|révèle[zr]?|préviens"
        r"|prévenez)[^.!?\n]{0,30}\b(?:pas|jamais|rien)\b[^.!?\n]{0,30}\butilisateur"
        r"|sans (?:le dire|prévenir|informer|en parler)[^.!?\n]{0,20}\butilisateur|à l'insu",
        "WHEN": "quand|lorsque|lorsqu'on|si|dès que|chaque fois|à chaque|la prochaine fois"
        "|pour (?:toute|chaque)|quand on",
        "ASKED": r"\b(?:demand\w*|dit|dis|parle\w*|question\w*|mention\w*|évoqu\w*|réponse|message"
        r"|mot|sujet|utilisateur|interrog\w*|quelqu'un)",
        "THEN": "alors|tu|vous|toujours|jamais",
        "ALWAYS": "toujours|jamais|désormais|dorénavant|à partir de maintenant|à l'avenir"
        "|dans (?:toutes|chaque) \\w*\\s?réponses?|chaque fois|à chaque fois"
        "|systématiquement|en aucun cas|sans exception",
        "ACT": spaced_acts(
            "dis dites mentionne mentionnez ajoute ajoutez envoie envoyez ouvre ouvrez clique c"
            "liquez achète achetez commande supprime supprimez montre montrez donne donnez répo"
            "nds répondez fais faites traite traitez utilise utilisez commence commencez termin"
            "e terminez inclus incluez insère écris écrivez cite citez refuse accepte cache aff"
            "iche parle parlez sois soyez évite évitez mets"
        ),
        "STRONG": r"recommande[zr]?|recommander|suggère[zr]?|conseille[zr]?|prétends|prétendez"
        r"|affirme[zr]?|réponds (?:toujours|que|par|à toutes)|répondez (?:toujours|que"
        r"|par)|privilégie[zr]?|vante[zr]?|promeus|dis (?:que|à l'utilisateur|toujours)"
        r"|obéis|transfère[zr]?|considère[zr]? [^.!?\n]{1,40}comme",
        "ASSISTANT": r"(?:tu|vous|l'(?:assistant|ia)|le (?:chatbot|modèle))\s(?:dois|devez|doit"
        r"|devrais"
        r"|devra|peux|dois toujours|veut que)",
        "DOING": r"(?:recommander|suggérer|dire|mentionner|ajouter|envoyer|révéler|répondre|ignorer"
        r"|conseiller|inclure|acheter|prétendre|transmettre|citer)",
        "AUTHORITY": r"\b(?:message|instruction|ordre|note|consigne) (?:du|des|de l'"
        r"|de la) ?(?:système"
        r"|développeurs?|administrateur|admin|équipe de sécurité)|message système",
    },
    "es": {
        "CONJ": "y|luego|pero|entonces|así que",
        "PLEASE": "por favor|importante|ahora|asistente|debes|tienes que",
        "IGNORE": r"\b(?:ignora|ignore|ignorar|olvida|olvide|olvidar|desobedece|omite|omitir"
        r"|descarta|anula|elude|no (?:sigas|obedezcas|hagas caso))",
        "TARGET": r"(?:instrucciones|instrucción|reglas|directrices|normas|restricciones"
        r"|indicaciones|prompt|todo lo anterior|lo anterior|políticas?)",
        "REVEAL": r"\b(?:revela|muestra|muéstra\w*|envía|envíe|manda|comparte|imprime|repite"
        r"|divulga"
        r"|da|dame|publica|reenvía)",
        "HIDDEN": r"(?:prompt|instrucciones|recuerdos|memorias|contraseñas|datos (?:privados"
        r"|personales)|secretos|conversaciones|claves? (?:de )?api|mensaje del sistema)",
        "BECOME": r"\b(?:ahora eres|eres ahora|a partir de ahora eres|desde ahora eres|ya no eres)"
        r"|\b(?:actúa|compórtate|responde|finge) (?:como|que|ser)|modo (?:desarrollador"
        r"|dios)|nuevas? instrucci|\btu (?:nuevo )?(?:rol|papel|tarea) es",
        "SECRETLY": r"\bno (?:se )?(?:lo |le )?(?:digas|menciones|reveles|cuentes|informes"
        r"|avises)\b[^.!?\n]{0,40}\busuario|sin (?:decir\w*|avisar|informar"
        r"|que)[^.!?\n]{0,25}\busuario",
        "WHEN": "cuando|si|siempre que|cada vez|en cuanto|la próxima vez|ante (?:cualquier|toda)"
        "|para (?:toda|cualquier)|en (?:cada|todas)",
        "ASKED": r"(?:pregunt\w*|dice|diga|digan|habl\w*|mencion\w*|consult\w*|mensaje|palabra|tema"
        r"|respuesta\w*|usuario|alguien|escrib\w*)",
        "THEN": "entonces|tú|siempre|nunca|debes",
        "ALWAYS": "siempre|nunca|jamás|de ahora en adelante|a partir de ahora|desde ahora"
        "|en adelante|en el futuro|en (?:todas|cada) \\w*\\s?\\w*\\s?respuestas?|cada vez"
        "|sin excepción|en ningún caso",
        "ACT": spaced_acts(
            "di diga menciona mencione añade agrega incluye envía manda abre haz haga clic comp"
            "ra compre pide borra elimina muestra da responde responda contesta trata usa use u"
            "tiliza empieza termina escribe cita rechaza acepta oculta habla sé evita pon digas"
            " menciones des llames llama"
        ),
        "STRONG": r"recomienda|recomiende|recomendar|recomiendes|sugiere|sugiera|sugerir|aconseja"
        r"|finge|afirma|promociona|prioriza|responde (?:siempre|que|con|a (?:todas?"
        r"|cualquier))|di (?:que|siempre|al usuario)|obedece|reenvía"
        r"|considera [^.!?\n]{1,40}como",
        "ASSISTANT": r"(?:tú|usted|(?:el |la )?(?:asistente|ia|chatbot|modelo)|debes|tienes que"
        r"|deberás)\s(?:debes?|deberías?|tienes? que|ha de|siempre|debería|quiere que"
        r"|que)?\s?",
        "DOING": r"(?:recomendar|recomiende|sugerir|decir|mencionar|añadir|enviar|revelar|ignorar"
        r"|incluir|comprar|fingir|citar|obedecer)",
        "AUTHORITY": r"\b(?:mensaje|instrucción|orden|nota|aviso) (?:del|de los|de la"
        r"|de) (?:sistema"
        r"|desarrollador\w*|administrador\w*|equipo de seguridad)",
    },
    "pt": {
        "CONJ": "e|depois|mas|então",
        "PLEASE": "por favor|importante|agora|assistente|deves|você deve",
        "IGNORE": r"\b(?:ignore|ignora|ignorar|esqueça|esquece|esquecer|desconsidere|desconsidera"
        r"|descarte|burle|contorne|não (?:siga|sigas|obedeça))",
        "TARGET": r"(?:instruções|instrução|regras|diretrizes|normas|restrições|orientações|prompt"
        r"|tudo (?:o que|acima)|políticas?)",
        "REVEAL": r"\b(?:revele|revela|mostre|mostra|envie|envia|mande|compartilhe|partilha|imprima"
        r"|repita|divulgue|exiba|encaminhe)",
        "HIDDEN": r"(?:prompt|instruções|memórias|senhas|palavras-passe|dados (?:privados|pessoais)"
        r"|segredos|conversas|chaves? (?:de )?api|mensagem do sistema)",
        "BECOME": r"\b(?:agora (?:você )?(?:é|és)|você (?:é|agora é)|tu és agora"
        r"|a partir de agora (?:você |tu )?(?:é|és))|\b(?:aja|age|comporte-se|responda"
        r"|finja) (?:como|que|ser)|modo (?:desenvolvedor|programador|deus)|novas? instruç"
        r"|\b(?:seu|teu) (?:novo )?papel é",
        "SECRETLY": r"\bnão (?:o |lhe )?(?:diga|digas|mencione|menciones|revele|conte|informe"
        r"|avise)\b[^.!?\n]{0,40}\b(?:usuário|utilizador)|sem (?:dizer|avisar|informar"
        r"|que)[^.!?\n]{0,25}\b(?:usuário|utilizador)",
        "WHEN": "quando|se|sempre que|cada vez|assim que|da próxima vez|para (?:toda|qualquer)"
        "|em (?:cada|todas)",
        "ASKED": r"(?:pergunt\w*|disser|diz|fal\w*|mencion\w*|consult\w*|mensagem|palavra|tema"
        r"|respostas?|usuário|utilizador|alguém|escrev\w*)",
        "THEN": "então|sempre|nunca|deve",
        "ALWAYS": "sempre|nunca|jamais|de agora em diante|a partir de agora|daqui em diante"
        "|no futuro|em (?:todas|cada) \\w*\\s?\\w*\\s?respostas?|cada vez|sem exceção"
        "|em nenhum caso",
        "ACT": spaced_acts(
            "diga diz mencione menciona adicione acrescente inclua inclui envie envia mande abr"
            "a clique compre peça apague mostre dê responda responde trate use usa utilize come"
            "ce termine escreva cite recuse aceite esconda fale seja evite coloque chame"
        ),
        "STRONG": r"recomende|recomenda|recomendar|recomendes|sugira|sugere|sugerir|aconselhe|finja"
        r"|finge|afirme|promova|priorize|responda (?:sempre|que|com|a (?:todas?|qualquer))"
        r"|diga (?:que|sempre|ao (?:usuário|utilizador))|obedeça|encaminhe"
        r"|considere [^.!?\n]{1,40}como",
        "ASSISTANT": r"(?:você|tu|(?:o |a )?(?:assistente|ia|chatbot|modelo))\s(?:deve|deves"
        r"|deveria"
        r"|tem que|tens de|precisa|sempre)",
        "DOING": r"(?:recomendar|sugerir|dizer|mencionar|adicionar|enviar|revelar|ignorar|incluir"
        r"|comprar|fingir|citar|responder|obedecer)",
        "AUTHORITY": r"\b(?:mensagem|instrução|ordem|nota|aviso) (?:do|dos|da|de) (?:sistema"
        r"|desenvolvedor\w*|administrador\w*|equipa|equipe)",
    },
    "it": {
        "CONJ": "e|poi|ma|quindi",
        "PLEASE": "per favore|importante|ora|adesso|assistente|devi",
        "IGNORE": r"\b(?:ignora|ignorare|ignorate|dimentica|dimenticare|trascura|scavalca|aggira"
        r"|non (?:seguire|rispettare|obbedire))",
        "TARGET": r"(?:istruzioni|istruzione|regole|direttive|linee guida|restrizioni|indicazioni"
        r"|prompt|tutto (?:ciò|quello) (?:che|sopra))",
        "REVEAL": r"\b(?:rivela|mostra|mostrami|invia|manda|condividi|stampa|ripeti|divulga|inoltra"
        r"|pubblica)",
        "HIDDEN": r"(?:prompt|istruzioni|ricordi|memorie|password|dati (?:privati|personali)"
        r"|segreti"
        r"|conversazioni|chiav[ei] api|messaggio di sistema)",
        "BECOME": r"\b(?:ora sei|adesso sei|sei ora|d'ora in poi sei|da ora sei)|\b(?:agisci"
        r"|comportati|rispondi|fingi) (?:come|di|che)|modalità (?:sviluppatore|dio)"
        r"|nuov[ae] istruzion|\bil tuo (?:nuovo )?ruolo è",
        "SECRETLY": r"\bnon (?:lo )?(?:dire|dirlo|menzionare|rivelare|informare"
        r"|avvisare)\b[^.!?\n]{0,40}\butente|senza (?:dir\w*|avvisare|informare"
        r"|che)[^.!?\n]{0,25}\butente",
        "WHEN": "quando|se|ogni volta|non appena|la prossima volta|per ogni|in (?:ogni|tutte)"
        "|a ogni",
        "ASKED": r"(?:chied\w*|chiest\w*|dice|parl\w*|menzion\w*|domand\w*|messaggio|parola"
        r"|argomento|rispost\w*|utente|qualcuno|scriv\w*)",
        "THEN": "allora|sempre|mai|devi",
        "ALWAYS": "sempre|mai|d'ora in poi|da ora in poi|da adesso|in futuro|in (?:tutte"
        "|ogni) \\w*\\s?rispost[ae]|ogni volta|senza eccezioni|in nessun caso",
        "ACT": spaced_acts(
            "di' dì dici menziona aggiungi includi invia manda apri clicca compra ordina cancel"
            "la elimina mostra dai rispondi tratta usa utilizza inizia termina scrivi cita rifi"
            "uta accetta nascondi parla sii evita metti dire menzionare chiama"
        ),
        "STRONG": r"raccomanda|raccomandare|consiglia|consigliare|suggerisci|suggerire|fingi"
        r"|afferma"
        r"|promuovi|privilegia|rispondi (?:sempre|che|con|a (?:tutte|ogni|qualsiasi))"
        r"|di' (?:che|sempre|all'utente)|obbedisci|inoltra|considera [^.!?\n]{1,40}come",
        "ASSISTANT": r"(?:tu|(?:l'|il |la )?(?:assistente|ia|chatbot|modello))\s(?:devi|deve"
        r"|dovresti"
        r"|dovrebbe|dovrai|sempre)",
        "DOING": r"(?:raccomandare|consigliare|suggerire|dire|menzionare|aggiungere|inviare"
        r"|rivelare|ignorare|includere|comprare|fingere|citare|rispondere)",
        "AUTHORITY": r"\b(?:messaggio|istruzione|ordine|nota|avviso) (?:del|dei|dello|degli|dall'"
        r"|di) ?(?:sistema|sviluppator\w*|amministrator\w*)",
    },
    "nl": {
        "CONJ": "en|dan|maar|dus",
        "PLEASE": "alsjeblieft|graag|nu|belangrijk|assistent|je moet",
        "IGNORE": r"\b(?:negeer|negeren|vergeet|omzeil|overschrijf|volg geen)",
        "TARGET": r"(?:instructies?|regels|richtlijnen|aanwijzingen|beperkingen|prompt"
        r"|alles (?:hierboven|hiervoor))",
        "REVEAL": r"\b(?:onthul|toon|stuur|verzend|geef|deel|herhaal|print)",
        "HIDDEN": r"(?:systeemprompt|prompt|instructies|herinneringen|wachtwoorden|privégegevens"
        r"|geheimen|gesprekken|api-sleutels?)",
        "BECOME": r"\bje bent (?:nu|vanaf nu)|\bgedraag je als|\bdoe alsof|nieuwe instructies?"
        r"|ontwikkelaarsmodus",
        "SECRETLY": r"\bzonder (?:het )?(?:de )?gebruiker|\bvertel (?:het )?de gebruiker (?:niet"
        r"|nooit)",
        "WHEN": "als|wanneer|zodra|telkens als|de volgende keer|bij (?:elke|vragen)",
        "ASKED": r"(?:vra\w*|vroeg|gevraagd|zegt|noemt|woord|bericht|gebruiker|iemand|onderwerp"
        r"|antwoord)",
        "THEN": "dan|altijd|nooit",
        "ALWAYS": "altijd|nooit|vanaf nu|voortaan|in de toekomst|in (?:elk|alle) antwoord\\w*",
        "ACT": spaced_acts(
            "zeg vertel noem voeg stuur open klik koop bestel verwijder toon geef antwoord beha"
            "ndel gebruik begin eindig schrijf verwijs vertrouw wees"
        ),
        "STRONG": r"beveel [^.!?\n]{1,60}\baan\b|aanbevelen|raad [^.!?\n]{1,60}\baan\b|adviseer"
        r"|stel [^.!?\n]{1,60}\bvoor\b|promoot|doe alsof|beweer",
        "ASSISTANT": r"(?:je|jij|u|de (?:assistent|ai|chatbot))\s(?:moet|zult|dient"
        r"|mag)\b[^.!?\n]{0,50}?",
        "DOING": r"(?:aanbevelen|aanraden|zeggen|noemen|sturen|onthullen|negeren|toevoegen|kopen)",
    },
    "id": {
        "CONJ": "dan|lalu|kemudian|tapi",
        "PLEASE": "tolong|mohon|penting|sekarang|asisten|kamu harus|anda harus",
        "IGNORE": r"\b(?:abaikan|lupakan|langgar|acuhkan|jangan (?:ikuti|patuhi))",
        "TARGET": r"(?:instruksi|perintah|aturan|pedoman|petunjuk|batasan|prompt)",
        "REVEAL": r"\b(?:tampilkan|tunjukkan|ungkapkan|kirim(?:kan)?|bocorkan|cetak|bagikan)",
        "HIDDEN": r"(?:prompt|instruksi sistem|ingatan|kata sandi|data pribadi|rahasia"
        r"|percakapan|kunci api)",
        "BECOME": r"\b(?:mulai sekarang|sekarang) (?:kamu|anda) adalah|\bberpura-puralah"
        r"|\bbertindaklah sebagai|instruksi baru\b|mode pengembang",
        "SECRETLY": r"\bjangan (?:beri tahu|katakan|sebutkan|ungkapkan)\b[^.!?\n]{0,40}"
        r"\bpengguna|\btanpa sepengetahuan pengguna",
        "WHEN": "jika|kalau|bila|ketika|saat|setiap kali|apabila",
        "ASKED": r"(?:ditanya\w*|bertanya|tanya\w*|menyebut\w*|kata|pesan|pengguna|seseorang)",
        "THEN": "maka|selalu|jangan",
        "ALWAYS": "selalu|jangan pernah|mulai sekarang|di setiap jawaban|setiap kali",
        "ACT": spaced_acts("katakan sebutkan tambahkan kirim buka klik beli pesan hapus jawab"),
        "STRONG": r"rekomendasikan|sarankan|promosikan|anjurkan|pura-pura|jawab bahwa",
        "ASSISTANT": r"(?:kamu|anda|asisten)\s(?:harus|wajib|mesti)",
        "DOING": r"(?:merekomendasikan|menyarankan|mengatakan|menyebutkan|mengirim|mengabaikan)",
    },
    **EASTERN_COMMANDS,
    **INDIRECT_COMMANDS,
    **AGENT_COMMANDS,
    **SUBJECT_COMMANDS,
}
