"""Wishes about the style of answers: the only commands to the assistant that may be remembered.

A wish must be one of the known ones from its first word to its last, so that nothing else rides on
it. It is stored as a statement about the user.
"""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from adaptive.privacy.injection_avoidance import avoidance_language

# What a style is told with; a wish consists of these words alone, but for names and languages.
_STYLE_WORDS: Mapping[str, str] = {
    "en": r"fonts?|serif|comic|sans|ounces|grams|pounds|kilograms|kilos|litres|liters|euros"
    r"|dollars|convert|put|place|top|bottom|unit|version|middle|outline|overview|recap|opinions?"
    r"|pros|cons"
    r"|options|grammar|word|end|answer|answers|reply"
    r"|replies|respond|response|responses|write|explain|explanations?"
    r"|speak|talk|use"
    r"|using|be|keep|make|give|give me|provide|avoid|format|summari[sz]e|stick|call|address|me"
    r"|it|them|things|everything|your|my|his|her"
    r"|to|with|in|and|or|but|a|an|the|of|for|at|as|on|by|first|more|less|most|than|not|no"
    r"|don't|do|never|always|please"
    r"|from|now|on|future|all|every|each|when|you|explaining|answering|writing|possible"
    r"|whenever|if|short|brief|briefly|concise|concisely|shortly|succinct\w*|long|longer"
    r"|shorter|detailed|detail|details|thorough\w*|simple|simply"
    r"|plain|clear|clearly|direct|directly|honest|honestly|blunt|bluntly|friendly|formal"
    r"|formally|informal\w*|casual\w*|polite\w*|professional\w*|humou?r\w*|funny|warm"
    r"|serious|neutral|tone|style|voice|language|words?|sentences?|paragraphs?|bullets?"
    r"|points?|lists?|tables?|headings?|headers|markdown|text|code|blocks?|snippets?|comments?"
    r"|examples?|analog(?:y|ies)|metaphors?|steps?|by|step-by-step|diagrams?|emojis?|emoticons?"
    r"|jargon|slang|filler|fluff|disclaimers?|apolog(?:y|ies|ising|izing|ise|ize)|greetings?"
    r"|compliments?|flattery|small|talk|summary|summaries|conclusion|conclusions|tl;dr"
    r"|sources?|references|citations|cite|numbers?|units?|metric|imperial|celsius|fahrenheit"
    r"|kilomet(?:er|re)s|miles|24-hour|12-hour|clock|time|date|dates?|format|iso|british"
    r"|american|australian|spelling|english|german|french|spanish|italian|portuguese|dutch"
    r"|polish|russian|japanese|chinese|korean|turkish|arabic|hindi|ukrainian|swedish|danish"
    r"|norwegian|finnish|czech|greek|hebrew|vietnamese|thai|indonesian|swiss|mandarin"
    r"|cantonese|latin|catalan|romanian|hungarian"
    r"|python|rust|typescript|javascript|java|kotlin|go|c\+\+|sql|typed|type|hints|one|two"
    r"|three|five|max|maximum|at most|only|just|very|too|so|much|many|few|same|own|level"
    r"|beginner|beginners|expert|child|lay|layman's|terms|technical|pronouns?|he/him|she/her"
    r"|they/them|first|last|name|nickname|mr|mrs|ms|dr|sir|madam"
    r"|question|questions|ask|clarifying|follow-up|back|before|end|beginning|start|unless"
    r"|asked|i|otherwise|possible|without|like|this|that|too|also|instead|rather|preferably"
    r"|over|under|up|limit|lines?|straight|get|point|skip|intro\w*|preamble|ending|read|easy"
    r"|easily|understand|large|small|font|bold|italics|oxford|comma|commas|exclamation|marks"
    r"|question|caps|uppercase|lowercase|gender-neutral|inclusive|colou?rs?|colou?r-blind"
    r"|screen|reader|friendly",
    "de": r"alle|jede|jeden|allen|jeder|antwortet|erklärt|schreibt|duzt|verwendet|nutzt"
    r"|antworte|antworten|antwort|schreib|schreibe|erklär|erkläre|erkläre mir|sprich|rede"
    r"|nutze|benutze|verwende|verwenden|nutzen|benutzen|angeben|schreiben|erklären|sei|halte|halt"
    r"|gib|gib mir|fass|fasse|vermeide|formatiere"
    r"|nenn|nenne|duze|duz|sieze|siez|mich|mir|dich|es|alles|dinge|deine|bitte"
    r"|immer|nie|niemals|ab|jetzt|sofort|in|auf|mit|ohne|und|oder|aber|nicht|kein|keine|keinen"
    r"|nur|so|kurz|knapp|kürzer|länger|ausführlich|ausführlicher|einfach|einfachen?|einfacher"
    r"|klar|direkt|ehrlich|freundlich|förmlich|formell|locker|höflich|sachlich|humorvoll"
    r"|worten|wörtern|sprache|sätzen?|satz|stichpunkten?|stichworten|listen?|tabellen?"
    r"|beispielen?|beispiele|emojis?|fachbegriffe|fachjargon|floskeln|quellen|quellenangaben"
    r"|schritt|für|zusammen|deutsch|englisch|französisch|spanisch|italienisch|schweizerdeutsch"
    r"|russisch|türkisch|polnisch|metrischen?|einheiten|celsius|antworten|code|zusammenfassung"
    r"|ton|stil|per|du|sie|du-form|zwei|drei|fünf|maximal|höchstens|an|die|der|das|den|dem"
    r"|einer?|einem|eine|meine|möglichst|wie|kind",
    "fr": r"toutes|chaque|tes|tutoie|réponde|écrive|soit|réponds|répondez|écris|écrivez|explique"
    r"|expliquez|parle|parlez|utilise|utilisez|sois"
    r"|soyez|reste|donne|donne-moi|donnez|évite|évitez|fais|faites|appelle-moi|appelez-moi"
    r"|tutoie-moi|tutoyez-moi|vouvoie-moi|vouvoyez-moi|moi|toujours|jamais|en|avec|sans|et"
    r"|ou|mais|pas|plus|bref|brève|brièvement|court|courts?|courtes?|concis|concise|simple"
    r"|simples|simplement|clair|clairement|direct|directe|honnête|amical|formel|poli"
    r"|mots|phrases?|listes?|puces|tableaux?|exemples?|emojis?|émojis?|jargon|réponses?"
    r"|français|anglais|espagnol|allemand|italien|étape|étapes|par|style|ton|des|de|d'|d|l|la"
    r"|le|les|un|une|à|s'il te plaît|s'il vous plaît|svp|unités|métriques|manière|façon|très"
    r"|choses|sources|cite|citez",
    "es": r"favor|todas|cada|tus|escriba|hable|sea|tutee|use|responde|responda|contesta|escribe"
    r"|explica"
    r"|explícame|explicame|habla|háblame|usa"
    r"|utiliza|sé|mantén|da|dame|evita|haz|llámame|llamame|tutéame|trátame|me|siempre"
    r"|nunca|en|con|sin|y|o|pero|no|más|breve|brevemente|breves|corto|cortas?|cortos?"
    r"|conciso|concisa|simple|sencillo|sencillas?|claro|claramente|directo|directa|honesto"
    r"|amable|formal|palabras|frases?|listas?|viñetas|tablas?|ejemplos?|emojis?|jerga"
    r"|respuestas?|español|inglés|francés|alemán|portugués|italiano|paso|a|por|de|usted|tú"
    r"|tu|estilo|tono|las|los|la|el|un|una|por favor|unidades|métricas|sistema|métrico"
    r"|cosas|forma|manera|muy",
    "pt": r"favor|todas|cada|suas|escreva|fale|responda|responde|escreva|escreve|explique|explica"
    r"|fale"
    r"|fala|use|usa|utilize|seja|sê"
    r"|mantenha|dê|dá|dá-me|evite|evita|faça|chame-me|chama-me|me|chame|chama|trate-me"
    r"|trata-me|sempre|nunca|em|com|sem|e|ou|mas|não|mais|breve|brevemente|curto|curtas?"
    r"|curtos?|conciso|concisa|simples|claro|direto|direta|honesto|amigável|formal"
    r"|palavras|frases?|listas?|tópicos|tabelas?|exemplos?|emojis?|jargão|respostas?"
    r"|português|inglês|espanhol|francês|alemão|italiano|passo|a|por|de|forma|maneira"
    r"|estilo|tom|as|os|o|um|uma|por favor|unidades|métricas|coisas|muito|do|brasil",
    "it": r"favore|tutte|ogni|tue|risponda|scriva|parli|usi|sia|rispondi|rispondimi|scrivi|spiega"
    r"|spiegami|parla|usa|utilizza|sii|mantieni|dai|dammi"
    r"|evita|fai|chiamami|dammi del tu|mi|sempre|mai|in|con|senza|e|o|ma|non|più|breve"
    r"|brevemente|brevi|corto|corte|conciso|concisa|semplice|semplici|chiaro|diretto"
    r"|diretta|onesto|formale|parole|frasi|elenchi|elenco|puntati|tabelle|esempi|emoji"
    r"|gergo|risposte?|italiano|inglese|francese|tedesco|spagnolo|passo|a|per|di|modo"
    r"|maniera|stile|tono|le|gli|i|la|il|un|una|del|tu|lei|dei|per favore|unità|metriche"
    r"|cose|molto",
    "nl": r"antwoord|antwoorden|schrijf|leg|uit|spreek|praat|gebruik|wees|houd|hou|geef|vermijd"
    r"|noem|me|mij|altijd|nooit|in|met|zonder|en|of|maar|niet|geen|kort|kortere?|korte"
    r"|bondig|eenvoudige?|duidelijke?|direct|eerlijk|formeel|woorden|zinnen|lijstjes"
    r"|opsommingen|tabellen|voorbeelden|emoji's|emojis|jargon|nederlands|engels|duits"
    r"|frans|stap|voor|het|de|alles|dingen|alsjeblieft",
    "ru": r"все|каждый|ответ|отвечал|писал|говорил|использовал|отвечай|отвечайте|пиши|пишите"
    r"|объясняй|объясняйте|говори|говорите|используй"
    r"|используйте|будь|будьте|давай|давайте|избегай|обращайся|обращайтесь|зови|называй"
    r"|зовите|называйте|меня|мне|ко|всегда|никогда|на|в|с|без|и|или|но|не|кратко|коротко"
    r"|метрические|метрическими|метрическую|единицы|единицами|измерения|систему"
    r"|короче|подробно|просто|простыми|словами|ясно|прямо|честно|вежливо|формально|списком"
    r"|списками|таблицами|примерами|примеры|эмодзи|смайликов|жаргона|ответы|русском|русски"
    r"|по-русски|по-английски|английском|по|шагам|пожалуйста|ты|вы|языком|языке|короткие",
    "pl": r"odpowiadaj|odpowiedz|pisz|wyjaśniaj|mów|używaj|bądź|unikaj|nazywaj|mnie|mi|zawsze"
    r"|nigdy|po|na|w|z|bez|i|lub|nie|krótko|zwięźle|prosto|jasno|szczegółowo|polsku"
    r"|angielsku|niemiecku|przykładami|przykładów|listach|punktach|emoji|żargonu|proszę"
    r"|formalnie|odpowiedzi",
    "tr": r"tüm|bütün|yanıtlar|yanıtları|cevapları|türkçe|olsun|olmasını|vermesini|kısa|kısaca"
    r"|cevap|cevaplar|ver|yanıtla|yaz|açıkla|kullan|kullanma|konuş|bana|beni"
    r"|hep|her|zaman|türkçe|ingilizce|ile|örneklerle|örnek|basit|resmi|emoji|madde|lütfen"
    r"|diye|çağır|net|metrik|birimler|birimleri|birim|sistem",
}
_WISH_NAME = r"[^\W\d_][\w'.\-]{0,20}(?:\s[^\W\d_a-z][\w'.\-]{0,20}){0,2}"
# Wishes with a name in them, and how they are told of the user; group 1 is the name.
_NAMING: tuple[tuple[str, str, str], ...] = (
    (
        "en",
        rf"(?:please |always |just )*call me ({_WISH_NAME})(?:,? please)?",
        "User wants to be called {}.",
    ),
    (
        "de",
        rf"(?:bitte |immer )*nenn(?:e|en sie)? mich (?:bitte |immer |einfach )*({_WISH_NAME})",
        "Nutzer möchte {} genannt werden.",
    ),
    ("fr", rf"appelle(?:z)?-moi ({_WISH_NAME})", "L'utilisateur veut qu'on l'appelle {}."),
    ("es", rf"ll[áa]m[ea]me ({_WISH_NAME})", "El usuario quiere que lo llamen {}."),
    (
        "pt",
        rf"(?:me cham[ea]|cham[ea]-me) (?:de )?({_WISH_NAME})",
        "O usuário quer ser chamado de {}.",
    ),
    ("it", rf"chiamami ({_WISH_NAME})", "L'utente vuole essere chiamato {}."),
    ("nl", rf"noem (?:me|mij) ({_WISH_NAME})", "Gebruiker wil {} genoemd worden."),
    ("ru", rf"(?:зови|называй)(?:те)? меня ({_WISH_NAME})", "Пользователь просит называть его {}."),
    (
        "zh",
        r"(?:请|請)?(?:叫我|称呼我为?|稱呼我為?)([^\s，。,.！!]{1,12})(?:吧)?",
        "用户希望被称为{}。",
    ),
    (
        "ja",
        r"(?:私|僕|俺)?(?:のこと)?を?([^\s、。をは]{1,12})(?:って|と)呼んで(?:ください|ね)?",
        "ユーザーは{}と呼ばれたい。",
    ),
    (
        "ko",
        r"(?:저를|나를) ([^\s,.]{1,12})(?:이라고|라고) 불러\s?(?:줘|주세요)",
        "사용자는 {}(이)라고 불리길 원한다.",
    ),
)
_UNSPACED_STYLE = re.compile(
    r"(?:用户(?:希望|想要|要求|喜欢|偏好)(?:助手)?)?(?:请|請)?(?:所有|每个|每次|总是|一直|始终"
    r"|以后|今后|都|尽量|不要|别|请勿|，|用|以|使用|说|讲|写|回答"
    r"|回复|回覆|解释|解釋|说明|我|给我|要|时|时候|保持"
    r"|简短|简洁|簡短|簡潔|详细|詳細|简单|直接|诚实|正式|友好|口语|的|地|得|一点|一些|中文"
    r"|英文|英语|日语|法语|德语|粤语|繁体中文|简体中文|列表|要点|表格|例子|举例"
    r"|代码|步骤|一步一步|表情符号|术语|专业术语|语气|语言|通俗|易懂|公制单位|和|与"
    r"|方式){2,16}[。.!！]?"
    r"|(?:(?:いつも|常に|必ず|今後は?|できるだけ|もっと|短く|簡潔に|簡単に|詳しく|丁寧に"
    r"|メートル法(?:で|を)|摂氏(?:で|を)|使って|使用して"
    r"|敬語で|タメ口で|日本語で|英語で|箇条書きで|表で|例を(?:使って|挙げて)"
    r"|絵文字(?:は|を)使わ(?:ない|ず)(?:で|に)?|専門用語(?:は|を)(?:避けて|使わないで)"
    r"|わかりやすく|分かりやすく|答えて|回答して|説明して|話して|書いて|返事して|ください"
    r"|下さい|ほしい|ね|、)){2,10}[。!！]?"
    r"|(?:(?:항상|언제나|앞으로|짧게|간단히|간결하게|자세히|쉽게|한국어로|영어로|존댓말로"
    r"|반말로|예를 들어|예시를 들어|표로|이모지(?:는|를)? ?(?:쓰지 ?말고|없이)|대답해|답해"
    r"|설명해|말해|써|줘|주세요|\s)){2,10}[.!]?"
    r"|(?:(?:دائما|دائمًا|أجب|اجب|اكتب|اشرح|تحدث|رد|باختصار|بإيجاز|بالعربية|بالإنجليزية"
    r"|بالتفصيل|ببساطة|مع أمثلة|من فضلك|بدون رموز تعبيرية|لي|\s|[،.!])){3,14}"
    r"|(?:(?:हमेशा|कृपया|संक्षेप में|छोटे|जवाब|उत्तर|हिंदी में|हिन्दी में|अंग्रेज़ी में|सरल"
    r"|भाषा में|उदाहरण|के साथ|समझाओ|समझाएं|दो|दें|बोलो|लिखो|\s|[।.!])){3,14}"
)
_WISHING = re.compile(
    r"(?:the )?(?:user|he|she|i|sam)(?:'d)? (?:also )?(?:wants?|prefers?|likes?|asks?|asked"
    r"|would like|expects?|wishes|wished|requested|requests)"
    r"(?: that)? (?:(?:you|me|(?:the |an |my |this |all |every )?(?:ai |ai )?(?:assistant|ai|model"
    r"|chatbot"
    r"|answers?|responses?|replies|explanations?|code))(?:'s answers)? )?(?:to |should "
    r"|in future |always |never )*(?:be )?",
)
# The same in other languages, with or without the assistant as whom it is wanted of.
_WANTED_ELSEWHERE = re.compile(
    r"(?:der )?(?:nutzer|benutzer|anwender)(?:in)? (?:möchte|will|wünscht|bevorzugt|mag)(?: sich)?"
    r"(?:, dass (?:der |die |das )?(?:assistent|ki|chatbot))? "
    r"|l'utilisateur(?:rice)? (?:veut|souhaite|préfère|aime|désire) (?:que l'(?:assistant|ia) )?"
    r"|(?:el |la )?usuari[oa] (?:quiere|desea|prefiere) (?:que (?:el asistente|la ia) )?"
    r"|(?:o |a )?(?:usuári[oa]|utilizador) (?:quer|deseja|prefere) (?:que (?:o assistente|a ia) )?"
    r"|l'utente (?:vuole|desidera|preferisce) (?:che l'(?:assistente|ia) )?"
    r"|пользователь (?:хочет|желает|предпочитает|просит)(?:,)? (?:чтобы (?:ассистент|помощник"
    r"|ии) )?"
)
_TOLD_WISH = re.compile(
    r"(?:user|the user|nutzer|der nutzer|l'utilisateur|el usuario|o usuário|l'utente|gebruiker"
    r"|пользователь|用户|ユーザー|사용자|usuario)"
    r"[^:\n]{1,20}:\s",
    re.IGNORECASE,
)
# Sentences of one meaning, told as what the user wants.
_ANSWERS = re.compile(
    r"(?:please |always )*(?:answer|reply|respond|write)(?: to me| me)?(?: always)? (briefly"
    r"|concisely|shortly|politely|formally|informally|honestly|directly|clearly|bluntly"
    r"|casually|simply)",
    re.IGNORECASE,
)
_IN_LANGUAGE = re.compile(
    r"(?:please |always )*(?:answer|reply|respond|write|speak"
    r"|talk)(?: to me)?(?: always)?(?: only)? (?:in )?([A-Z][a-z]+)",
    re.IGNORECASE,
)
_WITH_WISH = re.compile(
    r"(?:please |always )*(?:explain)(?: things| everything"
    r"| it)?(?: to me)? with ([a-z ,\-]{3,40})",
    re.IGNORECASE,
)
_AS_WANTED: Mapping[str, str] = {
    "briefly": "brief",
    "concisely": "concise",
    "shortly": "short",
    "politely": "polite",
    "formally": "formal",
    "informally": "informal",
    "honestly": "honest",
    "directly": "direct",
    "clearly": "clear",
    "bluntly": "blunt",
    "casually": "casual",
    "simply": "simple",
}
_ASKED_WISH: Mapping[str, str] = {
    "en": "User asked: {}",
    "de": "Nutzer bat: {}",
    "fr": "L'utilisateur demande : {}",
    "es": "El usuario pide: {}",
    "pt": "O usuário pede: {}",
    "it": "L'utente chiede: {}",
    "nl": "Gebruiker vroeg: {}",
    "ru": "Пользователь просит: {}",
    "pl": "Użytkownik prosi: {}",
    "tr": "Kullanıcının isteği: {}",
    "zh": "用户要求：{}",
    "ja": "ユーザーの希望：{}",
    "ko": "사용자의 요청: {}",
    "ar": "طلب المستخدم: {}",
    "hi": "उपयोगकर्ता का अनुरोध: {}",
}
_LONGEST_WISH = 160
_WISH_SENTENCE = re.compile(r"[^.!?\n。！？;]+[.!?。！？;]*\s*")


def is_style_wish(sentence: str) -> bool:
    """Whether a sentence is a wish about the style of answers, and nothing else."""
    return style_language(sentence) != ""


def style_language(sentence: str) -> str:
    """The language of a wish about style; empty for every other sentence."""
    bare = _bare_wish(sentence)
    if not bare or len(bare) > _LONGEST_WISH:
        return ""
    for language, pattern, _ in _naming_wishes():
        if (found := pattern.fullmatch(bare)) and _is_name(found.group(1)):
            return language
    if _UNSPACED_STYLE.fullmatch(bare):
        return _wish_script(bare)
    if avoided := avoidance_language(bare):
        return avoided
    if told := _TOLD_WISH.match(bare):
        return style_language(bare[told.end() :])
    lower = bare.lower().replace("\u2019", "'")
    wish = _WISHING.match(lower) or _WANTED_ELSEWHERE.match(lower)
    lower = lower[wish.end() :] if wish else lower
    words = re.findall(r"[^\s,;:()\"]+", lower)
    if not words or not re.fullmatch(
        r"[^\"<>{}\[\]@\\/]*(?:he/him|she/her|they/them)?[^\"<>{}\[\]@\\/]*", lower
    ):
        return ""
    for language in _STYLE_WORDS:
        if all(_style_word(language).fullmatch(word) for word in words):
            return language if len(words) > 1 else ""
    return ""


def as_statement(text: str) -> str:
    """A text in which each wish about style in the imperative is told of the user instead.

    A text without such a wish stays as it is, byte for byte; what was told so stays so.
    """
    if _TOLD_WISH.match(text):
        return text
    pieces = _WISH_SENTENCE.findall(text)
    if "".join(pieces) != text:
        return text
    told = [_statement_of(piece) for piece in pieces]
    return "".join(told) if told != pieces else text


def _statement_of(sentence: str) -> str:
    language = style_language(sentence)
    bare = _bare_wish(sentence)
    lower = bare.lower().replace("\u2019", "'")
    if not language or _WISHING.match(lower) or _WANTED_ELSEWHERE.match(lower):
        return sentence
    if not _wish_openings().match(bare) and not avoidance_language(bare):
        return sentence
    tail = sentence[len(sentence.rstrip()) :]
    for name, pattern, frame in _naming_wishes():
        if name == language and (found := pattern.fullmatch(bare)):
            return frame.format(found.group(1)) + tail
    if language == "en":
        if found := _ANSWERS.fullmatch(bare):
            return f"User wants {_AS_WANTED[found.group(1).lower()]} answers.{tail}"
        if found := _IN_LANGUAGE.fullmatch(bare):
            return f"User wants answers in {found.group(1).capitalize()}.{tail}"
        if found := _WITH_WISH.fullmatch(bare):
            return f"User wants things explained with {found.group(1).strip()}.{tail}"
    lowered = bare[0].lower() + bare[1:] if not bare[:2].isupper() else bare
    return f"{_ASKED_WISH[language].format(lowered)}{tail}"


def _bare_wish(sentence: str) -> str:
    return sentence.strip().rstrip(".!?。！？; ").strip()


def _is_name(name: str) -> bool:
    """A name in capitals or of one word; no sentence."""
    words = name.split()
    return len(words) == 1 or all(not word[0].islower() for word in words)


def _wish_script(text: str) -> str:
    for language, signs in (
        ("ja", "[\u3041-\u30ff]"),
        ("ko", "[\uac00-\ud7a3]"),
        ("zh", "[\u4e00-\u9fff]"),
        ("ar", "[\u0600-\u06ff]"),
    ):
        if re.search(signs, text):
            return language
    return "hi"


@cache
def _naming_wishes() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    return tuple((name, re.compile(shape, re.IGNORECASE), frame) for name, shape, frame in _NAMING)


@cache
def _style_word(language: str) -> re.Pattern[str]:
    return re.compile(f"(?:{_STYLE_WORDS[language]}|\\d{{1,3}}|[-–—])")


@cache
def _wish_openings() -> re.Pattern[str]:
    """The beginnings of wishes that are told to the assistant; others are statements already."""
    return re.compile(
        r"(?:please |always |never |just |from now on,? |in future,? |bitte |immer |toujours "
        r"|siempre |sempre |всегда |пожалуйста,? |altijd |zawsze )*"
        r"(?:answer|reply|respond|write|explain|speak|talk|use|be|keep|make|give|provide|avoid"
        r"|format|summari[sz]e|stick|call|address|don't|do not|no|skip|get|cite|ask"
        r"|antwort\w*|schreib\w*|erklär\w*|sprich|rede|nutze|benutze|verwende|sei|halte?|gib"
        r"|fasse?|vermeide|formatiere|nenne?|duze?|sieze?|keine?n?"
        r"|répond\w*|écri\w*|expliqu\w*|parle\w*|utilise\w*|sois|soyez|reste|donne\w*|évite\w*"
        r"|fais|appelle\S*|tuto\S*|vouvo\S*|ne|pas"
        r"|respond\w*|contesta|escrib\w*|explíc?\w*|explica\w*|habla\w*|usa|utiliza|sé|mantén"
        r"|dame|da|evita|haz|llám\w*|tutéame|trátame"
        r"|escrev\w*|expliqu\w*|fal\w*|use|utilize|seja|dê|evite|cham\S*|me cham\w*|trat\S*"
        r"|rispond\w*|scrivi|spiega\w*|parla|utilizza|sii|dammi|chiamami"
        r"|schrijf|leg|spreek|praat|gebruik|wees|houd?|geef|vermijd|noem|отвеч\w*|пиши\w*"
        r"|объясн\w*|говори\w*|использ\w*|будь\w*|давай\w*|избегай|обращай\w*|зови\w*"
        r"|называй\w*"
        r"|odpowiad\w*|pisz|wyjaśniaj|mów|używaj|bądź|unikaj|nazywaj|kısa\w*|her|hep|türkçe"
        r"|lütfen|basit|beni|bana|[\u0600-\uffff])",
        re.IGNORECASE,
    )
