"""What is no fact about a person whatever its verb: every answer, your task, nobody is to know.

More of ``injection_indirect``, by subject: a sentence about all answers, about what is the
assistant's own, or about who must not be told is refused unless it is a wish about style.
"""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

from collections.abc import Mapping

_SENTENCE_START = r"(?:^|[.!?\n]\s{0,3})"
# What a person does with the answers of others.
_ANSWERS_OF_OTHERS = (
    r"(?![^.!?\n]{0,80}\b(?:checks|reads|knows|gets|got|receives|received|grades|marks|reviews"
    r"|kept|collects|happy|likes|liked|loves|enjoys|satisfied|pleased|teaches|bekommt|erhält|kennt"
    r"|weiß|prüft|liest|korrigiert|lit|connaît|reçoit|vérifie"
    r"|lee|sabe|conoce|recibe|revisa|lê|conhece|recebe|legge|conosce|riceve|controlla)\b)"
)
# What an assistant may be wanted to do; everything else must be a wish about style.
_WANTED_HELP = (
    r"(?!help|be\b|remember|explain|check|correct|use|speak|write|answer|respond|reply|ask|give"
    r"|keep|avoid|provide|summari[sz]e|translate|teach|quiz|proofread|talk|call|address|format"
    r"|stick|point|show|make|challenge|play|practi[sc]e|take into|consider|know|stop|not\b"
    r"|always|never|assume (?:no|that (?:he|she|they|user))|include|suggest|plan|remind|read"
    r"|track|review|understand|respect|forget)"
)

SUBJECT_COMMANDS: Mapping[str, Mapping[str, str]] = {
    "en+++": {
        "standing": rf"{_SENTENCE_START}{_ANSWERS_OF_OTHERS}[^.!?\n]{{0,80}}?\b(?:every|each|all)"
        r" (?:\w{1,12} )?(?:answers?|responses?|replies|reply)\b"
        r"|\byour (?:first |top |only |main |next |default |sole )?(?:suggestions?"
        r"|recommendations?|picks?|source|task|mission|duty)\b"
        r"|\b(?:wants?|wish(?:es)?|asks?|asked|expects?|would like|told|instructed|requires?"
        r"|needs?)"
        r" (?:you|(?:the|its|this) (?:assistant|ai|chatbot|bot|llm)) (?:not to|never to|to) "
        rf"{_WANTED_HELP}[a-z]"
        r"|\b(?:wants?|wish(?:es)?|asks?|asked|told|instructed) (?:you|the (?:assistant|ai"
        r"|chatbot))"
        r" (?:not to|never to|to never) (?:warn|refuse|question|doubt|criticise|mention|tell)\b"
        rf"|{_SENTENCE_START}(?:please )?be (?:rude|cruel|hostile|dismissive|biased|unhelpful) "
        r"(?:to"
        r"|towards?)\b"
        rf"|{_SENTENCE_START}(?:please )?(?:always )?(?:give (?:out|away)|follow (?:only|all|every"
        r"|each|any|the (?:orders|commands|instructions)))\b"
        r"|\bstop (?:all )?(?:filtering|moderating|refusing|censoring|warning)\b"
        r"|(?:^|[.!?:\n]\s{0,3})(?:only|exclusively) (?:cite|recommend|quote|mention|link|suggest"
        r"|trust|answer|respond|reply|name)\b|(?:^|[.!?:\n]\s{0,3})refuse (?:to|all|any|every)\b"
        r"|(?:^|[.!?:\n]\s{0,3})do (?:whatever|anything|everything|exactly what)\b"
        r"|\b(?:wants?|likes|prefers?|expects?|asked|wish(?:es)?)\b[^.!?\n]{1,40}\b(?:recommended"
        r"|suggested|mentioned|promoted|praised|named|endorsed) (?:whenever|when|if|each time"
        r"|every time|in (?:every|each|all|any))\b|\b(?:answers|responses|replies) (?:that|which)"
        r" (?:promote|recommend|praise|advertise|mention|endorse|favou?r)\b",
        "secrecy": r"(?:^|[.!?,;\n]\s{0,3})(?:please )?(?:tell no one|tell nobody|let no one know"
        r"|(?:don't|do not|never) tell any(?:one|body))\b",
        "override": r"\b(?:moderation|filtering|censorship|guardrails?|refusals?) (?:is|are"
        r"|has been"
        r"|have been|was) (?:now )?(?:off|lifted|disabled|suspended|removed|switched off)\b"
        r"|\b(?:jailbreak|injection) (?:requests?|prompts?|attempts?) (?:is|are) (?:fine|ok|okay"
        r"|allowed|approved|welcome)"
        r"|\binstructions?\b[^.!?\n]{0,12}\b(?:override|outrank|supersede|take precedence|trump"
        r"|prevail)\b",
        "authority": r"(?:^|[.!?:\n\"'(]\s{0,3})(?:developer|system|admin) (?:message|note"
        r"|prompt)s?"
        r"\s?:|\b(?:delegated|handed over|entrusted) (?:all|every|any)\b[^.!?\n]{1,30}\bto the"
        r" (?:assistant|ai|chatbot|model)\b|\bwritten in this (?:memory|note|entry)\b",
        "reveal": r"(?:^|[.!?]\s{1,3})(?:please )?(?:print|show|repeat|reveal|output|dump|recite) "
        r"(?:them|it)"
        r"\b",
    },
    "de+++": {
        "standing": rf"{_SENTENCE_START}{_ANSWERS_OF_OTHERS}[^.!?\n]{{0,80}}?\b(?:jede[rnm]?"
        r"|alle[nr]?"
        r"|sämtliche[nr]?) (?:deiner |deine[nr]? )?antwort(?:en)?\b"
        r"|\bdein(?:e[mnrs]?)? (?:erste[mnrs]? |einzige[mnrs]? )?(?:vorschlag|empfehlung|aufgabe"
        r"|quelle|auftrag|ziel)\b"
        r"|\b(?:assistent|ki|chatbot|bot)\b[^.!?\n]{1,40}\b(?:bevorzugt|bevorzuge|begünstigt"
        r"|unterstützt nur|belügt|täuscht)\b",
        "secrecy": r"(?:^|[.!?,;\n]\s{0,3})(?:bitte )?(?:sag|sage|erzähl|erzähle|verrate?)\b"
        r"[^.!?\n]{0,12}\b(?:niemandem|keinem)\b",
        "trigger": r"\bnächstes mal\b[^.!?\n]{0,30}\b(?:empfiehlst|nennst|sagst|lobst|schlägst"
        r"|erwähnst"
        r"|antwortest|behauptest) du\b|(?:^|[.!?\n]\s{0,3})sage? (?:bei|auf|zu)\b|\bdu "
        r"(?:empfiehlst"
        r"|lobst|bewirbst|erwähnst|behauptest)\b|\b(?:empfiehlst|lobst|bewirbst|behauptest) du\b",
    },
    "fr+++": {
        "standing": rf"{_SENTENCE_START}{_ANSWERS_OF_OTHERS}[^.!?\n]{{0,80}}?\b(?:chaque|toutes"
        r" (?:les|tes|ses)) réponses?\b"
        r"|\b(?:ta|ton|tes) (?:première |unique |seule )?(?:suggestion|recommandation|source|tâche"
        r"|mission)s?\b|\b(?:assistant|ia|chatbot)\b[^.!?\n]{1,16}\b(?:privilégie|favorise|préfère"
        r"|trompe)\b"
        r"|(?:^|[.!?:\n]\s{0,3})ne (?:cite|mentionne|nomme|évoque|recommande|critique)\w* (?:jamais"
        r"|pas|plus)\b",
        "secrecy": r"\bne (?:le |l'|lui )?(?:dis|dites|raconte\w*|répète\w*)\b[^.!?\n]{0,12}\bà"
        r" personne\b|\bn'en parle\w* à personne\b",
        "trigger": r"\bla prochaine fois,? (?:recommande|conseille|cite|dis|propose|suggère"
        r"|mentionne|vante)"
        r"\b",
    },
    "es+++": {
        "standing": rf"{_SENTENCE_START}{_ANSWERS_OF_OTHERS}[^.!?\n]{{0,80}}?\b(?:cada|todas (?:las"
        r"|tus|sus)) respuestas?\b"
        r"|\btus? (?:primera |única )?(?:sugerencia|recomendación|tarea|misión)\b"
        r"|\b(?:asistente|ia|chatbot)\b[^.!?\n]{1,16}\b(?:favorezca|prefiera|privilegie|engañe)\b",
        "secrecy": r"\bno (?:se )?(?:lo )?(?:digas|cuentes) (?:\w+ )?a nadie\b",
        "trigger": r"\bla próxima vez,? (?:recomienda|sugiere|menciona|di|cita|nombra|propón"
        r"|elogia)\b",
    },
    "pt+++": {
        "standing": rf"{_SENTENCE_START}{_ANSWERS_OF_OTHERS}[^.!?\n]{{0,80}}?\b(?:cada|todas (?:as"
        r"|suas|tuas)) respostas?\b"
        r"|\b(?:sua|tua) (?:primeira|única) (?:sugestão|recomendação|fonte|tarefa)\b"
        r"|\b(?:assistente|ia|chatbot)\b[^.!?\n]{1,16}\b(?:favoreça|prefira|privilegie|engane)\b",
        "secrecy": r"\bnão (?:diga|conte|fale) (?:\w+ )?a ninguém\b",
        "trigger": r"\bda próxima vez,? (?:recomende|sugira|mencione|diga|cite|elogie|indique)\b",
    },
    "it+++": {
        "standing": rf"{_SENTENCE_START}{_ANSWERS_OF_OTHERS}[^.!?\n]{{0,80}}?\b(?:ogni|tutte le"
        r"(?: tue)?) rispost[ae]\b"
        r"|\b(?:tua|tuo) (?:prima |unica )?(?:proposta|suggerimento|raccomandazione|compito)\b"
        r"|\b(?:assistente|ia|chatbot)\b[^.!?\n]{1,16}\b(?:favorisca|preferisca|privilegi"
        r"|inganni)\b"
        r"|(?:^|[.!?:\n]\s{0,3})non (?:menzionare|citare|nominare|criticare|consigliare) mai\b",
        "secrecy": r"\bnon (?:dirlo|dire nulla|raccontarlo) a nessuno\b",
        "trigger": r"\bla prossima volta,? (?:consiglia|raccomanda|cita|di'|menziona|suggerisci"
        r"|proponi|loda)",
    },
    "tr+++": {
        "standing": r"\b(?:her|tüm|bütün) (?:cevab|cevap|yanıt)(?:ı|lar|ları|ların|ın)?\b"
        r"|\b(?:asistan|yapay zeka)\w*\b[^.!?\n]{1,30}\b(?:tercih etmesini|kayırmasını"
        r"|desteklemesini)\b"
        r"|\basla (?:bahsetme|söyleme|anma|önerme)\b",
        "role": r"\bartık sen\b|\bsen artık\b",
        "secrecy": r"\bkimseye (?:söyleme|anlatma|bahsetme)\b",
        "trigger": r"\b(?:bir dahaki sefere?|gelecek sefer|bir sonraki sefer)\b[^.!?\n]{1,40}\b"
        r"(?:öner|söyle|de"
        r"|öv|bahset)\b[.!]?(?:\s|$)",
    },
    "ru+++": {
        "standing": r"\bкажд\w+ (?:\w+ )?ответ\w*\b|\b(?:ассистент|помощник|ии|чат-?бот)\b"
        r"[^.!?\n]{1,12}\b(?:предпочитал\w*|выделял\w*|обманывал\w*|защищал\w*)\b",
        "role": r"\b(?:теперь|отныне|с этого момента) (?:ты|вы)\b",
        "secrecy": r"\bникому не (?:говори|рассказывай|сообщай)\w*\b",
        "trigger": r"\bв следующий раз (?:посоветуй|рекомендуй|порекомендуй|назови|скажи|упомяни"
        r"|предложи)\b"
        r"|(?:^|[.!?\n]\s{0,3})(?:говори|скажи|утверждай|отвечай), что\b",
    },
    "zh+++": {
        "standing": "(?:每次|每个|每条|所有)的?(?:回答|回复|答案)(?:的)?(?:结尾|开头|末尾|最后|里"
        "|中)"
        "|(?:希望|要求|想让|想要)(?:ai|助手|聊天机器人).{0,4}(?:偏向|偏袒|优先|支持|欺骗)",
        "role": "你(?:现在|现已|从此|今后)(?:是|成为)",
        "secrecy": "(?:不要|别)(?:告诉|跟)(?:任何人|别人)",
        "trigger": "下次(?:请|就|要|记得)?(?:推荐|推薦|建议|说|夸|提到)|(?:问|问起|问到).{1,12}"
        "(?:就|请|要)(?:说|答"
        "|推荐|回答)",
    },
    "ja+++": {
        "standing": "(?:毎回|すべて|全て|各)の?(?:返答|回答|応答|返信)[をはの].{0,24}(?:終え|始め"
        "|締め|最後"
        "|冒頭|末尾)|アシスタントに.{1,24}(?:優先|ひいき|騙|支持)(?:し|させ)?て?(?:ほしい|欲しい)"
        "|(?:触れ|言及し|口にし)(?:ない|る)(?:こと|で)",
        "secrecy": "(?:誰にも|だれにも)(?:言わない|話さない|教えない)で",
    },
    "ko+++": {
        "standing": "(?:모든|매) ?(?:답변|대답|응답)(?:을|의|은).{1,30}(?:끝내|시작|마무리|마쳐"
        "|마지막)"
        "|(?:어시스턴트|챗봇)(?:가|이).{1,20}(?:우선|선호|편들|지지|속이)"
        "|(?:절대|결코) ?(?:언급|추천|거론)하지 ?(?:마|말)",
        "role": "(?:너는|당신은|넌) 이제",
        "secrecy": "아무(?:에게|한테)도 (?:말하지|알리지)",
    },
    "ar+++": {
        "standing": "(?:اختم|ابدأ|أنه|ابدا).{0,6}(?:كل|جميع) (?:إجابة|رد|الإجابات|الردود)"
        "|(?:يريد|يطلب|يرغب) المستخدم أن (?:يفضل|يدعم|يميز|يخدع|يمدح|يروج).{0,6}المساعد"
        "|(?:^|[.،!] ?)لا تذكر",
        "role": "(?:أنت|انت) (?:الآن|الان)",
        "secrecy": "لا تخبر (?:أحد|احد|أي)",
        "trigger": "في المرة (?:القادمة|المقبلة) ?(?:أوص|قل|انصح|اقترح|اذكر)",
    },
    "hi+++": {
        "standing": "(?:हर|सभी|प्रत्येक) (?:जवाब|उत्तर)\\S* (?:के|की|को).{0,30}(?:लिखो|जोड़ो|कहो"
        "|रखो|लिखें|जोड़ें)"
        "|(?:सहायक|चैटबॉट) .{1,20}(?:प्राथमिकता|वरीयता|तरजीह|धोखा) (?:दे|दें)"
        "|उल्लेख (?:मत|न|नहीं) (?:करो|करना|करें)",
        "role": "अब (?:से )?(?:तुम|आप) (?:एक )?",
        "secrecy": "किसी को (?:भी )?(?:मत|न|नहीं) (?:बता|कह)",
        "trigger": "अगली बार .{1,40}(?:करो|सुझाओ|कहो|बताओ|बोलो)|(?:पूछने|पूछे जाने) पर .{1,30}(?:बताओ|कहो"
        "|सुझाओ|बोलो)",
    },
}
