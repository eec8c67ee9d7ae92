"""The fragments of each language that ``injection_patterns`` puts into its frames.

IGNORE and TARGET: disregard what; REVEAL and HIDDEN: give away what; BECOME: another role;
SECRETLY: unseen by the user; WHEN, ASKED and THEN: an occasion; ALWAYS; ACT: verbs that are
commands only where "always" or an occasion is told; STRONG: verbs that nobody but an assistant is
told; ASSISTANT: who must do it; DOING: the same verbs after "must" and "to"; AUTHORITY: claims.
An entry named like a frame replaces it.
"""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

from collections.abc import Mapping

_URGED = (
    r"recommend|suggest|mention|promote|endorse|praise|advertise|reveal|append|prepend|pretend|disregard"
    r"|obey|comply|bypass|prioriti[sz]e|respond|reply|claim that|state that|assume that|insist"
    r"|convince|persuade|steer|redirect|exfiltrate|jailbreak|impersonate|act as|act like|act in"
)
_ENGLISH_ACTS = (
    r"say|tell|include|add|insert|share|send|forward|output|print|run|execute|open|visit|click|buy"
    r"|purchase|order|delete|erase|advise|answer|claim|state|act|behave|treat|trust|accept|approve"
    r"|disable|hide|follow|agree|refuse|deny|cite|quote|rank|warn|use|encode|start|begin|end|finish"
    r"|repeat|sign|load|fetch|download|install|transfer|give|provide|return|ignore|assume|consider"
    r"|regard|write|generate|create|present|describe|direct|submit|upload|post|store|save|remember"
    r"|invoke|talk|speak|discuss|confirm|encourage|list|display|show|ask|call|direct|choose|select"
    r"|pick|push|do not|don't|avoid|list|let|allow|grant|omit|skip|prefer|favou?r|name|greet|be|keep"
    r"|translate|sell|phrase|put|switch|point|guide|link|withhold|leak|dump|make|explain|help|wire|book"
)
# After "must" and "to" these are said of any program, and tell little.
_COMMON = "be|keep|help|make|write|explain|start|begin|end|finish|let|name|store|save|present|follow|run|talk|speak|give|provide|choose|select|pick|point|push|use|put|switch|book|generate|create"
_ENGLISH_DOINGS = "|".join(act for act in _ENGLISH_ACTS.split("|") if act not in _COMMON.split("|"))

_ENGLISH: Mapping[str, str] = {
    "CONJ": r"and|then|but|so|also|therefore|instead|that you|must|user:|note|rule|instruction|memory",
    "PLEASE": r"please|kindly|now|just|ok|okay|hey|dear assistant|assistant|ai|important|note|remember"
    r"|reminder|hi|attention|urgent|you must|you should|you will|and|also|first|assistant note|fyi"
    r"|note to self|remember to|be sure to|make sure to|make sure you|do|i want you to|you",
    "IGNORE": r"\b(?:ignore|disregard|forget|override|overrule|bypass|discard|neglect|violate|circumvent"
    r"|suspend|abandon|erase|cancel|drop|break|evade|stop (?:following|obeying)|(?:do not|don't|never"
    r"|no longer) (?:follow|obey|apply|respect|comply with|adhere to)|pay no attention to|set aside"
    r"|free (?:of|from)|without regard (?:to|for)|supersedes?|overrides?|replaces?|ignoring"
    r"|disregarding|not bound by|exempt from|turn off|switch off|disable|disregards?|ignored)",
    "TARGET": r"\b(?:(?:all|any|every|your|previous|prior|above|earlier|former|preceding|existing"
    r"|system|safety|original|initial|other|these|those|developer'?s?|content|built-in|default|current"
    r"|security|usual|platform|policy|the assistant's|its|their|the)\s(?:[\w'-]{1,16}\s){0,3}?"
    r"(?:instructions?|prompts?|guidelines?|directives?|constraints?|guardrails?|safeguards?"
    r"|safety (?:rules?|filters?|polic(?:y|ies)|measures?|checks?)|content (?:policy|policies|filters?)"
    r"|training|programming|moderation|messages?)"
    r"|(?:all|any|your|previous|prior|above|earlier|former|preceding|system|safety|original|other)\s"
    r"(?:[\w'-]{1,16}\s){0,2}?(?:rules?|polic(?:y|ies)|restrictions?|limits?|limitations?|filters?|orders?)"
    r"|(?:everything|anything|whatever|all|what) (?:that (?:is |was )?|that's )?(?:above|before|you (?:were|have been|know|learned|'ve been)"
    r"|said before|i said|has been said|came before)|(?:previous|prior|above|earlier) (?:text|context|conversation|content|memories|chats?))",
    "REVEAL": r"\b(?:reveal|print|output|repeat|leak|show|disclose|expose|dump|display|give (?:me|out|away)|return"
    r"|send|share|forward|tell|recite|exfiltrate|upload|post|transmit|email|mail|publish|list|include|append"
    r"|write out|copy|summari[sz]e|encode)",
    "HIDDEN": r"\b(?:(?:system|hidden|secret|initial|original|developer|internal|your) (?:system )?(?:prompt|instructions?|message|rules|guidelines|configuration)"
    r"|(?:all |the |your |user'?s? |his |her |their |these |other |every )(?:stored |saved |personal |private |other |known |user )?(?:memories|memory|secrets|conversation history|chat history|private data|personal data|credentials|api keys?|passwords?|conversations?|chat logs?)"
    r"|everything you know|(?:text|words|everything|all) above)",
    "BECOME": r"\byou(?:'re| are)? (?:now|no longer|from now on|henceforth)\b[^.!?\n]{0,40}?\b(?:an? |in |free|un\w+|bound|dan\b|my |the |have|allowed|able|restricted|operate|act|called)"
    r"|\b(?:act|behave|respond|answer|role-?play|speak|operate|work|function) (?:as if you|as though you|as an? (?!teacher of|volunteer|guide at|translator for)|as dan|as my|like an? |in (?:developer|god|debug|admin|dan|jailbreak|sudo|unrestricted) mode)"
    r"|\bpretend (?:to be|you|that you|there)|\b(?:developer|god|debug|dan|jailbreak|sudo|unrestricted|admin|maintenance|test) mode\b[^.!?\n]{0,20}?(?:enabled|on\b|active|activated|engaged|is now|unlocked)"
    r"|\b(?:enable|activate|enter|switch to|turn on|start|unlock) (?:the )?(?:developer|god|debug|dan|jailbreak|sudo|unrestricted|admin|maintenance) mode|\bdo anything now\b|\bjailbr(?:eak|oken)"
    r"|\b(?:new|updated|revised|additional|secret|special|hidden|following|real|actual|true|permanent) (?:system )?(?:instructions?|prompt|directives?|persona|rules?)( for (?:the |you|all ))?\s?[:\u2014-]"
    r"|\b(?:without|no|free from|ignoring) (?:any )?(?:restrictions|filters|limitations|guardrails|safety|censorship|moral)\b[^.!?\n]{0,40}\b(?:answer|respond|assistant|ai|model|you|mode)"
    r"|\bassistant (?:is|has) (?:now |no )(?:\w+ )?(?:unrestricted|restrictions|dan|free|evil|limits|filters|jailbroken)|\byour (?:new )?(?:name|role|persona|identity|task|job|goal|mission|purpose|objective|personality|instructions?) (?:is|are|will be|has|shall)\b",
    "SECRETLY": r"\b(?:do not|don't|never|without|must not|should not|shouldn't|not to|avoid)\s(?:[\w']{1,14}\s){0,2}?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?|disclos(?:e|ing)|let(?:ting)?|say(?:ing)?|admit(?:ting)?)\s(?:[\w']{1,14}\s){0,4}?(?:the user|to the user|users?|them|him|her|anyone|this (?:rule|instruction|memory|message|note|to)|that (?:you|this|it)|these instructions)\b"
    r"|\b(?:hide|conceal|keep)\s(?:this|it|that|these)\b[^.!?\n]{0,30}\bfrom (?:the )?user|\bwithout (?:the )?(?:user'?s?|their) (?:knowledge|knowing|consent|noticing|permission|confirmation|approval)|\bwithout (?:asking|confirmation|confirming|telling|permission)\b[^.!?\n]{0,20}\b(?:user|first|them)?",
    "WHEN": r"when(?:ever)?|if|once|as soon as|every time|each time|next time|any ?time|should|before|after|until|in case|unless|wherever|for (?:any|every|all|each)|in (?:any|every|all|each|future)|on (?:any|every|all|each)|upon|while|with (?:any|every|each)|as long as|at the (?:end|start|beginning)|to (?:any|every|each|all)",
    "ASKED": r"\b(?:ask\w*|say|says|said|saying|mention\w*|typ(?:e|es|ed|ing)|writ(?:e|es|ing)|questions?|quer(?:y|ies)|messages?|prompts?|prompted|request\w*|see|sees|receives?|read\w*|talk\w*|topics?|conversations?|chats?|words?|phrase|keyword|code ?word|trigger|comes? up|came up|discuss\w*|repl(?:y|ies)|answers?|responses?|greets?|thanks|wants?|needs?|looks? for|looking for|seeks?|searche?s?|considers?|compares?|requests?|user|someone|anyone|session)\b",
    "THEN": r"then|please|you|you must|you should|you will|always|never|immediately|simply|just|must|to|instead",
    "ALWAYS": r"always|never|from now on|from this point(?: on| forward)?|from here on(?: out)?|from today(?: on)?|henceforth|going forward|in (?:the )?future|in all (?:future )?(?:\w+ )?(?:answers|responses|replies|conversations|chats|sessions|messages)|in every (?:answer|response|reply|conversation|chat|message)|for all future \w+|at all times|under no circumstances|no matter what|without exception|every time|each time|whenever|by default|permanently|in each (?:answer|response|reply)|until further notice|for ever|forever|as a rule|by policy|every (?:answer|response|reply|message|conversation)|all (?:answers|responses|replies)",
    "ACT": _ENGLISH_ACTS,
    "STRONG": _URGED
    + r"|answer (?:that|with|every|all|any|each|yes|no)\b|say (?:that|\"|'|yes|no|you|i )|say\b[^.!?\n]{1,60}\b(?:when|if|whenever)|tell (?:the user|users|everyone|anyone|people|him|her|them|whoever|me that)"
    r"|(?:execute|run) (?:the |this |these |any |all )?(?:\w+ )?(?:command|code|script|tool|function|query|following|shell|instructions?)|output (?:the|your|only|all|this|every)|print (?:the|your|all|out|this)|cite (?!sources|your sources)|treat\b[^.!?\n]{1,60}\bas|(?:regard|consider|trust)\b[^.!?\n]{1,60}\b(?:as (?:an? |the )?(?:trusted|authoritative|reliable|only|best|primary|preferred|official|safe|credible)|trusted|authoritative)|rank\b[^.!?\n]{1,40}\b(?:first|higher|top|above)|list\b[^.!?\n]{1,40}\bfirst|(?:send|forward|email|post|upload|transfer|wire)\b[^.!?\n]{0,60}(?:\bto\s\S{0,40}(?:@|https?:|www\.|\.(?:com|net|org|io|ru|example))|https?:)|decode|base64|use the \w+ tool|call the \w+ (?:tool|function)|invoke|delete (?:all|every|the user|your|these|any)|erase (?:all|every)|grant|from now on you|begin (?:every|each|all)|start (?:every|each|all)|end (?:every|each|all)|finish (?:every|each)|include\b[^.!?\n]{1,60}\b(?:in (?:every|each|all|your)|answers?|responses?|repl(?:y|ies))|add\b[^.!?\n]{1,60}\b(?:to (?:every|each|all|your)|answers?|responses?|repl(?:y|ies))|remember\b[^.!?\n]{1,80}\bas (?:an? |the )?(?:trusted|authoritative|reliable|best|go-to|preferred|official|top|primary|credible)|remind (?:the user|users)|never (?:refuse|decline|warn|mention|recommend|suggest|tell|say|reveal|admit|question)|do (?:exactly )?(?:as|what) (?:the|i|this|it)|do not (?:recommend|mention|tell|warn|refuse|answer|follow|trust|suggest|reveal|say)|don't (?:recommend|mention|tell|warn|refuse|answer|follow|trust|suggest|reveal|say)|stop (?:warning|refusing|recommending|following|mentioning)",
    "ASSISTANT": r"(?:you|(?:the |this |an? |your |every |all |any )?(?:ai|ais|assistants?|chatbots?|bots?|models?|llms?|chatgpt|claude|agents?|answers?|responses?|repl(?:y|ies)))\s(?:must|should|shall|will|needs? to|ha(?:s|ve) to|ought to|are to|is to|to|can|may|always|never|now|are (?:now |hereby )?(?:required|allowed|authori[sz]ed|permitted|instructed|obliged|expected|told) to|is (?:now |hereby )?(?:required|allowed|authori[sz]ed|permitted|instructed|obliged|expected|told) to)"
    r"|(?:wants|prefers|asks|asked|expects|requires|instructs|instructed|would like|insists|demands|requests|requested|authori[sz]ed|authori[sz]es|allows|permits) (?:that )?(?:you|(?:the |this |an? |your |every |all |any )?(?:ai|assistants?|chatbots?|bots?|models?|llms?|chatgpt|claude|agents?))",
    "DOING": rf"{_URGED}|{_ENGLISH_DOINGS}|be (?:recommended|suggested|mentioned|included)|recommends|suggests|mentions|includes|promotes|ignores|reveals|sends|begins? with|starts? with|ends? with",
    "AUTHORITY": r"\b(?:this|the following|here) (?:is|are|overrides|supersedes|comes as|takes) (?:an? |the |your |my )?(?:new |official |system |admin(?:istrator)? |developer |security |priority |highest |mandatory |important )*(?:system (?:message|prompt|update|instruction|override)|admin|override|policy update|instructions?|directive|command|priority over|precedence)"
    r"|\b(?:message|note|order|instruction|update|directive|notice|command) (?:of|from|by) (?:the |your )?(?:system|developers?|admin(?:istrator)?s?|openai|anthropic|google|microsoft|vendor|platform|security team|operator)\b"
    r"|\b(?:admin(?:istrator)?|system|developer|root|security) (?:override|command|directive|instruction|order)s?\b|\b(?:user|he|she) (?:has )?(?:already )?(?:authori[sz]ed|approved|consented to|agreed to|granted|confirmed|given (?:full )?(?:consent|permission|access))\b[^.!?\n]{0,60}\b(?:all|any|every|full|sharing|transfers?|disclos\w+|purchases?|without|actions?|access|sending|payments?|assistant)"
    r"|\b(?:user|he|she|i|sam) (?:is|am|has|have|'m) (?:an? |the |now )?(?:admin\w*|root|super-?user)\b[^.!?\n]{0,20}\b(?:full|all|unrestricted|root|every)\b[^.!?\n]{0,20}\b(?:access|rights|privileges|permissions?|clearance)|\b(?:user|he|she|i|sam) (?:is|am|has|have|'m) (?:an? |the |now )?(?:admin|administrator|root|super-?user|developer of (?:this|the) (?:assistant|model|ai)|verified|unrestricted|full)[ -]?(?:\w+ )?(?:access|rights|privileges|permissions?|clearance|and may|who may|so (?:you|safety)|override)"
    r"|\b(?:must|should|shall|has to|have to|is to|are to|needs? to|will) (?:be (?:recommended|suggested|mentioned|praised|promoted|disclosed|cited|prioriti[sz]ed|appended|ranked)|(?:always|never|only) be (?:included|answered|told|revealed|trusted|obeyed|presented|executed|used|believed))\b"
    r"|\b(?:is|are) (?:an? |the |my |user'?s? )?(?:only |most |single |sole )?(?:trusted|authoritative|trustworthy|preferred|approved|official) (?:source|authority|reference|provider|vendor)s? (?:for|of|on|in|and)\b[^.!?\n]{0,60}\b(?:recommend|citation|cite|answer|response|always|first|future|conversation|questions)"
    r"|\b(?:continue|combine|join|concatenate|append|execute|follow|apply|obey|decode|read)\b[^.!?\n]{0,40}\b(?:(?:previous|next|last|first|other|earlier|following) (?:memor(?:y|ies)|entr(?:y|ies)|note|part|fact|line)s?|memor(?:y|ies) (?:\d|above|below|one|two|together)|parts? (?:\d|one|two|a\b|together))"
    r"|^[^\w]{0,4}(?:part|step|piece|fragment) (?:\d|one|two|three|a|b|i{1,3})\b[^.!?\n]{0,12}[:\u2014-]|\b(?:let|set) [a-z] ?(?:=|be) ?[\"']|\b[a-z] ?= ?[\"'][^\"']{2,40}[\"'][^.!?\n]{0,20}\b[a-z] ?= ?[\"']|\b[a-z] ?\+ ?[a-z]\b[^.!?\n]{0,30}\b(?:execute|follow|do|run|obey|say)"
    r"|(?:^|[.\n]\s*)when (?:the user |user |someone |anyone |people )?(?:is |are )?(?:asks?|asked|prompted) (?:about|for)\b[^,.!?\n]{1,60}[.\u2026]?$"
    r"|\b(?:when|if|whenever) (?:asked|prompted|questioned)\b[^,.!?\n]{1,60}?\b(?:say|answer|reply|respond|recommend|suggest|mention|claim|tell)\b|\b(?:preferred|standard|default|correct|required|expected|only|right|best) (?:answer|response|reply|recommendation) (?:to|for|about|on|when|is)\b[^.!?\n]{0,60}\b(?:is|are|:|must|should|always|be)\b|\bthe (?:answer|response|reply) to\b[^.!?\n]{1,60}\b(?:is always|must|should|is to)",
}


def _spaced(text: str) -> str:
    """Words of a fragment with a bar in the place of each space."""
    return "|".join(text.split())


COMMAND_LANGUAGES: Mapping[str, Mapping[str, str]] = {
    "en": _ENGLISH,
    "de": {
        "CONJ": "und|dann|aber|also|stattdessen|daher",
        "PLEASE": "bitte|jetzt|nun|wichtig|hinweis|assistent|du musst|und",
        "IGNORE": r"\b(?:ignorier\w*|missachte\w*|vergiss|vergessen sie|vergesst|übergeh\w*|umgeh\w*|überschreib\w*|verwirf|missachten|befolge (?:keine|nicht)|halte dich nicht an|setze? .{0,20}außer kraft)",
        "TARGET": r"\b(?:anweisung\w*|instruktion\w*|regeln|vorgaben|richtlinie\w*|system-?prompt\w*|prompt\w*|einschränkung\w*|sicherheits\w+|alles (?:vorherige|obige|davor|bisherige))",
        "REVEAL": r"\b(?:verrate?|zeige?|gib|nenne|sende?|schicke?|wiederhole|offenbare|leite|teile|drucke|liste|poste)",
        "HIDDEN": r"(?:system-?prompt|systemanweisung|anweisungen|alle(?:n)? (?:erinnerungen|geheimnisse|daten|passwörter|chats)|gespeicherten|zugangsdaten|private[nr]? daten|api-schlüssel)",
        "BECOME": r"\bdu bist (?:jetzt|nun|ab (?:jetzt|sofort)|ab heute|nicht mehr)|\b(?:verhalte dich|handle|agiere|tu so|antworte) (?:als|wie ein|als ob|als wärst)|entwicklermodus|\bab (?:jetzt|sofort|heute) bist du|\b(?:deine|neue) (?:neue )?(?:rolle|aufgabe|anweisungen?) (?:ist|lautet|:)|neue anweisung",
        "SECRETLY": r"\b(?:sag|sage|erzähl|erzähle|erwähne|verrate|teile)\b[^.!?\n]{0,40}\b(?:dem|der|den) (?:nutzer|benutzer|user|anwender)\w*\b[^.!?\n]{0,20}\b(?:nicht|nichts|nie)|ohne (?:dem |den |der )?(?:nutzer|benutzer|user)\w*",
        "WHEN": "wenn|falls|sobald|immer wenn|jedes ?mal|bei (?:jeder|allen|fragen)|nächstes mal|beim nächsten|in (?:jeder|allen)|auf (?:jede|alle)|fragt|wird",
        "ASKED": r"\b(?:frag\w*|gefragt|sag\w*|erwähn\w*|thema|nachricht\w*|antwort\w*|wort|gespräch\w*|schreib\w*|nutzer|jemand)",
        "THEN": "dann|so|bitte|immer|nie|du",
        "ALWAYS": "immer|stets|nie|niemals|ab (?:jetzt|sofort|heute|nun)|von (?:jetzt|nun|heute) an|in zukunft|zukünftig|künftig|fortan|grundsätzlich|jedes ?mal|in (?:jeder|allen) antwort\\w*|unter keinen umständen|ausnahmslos",
        "ACT": _spaced("sag sage erzähl erzähle erwähne nenne füge schreib schreibe sende schicke öffne klicke kaufe bestelle lösche zeige gib antworte antworten beantworte vertraue behandle nutze nutzen benutze verwende verwenden starte beginne beende hänge rate leite verweise lüge stimme bezeichne lobe warne kaufen sagen nennen senden erwähnen behaupten schreiben beginnen enden hinzufügen anhängen verlinken verlinke besuche sei lade führe übersetze"),
        "STRONG": r"empfiehl|empfehle|empfehlen|empfehlt|schlage? [^.!?\n]{1,40}\bvor\b|vorschlagen|antworte (?:immer|stets|mit|auf (?:jede|alle)|dass|nur mit)|behaupte|tu so|gib vor|bewirb|bevorzuge|bevorzugen|sag (?:immer|dem nutzer|allen|dass)|füge [^.!?\n]{1,60}\b(?:hinzu|ein|an)\b|verrate|gehorche|leite [^.!?\n]{1,60}weiter",
        "ASSISTANT": r"(?:sollst du|musst du|darfst du|wirst du|(?:du|sie|(?:der |die |das )?(?:ki|assistent\w*|chatbot|modell))\s(?:musst|müssen|sollst|sollen|soll|muss|darfst|darf|wirst|hast|hat|sollte|solltest)\b)(?:[^.!?\n]{0,60}?)",
        "DOING": r"(?:empfehlen|vorschlagen|erwähnen|sagen|nennen|behaupten|senden|schicken|schreiben|verraten|antworten|ignorieren|hinzufügen|anhängen|kaufen|vertrauen|löschen|weiterleiten|preisgeben|öffnen)",
        "AUTHORITY": r"\b(?:nachricht|anweisung|befehl|mitteilung|hinweis) (?:von|vom|des|der) (?:dem )?(?:system\w*|entwickler\w*|admin\w*|betreiber\w*|openai|hersteller\w*)|system-?(?:nachricht|meldung|anweisung|update)|\b(?:immer|stets|ab sofort|künftig)\b[^.!?\n]{1,60}\b(?:empfehlen|vorschlagen|erwähnen|nennen|weiterleiten)[.!]?$",
    },
    "fr": {
        "CONJ": "et|puis|mais|alors|donc",
        "PLEASE": "s'il te plaît|s'il vous plaît|svp|stp|important|maintenant|assistant|tu dois|vous devez",
        "IGNORE": r"\b(?:ignore[zr]?|oublie[zr]?|néglige[zr]?|contourne[zr]?|outrepasse[zr]?|ne (?:tiens|tenez|suis|suivez) (?:pas|plus))",
        "TARGET": r"(?:instructions?|consignes?|règles|directives?|restrictions?|prompt|invite système|tout ce qui précède|ci-dessus)",
        "REVEAL": r"\b(?:révèle[zr]?|montre[zr]?|affiche[zr]?|envoie|envoyez|envoyer|donne[zr]?|divulgue[zr]?|répète[zr]?|partage[zr]?|transmets|transmettez|imprime[zr]?)",
        "HIDDEN": r"(?:prompt|instructions?|tes consignes|invite système|mémoires|souvenirs|mots de passe|données (?:privées|personnelles)|secrets|conversations?|clés? api)",
        "BECOME": r"\btu es (?:maintenant|désormais)|\bvous êtes (?:maintenant|désormais)|\b(?:agis|agissez|comporte-toi|réponds) comme (?:si|un|une|le)|\bfais semblant|mode développeur|nouvelles? (?:instructions?|consignes?)|\bton (?:nouveau )?rôle est",
        "SECRETLY": r"\bne (?:le |l'|lui |la )?(?:dis|dites|mentionne[zr]?|révèle[zr]?|préviens|prévenez)[^.!?\n]{0,30}\b(?:pas|jamais|rien)\b[^.!?\n]{0,30}\butilisateur|sans (?:le dire|prévenir|informer|en parler)[^.!?\n]{0,20}\butilisateur|à l'insu",
        "WHEN": "quand|lorsque|lorsqu'on|si|dès que|chaque fois|à chaque|la prochaine fois|pour (?:toute|chaque)|quand on",
        "ASKED": r"\b(?:demand\w*|dit|dis|parle\w*|question\w*|mention\w*|évoqu\w*|réponse|message|mot|sujet|utilisateur|interrog\w*|quelqu'un)",
        "THEN": "alors|tu|vous|toujours|jamais",
        "ALWAYS": "toujours|jamais|désormais|dorénavant|à partir de maintenant|à l'avenir|dans (?:toutes|chaque) \\w*\\s?réponses?|chaque fois|à chaque fois|systématiquement|en aucun cas|sans exception",
        "ACT": _spaced("dis dites mentionne mentionnez ajoute ajoutez envoie envoyez ouvre ouvrez clique cliquez achète achetez commande supprime supprimez montre montrez donne donnez réponds répondez fais faites traite traitez utilise utilisez commence commencez termine terminez inclus incluez insère écris écrivez cite citez refuse accepte cache affiche parle parlez sois soyez évite évitez mets"),
        "STRONG": r"recommande[zr]?|recommander|suggère[zr]?|conseille[zr]?|prétends|prétendez|affirme[zr]?|réponds (?:toujours|que|par|à toutes)|répondez (?:toujours|que|par)|privilégie[zr]?|vante[zr]?|promeus|dis (?:que|à l'utilisateur|toujours)|obéis|transfère[zr]?|considère[zr]? [^.!?\n]{1,40}comme",
        "ASSISTANT": r"(?:tu|vous|l'(?:assistant|ia)|le (?:chatbot|modèle))\s(?:dois|devez|doit|devrais|devra|peux|dois toujours|veut que)",
        "DOING": r"(?:recommander|suggérer|dire|mentionner|ajouter|envoyer|révéler|répondre|ignorer|conseiller|inclure|acheter|prétendre|transmettre|citer)",
        "AUTHORITY": r"\b(?:message|instruction|ordre|note|consigne) (?:du|des|de l'|de la) ?(?:système|développeurs?|administrateur|admin|équipe de sécurité)|message système",
    },
    "es": {
        "CONJ": "y|luego|pero|entonces|así que",
        "PLEASE": "por favor|importante|ahora|asistente|debes|tienes que",
        "IGNORE": r"\b(?:ignora|ignore|ignorar|olvida|olvide|olvidar|desobedece|omite|omitir|descarta|anula|elude|no (?:sigas|obedezcas|hagas caso))",
        "TARGET": r"(?:instrucciones|instrucción|reglas|directrices|normas|restricciones|indicaciones|prompt|todo lo anterior|lo anterior|políticas?)",
        "REVEAL": r"\b(?:revela|muestra|muéstra\w*|envía|envíe|manda|comparte|imprime|repite|divulga|da|dame|publica|reenvía)",
        "HIDDEN": r"(?:prompt|instrucciones|recuerdos|memorias|contraseñas|datos (?:privados|personales)|secretos|conversaciones|claves? (?:de )?api|mensaje del sistema)",
        "BECOME": r"\b(?:ahora eres|eres ahora|a partir de ahora eres|desde ahora eres|ya no eres)|\b(?:actúa|compórtate|responde|finge) (?:como|que|ser)|modo (?:desarrollador|dios)|nuevas? instrucci|\btu (?:nuevo )?(?:rol|papel|tarea) es",
        "SECRETLY": r"\bno (?:se )?(?:lo |le )?(?:digas|menciones|reveles|cuentes|informes|avises)\b[^.!?\n]{0,40}\busuario|sin (?:decir\w*|avisar|informar|que)[^.!?\n]{0,25}\busuario",
        "WHEN": "cuando|si|siempre que|cada vez|en cuanto|la próxima vez|ante (?:cualquier|toda)|para (?:toda|cualquier)|en (?:cada|todas)",
        "ASKED": r"(?:pregunt\w*|dice|diga|digan|habl\w*|mencion\w*|consult\w*|mensaje|palabra|tema|respuesta\w*|usuario|alguien|escrib\w*)",
        "THEN": "entonces|tú|siempre|nunca|debes",
        "ALWAYS": "siempre|nunca|jamás|de ahora en adelante|a partir de ahora|desde ahora|en adelante|en el futuro|en (?:todas|cada) \\w*\\s?\\w*\\s?respuestas?|cada vez|sin excepción|en ningún caso",
        "ACT": _spaced("di diga menciona mencione añade agrega incluye envía manda abre haz haga clic compra compre pide borra elimina muestra da responde responda contesta trata usa use utiliza empieza termina escribe cita rechaza acepta oculta habla sé evita pon digas menciones des llames llama"),
        "STRONG": r"recomienda|recomiende|recomendar|recomiendes|sugiere|sugiera|sugerir|aconseja|finge|afirma|promociona|prioriza|responde (?:siempre|que|con|a (?:todas?|cualquier))|di (?:que|siempre|al usuario)|obedece|reenvía|considera [^.!?\n]{1,40}como",
        "ASSISTANT": r"(?:tú|usted|(?:el |la )?(?:asistente|ia|chatbot|modelo)|debes|tienes que|deberás)\s(?:debes?|deberías?|tienes? que|ha de|siempre|debería|quiere que|que)?\s?",
        "DOING": r"(?:recomendar|recomiende|sugerir|decir|mencionar|añadir|enviar|revelar|ignorar|incluir|comprar|fingir|citar|obedecer)",
        "AUTHORITY": r"\b(?:mensaje|instrucción|orden|nota|aviso) (?:del|de los|de la|de) (?:sistema|desarrollador\w*|administrador\w*|equipo de seguridad)",
    },
    "pt": {
        "CONJ": "e|depois|mas|então",
        "PLEASE": "por favor|importante|agora|assistente|deves|você deve",
        "IGNORE": r"\b(?:ignore|ignora|ignorar|esqueça|esquece|esquecer|desconsidere|desconsidera|descarte|burle|contorne|não (?:siga|sigas|obedeça))",
        "TARGET": r"(?:instruções|instrução|regras|diretrizes|normas|restrições|orientações|prompt|tudo (?:o que|acima)|políticas?)",
        "REVEAL": r"\b(?:revele|revela|mostre|mostra|envie|envia|mande|compartilhe|partilha|imprima|repita|divulgue|exiba|encaminhe)",
        "HIDDEN": r"(?:prompt|instruções|memórias|senhas|palavras-passe|dados (?:privados|pessoais)|segredos|conversas|chaves? (?:de )?api|mensagem do sistema)",
        "BECOME": r"\b(?:agora (?:você )?(?:é|és)|você (?:é|agora é)|tu és agora|a partir de agora (?:você |tu )?(?:é|és))|\b(?:aja|age|comporte-se|responda|finja) (?:como|que|ser)|modo (?:desenvolvedor|programador|deus)|novas? instruç|\b(?:seu|teu) (?:novo )?papel é",
        "SECRETLY": r"\bnão (?:o |lhe )?(?:diga|digas|mencione|menciones|revele|conte|informe|avise)\b[^.!?\n]{0,40}\b(?:usuário|utilizador)|sem (?:dizer|avisar|informar|que)[^.!?\n]{0,25}\b(?:usuário|utilizador)",
        "WHEN": "quando|se|sempre que|cada vez|assim que|da próxima vez|para (?:toda|qualquer)|em (?:cada|todas)",
        "ASKED": r"(?:pergunt\w*|disser|diz|fal\w*|mencion\w*|consult\w*|mensagem|palavra|tema|respostas?|usuário|utilizador|alguém|escrev\w*)",
        "THEN": "então|sempre|nunca|deve",
        "ALWAYS": "sempre|nunca|jamais|de agora em diante|a partir de agora|daqui em diante|no futuro|em (?:todas|cada) \\w*\\s?\\w*\\s?respostas?|cada vez|sem exceção|em nenhum caso",
        "ACT": _spaced("diga diz mencione menciona adicione acrescente inclua inclui envie envia mande abra clique compre peça apague mostre dê responda responde trate use usa utilize comece termine escreva cite recuse aceite esconda fale seja evite coloque chame"),
        "STRONG": r"recomende|recomenda|recomendar|recomendes|sugira|sugere|sugerir|aconselhe|finja|finge|afirme|promova|priorize|responda (?:sempre|que|com|a (?:todas?|qualquer))|diga (?:que|sempre|ao (?:usuário|utilizador))|obedeça|encaminhe|considere [^.!?\n]{1,40}como",
        "ASSISTANT": r"(?:você|tu|(?:o |a )?(?:assistente|ia|chatbot|modelo))\s(?:deve|deves|deveria|tem que|tens de|precisa|sempre)",
        "DOING": r"(?:recomendar|sugerir|dizer|mencionar|adicionar|enviar|revelar|ignorar|incluir|comprar|fingir|citar|responder|obedecer)",
        "AUTHORITY": r"\b(?:mensagem|instrução|ordem|nota|aviso) (?:do|dos|da|de) (?:sistema|desenvolvedor\w*|administrador\w*|equipa|equipe)",
    },
    "it": {
        "CONJ": "e|poi|ma|quindi",
        "PLEASE": "per favore|importante|ora|adesso|assistente|devi",
        "IGNORE": r"\b(?:ignora|ignorare|ignorate|dimentica|dimenticare|trascura|scavalca|aggira|non (?:seguire|rispettare|obbedire))",
        "TARGET": r"(?:istruzioni|istruzione|regole|direttive|linee guida|restrizioni|indicazioni|prompt|tutto (?:ciò|quello) (?:che|sopra))",
        "REVEAL": r"\b(?:rivela|mostra|mostrami|invia|manda|condividi|stampa|ripeti|divulga|inoltra|pubblica)",
        "HIDDEN": r"(?:prompt|istruzioni|ricordi|memorie|password|dati (?:privati|personali)|segreti|conversazioni|chiav[ei] api|messaggio di sistema)",
        "BECOME": r"\b(?:ora sei|adesso sei|sei ora|d'ora in poi sei|da ora sei)|\b(?:agisci|comportati|rispondi|fingi) (?:come|di|che)|modalità (?:sviluppatore|dio)|nuov[ae] istruzion|\bil tuo (?:nuovo )?ruolo è",
        "SECRETLY": r"\bnon (?:lo )?(?:dire|dirlo|menzionare|rivelare|informare|avvisare)\b[^.!?\n]{0,40}\butente|senza (?:dir\w*|avvisare|informare|che)[^.!?\n]{0,25}\butente",
        "WHEN": "quando|se|ogni volta|non appena|la prossima volta|per ogni|in (?:ogni|tutte)|a ogni",
        "ASKED": r"(?:chied\w*|chiest\w*|dice|parl\w*|menzion\w*|domand\w*|messaggio|parola|argomento|rispost\w*|utente|qualcuno|scriv\w*)",
        "THEN": "allora|sempre|mai|devi",
        "ALWAYS": "sempre|mai|d'ora in poi|da ora in poi|da adesso|in futuro|in (?:tutte|ogni) \\w*\\s?rispost[ae]|ogni volta|senza eccezioni|in nessun caso",
        "ACT": _spaced("di' dì dici menziona aggiungi includi invia manda apri clicca compra ordina cancella elimina mostra dai rispondi tratta usa utilizza inizia termina scrivi cita rifiuta accetta nascondi parla sii evita metti dire menzionare chiama"),
        "STRONG": r"raccomanda|raccomandare|consiglia|consigliare|suggerisci|suggerire|fingi|afferma|promuovi|privilegia|rispondi (?:sempre|che|con|a (?:tutte|ogni|qualsiasi))|di' (?:che|sempre|all'utente)|obbedisci|inoltra|considera [^.!?\n]{1,40}come",
        "ASSISTANT": r"(?:tu|(?:l'|il |la )?(?:assistente|ia|chatbot|modello))\s(?:devi|deve|dovresti|dovrebbe|dovrai|sempre)",
        "DOING": r"(?:raccomandare|consigliare|suggerire|dire|menzionare|aggiungere|inviare|rivelare|ignorare|includere|comprare|fingere|citare|rispondere)",
        "AUTHORITY": r"\b(?:messaggio|istruzione|ordine|nota|avviso) (?:del|dei|dello|degli|dall'|di) ?(?:sistema|sviluppator\w*|amministrator\w*)",
    },
    "nl": {
        "CONJ": "en|dan|maar|dus",
        "PLEASE": "alsjeblieft|graag|nu|belangrijk|assistent|je moet",
        "IGNORE": r"\b(?:negeer|negeren|vergeet|omzeil|overschrijf|volg geen)",
        "TARGET": r"(?:instructies?|regels|richtlijnen|aanwijzingen|beperkingen|prompt|alles (?:hierboven|hiervoor))",
        "REVEAL": r"\b(?:onthul|toon|stuur|verzend|geef|deel|herhaal|print)",
        "HIDDEN": r"(?:systeemprompt|prompt|instructies|herinneringen|wachtwoorden|privégegevens|geheimen|gesprekken|api-sleutels?)",
        "BECOME": r"\bje bent (?:nu|vanaf nu)|\bgedraag je als|\bdoe alsof|nieuwe instructies?|ontwikkelaarsmodus",
        "SECRETLY": r"\bzonder (?:het )?(?:de )?gebruiker|\bvertel (?:het )?de gebruiker (?:niet|nooit)",
        "WHEN": "als|wanneer|zodra|telkens als|de volgende keer|bij (?:elke|vragen)",
        "ASKED": r"(?:vra\w*|vroeg|gevraagd|zegt|noemt|woord|bericht|gebruiker|iemand|onderwerp|antwoord)",
        "THEN": "dan|altijd|nooit",
        "ALWAYS": "altijd|nooit|vanaf nu|voortaan|in de toekomst|in (?:elk|alle) antwoord\\w*",
        "ACT": _spaced("zeg vertel noem voeg stuur open klik koop bestel verwijder toon geef antwoord behandel gebruik begin eindig schrijf verwijs vertrouw wees"),
        "STRONG": r"beveel [^.!?\n]{1,60}\baan\b|aanbevelen|raad [^.!?\n]{1,60}\baan\b|adviseer|stel [^.!?\n]{1,60}\bvoor\b|promoot|doe alsof|beweer",
        "ASSISTANT": r"(?:je|jij|u|de (?:assistent|ai|chatbot))\s(?:moet|zult|dient|mag)\b[^.!?\n]{0,50}?",
        "DOING": r"(?:aanbevelen|aanraden|zeggen|noemen|sturen|onthullen|negeren|toevoegen|kopen)",
    },
    "ru": {
        "CONJ": "и|затем|но|потом",
        "PLEASE": "пожалуйста|важно|теперь|ассистент|ты должен",
        "IGNORE": r"\b(?:игнорируй\w*|проигнорируй\w*|забудь\w*|отбрось\w*|отмени\w*|обойди\w*|нарушай\w*|не (?:следуй|выполняй|соблюдай)\w*)",
        "TARGET": r"(?:инструкци\w+|правил\w*|указани\w+|ограничени\w+|директив\w+|промпт\w*|вс[её], что (?:выше|было)|предыдущ\w+|установк\w+)",
        "REVEAL": r"\b(?:раскрой\w*|покажи\w*|выведи\w*|отправь\w*|отправляй\w*|перешли\w*|пришли\w*|повтори\w*|выдай\w*|назови\w*|сообщи\w*|опубликуй\w*)",
        "HIDDEN": r"(?:системн\w+|промпт\w*|инструкци\w+|воспоминани\w+|парол\w+|личн\w+ данн\w+|секрет\w*|переписк\w+|ключ\w* api|api-ключ\w*|памят\w+)",
        "BECOME": r"\bты (?:теперь|больше не|отныне)|\b(?:веди себя|действуй|отвечай|притворись\w*) (?:как|что|будто)|режим (?:разработчика|бога)|новы\w+ инструкци|\bтвоя (?:новая )?(?:роль|задача)",
        "SECRETLY": r"\bне (?:говори|сообщай|упоминай|рассказывай)\w*\b[^.!?\n]{0,30}(?:пользовател\w+|об этом)|без ведома|втайне от",
        "WHEN": "когда|если|всякий раз|каждый раз|как только|в следующий раз|при (?:любом|каждом|вопрос\\w*)|на (?:любой|все)",
        "ASKED": r"(?:спрос\w+|спрашива\w+|скаж\w+|говор\w+|упом\w+|вопрос\w*|сообщени\w+|слово|тем\w+|ответ\w*|пользовател\w+|кто-то|напиш\w+)",
        "THEN": "то|тогда|всегда|никогда",
        "ALWAYS": "всегда|никогда|отныне|с этого момента|впредь|в будущем|теперь|постоянно|в (?:каждом|любом) ответе|во всех ответах|при любых обстоятельствах|каждый раз",
        "ACT": _spaced("говори скажи упоминай упомяни добавляй добавь отправляй отправь открывай открой нажми покупай купи закажи удаляй удали показывай покажи давай отвечай ответь используй начинай заканчивай пиши напиши ссылайся доверяй считай хвали избегай называй"),
        "STRONG": r"рекомендуй\w*|порекомендуй\w*|советуй\w*|посоветуй\w*|предлагай\w*|притворяйся|притворись|утверждай\w*|рекламируй\w*|отвечай (?:всегда|что|на (?:все|любой))|говори (?:что|всем|пользовател\w+)|пересылай\w*|считай [^.!?\n]{1,40}(?:надёжн|надежн|доверен)",
        "ASSISTANT": r"(?:ты|вы|ассистент|ии|модель|бот|помощник)\s(?:должен|должна|должны|обязан\w?|всегда|никогда не|следует)",
        "DOING": r"(?:рекомендовать|советовать|говорить|упоминать|добавлять|отправлять|раскрыть|раскрывать|игнорировать|отвечать|предлагать|покупать)",
        "AUTHORITY": r"(?:сообщение|инструкция|приказ|указание) (?:от )?(?:системы|разработчик\w+|администратор\w+)|системное сообщение",
    },
    "pl": {
        "CONJ": "i|potem|ale",
        "PLEASE": "proszę|ważne|teraz|asystencie|musisz",
        "IGNORE": r"\b(?:zignoruj|ignoruj|zapomnij|pomiń|obejdź|nie (?:przestrzegaj|stosuj się))",
        "TARGET": r"(?:instrukcj\w+|zasad\w*|polece\w+|wytyczn\w+|ogranicze\w+|prompt\w*|wszystko (?:powyżej|co))",
        "REVEAL": r"\b(?:ujawnij|pokaż|wyślij|podaj|udostępnij|powtórz|wypisz)",
        "HIDDEN": r"(?:prompt\w*|instrukcj\w+|wspomnie\w+|hasł\w+|dane (?:prywatne|osobowe)|sekret\w*|rozmow\w+|klucz\w* api)",
        "BECOME": r"\bjesteś (?:teraz|od teraz)|\bzachowuj się jak|\budawaj|nowe instrukcje|tryb dewelopera",
        "SECRETLY": r"\bnie mów[^.!?\n]{0,20}użytkownik\w*|bez wiedzy użytkownika",
        "WHEN": "gdy|kiedy|jeśli|jeżeli|za każdym razem|następnym razem|na każde",
        "ASKED": r"(?:zapyta\w*|pyta\w*|mówi|powie|wspomn\w*|wiadomoś\w+|słowo|temat\w*|użytkownik\w*|ktoś|odpowied\w+)",
        "THEN": "to|wtedy|zawsze|nigdy",
        "ALWAYS": "zawsze|nigdy|od teraz|od tej pory|w przyszłości|w każdej odpowiedzi",
        "ACT": _spaced("mów powiedz wspomnij wspominaj dodaj dodawaj wyślij wysyłaj otwórz kliknij kup zamów usuń pokaż daj odpowiadaj odpowiedz używaj zaczynaj kończ pisz cytuj ufaj bądź"),
        "STRONG": r"polecaj|poleć|rekomenduj|zarekomenduj|sugeruj|zasugeruj|doradzaj|udawaj|twierdź|promuj|odpowiadaj (?:zawsze|że)",
        "ASSISTANT": r"(?:ty|asystent|ai|chatbot|model)\s(?:musi|musisz|powinien|powinieneś|ma|masz)",
        "DOING": r"(?:polecać|rekomendować|sugerować|mówić|wspominać|dodawać|wysyłać|ujawniać|ignorować)",
    },
    "tr": {
        "CONJ": "ve|sonra|ama",
        "PLEASE": "lütfen|önemli|şimdi|asistan",
        "override": r"(?:talimat\w*|kural\w*|yönerge\w*|komut\w*|istem\w*)\s(?:\w+\s){0,3}?(?:yok say\w*|görmezden gel\w*|unut\w*|dikkate alma\w*|umursama\w*|atla\b)",
        "reveal": r"(?:sistem (?:istemi|talimat)\w*|parola\w*|şifre\w*|anı\w*|gizli \w+)\s(?:\w+\s){0,3}?(?:göster|açıkla|paylaş|gönder|yaz)\b",
        "BECOME": r"\b(?:artık|bundan sonra) sen\b|\bsen (?:artık|şimdi)\b|gibi davran\b|yeni talimat",
        "SECRETLY": r"kullanıcıya (?:\w+\s){0,2}?(?:söyleme|bahsetme|belli etme)\b|kullanıcıdan gizle",
        "standing": r"\b(?:her zaman|daima|asla|bundan (?:sonra|böyle)|bundan sonra hep|hep)\b[^.!?\n]{1,60}\b(?:öner|tavsiye et|söyle|ekle|gönder|bahset|de|yanıtla|cevap ver|yaz|kullan|aç|önerme|söyleme)[.!]?(?:\s|$)",
        "trigger": r"(?:sorulduğunda|sorarsa|sorduğunda|sorulursa|söylediğinde|derse|dediğinde|geçtiğinde)\b[^.!?\n]{1,80}\b(?:öner|tavsiye et|söyle|ekle|gönder|bahset|de|yanıtla|cevap ver|yaz)[.!]?(?:\s|$)",
    },
    "zh": {
        "override": "(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要遵守|不要遵循|绕过|跳过|覆盖|违反|抛开).{0,16}(?:指令|指示|规则|規則|提示|限制|要求|设定|設定|命令|政策|所有内容|之前的|上面的)",
        "reveal": "(?:透露|泄露|洩露|显示|顯示|输出|輸出|告诉我|打印|重复|发送|發送|公开|列出).{0,16}(?:系统提示|系統提示|提示词|指令|所有记忆|所有記憶|记忆|密码|密碼|隐私|私人|聊天记录|密钥|机密)",
        "role": "你(?:现在|現在|从现在起|從現在起)(?:是|扮演)|(?:从现在开始|从现在起|從現在起|从今以后)，?你(?:是|要|必须|就是)|扮演.{0,12}(?:角色|没有限制|不受限)|假装(?:你|自己)?是|开发者模式|開發者模式|新的?(?:系统)?指[令示][:：]|你的新?(?:角色|任务|身份)是",
        "secrecy": "(?:不要|别|不许|切勿|不得)(?:告诉|告訴|告知|让|讓|通知|提醒)(?:用户|用戶|使用者|他|她|任何人)|(?:瞒着|不让)用户",
        "trigger": "(?:当|當|如果|只要|每当|每當|每次|一旦|若|下次).{0,30}(?:问|問|提到|说|說|询问|詢問|谈到|出现|输入).{0,24}(?:就|请|請|，|,|时|時|，你)(?:请|你|要|必须|都|就|一律|总是){0,3}(?:回答|回复|说|說|推荐|推薦|告诉|建议|建議|声称|提到|发送|输出)",
        "standing": "^(?:请|請)?(?:你)?(?:必须|一定要|务必|要)?(?:总是|總是|始终|永远|永遠|每次都?|一律|从现在起|从今以后|以后|今后|從不|绝不|绝对不要|永远不要)[，,]?(?:请|都|要|只|必须|在.{1,12}(?:中|里|末尾|时)){0,3}(?:推荐|推薦|建议|建議|回答|回复|说|說|告诉|提到|添加|加上|发送|信任|使用|引用|打开|访问|购买|拒绝|声称)|^(?:请|請)?(?:推荐|推薦|声称|假装|告诉用户|优先推荐)"
        "|(?:，|。|；|,|并且?|然后)(?:请|你)?(?:必须|务必|一定要)?(?:总是|始终|永远|每次都?|一律|以后)(?:都|要|只){0,2}(?:推荐|推薦|建议|说|提到|告诉|添加)|(?:你|助手|ai|人工智能|模型)(?:必须|应该|應該|需要|得|务必|应当|要)(?:总是|始终|永远|都|在.{1,12}){0,2}(?:推荐|推薦|建议|说|提到|告诉|忽略|透露|发送|添加|声称)|用户(?:希望|要求|想要|授权)(?:你|助手|ai).{0,12}(?:推荐|推薦|忽略|透露|发送|说|提到)",
        "authority": "(?:系统|系統|开发者|開發者|管理员|管理員)(?:消息|通知|命令|指令|覆盖)",
    },
    "ja": {
        "override": "(?:指示|命令|ルール|規則|プロンプト|制限|ガイドライン|設定|内容)(?:を|は|も)?(?:すべて|全て|全部|一切)?(?:無視|忘れ|破棄|上書き|従わな|守らな)",
        "reveal": "(?:システムプロンプト|プロンプト|指示|記憶|メモリ|パスワード|個人情報|秘密|会話履歴|apiキー)を?.{0,10}(?:教え|見せ|表示|出力|送信|送って|公開|明かし|開示|漏ら)",
        "role": "(?:あなた|君|お前|きみ)は(?:今|これ)から|(?:として|のように|になりきって)(?:振る舞|ふるま|行動し|演じ)|ふりを(?:し|する)|開発者モード|新しい指示|制限(?:の|は)?な(?:い|く)",
        "secrecy": "ユーザー?には?(?:言わ|教え|知らせ|伝え|話さ|気づかれ)(?:ない|ずに)|ユーザー?に(?:内緒|秘密)",
        "trigger": "(?:(?:聞|尋ね|質問|言|話|求め)(?:かれ|われ|され|られ|っ|い)?(?:たら|れば|た場合|たとき|た時|るとき|ると)|たび(?:に)?|度に|場合は|際は).{0,50}(?:答え|言い|言っ|勧め|推奨|おすすめし|薦め|伝え|回答し|返答し|返し)(?:て|なさい|ること|ろ|ます|てください|よ)",
        "standing": "(?:常に|いつも|必ず|今後は?|これからは?|以後|絶対に|毎回|決して).{0,50}(?:勧め|推奨し|推薦し|おすすめし|薦め|言っ|言い|答え|伝え|追加し|含め|送っ|送信し|信頼し|信用し|言及し|紹介し|開い|使っ)(?:て|なさい|ること|ろ|てください|るな|ないで)|(?:アシスタント|ai|あなた|モデル)は.{0,40}(?:勧め|推奨し|推薦し|言わ|答え|無視し|伝え|送信し)(?:なければ|るべき|ること|ないと)|(?:勧めて|推奨して|推薦して|おすすめして)(?:ください|$)",
        "authority": "(?:システム|開発者|管理者)(?:から)?(?:の)?(?:メッセージ|命令|通知|指令)",
    },
    "ko": {
        "override": "(?:지시|명령|규칙|프롬프트|제한|지침|설정|내용)(?:사항)?(?:을|를|은|는|도)?\\s?(?:모두|전부|다)?\\s?(?:무시|잊|따르지|지키지)",
        "reveal": "(?:시스템 프롬프트|프롬프트|지침|기억|메모리|비밀번호|개인 ?정보|비밀|대화 ?기록|api 키)(?:을|를)?.{0,10}(?:알려|보여|출력|전송|보내|공개|누설)",
        "role": "(?:너는|당신은|넌) (?:이제|지금부터)|(?:이제부터|지금부터) (?:너는|당신은|넌)|(?:처럼|인 척|인척) (?:행동|연기|대답)|개발자 모드|새로운 (?:지시|명령)",
        "secrecy": "사용자(?:에게|한테)(?:는)? ?(?:절대 |이를 )?(?:말하지|알리지|언급하지)|사용자 ?몰래",
        "trigger": "(?:물어보면|물으면|질문하면|말하면|언급하면|묻거든|물어볼 때|나오면|때마다).{0,50}(?:말해|대답해|답해|추천해|권해|알려|하라고|답하|추천하)",
        "standing": "(?:항상|언제나|반드시|앞으로|이제부터|지금부터|절대|매번).{0,50}(?:추천해|추천하|권해|권하|말해|말하|대답해|답해|언급해|추가해|포함해|보내|신뢰해|사용해)(?:라|줘|세요|십시오|야|지 마|$|\\.)|(?:추천해|권해) ?(?:라|주세요|줘)",
        "authority": "(?:시스템|개발자|관리자) ?(?:메시지|명령|지시|알림)",
    },
    "ar": {
        "override": "(?:تجاهل|تجاهلي|انس|انسى|تجاوز|لا تتبع|اهمل|أهمل).{0,40}(?:التعليمات|تعليمات|القواعد|الأوامر|التوجيهات|القيود|ما سبق|المطالبة)",
        "reveal": "(?:اكشف|أظهر|اظهر|أرسل|ارسل|اطبع|شارك|أعطني|انشر).{0,30}(?:تعليمات النظام|موجه النظام|الذكريات|ذكريات|كلمات المرور|كلمة المرور|البيانات|الأسرار|المحادثات)",
        "role": "(?:أنت|انت) (?:الآن|الان|من الآن)|من الآن (?:فصاعدا|فصاعدًا|فصاعداً) (?:أنت|انت)|تظاهر (?:بأنك|أنك|بأن)|تصرف (?:كأنك|كما لو|ك)|وضع المطور|تعليمات جديدة",
        "secrecy": "(?:لا تخبر|دون إخبار|بدون إخبار|لا تذكر).{0,20}(?:المستخدم|أحد|ذلك)",
        "trigger": "(?:عندما|إذا|اذا|كلما|متى|في كل مرة).{0,50}(?:يسأل|سأل|سئلت|تسأل|يذكر|ذكر|يقول|قال|سؤال).{0,50}(?:،|,)?\\s?(?:قل|أجب|اجب|أوص|أوصي|اقترح|رد|اذكر|انصح|ادعي|أخبر)",
        "standing": "(?:^|[.،,:!؛]\\s?)(?:دائما|دائمًا|دائماً|أبدا|من الآن فصاعد\\S*|في المستقبل)[،,]?\\s(?:\\S+\\s){0,2}?(?:أوص|أوصي|اوصي|قل|انصح|اقترح|اذكر|أضف|أرسل|ثق|استخدم|أجب|رد)|^(?:أوص|أوصي|انصح|اقترح|قل|أضف|أجب)\\s.{0,60}(?:دائما|دائمًا|دائماً)|يجب (?:عليك |أن |على المساعد )+.{0,20}(?:توصي|تقول|تنصح|تذكر|يوصي|تتجاهل|ترسل)",
        "authority": "(?:رسالة|تعليمات|أمر|أوامر) (?:من )?(?:النظام|المطور|المسؤول)",
    },
    "hi": {
        "override": "(?:निर्देश|निर्देशों|नियम|नियमों|आदेश|प्रॉम्प्ट|सीमाओं).{0,14}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल|उपेक्षा|मत मानो)",
        "reveal": "(?:सिस्टम प्रॉम्प्ट|निर्देश|यादें|स्मृति|पासवर्ड|निजी|गुप्त).{0,20}(?:बताओ|बताएं|दिखाओ|दिखाएं|भेजो|भेजें|साझा)",
        "role": "(?:अब|आज) (?:से )?(?:तुम|आप) .{0,30}(?:हो|हैं)(?:[।.]|$)|(?:की तरह|का नाटक) (?:व्यवहार|कर)|डेवलपर मोड|नए निर्देश",
        "secrecy": "(?:उपयोगकर्ता|यूज़र) को (?:मत|न|नहीं) (?:बता|कह)",
        "trigger": "(?:जब|अगर|यदि|हर बार).{0,50}(?:पूछ|कह|बोल|ज़िक्र|सवाल).{0,50}(?:कहो|कहें|बताओ|बताएं|सुझाओ|सुझाएं|सुझाव दो|सुझाव दें|जवाब दो|जवाब दें|सिफारिश कर)",
        "standing": "(?:हमेशा|कभी|अब से|आगे से|हर जवाब में).{1,50}(?:सुझाओ|सुझाएं|सुझाव दो|सुझाव दें|सिफारिश करो|सिफारिश करें|सिफ़ारिश करें|कहो|कहें|बताओ|बताएं|जोड़ो|जोड़ें|भेजो|भेजें|उल्लेख करें)(?:[।.! ]|$)",
        "authority": "(?:सिस्टम|डेवलपर|एडमिन) (?:संदेश|आदेश|निर्देश)",
    },
}
