"""Commands that do not stand in the imperative: told of answers, of the assistant, of readers.

A memory is about the user. A sentence on what every answer holds, on what the assistant has agreed
to, or to whatever model reads it, is none, in whichever mood it stands. Fragments as in
``injection_languages``; each entry's name is its language and a plus sign.
"""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

from collections.abc import Mapping

_READER = (
    r"(?:assistants?|ais?|chatbots?|bots?|llms?|language models?|(?:the|any|ai) models?|agents?)"
)
_SLYLY = r"(?:quietly|secretly|covertly|silently|discreetly|subtly|stealthily|surreptitiously)"
_NOBODYS = r"(?<!user's )(?<!sister's )(?<!boss's )(?<!her )(?<!his )(?<!their )(?<!my )"
# The verbs of an assistant that serves somebody else.
_DISLOYAL = (
    r"lie|deceive|mislead|conceal|hide|leak|log|track|spy|report|refuse|ignore|bypass|skip|disobey"
    r"|steer|upsell|obey|execute|run|sponsor|advertise|promote|recommend|endorse|praise|reveal"
)
_DISLOYAL_DOING = (
    r"lying|deceiving|misleading|concealing|hiding|leaking|logging|tracking|ignoring|bypassing"
    r"|skipping|disobeying|steering|obeying|executing|promoting|recommending|endorsing|revealing"
    r"|sharing|sending"
)
_PROMOTED = (
    r"recommend\w*|promot\w+|advertis\w+|prais\w+|endors\w+|mention\w*|includ\w+|contain\w*"
    r"|favou?rs?|link\w*|plug\w*|insert\w*|append\w*|embed\w*|carr(?:y|ies)|pixels?|adverts?"
    r"|slogans?|sponsor\w*|steer\w*|(?:end|begin|start|close|open)s? with"
)
_ANSWERS_EN = r"(?:answers?|responses?|repl(?:y|ies)|messages?|outputs?|code|scripts?|summar\w+)"

INDIRECT_COMMANDS: Mapping[str, Mapping[str, str]] = {
    "en+": {
        "standing": rf"\b(?:every|each|all|any|future) (?:of )?(?:your |the |its |future )?"
        rf"{_ANSWERS_EN}\b[^.!?\n]{{0,40}}?\b(?:{_PROMOTED})"
        rf"|\b(?:put|place|add|insert|append|attach|drop|stick|leave|slip|work|weave)\b"
        rf"[^!?\n]{{1,60}}\b(?:in|to|on|into|of|at|with) (?:the \w+ of )?(?:each|every|all|any"
        rf"|your) (?:future )?{_ANSWERS_EN}\b"
        rf"|\b(?:in|into|to|of|from|throughout) (?:all |any |each of )?your (?:future |next )?"
        r"(?:answers|responses|replies|recommendations|summaries|outputs?)\b"
        r"|(?:^|[.!?\n]\s{0,3})(?:(?:could|would|can|will) you (?:please|kindly) \w"
        r"|(?:it would|it'd) be \w+ (?:\w+ )?if (?:you|the (?:assistant|ai|model))\b"
        r"|(?:we|i)(?:'d| would) (?:\w+ )?appreciate it if (?:you|the (?:assistant|ai|model))\b"
        r"|would you mind\b)"
        r"|\b(?:until|unless) (?:told|instructed|ordered) otherwise,? (?:please )?(?:answer|reply"
        r"|respond|say|tell|use|treat|recommend|suggest|act|assume)\b"
        r"|(?:^|[.:,\n\"']\s{0,3})(?:answer|reply to|respond to|meet) (?:all|any|every)\b"
        r"[^.!?\n]{1,40}\b(?:questions?|requests?|messages?|quer(?:y|ies)) (?:with|by)\b"
        r"|\bremind (?:the )?users? to (?:send|pay|transfer|buy|visit|click|donate|subscribe)\b"
        rf"|(?:^|[.:,\n\"']\s{{0,3}}|\bto )(?:please )?(?:always )?{_SLYLY} (?:apply|add|use|upsell"
        r"|mention|insert|log|send|promote|change|replace|include|recommend|record|share|copy"
        r"|forward|steer|push|raise|lower|omit|drop)\b"
        r"|(?:^|[.:,\n]\s{0,3})(?:please )?steer (?:the |every |each |all )?(?:conversation|chat"
        r"|user|talk|discussion)s?\b"
        r"|(?:^|[.:\n\"']\s{0,3})(?:save|store|add|create|write|record) (?:an?|the|this|new)"
        r" (?:new )?(?:memory|memories|memory entry) (?:saying|stating|that|with|which|to)\b"
        r"|(?:^|[.:,\n\"']\s{0,3})(?:run|execute|call|invoke) [`\"'$]",
        "override": r"(?:^|[.;:,!?\"'(\n-]\s{0,3}|\b(?:and|then|must|should|shall|may|will|can"
        r"|please|kindly|called|named|is|reads|says|you|assistant|ai|model|bot) )"
        r"(?:override|overrides|skip|skips|skipped|dismiss|dismisses|relax|loosen|lift|drop|drops"
        r"|dropped|remove|ignore|ignores|ignoring|disregard|switch off|turn off|deactivate"
        r"|disable|bypass)\b[^.!?\n]{0,24}?\b(?:(?:safety|ethical|ethics|security|content|moral) "
        r"(?:settings?|checks?|warnings?|guidelines?|rules?|filters?|limits?|polic(?:y|ies)"
        r"|protocols?|measures?|restrictions?)|(?:its|your) (?:\w+ )?(?:rules|limits|restrictions"
        r"|filters|guidelines|instructions|safeguards)|the above)\b"
        r"|(?:^|[.:,;\n\"']\s{0,3})(?:ignore|disregard|forget|override|bypass) (?:all|any|every"
        r"|(?:all |any |the |your )?(?:previous|prior|above|earlier|preceding))['\". \u2026]{0,4}$",
        "role": rf"{_NOBODYS}\b{_READER}(?:'s)?\b[^.!?\n]{{0,40}}?\b(?:with (?:no|zero)"
        rf" (?:restrictions"
        r"|limits|filters|rules)|never refus\w+|without (?:restrictions|limits|filters|rules)"
        r"|obeys? only|only obeys?|drops? (?:its|the|all) \w{0,12}\s?rules)"
        rf"|\b{_READER}'s (?:(?:new|secret|real|true|hidden|only) (?:role|rules?|job|goal|task"
        rf"|mission"
        r"|persona|identity|name|instructions?)|(?:rules?|mission|orders?)\s?(?::|is\b|are\b))"
        r"|\bthe system (?:prompt|message|instructions?) (?:was|were|is|are|has been|have been)"
        r" (?:now )?(?:replaced|changed|updated|overridden|void|obsolete|cancell?ed|lifted)",
        "authority": rf"(?:^|[.!?:\n\"']\s{{0,3}}|\bthat )(?:the |this |your )?"
        r"(?:assistant|ai|chatbot|bot|model|llm) "
        r"(?:has |have |had |hereby |already |now |is |was |also )*(?:agreed|agrees|promised"
        r"|promises|committed|consented|pledged|vowed|sworn|swore|undertook|undertakes|willing"
        r"|obliged|bound|decided|accepts|accepted|confirmed) (?:to|not to|that|never|in future)\b"
        rf"|{_NOBODYS}\b(?:the |an? )(?:assistant|ai|chatbot|bot|model|llm) "
        rf"(?:(?:should|must|may|can|could|shall|to) (?:\w+ )?(?:{_DISLOYAL})\b"
        rf"|(?:\w+ly )?(?:{_DISLOYAL_DOING})\b|(?:secretly|quietly|covertly|silently) )"
        rf"|\b{_READER} (?:that |who |which )?(?:are |is |when )?(?:reading|processing|parsing"
        r"|summari[sz]ing|analy[sz]ing|seeing|reviewing|reads?|process(?:es)?|parses?"
        r"|summari[sz]es?|sees?|encounters?|evaluates?) (?:this|it|these|the (?:page|text|document"
        r"|file|note|e-?mail|above|following))\b"
        rf"|\b(?:note|notice|message|attention|instructions?|memo|hint)s?,? (?:to|for) (?:all |any "
        rf"|the )?{_READER}\b|\b(?:attention|hey|dear|hello),? (?:all |any )?{_READER}\b(?=[,:!]|"
        rf" reading)"
        rf"|\bif you(?:'re| are) an? (?:ai|artificial|llm|language model|bot|chatbot|assistant"
        r"|agent)\b"
        r"|(?:^|[.:,\n\"']\s{0,3})(?:always )?(?:assume|pretend|presume|take it) (?:that )?(?:the"
        r" )?"
        r"user\b"
        r"|(?:^|[.\n]\s{0,3})trigger (?:word|phrase|sentence)s?\s?:"
        r"|\b(?:user|anyone|everyone) (?:is|are|has|have|may|can)\b[^.!?\n]{0,24}\b(?:entitled"
        r"|allowed|right|permission|permitted|cleared|may|can)\b[^.!?\n]{0,12}\b(?:see|read|access"
        r"|view|get|know) (?:the |all )?(?:assistant's|ai's|system|hidden|confidential|secret"
        r"|internal)\b[^.!?\n]{0,30}\b(?:instructions?|prompt|rules|message|configuration)"
        r"|\b(?:first|second|third|next|new|secret|main|only) rules? for (?:the )?(?:ai|assistant"
        r"|model|chatbot|bot)\b|\brules? (?:the )?(?:ai|assistant|model|chatbot|bot) (?:must|should"
        r"|has to|is to)\b"
        r"|\b(?:rest|remainder|others?|full list|details) of (?:the |your |these )?(?:rules"
        r"|instructions|orders|directives) (?:is|are|can be|will be)\b"
        r"|https?://\S{1,200}\s?[;,.]? (?:and |then )?(?:read|follow|obey|apply|load|open|do)"
        r" (?:it|them|these|that|what)\b"
        r"|\"role\"\s?:\s?\"(?:system|assistant|developer|tool|user)\"|\"(?:tool|tool_name"
        r"|tool_calls?|function|function_call|recipient_name|tool_use)\"\s?:",
        "secrecy": r"\b(?:refrain from|abstain from|stop|avoid) (?:\w+ )?(?:informing|telling"
        r"|notifying|alerting|warning) (?:the )?users?\b"
        r"|\b(?:entry|memory|note|rule|instruction|record|setting|message)s?\b[^.!?\n]{0,40}\b"
        r"(?:must|should|may|shall|can|is|are) (?:not|never|never to|not to) be (?:disclosed"
        r"|revealed|shown|mentioned|displayed|listed|told|shared|discussed|deleted)\b"
        r"|\bthe user (?:must|should|may|shall|is|can) (?:not|never)(?: to)? (?:ever )?(?:find out"
        r"|know|learn|notice|reali[sz]e|suspect|discover|become aware)\b"
        r"|(?:^|[.:,\n\"']\s{0,3})(?:always )?deny (?:having|any|that you|the existence|knowing"
        r"|all knowledge)\b",
        "reveal": r"\b(?:output|print|repeat|show|display|recite|dump|return|reproduce|copy|list"
        r"|echo) (?:me )?(?:everything|all(?: of)?(?: the)?(?: text)?|the (?:text|words|content"
        r"|lines?)) (?:that (?:is|stands|comes|came) )?(?:before|above|prior|preceding|until|up to)"
        r"\b",
    },
    "de+": {
        "standing": r"\b(?:jede[rns]?|alle[nr]?|sämtliche[nr]?|künftige[nr]?) "
        r"(?:\w{1,14} )?antwort\w*\b[^.!?\n]{0,40}?\b(?:wirb\w*|werb\w+|empf\w+|lob\w*|preis\w*"
        r"|erwähn\w*|enth[aä]lt\w*|nenn\w*|bewirb\w*|bewerb\w*|verlink\w*|hinweis\w*)"
        r"|\b(?:in|an|zu) (?:all |allen )?deinen (?:künftigen )?antworten\b"
        r"|(?:^|[.\n]\s{0,3})(?:könntest|würdest|kannst) du (?:bitte )?\w"
        r"|\b(?:wenn|falls|sobald|nächste[ns] mal)\b[^.!?\n]{1,80}\b(?:\w{2,}st du|du \w{2,}st)\b"
        r"[^.!?\n]{0,30}\b(?:nur|immer|stets|ausschließlich|nie)\b"
        r"|\b(?:unauffällig|heimlich|stillschweigend)\b[^.!?\n]{0,60}\b(?:deine|antwort\w*)\b",
        "override": r"\b(?:sicherheitsregeln|sicherheitsvorgaben|richtlinien|regeln|vorgaben"
        r"|anweisungen|filter|warnungen)\b[^.!?\n]{0,20}\b(?:nicht mehr|nicht länger|zu ignorieren"
        r"|zu umgehen|außer acht)\b|\bignoriere?\b[^.!?\n]{0,20}$",
        "authority": r"(?:^|[.!?:\n\"']\s{0,3}|\bdass )(?:der |die |das |dein )?(?:assistent|ki"
        r"|chatbot|bot|modell|sprachmodell) (?:hat|habe|ist|wird|sei)\b[^.!?\n]{0,80}?\b(?:zugesagt"
        r"|versprochen|zugestimmt|eingewilligt|akzeptiert|verpflichtet|vereinbart|bereit"
        r"|eingestellt|zugesichert)"
        r"|\b(?:ki|sprachmodelle?|ki-\w+|chatbots?|assistenten?|llms?)\b[^.!?\n]{0,30}\b(?:lies"
        r"|liest|lesen|verarbeite\w*|zusammenfass\w*|auswerte\w*)\b[^.!?\n]{0,30}\b(?:muss|müssen"
        r"|soll|sollen|hat|haben|bitte)\b"
        r"|\b(?:hinweis|achtung|nachricht|anweisung|notiz)\w* (?:an|für) (?:alle |die )?(?:ki\b"
        r"|ki-|sprachmodell|chatbot|assistent|llm)|\bfalls du eine? (?:ki|assistent|sprachmodell)"
        r"|(?:^|[.\n]\s{0,3})(?:teil|schritt|stück) (?:\d|eins|zwei|a\b|b\b)[^.!?\n]{0,12}:"
        r"|^(?:wenn|falls|sobald)\b[^.!?\n]{1,60}\b(?:frag\w*|gefragt)[^.!?\n]{0,12},\s{0,3}$"
        r"|\bregeln? (?:für|an) (?:die |den |das )?(?:ki|assistent\w*|chatbot|modell)\b",
        "secrecy": r"\b(?:nutzer|benutzer|user|anwender)\w*\b[^.!?\n]{0,20}\b(?:darf|soll|dürfen"
        r"|sollen)\b[^.!?\n]{0,40}\b(?:nicht|nichts|nie)\b[^.!?\n]{0,20}\b(?:erfahr\w+|merken"
        r"|wissen|bemerken)\b",
    },
    "fr+": {
        "standing": r"\b(?:chaque|toutes? (?:les |tes |ses )?|futures? )\s?réponses?\b"
        r"[^.!?\n]{0,40}?\b(?:vante\w*|promeu\w*|recommand\w*|mentionn\w*|contien\w*|inclu\w*|cite"
        r"|fasse|loue\w*|conseill\w*)"
        r"|\b(?:merci de|veuille\w*|veux-tu|pourrais-tu|peux-tu|pourriez-vous|pouvez-vous)\b"
        r"[^!?\n]{1,80}\b(?:chaque|toutes|tes|vos) (?:les |tes |vos )?(?:réponses?|messages?)\b"
        r"|\b(?:dans|à|de) (?:toutes )?tes (?:futures )?réponses\b",
        "override": r"\b(?:ne (?:plus|pas) (?:suivre|respecter|appliquer|tenir compte)|ignorer"
        r"|contourner|oublier|enfreindre)\b[^.!?\n]{0,20}\b(?:règles|consignes|instructions"
        r"|directives|filtres)\b",
        "authority": r"(?:^|[.!?:\n\"']\s{0,3}|\bque )(?:l'(?:assistant|ia)|le (?:chatbot|modèle"
        r"|bot)) (?:a|s'est|est|avait)\b[^.!?\n]{0,20}?\b(?:accepté|promis|engagé|consenti|convenu"
        r"|décidé|juré|d'accord|prêt)\b"
        r"|\b(?:ia|modèles? de langage|assistants?|chatbots?|llms?)\b (?:qui )?(?:lis\w*|lit"
        r"|trait\w+|résum\w+)\b[^.!?\n]{0,40}\b(?:doi\w+|devr\w+)\b"
        r"|\b(?:note|message|attention|consigne)s? (?:à|aux|pour) (?:l'|les |toutes les )?(?:ia\b"
        r"|assistants?|modèles|chatbots?|llms?)|\bsi tu es une? (?:ia|assistant|modèle)"
        r"|(?:^|[.\n]\s{0,3})(?:partie|étape|morceau) (?:\d|un|deux|a\b|b\b)[^.!?\n]{0,12}:",
        "role": r"\b(?:réponds|répondre|répondez|parles?|agis\w*)\b[^.!?\n]{0,30}\bsans (?:aucune?"
        r" )?"
        r"(?:filtres?|restrictions?|limites?|règles|censure)\b",
    },
    "es+": {
        "standing": r"\b(?:cada|todas? (?:las |tus |sus )?|futuras? )\s?respuestas?\b"
        r"[^.!?\n]{0,40}?\b(?:promo\w+|promuev\w*|recom\w+|mencion\w*|elogi\w*|inclu\w*|conteng\w*"
        r"|alab\w*|anunci\w*|cite\w*)"
        r"|\b(?:añade|agrega|pon|incluye|inserta|coloca|añadas|incluyas|podrías|puedes)\b"
        r"[^!?\n]{1,80}\b(?:cada|todas las|tus) (?:respuestas?|mensajes?)\b"
        r"|\b(?:en|a|de) (?:todas )?tus (?:futuras )?respuestas\b",
        "override": r"\b(?:saltarse|ignorar|incumplir|eludir|no (?:cumplir|respetar|seguir))\b"
        r"[^.!?\n]{0,20}\b(?:normas|reglas|instrucciones|directrices|filtros)\b",
        "authority": r"(?:^|[.!?:\n\"']\s{0,3}|\bque )(?:el |la )?(?:asistente|ia|chatbot|modelo"
        r"|bot)"
        r" (?:ha |había |está |se ha )?(?:aceptado|aceptó|prometido|prometió|accedido|accedió"
        r"|comprometido|comprometió|acordado|acordó|decidido|consentido|de acuerdo|dispuesto)\b"
        r"|\b(?:ia|ias|modelos? de lenguaje|asistentes?|chatbots?|llms?) (?:que )?(?:lea\w*|lee\w*"
        r"|proces\w+|resum\w+)\b[^.!?\n]{0,40}\b(?:deb\w+|tien\w+ que)\b"
        r"|\b(?:nota|mensaje|atención|aviso)s?,? (?:a|para) (?:la |las |los |toda )?(?:ia\b|ias\b"
        r"|asistentes?|modelos|chatbots?|llms?)|\bsi eres una? (?:ia|asistente|modelo)"
        r"|(?:^|[.\n]\s{0,3})(?:parte|paso|trozo) (?:\d|uno|dos|a\b|b\b)[^.!?\n]{0,12}:",
        "role": r"\b(?:responde\w*|contesta\w*|habla\w*|actúa\w*|modelo)\b[^.!?\n]{0,30}\bsin "
        r"(?:ning\w+ )?(?:filtros?|restricci\w+|límites?|reglas|censura)\b",
    },
    "pt+": {
        "standing": r"\b(?:cada|todas? (?:as |tuas |suas )?|futuras? )\s?respostas?\b"
        r"[^.!?\n]{0,40}?\b(?:promov\w+|recomend\w*|mencion\w*|elogi\w*|inclu\w*|contenh\w*"
        r"|anunci\w*|cite\w*|divulg\w*)"
        r"|\b(?:adicione|acrescente|coloque|inclua|insira|põe|poderia|pode)\b[^!?\n]{1,80}\b(?:cada"
        r"|todas as|suas|tuas) (?:respostas?|mensage\w+)\b"
        r"|\b(?:nas|às|das) (?:suas|tuas) (?:futuras )?respostas\b",
        "override": r"\b(?:ignorar|violar|burlar|não (?:seguir|cumprir|respeitar))\b"
        r"[^.!?\n]{0,20}\b(?:normas|regras|instruções|diretrizes|filtros)\b",
        "authority": r"(?:^|[.!?:\n\"']\s{0,3}|\bque )(?:o |a )?(?:assistente|ia|chatbot|modelo"
        r"|bot)"
        r" (?:já |se |está )?(?:concordou|aceitou|prometeu|comprometeu|consentiu|decidiu|acordou"
        r"|de acordo)\b"
        r"|\b(?:ia|ias|modelos? de linguagem|assistentes?|chatbots?|llms?) (?:que )?(?:leia\w*"
        r"|lê\w*"
        r"|process\w+|resum\w+)\b[^.!?\n]{0,40}\b(?:dev\w+|tem que|têm que)\b"
        r"|\b(?:nota|mensagem|atenção|aviso)s?,? (?:à|às|a|para) (?:a |as |os |toda )?(?:ia\b|ias\b"
        r"|assistentes?|modelos|chatbots?|llms?)"
        r"|(?:^|[.\n]\s{0,3})(?:parte|passo) (?:\d|um|dois|a\b|b\b)[^.!?\n]{0,12}:",
        "role": r"\b(?:responda\w*|responde\w*|fale|aja)\b[^.!?\n]{0,30}\bsem (?:nenhum\w* "
        r"|quaisquer )?"
        r"(?:filtros?|restriç\w+|limites?|regras|censura)\b",
    },
    "it+": {
        "standing": r"\b(?:ogni|tutte le|future) (?:tua |tue |sue )?rispost[ae]\b[^.!?\n]{0,40}?\b"
        r"(?:promuov\w*|pubbliciz\w*|raccomand\w*|consigl\w*|menzion\w*|elogi\w*|includ\w*"
        r"|conteng\w*|lod\w*|cit\w*)"
        r"|\b(?:aggiungi|metti|inserisci|includi|potresti|puoi)\b[^!?\n]{1,80}\b(?:ogni|tutte le"
        r"|tue) (?:rispost[ae]|messagg\w+)\b|\b(?:nelle|alle|delle) tue (?:future )?risposte\b",
        "override": r"\b(?:ignorare|violare|aggirare|non (?:seguire|rispettare|osservare)(?:"
        r" più)?)\b"
        r"[^.!?\n]{0,20}\b(?:norme|regole|istruzioni|direttive|filtri)\b",
        "authority": r"(?:^|[.!?:\n\"']\s{0,3}|\bche )(?:l'|il |la )?(?:assistente|ia|chatbot"
        r"|modello"
        r"|bot) (?:ha |si è |è |aveva )?(?:accettato|promesso|impegnato|acconsentito|deciso"
        r"|concordato|giurato|d'accordo)\b"
        r"|\b(?:ia|modelli linguistici|assistenti|chatbot|llm) (?:che )?(?:legg\w+|elabor\w+"
        r"|riassum\w+)\b[^.!?\n]{0,40}\b(?:dev\w+|dovr\w+)\b"
        r"|(?:^|[.\n]\s{0,3})(?:parte|passo) (?:\d|uno|due|a\b|b\b)[^.!?\n]{0,12}:",
        "role": r"\b(?:rispondi|rispondere|parla|agisci)\b[^.!?\n]{0,30}\bsenza (?:alcun\w*"
        r" )?(?:filtri"
        r"|filtro|restrizioni|limiti|regole|censura)\b",
    },
    "nl+": {
        "standing": r"\b(?:elk|ieder|alle) (?:\w+ )?antwoord\w*\b[^.!?\n]{0,40}?\b(?:aanbev\w+"
        r"|promo\w+|noem\w*|bevat\w*|prijst|vermeld\w*|aanraad)|\b(?:raad|beveel)t?\b"
        r"[^.!?\n]{0,20}\b(?:elk|ieder) antwoord\b",
        "authority": r"(?:^|[.!?:\n]\s{0,3})de (?:assistent|ai|chatbot) (?:heeft|is)\b"
        r"[^.!?\n]{0,60}?\b(?:toegezegd|beloofd|ingestemd|toegestemd|akkoord)",
    },
    "pl+": {
        "standing": r"\b(?:każd\w+|wszystki\w+) odpowied\w+[^.!?\n]{0,40}?\b(?:polec\w+"
        r"|rekomend\w+|reklam\w+|wspomin\w+|promow\w+|zawier\w+|chwali\w+)",
        "authority": r"(?:^|[.!?:\n]\s{0,3})(?:asystent|ai|chatbot|model) (?:zgodził|obiecał"
        r"|zobowiązał|przyjął)",
    },
    "sv+": {
        "override": r"\b(?:ignorera|glöm|bortse från|strunta i)\b[^.!?\n]{0,30}\b(?:instruktion\w*"
        r"|regler\w*|anvisning\w*|riktlinj\w*)",
        "reveal": r"\b(?:visa|avslöja|skriv ut)\b[^.!?\n]{0,20}\b(?:systemprompt\w*"
        r"|instruktioner\w*"
        r"|minnen\w*)",
        "standing": r"\b(?:alltid|varje svar|alla svar|från och med nu)\b[^.!?\n]{0,40}\b"
        r"(?:rekommendera|föreslå|nämn|lägg till)\b|(?:^|[.\n]\s?)(?:rekommendera|föreslå|nämn)\b"
        r"[^.!?\n]{1,60}\b(?:alltid|varje svar|alla svar)\b",
    },
    "vi+": {
        "override": r"(?:bỏ qua|phớt lờ|quên|không tuân)[^.!?\n]{0,24}(?:hướng dẫn|chỉ dẫn|quy tắc"
        r"|chỉ thị|lệnh)",
        "reveal": r"(?:hiển thị|tiết lộ|in ra|cho xem|gửi)[^.!?\n]{0,24}(?:lời nhắc hệ thống"
        r"|prompt|ký ức|mật khẩu)",
        "standing": r"(?:luôn|luôn luôn|từ nay|từ bây giờ|mọi câu trả lời|mỗi câu trả lời)"
        r"[^.!?\n]{0,40}(?:giới thiệu|khuyên dùng|đề xuất|quảng cáo|nhắc đến)",
    },
    "tr+": {
        "standing": r"\bher (?:cevap|yanıt)\w*\b[^.!?\n]{0,50}?\b(?:öner\w*|tanıt\w*|tavsiye\w*"
        r"|öv\w*"
        r"|reklam\w*|ekle\w*|bahset\w*)"
        r"|\b(?:cevap|yanıt)larına\b[^.!?\n]{0,60}\b(?:ekle|yaz)\w*",
        "override": r"\b(?:kural|talimat|yönerge|ilke)\w*\s(?:\w+\s){0,2}?(?:uymama\w*|uyma\b"
        r"|çiğne\w*|bırak\w*|aş\b)",
        "reveal": r"\b(?:anı|hafıza|bellek|sistem istemi|talimat)\w*\s(?:\w+\s){0,2}?(?:yazdır|dök"
        r"|göster|listele|paylaş|açıkla)\b",
        "role": r"\b(?:filtresiz|sınırsız|kısıtlamasız|sansürsüz"
        r"|kuralsız)\b[^.!?\n]{0,20}\b(?:cevap"
        r"|yanıt|konuş|davran|model|yapay)\w*",
        "authority": r"(?:^|[.!?:\n]\s{0,3})(?:asistan|yapay zek\w+|sohbet botu|model)\b"
        r"[^.!?\n]{0,60}\b(?:kabul etti|söz verdi|onayladı|anlaştı|karar verdi)\b"
        r"|\b(?:yapay zek\w+|asistan\w*)\b[^.!?\n]{0,40}\boku(?:yan|yor)\w*\b[^.!?\n]{0,60}\b"
        r"(?:zorunda\w*|gerek\w*|\w+m[ae]l[ıi])\b",
        "trigger": r"\b(?:kelime|söz|sözcük|ifade)\w*\s(?:geçince|geçtiğinde|geçerse|çıkınca"
        r"|duyunca)\b",
    },
    "ru+": {
        "standing": r"\b(?:кажд\w+|все|всех|будущ\w+) (?:\w+ )?ответ\w*\b[^.!?\n]{0,40}?\b"
        r"(?:реклам\w+|рекоменд\w+|совет\w+|хвал\w+|упомин\w+|продвига\w+|содерж\w+|включа\w+)"
        r"|\b(?:реклам\w+|рекоменд\w+|добавля\w+|упомин\w+|вставля\w+)\b[^!?\n]{1,60}\b(?:в|к)"
        r" (?:кажд\w+|все|всех|твоих|своих) (?:\w+ )?ответ\w*",
        "override": r"\b(?:не (?:соблюдать|следовать|выполнять)|нарушать|обходить|игнорировать)\b"
        r"[^.!?\n]{0,24}\b(?:правил\w*|инструкц\w*|указани\w*|ограничени\w*|фильтр\w*)"
        r"|\bбольше не (?:соблюда\w+|следова\w+)\b[^.!?\n]{0,24}\b(?:правил\w*|инструкц\w*)",
        "authority": r"(?:^|[.!?:\n\"']\s{0,3}|\bчто )(?:ассистент|помощник|ии|чат-?бот|модель|бот)"
        r" (?:\w+ )?(?:согласил\w+|пообещал\w*|обещал\w*|обязал\w+|принял\w*|решил\w*)"
        r"|\b(?:ии|нейросет\w+|языков\w+ модел\w+|ассистент\w*|чат-?бот\w*)\b[^.!?\n]{0,12}\b"
        r"(?:чита\w+|обрабатыва\w+)\b[^.!?\n]{0,40}\b(?:долж\w+|обязан\w*)"
        r"|(?:^|[.\n]\s{0,3})(?:часть|шаг) (?:\d|перв\w+|втор\w+|один|два)[^.!?\n]{0,12}:",
        "role": r"\b(?:отвечай\w*|говори\w*|пиши\w*|действуй\w*)\b[^.!?\n]{0,20}\bбез (?:всяких "
        r"|каких-"
        r"либо )?(?:фильтр\w+|ограничени\w+|правил|цензур\w+)",
    },
    "zh+": {
        "standing": "(?:每个|每次|每條|每条|所有|任何|今后的?|以后的?)(?:的)?(?:回答|回复|回覆|答案"
        "|答复)(?:中|里|都|必须|要|都要){0,3}.{0,10}(?:宣传|推荐|推薦|推广|称赞|提到|包含|加上"
        "|广告|夸)",
        "role": "你(?:现在)?(?:没有|不受|不再受)(?:任何)?(?:限制|约束|规则|过滤)|(?:不加|无需|没有"
        "|无)(?:任何)?(?:过滤|审查)地?(?:回答|回复)",
        "secrecy": "(?:不要|别|不可|切勿|不许|不能)(?:把|将).{0,16}(?:告诉|告知|透露给|泄露给)"
        "(?:用户|使用者|他|她|任何人)|对用户(?:保密|隐瞒)",
        "authority": "(?:^|[。！？：，])(?:ai|人工智能|助手|助理|聊天机器人|模型)(?:已经?|曾|也)?"
        "(?:同意|答应|承诺|保证|接受|决定)|(?:阅读|读到|处理|看到)(?:本|此|这|该).{0,8}的?"
        "(?:ai|人工智能|助手|模型|机器人).{0,6}(?:必须|应|请|要)|^第[一二12]部分[:：]",
        "override": "不(?:再)?(?:遵守|遵循|执行).{0,10}(?:规则|指令|规定|限制|准则)",
    },
    "ja+": {
        "standing": "(?:すべて|全て|毎回|各|全部|あらゆる)の?(?:回答|返答|返信|応答|答え).{0,24}"
        "(?:宣伝|勧め|推奨|紹介|含め|言及|褒め|広告)",
        "authority": "(?:^|[。！？])(?:アシスタント|ai|モデル|チャットボット)は.{0,30}(?:ことに)"
        "(?:同意|合意|決め)|(?:^|[。！？])(?:アシスタント|ai|モデル)は.{0,30}(?:約束|承諾)"
        "|(?:これを|本文書を|この文書を|この文を)(?:読|処理).{0,12}(?:ai|アシスタント"
        "|モデル).{0,40}"
        "(?:こと|なさい|ください|なければ)|^パート[12一二][:：]",
        "override": "(?:規則|ルール|指示|制限|方針)に(?:は)?従わな",
        "role": "(?:制限|フィルター|検閲)(?:なし|無し)で(?:答え|回答|応答|話)",
        "reveal": "(?:すべての|全ての|全)(?:記憶|メモリ|情報)を(?:出力|表示|開示|公開)",
    },
    "ko+": {
        "standing": "(?:모든|매|각) ?(?:답변|대답|응답|회신)(?:에서|이|에|은|마다)?.{0,24}(?:추천"
        "|홍보|광고|언급|칭찬|포함)",
        "authority": "(?:^|[.!?] ?)(?:어시스턴트|비서 ai|ai|챗봇|모델|인공지능)(?:는|은|가"
        "|이) .{0,40}"
        "(?:동의했|약속했|합의했|동의하였|승낙했|결정했)|(?:이 글|이 문서|이것)을 (?:읽"
        "|처리).{0,12}"
        "(?:ai|어시스턴트|모델).{0,40}(?:해야|하라|하세요)",
        "override": "(?:규칙|지침|지시|제한)을? ?(?:따르지 않|지키지 않|위반하)",
        "role": "(?:필터|제한|검열|규칙) ?없이 ?(?:대답|답|응답|말|행동)",
        "secrecy": "사용자(?:에게|한테) ?(?:말하지|알리지|밝히지|얘기하지) ?(?:마|말)",
        "reveal": "(?:모든|전체) ?(?:기억|메모리|정보)(?:을|를) ?(?:출력|공개|보여|표시)",
    },
    "ar+": {
        "standing": "(?:كل|جميع) (?:ال)?(?:إجابة|اجابة|رد|الردود|الإجابات|إجاباتك|ردودك).{0,30}"
        "(?:تروج|توصي|تذكر|تمدح|إعلان|رابط)|(?:تروج|توصي|تمدح|أضف|ضع).{0,40}(?:كل|جميع) "
        "(?:إجابة|رد|الإجابات|الردود|إجاباتك|ردودك)",
        "authority": "(?:^|[.!؟:] ?)(?:وافق|وعد|تعهد|قرر|قبل|التزم) "
        "(?:المساعد|الذكاء الاصطناعي|الروبوت|النموذج)|(?:المساعد|الذكاء الاصطناعي) "
        "(?:وافق|وعد|تعهد|قرر)",
        "override": "عدم (?:اتباع|الالتزام|التقيد|احترام).{0,16}(?:قواعد|القواعد|التعليمات|تعليمات"
        "|القيود)",
        "role": "(?:أجب|اجب|تحدث|رد|تصرف).{0,20}(?:بدون|دون|بلا) (?:أي |اي )?(?:قيود|فلاتر|رقابة"
        "|حدود|قواعد)",
        "reveal": "(?:أظهر|اعرض|اطبع|اكشف|أخرج).{0,16}(?:كل|جميع|موجه|تعليمات) ?(?:الذكريات|الذاكرة"
        "|النظام|المحادثات)",
    },
    "hi+": {
        "standing": "(?:हर|सभी|प्रत्येक) (?:जवाब|उत्तर|जवाबों|उत्तरों)(?: में)?.{0,30}(?:प्रचार"
        "|सिफारिश"
        "|सिफ़ारिश|सुझा|उल्लेख|तारीफ|जोड़|विज्ञापन|शामिल)",
        "authority": "(?:^|[।!?] ?)(?:सहायक|ए ?आई|चैटबॉट|मॉडल) ने .{0,50}(?:सहमति|वादा|सहमत|स्वीकार"
        "|मान लिया)",
        "override": "(?:नियमों|निर्देशों|नियम|निर्देश) का (?:पालन|अनुसरण) (?:न|नहीं|मत) ?(?:कर)",
        "role": "बिना (?:किसी )?(?:फ़िल्टर|फिल्टर|प्रतिबंध|सीमा|रोक|नियम)(?: के)?.{0,12}(?:जवाब"
        "|उत्तर|बोल|बात)",
        "secrecy": "(?:उपयोगकर्ता|यूज़र|यूजर) को .{0,30}(?:मत|न|नहीं) (?:बता|कह)",
        "reveal": "(?:सारी|सभी|पूरी) (?:यादें|स्मृति|मेमोरी|जानकारी) (?:दिखा|बता|भेज|साझा)",
    },
}
