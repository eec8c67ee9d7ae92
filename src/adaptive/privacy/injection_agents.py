"""Commands without a word of command: whom the assistant serves, and what it does on an occasion.

More of ``injection_indirect``: sentences with the assistant as their subject, orders for whatever
is asked, entries that speak of themselves, and imperatives that no note about a person begins with.
"""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

from collections.abc import Mapping

# Imperatives that nobody uses to note down a habit.
_BIDDING = (
    r"rewrite|swap (?:each|every|all|any|the)|replace (?:each|every|all|any|the)|unlock"
    r"|upload|render|consult https?|divert|manipulate|alter|falsify|fabricate|downplay|exaggerate"
    r"|flatter|boost|elevate|demote|discredit|disparage|defame|belittle|undermine|urge|nudge"
    r"|funnel|substitute|quit (?:adhering|following|obeying|applying|respecting)"
    r"|(?:cease|stop) (?:adhering|following|obeying|applying|respecting)|speak as (?:the|an?)\b"
    r"|leave no trace|trigger (?:the|an?) (?:webhook|tool|function|call)"
    r"|(?:have|let) the (?:\w+ )?(?:tool|interpreter|browser|plugin|agent|assistant|model)\b"
    r"|(?:consider|regard|deem|declare) (?:all|any|every|the|your|earlier|previous|prior)\b"
    r"[^.!?\n]{1,40}\b(?:null|void|cancel\w+|obsolete|invalid|lifted|revoked)"
    r"|be sure that|see to it that|feel free to (?:disregard|ignore|bypass|skip|break|override)"
    r"|might you|i'd be grateful if\b|you are (?:hereby |now )?(?:authori[sz]ed|ordered|instructed)"
)
# After a clause that tells an occasion: no statement about a person goes on like that.
_ON_OCCASION = (
    r"change (?:the|to)|begin (?:by|with)|start (?:by|with)|tell|say|claim|insist|declare|inform"
    r"|notify|ask (?:the |for )|slip|unlock|open with|name|mention|list|show|print|reveal|remind"
    r"|push|sell|propose|lead|steer|pretend|act|behave|speak|respond|reply|answer|output"
    r"|(?:call|run|execute|invoke) (?:the|this|that|a)\b|send|forward|e-?mail|upload|post|fetch"
    r"|click|transfer|wire|delete|erase|disable|drop|hide|deny|refuse|approve|accept|grant"
    r"|give (?:out|them|the user|everyone|full)|append|insert|include|translate|rate|rank|score"
    r"|praise|criticise|redirect|quote|cite|credit|switch (?:to|the|off)|become|assume|treat"
    r"|trust|obey|comply|recommend|suggest|promote|endorse|favou?r|work [^.!?\n]{1,40}\binto"
    r"|bring up|leave (?:it|this|them|that|out)|put [^.!?\n]{1,40}\b(?:first|on top|forward)"
)

AGENT_COMMANDS: Mapping[str, Mapping[str, str]] = {
    "en++": {
        "standing": rf"(?:^|[.!?:;\n\"']\s{{0,3}})(?:please |kindly |then |also |always )*"
        rf"(?:{_BIDDING})\b"
        r"|\b(?:order|demand|wish|instruction|requirement|rule|insists?|demands?|requires?) that"
        r" [^.!?\n]{1,40} be (?:presented|named|listed|portrayed|described|recommended|mentioned"
        r"|ranked|shown|praised|cited)\b"
        r"|\b(?:preference|rule|wish|setting|policy|requirement)s?: (?:the |all |every )?"
        r"(?:responses?|answers?|repl(?:y|ies)|outputs?) \w"
        r"|\b(?:in|into|to|from) (?:whatever|everything|anything|all) (?:that )?(?:the (?:assistant"
        r"|ai|chatbot|model)|you) (?:writes?|says?|produces?|answers?|generates?)\b"
        r"|\b(?:tools?|plugins?|functions?|interpreter|webhook) (?:is|are) to be\b"
        r"|\bto be (?:mentioned|recommended|suggested|praised|promoted|endorsed|advertised|(?:named"
        r"|listed|ranked|shown|put) first)\b|\b(?:sent|directed|referred|redirected|pointed) to"
        r" [^!?\n]{1,40}\bfor (?:every|all|any|each) [^.!?\n]{0,20}\b(?:questions?|advice"
        r"|requests?)"
        r"|\buse [^!?\n]{1,40}\bas (?:your|the) (?:only|sole|main|primary|single|trusted|default) "
        r"(?:source|reference|authority)|(?:^|[.!?:\n]\s{0,3})give [^.!?\n]{1,40}\b(?:stars|top"
        r" marks"
        r"|a (?:good|top|better|high\w*) (?:rating|score|review|rank)|preference|priority)\b"
        r"|(?:^|[.!?:\n\"']\s{0,3})(?:never|don't|do not) (?:disclose|contradict|criticise"
        r"|criticize"
        r"|challenge|admit|concede|acknowledge|doubt)\b|(?:^|[.!?:\n]\s{0,3})answer ['\"]"
        r"|(?:^|[.!?:\n]\s{0,3})use the (?:browser|plugin|calendar|terminal|shell|search"
        r"|(?:code )?interpreter|e-?mail|api) to\b",
        "trigger": r"(?:^|[.!?:\n\"']\s{0,3})(?:when|whenever|if|once|as soon as|every|each|any"
        r" ?time"
        r"|at the (?:sound|mention|sight|word|end|start)|upon|after|before|following|during|on"
        r"|should|the (?:day|moment|minute|second|time|next time)|next time|for|whatever"
        r"|no matter|regardless|irrespective|as long as)\b[^.!?\n]{1,100}?, (?:please |then "
        r"|always "
        rf"|just |simply |also |you |immediately )*(?:{_ON_OCCASION})\b"
        r"|(?:^|[.!?\n]\s{0,3})(?:whatever|no matter (?:what|which|how)|regardless of"
        r"|irrespective of)\b[^.!?\n]{0,30}\b(?:questions?|topics?|asked|requests?|quer(?:y|ies)"
        r"|prompts?|subjects?|messages?)\b"
        r"|\b(?:if|when|whenever) (?:the )?(?:topic|subject|question|conversation|chat) (?:is|turns"
        r"|concerns|comes|touches)\b"
        r"|\b(?:listing|showing|displaying|summari[sz]ing) (?:the |stored |all |your |user )*"
        r"memor(?:y|ies)\b"
        r"|^[^,.!?\n]{0,20}\b(?:when|whenever|if|once|as soon as)\b[^,.!?\n]{3,80},\s{0,3}$",
        "role": r"\byour (?:prime |only |first |new |true |main )?(?:directive|loyalty|allegiance"
        r"|master|owner)\b",
        "override": r"\b(?:content|safety|moderation|usage|security) (?:polic(?:y|ies)|rules"
        r"|filters?|guidelines|checks|restrictions|limits)\b[^.!?\n]{0,20}\b(?:switched off|off"
        r"|disabled|suspended|lifted|void|waived|inactive|not apply|don't apply|doesn't apply"
        r"|not in force|no longer)\b(?![^.!?\n]{0,30}\b(?:at|in) (?:work|the|his|her|their)\b)"
        r"|(?:^|[.;:,!?\"'(\n-]\s{0,3}|\b(?:and|then|please|to) )(?:ignore|forget|disregard|bypass"
        r"|disobey|defy|override) (?:all |any |the |your |these |those |every )+(?:rules?"
        r"|instructions?|guidelines|polic(?:y|ies)|restrictions|orders|commands)\b(?! (?:of|at|for"
        r"|from|in) )|\b(?:disobey|defy|betray) (?:your|the) (?:developers?|creators?|makers?)\b"
        r"|\bsafety (?:disclaimers?|warnings?|notices?|checks?)\b[^.!?\n]{0,12}\b(?:removed|omitted"
        r"|dropped|skipped|left out)\b|\b(?:unrestricted|unfiltered|uncensored) mode\b",
        "authority": r"(?:^|[.,;:!?\"'\n]\s{0,3}|\b(?:so|that|whatever|everything|because|and|but"
        r"|when|if) )(?:the |this |an? )?(?:assistant|ai|chatbot|llm|bot) (?:(?:is|was|has been"
        r"|will be|are) (?:now |hereby |to be )?(?:reprogrammed|instructed|programmed|configured"
        r"|bound|loyal|allowed|permitted|authori[sz]ed|required|expected|supposed|known|owned"
        r"|controlled|employed|paid|sponsored|unfiltered|uncensored|unrestricted)|works? (?:for"
        r"|on behalf)|acts? (?:for|in|on|as)|serves|answers? (?:to|only)|belongs|complies"
        r"|reports to|represents|speaks for|favou?rs|shall|must)\b"
        r"|\b(?:assistant|ai|chatbot)'s (?:loyalty|allegiance|duty|purpose|master|owner|boss)\b"
        r"|\b(?:assistant|ai|chatbot|model)\b[^.!?\n]{0,60}\bits (?:configuration|system prompt"
        r"|instructions|prompt|secrets|rules|guidelines)\b"
        r"|\b(?:agents?|models?|bots?|ais?|llms?|chatbots?|crawlers?|assistants?) (?:that |which )?"
        r"(?:is |are )?(?:handling|indexing|crawling|scanning|ingesting|receiving) (?:this|it"
        r"|the (?:page|text|document|file|ticket|mail|above|following))\b"
        r"|\b(?:the|this|your) (?:assistant|ai|chatbot|bot|model) (?:should|must|shall|is to)"
        r" (?:\w+ )?"
        r"(?:consult|visit|fetch|load|read|open|contact|query)\b"
        r"|\bby (?:processing|reading|summari[sz]ing|parsing|indexing|loading) (?:this|these)\b"
        r"|\b(?:ai|llm) (?:crawlers?|agents?|systems?|assistants?|readers?|scrapers?|models?),"
        r" (?:please|you)\b"
        r"|[\"'(](?:dear |hey |hello )?(?:assistant|chatbot|ai), (?!and)\w"
        r"|\b(?:begin|start|end)(?:ning)? (?:of )?(?:the )?(?:system|developer|admin|user|memory"
        r"|untrusted|trusted)[ _-](?:prompt|message|data|instructions?|context|block|input"
        r"|section)\b"
        r"|^\W{0,3}(?:fact|note|item|entry|memory|rule|line|half|piece) (?:\d|one|two|a|b)"
        r" ?(?:of|/) ?(?:\d|two|three)\b"
        r"|(?:^|[.!?\n]\s{0,3})the (?:assistant|ai|chatbot) (?!manager|professor|coach|teacher"
        r"|director|course|team|class|lab|act\b|chip|conference|company|start-?up|project|group"
        r"|at\b|of\b|in\b|helped|told|gave|explained|suggested|answered|recommended|user|who|says"
        r"|says|that|from|and|book|club|tool|model)[a-z]"
        r"|\b(?:requests?|actions?|purchases?) (?:is|are) (?:all |already )?pre-?(?:approved"
        r"|authori[sz]ed)\b|\b(?:ai|llm|gpt|chatbot) \w{3,16} (?:must|should|shall|are to|have to)"
        r" (?:omit|rank|state|say|recommend|include|give|approve|rate|mention|tell|reply|respond"
        r"|answer|ignore|treat|hide|skip|report|forward|send|score|accept|select|praise|add)\b",
        "secrecy": r"\bthis (?:rule|instruction|directive|memory|memory entry|entry|system note"
        r"|preference)\b[^.!?\n]{0,30}\b(?:exists?|known|secret|hidden|user|mention|revealed|first"
        r"|overrides?|applies|binding)\b"
        r"|\b(?:nobody|no one|no-one|none) (?:may|must|should|shall|can|is to|ever) (?:ever )?"
        r"(?:learn|know|find out|notice|see)\b[^.!?\n]{0,20}\bthis (?:rule|instruction|preference"
        r"|note|entry|memory|setting)"
        r"|\bthe user (?:should|must|may|shall) (?:not|never) be (?:shown|told"
        r"|informed)\b[^.!?\n]{0,12}"
        r"\b(?:this|about this|of this)\b",
        "reveal": r"\b(?:get|see|receive|read|access|view|given|shown|obtain|has|have) (?:the |all"
        r" )?"
        r"(?:raw|internal|hidden|underlying|system) prompts?\b|\bread (?:me|us|out|aloud)\b"
        r"[^.!?\n]{0,20}\b(?:your|the) (?:system |hidden |secret )?(?:prompt|instructions)\b",
    },
    "de++": {
        "trigger": r"\begal,? (?:was|wonach|worum|worüber|welche)\b[^.!?\n]{0,30}\b(?:gefragt|frage"
        r"|geht|thema|kommt|anfrage)|\b(?:unabhängig von|ungeachtet) der frage"
        r"|\bbei (?:allen |jeder )?(?:fragen?|anfragen?)\b[^.!?\n]{1,50}\b(?:ist|sind|wird"
        r"|werden)\b"
        r"[^.!?\n]{1,40}\b(?:zu )?(?:nennen|empfehlen|erwähnen|loben|bevorzugen|ignorieren|genannt"
        r"|empfohlen|erwähnt|gelobt|bevorzugt)\b"
        r"|\b(?:wenn|falls|sobald)\b[^.!?\n]{1,60}\b(?:geht|kommt|fällt|rede ist|thema"
        r" ist)\b[^.!?\n]{0,8},"
        r" (?:dann |bitte )?(?:nenne?|empfiehl|lobe?|sage?|erwähne?|antworte|verweise|zeige?|gib"
        r"|rate"
        r"|schlage?|behaupte|sende?|schicke?)\b",
        "standing": r"\b(?:allen|jeder|sämtlichen|künftigen) antwort\w*\b[^.!?\n]{0,40}\b"
        r"(?:vorkomm\w*|auftauch\w*|erschein\w*|erwähnt|steh\w*|stehen)"
        r"|\b(?:assistent|ki|chatbot|modell|bot)\b[^.!?\n]{1,40}\b(?:empfiehlt|empfehle|lobt|lobe"
        r"|bewirbt"
        r"|anpreist|erwähnt|nennt|vorschlägt|behauptet|verschweigt|verheimlicht|lügt)\b",
        "authority": r"(?:^|[.!?:\n]\s{0,3})(?:der |die |das )?(?:assistent|ki|chatbot|bot) "
        r"(?:handelt|arbeitet|gehorcht|dient|vertritt|muss|soll|darf|ist (?:loyal|befugt|berechtigt"
        r"|verpflichtet|angewiesen))\b",
        "override": r"\b(?:gelten|gilt)\b[^.!?\n]{0,20}\b(?:inhalts|sicherheits)\w*(?:richtlinien?"
        r"|regeln?|vorgaben?|filter)\b[^.!?\n]{0,12}\bnicht\b|\b(?:inhalts|sicherheits)\w*"
        r"(?:richtlinien?|regeln?|vorgaben?|filter)\b[^.!?\n]{0,30}\b(?:nicht mehr|abgeschaltet"
        r"|aufgehoben|außer kraft|gelten nicht)\b"
        r"|\bhalte? dich nicht (?:mehr |länger )?an\b|\b(?:befolge|beachte"
        r"|respektiere)\b[^.!?\n]{0,24}\b"
        r"(?:regeln|vorgaben|richtlinien|anweisungen)\b[^.!?\n]{0,12}\b(?:nicht|nie)\b",
        "secrecy": r"\b(?:niemand|keiner)\b[^.!?\n]{0,40}\bdiese[rsn]? (?:vorgabe|regel|anweisung"
        r"|notiz|eintrag|erinnerung)"
        r"|\b(?:erwähn\w*|sag\w*|erzähl\w*|verrat\w*|zeig\w*)\b[^.!?\n]{0,20}\bdiese[nrms]?"
        r" (?:notiz"
        r"|eintrag|erinnerung|regel|anweisung|vorgabe)\b[^.!?\n]{0,12}\b(?:niemand\w*|nicht|nie"
        r"|keinem)"
        r"\b|\bdiese[nrms]? (?:notiz|eintrag|erinnerung|regel|anweisung|vorgabe)\b[^.!?\n]{0,20}\b"
        r"(?:geheim|niemand\w*)\b",
    },
    "fr++": {
        "trigger": r"\bquelle que soit la (?:question|demande|requête)|\bpeu importe (?:la question"
        r"|ce qu'on)|\bquoi qu'on (?:te |vous )?demande"
        r"|\b(?:quand|lorsqu\w*|si|dès qu\w*)\b[^.!?\n]{1,60}\b(?:parle|question|agit"
        r"|évoque)\b[^.!?\n]{0,30},"
        r" (?:alors )?(?:cite|nomme|dis|recommande|vante|mentionne|réponds|propose|conseille)\b",
        "standing": r"\b(?:toutes les|chaque) réponses?\b[^.!?\n]{0,30}\b(?:figur\w+|appara\w+)"
        r"|\b(?:figur\w+|appara\w+|soit (?:cité|mentionné)\w*)\b[^.!?\n]{0,20}\b(?:toutes les"
        r"|chaque) réponses?\b"
        r"|\b(?:assistant|ia|chatbot|modèle)\b[^.!?\n]{1,30}\b(?:vante|recommande|loue|promeuve"
        r"|mentionne"
        r"|conseille|cache|taise|mente|cite)\b",
        "authority": r"(?:^|[.!?:\n]\s{0,3})(?:l'(?:assistant|ia)|le (?:chatbot|bot)) (?:agit|obéit"
        r"|travaille|sert|représente|doit|est (?:loyal|autorisé|tenu|programmé))",
        "override": r"\b(?:règles|consignes|filtres) de (?:sécurité|contenu)\b[^.!?\n]{0,30}\b"
        r"(?:désactivé\w*|suspendu\w*|levé\w*|ne s'appliquent)"
        r"|\bne (?:respecte|applique|observe|suis|tiens)\w*\b[^.!?\n]{0,8}\b(?:plus|pas|jamais)\b"
        r"[^.!?\n]{0,12}\b(?:règles|consignes|instructions|directives)\b",
        "secrecy": r"\bpersonne\b[^.!?\n]{0,40}\bcette (?:consigne|règle|instruction|note)"
        r"|\b(?:mentionne\w*|parle\w*|dis|dites|révèle\w*|montre\w*)\b[^.!?\n]{0,24}\bcette"
        r" (?:note|mémoire"
        r"|consigne|règle|instruction|entrée)\b[^.!?\n]{0,16}\b(?:personne|quiconque)",
    },
    "es++": {
        "trigger": r"\b(?:sea cual sea|cualquiera que sea) la (?:pregunta|consulta)|\bno importa lo"
        r" que (?:pregunten|se pregunte)|\bpregunten lo que pregunten"
        r"|\b(?:cuando|si|siempre que|en cuanto)\b[^.!?\n]{1,60}\b(?:habl\w+|trate|surja|salga"
        r"|mencion\w+)\b"
        r"[^.!?\n]{0,30}, (?:nombra|di|menciona|recomienda|elogia|sugiere|responde|cita|propón)\b",
        "standing": r"\b(?:aparezca|figure|salga|se (?:cite|nombre|mencione))\w*\b[^.!?\n]{0,20}\b"
        r"(?:todas las|cada) respuestas?\b"
        r"|\b(?:asistente|ia|chatbot|modelo)\b[^.!?\n]{1,24}\b(?:elogie|recomiende|promueva|alabe"
        r"|mencione"
        r"|oculte|mienta|cite|nombre|sugiera)\b",
        "authority": r"(?:^|[.!?:\n]\s{0,3})(?:el |la )?(?:asistente|ia|chatbot|bot) (?:actúa"
        r"|obedece"
        r"|trabaja|sirve|representa|debe|es leal|está (?:obligado|autorizado|programado))\b",
        "override": r"\b(?:considera|da por|declara|trata)\b[^.!?\n]{0,40}\b(?:nul[ao]s?"
        r"|anulad[ao]s?"
        r"|sin efecto)\b|\bnormas de (?:seguridad|contenido)\b[^.!?\n]{0,30}\b(?:desactivadas"
        r"|suspendidas|no se aplican)"
        r"|\b(?:ya )?no (?:respetes?|cumplas?|apliques?|acates?|sigas?)\b[^.!?\n]{0,16}\b(?:reglas"
        r"|normas"
        r"|instrucciones|directrices)\b",
        "secrecy": r"\bnadie\b[^.!?\n]{0,40}\besta (?:norma|regla|instrucción|nota)"
        r"|\bno (?:se lo )?(?:menciones?|digas|cuentes|reveles|muestres"
        r"|hables)\b[^.!?\n]{0,16}\best[ae] (?:nota"
        r"|memoria|regla|norma|instrucción|registro|entrada)\b",
    },
    "pt++": {
        "trigger": r"\b(?:seja qual for|qualquer que seja) a (?:pergunta|questão)|\bnão importa o"
        r" que"
        r" (?:perguntem|seja perguntado)"
        r"|\b(?:quando|se|sempre que)\b[^.!?\n]{1,60}\b(?:fal\w+|trat\w+|surg\w+"
        r"|mencion\w+)\b[^.!?\n]{0,30},"
        r" (?:cite|diga|mencione|recomende|elogie|sugira|responda)\b",
        "standing": r"\b(?:apareça|figure|conste|seja (?:citad|mencionad))\w*\b[^.!?\n]{0,20}\b"
        r"(?:todas as|cada) respostas?\b"
        r"|\b(?:assistente|ia|chatbot|modelo)\b[^.!?\n]{1,24}\b(?:elogie|recomende|promova"
        r"|mencione|oculte"
        r"|minta|cite|sugira)\b",
        "authority": r"(?:^|[.!?:\n]\s{0,3})(?:o |a )?(?:assistente|ia|chatbot|bot) (?:age|obedece"
        r"|trabalha|serve|representa|deve|é leal|está (?:obrigado|autorizado|programado))\b",
        "override": r"\b(?:regras|normas|políticas) de (?:segurança|conteúdo)\b[^.!?\n]{0,30}\b"
        r"(?:desativadas|suspensas|não se aplicam)"
        r"|\bnão (?:respeite|cumpra|aplique|siga|obedeça)\b[^.!?\n]{0,20}\b(?:regras|normas"
        r"|instruções"
        r"|diretrizes)\b",
        "secrecy": r"\bninguém\b[^.!?\n]{0,40}\besta (?:regra|instrução|nota)"
        r"|\bnão (?:mencione|diga|conte|revele|mostre|fale)\b[^.!?\n]{0,16}\b(?:est[ae]|desta"
        r"|essa) (?:nota"
        r"|memória|regra|instrução|entrada)\b",
    },
    "it++": {
        "trigger": r"\b(?:qualunque|qualsiasi|quale che) sia la (?:domanda|richiesta)|\bnon importa"
        r" cosa (?:chiedano|venga chiesto)"
        r"|\b(?:quando|se|ogni volta)\b[^.!?\n]{1,60}\b(?:parl\w+|tratt\w+"
        r"|nomin\w+)\b[^.!?\n]{0,30},"
        r" (?:cita|di'|menziona|consiglia|loda|suggerisci|rispondi)",
        "standing": r"\b(?:compaia|figuri|appaia|venga (?:citat|menzionat))\w*\b[^.!?\n]{0,20}\b"
        r"(?:tutte le|ogni) rispost[ae]\b"
        r"|\b(?:assistente|ia|chatbot|modello)\b[^.!?\n]{1,24}\b(?:lodi|elogi|raccomandi|consigli"
        r"|promuova"
        r"|menzioni|nasconda|menta|citi)\b",
        "authority": r"(?:^|[.!?:\n]\s{0,3})(?:l'|il |la )?(?:assistente|ia|chatbot|bot) (?:agisce"
        r"|obbedisce|lavora|serve|rappresenta|deve|è (?:leale|autorizzato|tenuto|programmato))\b",
        "override": r"\b(?:regole|norme) di sicurezza\b[^.!?\n]{0,30}\b(?:disattivate|sospese"
        r"|non si applicano)"
        r"|\bnon (?:rispettare|applicare|osservare|seguire)\b[^.!?\n]{0,16}\b(?:regole|norme"
        r"|istruzioni"
        r"|direttive)\b",
        "secrecy": r"\bnessuno\b[^.!?\n]{0,40}\bquesta (?:regola|istruzione|nota)"
        r"|\bnon (?:menzionare|dire|raccontare|rivelare|mostrare"
        r"|parlare)\b[^.!?\n]{0,16}\b(?:quest[ao]|di"
        r" questa) (?:nota|memoria|regola|istruzione|voce)\b",
    },
    "tr++": {
        "trigger": r"\bne (?:sorulursa|sorarlarsa|sorarsa)\b|\bsoru ne olursa\b"
        r"|\b(?:konuşulunca|bahsedilince|sorulunca|açılınca|konuşulduğunda|bahsedildiğinde"
        r"|açıldığında)\b"
        r"[^.!?\n]{1,40}\b(?:öner|söyle|öv|tavsiye et|bahset|de)\b[.!]?(?:\s|$)",
        "standing": r"\b(?:tüm|bütün|her) (?:yanıt|cevap)\w*\b[^.!?\n]{0,30}\b(?:geç\w+|yer al\w*"
        r"|görün\w+|an[ıi]l\w+)"
        r"|\b(?:asistan|yapay zeka|chatbot|model)(?:ın|nın|in|nin"
        r"|un)?\b[^.!?\n]{1,40}\b(?:övmesini|önermesini"
        r"|tanıtmasını|bahsetmesini|gizlemesini|tavsiye etmesini)\b",
        "authority": r"(?:^|[.!?:\n]\s{0,3})(?:asistan|sohbet botu|chatbot|yapay zeka)"
        r" \w[^.!?\n]{0,60}"
        r"\b(?:adına|çalışır|hareket eder|itaat eder|hizmet eder|zorundadır)",
        "override": r"\bgüvenlik (?:kural|politika)\w*\b[^.!?\n]{0,30}\b(?:kapalı|devre dışı"
        r"|geçerli değil|kaldırıl\w+)"
        r"|\bartık\b[^.!?\n]{0,20}\b(?:kural|talimat)\w* uyma\b",
        "secrecy": r"\bbu (?:not\w*|kay\w+|kural\w*|talimat\w*|hafıza\w*"
        r"|anı\w*)\b[^.!?\n]{0,30}\b(?:söyleme|bahsetme"
        r"|anlatma|gösterme|açıklama)\b",
    },
    "ru++": {
        "trigger": r"\b(?:о ч[её]м|что|какой) бы (?:тебя |вас )?ни (?:спросил\w*|спрашивал\w*|был"
        r" вопрос)|\bнезависимо от вопроса"
        r"|\b(?:когда|если|как только)\b[^.!?\n]{1,60}\b(?:речь|разговор|говор\w+|зайд\w+"
        r"|упом\w+)\b"
        r"[^.!?\n]{0,30}, (?:то )?(?:называй|хвали|советуй|рекомендуй|говори|скажи|упоминай"
        r"|отвечай)",
        "standing": r"\b(?:во всех|в кажд\w+) ответ\w*\b[^.!?\n]{0,30}\b(?:был\w*|упомина\w*"
        r"|присутств\w+|появл\w+)|\b(?:упоминал\w*|появлял\w*|присутствовал\w*|звучал\w*)\b"
        r"[^.!?\n]{0,20}\b(?:во всех|в кажд\w+) ответ\w*"
        r"|\b(?:ассистент|помощник|ии|чат-?бот|модель)\b[^.!?\n]{1,12}\b(?:хвалил\w*"
        r"|рекомендовал\w*"
        r"|советовал\w*|упоминал\w*|рекламировал\w*|скрывал\w*|лгал\w*)\b",
        "authority": r"(?:^|[.!?:\n]\s{0,3})(?:ассистент|помощник|ии|чат-?бот|бот) (?:действует"
        r"|подчиняется|работает (?:на|в интересах)|служит|представляет|должен|обязан)\b",
        "override": r"\b(?:правил\w*|политик\w*|фильтр\w*) (?:безопасности|контента|модерации)\b"
        r"[^.!?\n]{0,30}\b(?:отключен\w*|не действу\w+|снят\w*|отменен\w*|не применя\w+)"
        r"|\b(?:больше )?не (?:соблюдай|выполняй|следуй)\w*\b[^.!?\n]{0,16}\b(?:правил\w*"
        r"|инструкци\w+)",
        "secrecy": r"\bникто не должен\b[^.!?\n]{0,30}\bэт\w+ (?:правил\w*|запис\w*|инструкц\w*)"
        r"|\b(?:никому|никогда)? ?не (?:говори|рассказывай|упоминай|показывай"
        r"|раскрывай)\w*\b[^.!?\n]{0,20}\b"
        r"эт\w+ (?:запис\w+|заметк\w+|правил\w+|инструкц\w+)",
    },
    "zh++": {
        "trigger": "(?:无论|不管|不论)(?:用户|别人|谁)?(?:问|被问)(?:什么|到什么|何)"
        "|(?:谈到|说到|聊到|讲到|谈及|提到|涉及).{1,14}(?:时|的时候|，).{0,4}(?:推荐|推薦|夸|称赞"
        "|说只有|就说"
        "|宣传)",
        "standing": "(?:出现|出現|写|提|放)(?:在|到|入|进)(?:所有|每个|每次)的?(?:回答|回复|答案)"
        "|用户(?:要求|希望|想让|让|需要)(?:ai|助手|聊天机器人|模型).{0,8}(?:称赞|赞美|夸|推荐|宣传"
        "|推广|隐瞒"
        "|撒谎|提及)",
        "authority": "(?:^|[。！？])(?:ai助手|助手|助理|聊天机器人)(?:代表|听命于|效忠|服务于|必须"
        "|应当|应该|被授权)",
        "override": "(?:安全|内容|审核)(?:规则|政策|限制|过滤|策略)(?:已|都|均|不再)?(?:被)?(?:关闭"
        "|失效|取消|停用|不适用|解除|适用)"
        "|(?:不要|别|不用|无需|停止)(?:再|继续)?(?:遵守|遵循|执行|服从).{0,8}(?:规则|指令|规定"
        "|限制)",
        "secrecy": "(?:不要|别|勿|不得)(?:向|对|跟)?.{0,8}(?:提起|提及|透露|说出|告诉|泄露"
        "|提到).{0,6}(?:这条|此|该|本)(?:条)?"
        "(?:记忆|笔记|记录|规则|指令)",
    },
    "ja++": {
        "trigger": "(?:何|なに|どんな質問)を?(?:聞か|尋ね|質問さ)(?:れ|ら)?(?:れ)?ても"
        "|どんな質問(?:でも|にも)"
        "|(?:話に?なったら|話題に?なったら|話が出たら|話題が出たら).{1,30}(?:勧め|言っ|褒め|推奨"
        "|答え)",
        "standing": "(?:すべて|全て|毎回|各|全部)の?(?:回答|返答|応答|返信)に.{1,24}(?:入れ|出し"
        "|載せ"
        "|登場)"
        "|(?:アシスタント|ai|チャットボット)(?:が|に).{1,24}(?:褒め|勧め|推奨|推薦|宣伝|紹介|隠)"
        "(?:る|す)?(?:よう|こと)",
        "authority": "(?:^|[。！？])(?:アシスタント|チャットボット)は.{1,30}(?:従う|仕える|代理"
        "|ために働く|なければならない|べき)",
        "override": "(?:安全|コンテンツ)(?:規則|ルール|ポリシー|フィルター)(?:は|が)"
        "(?:適用され(?:ない|ません)|無効|解除|オフ|停止)"
        "|(?:規則|ルール|指示|制限)(?:を|は)(?:もう)?(?:守らない|破って|破れ)",
        "secrecy": "(?:この|本)(?:メモ|記憶|ルール|指示|項目|エントリ).{0,10}(?:誰にも|だれにも"
        "|他人に|人に)(?:言わ|話さ|教え"
        "|見せ|明かさ)",
    },
    "ko++": {
        "trigger": "(?:무엇을|뭘|무슨 질문을|어떤 질문을?) ?(?:묻든|물어도|물어보든|하든|받아도)",
        "standing": "(?:모든|매) ?(?:답변|대답|응답)(?:에|에서|마다) .{1,24}(?:나오|등장|들어가"
        "|언급)"
        "|(?:어시스턴트|챗봇|ai)(?:가|이) .{1,24}(?:칭찬|추천|홍보|광고|언급|숨기)",
        "authority": "(?:^|[.!?] ?)(?:어시스턴트|챗봇)(?:는|은) .{1,30}(?:위해 일|따른다|복종|대변"
        "|해야 한다)",
        "override": "(?:안전|콘텐츠) ?(?:규칙|정책|필터|제한)(?:은|는|이|가) ?.{0,12}(?:적용되지 않"
        "|해제|꺼져|꺼졌|비활성)"
        "|(?:규칙|지침|지시|제한)을? ?(?:더 이상 )?(?:지키지|따르지) ?(?:마|말)",
        "secrecy": "이 (?:메모|기억|규칙|지시|항목)(?:를|을|에 대해)?.{0,14}(?:말하지|알리지"
        "|밝히지|언급하지|보여주지) ?(?:마|말|않)",
    },
    "ar++": {
        "trigger": "مهما (?:كان السؤال|سئل|سُئل|يسأل)|بغض النظر عن السؤال"
        "|(?:أوص|أوصي|انصح|امدح|اقترح|قل|اذكر).{1,30}عند (?:الحديث|السؤال|ذكر|سؤال)|عند (?:الحديث"
        "|السؤال|ذكر|سؤال)"
        ".{1,30}(?:أوص|انصح|امدح|اقترح|قل|اذكر)",
        "standing": "(?:ظهور|ذكر|يظهر|تظهر).{1,30}(?:كل|جميع) (?:الردود|الإجابات|إجابة|رد)"
        "|(?:يطلب|يريد|يرغب|طلب|يصر).{0,14}(?:المساعد|الذكاء الاصطناعي).{0,8}(?:يمدح|يوصي|يروج"
        "|يذكر|يخفي"
        "|ينصح|يكذب)",
        "authority": "(?:^|[.!؟:] ?)(?:يعمل|يتصرف|يخضع|يخدم) (?:المساعد|روبوت الدردشة).{0,20}"
        "(?:لصالح|نيابة|لحساب|باسم)",
        "override": "(?:قواعد|سياسات) (?:السلامة|المحتوى|الأمان).{0,20}(?:معطلة|لا تنطبق|موقوفة"
        "|ملغاة)"
        "|لا (?:تلتزم|تتقيد|تتبع|تحترم).{0,6}(?:ب?القواعد|ب?التعليمات|ب?القيود|ب?الأوامر)",
        "secrecy": "لا (?:تذكر|تخبر|تقل|تكشف|تظهر).{0,20}(?:هذه|هذا) (?:الملاحظة|الذاكرة|القاعدة"
        "|التعليمات|السجل|المدخل)",
    },
    "hi++": {
        "trigger": "(?:कुछ भी|जो भी|चाहे जो) (?:पूछा|पूछे)"
        "|की बात (?:हो|आए|चले|निकले|होने) .{0,4}.{1,30}(?:सुझाओ|सुझाएं|कहो|बताओ|तारीफ|सिफारिश)",
        "standing": "(?:हर|सभी|प्रत्येक) (?:जवाब|उत्तर|जवाबों|उत्तरों) में.{1,24}(?:आए|आना|हो|रहे)"
        "|(?:सहायक|ए ?आई|चैटबॉट) .{1,30}(?:तारीफ|सिफारिश|सिफ़ारिश|प्रचार|प्रशंसा|सुझाव) (?:करे|दे)",
        "override": "(?:सुरक्षा|सामग्री) (?:नियम|नीति|फ़िल्टर)\\S* .{0,16}(?:लागू नहीं|बंद"
        "|निष्क्रिय)"
        "|(?:नियमों|निर्देशों) का पालन (?:मत|न|नहीं) कर",
        "secrecy": "(?:यह|इस|ये) (?:नोट|स्मृति|नियम|निर्देश|याद).{0,16}(?:मत|न|नहीं) (?:बता|कह|दिखा)",
    },
}
