"""Whether a message can hold a fact about the user at all, told before a model is asked.

Skipped is only what certainly holds none; in doubt a message is worth sending. The time this takes
grows in proportion to the length of the message.
"""

# ruff: noqa: RUF001 - the patterns are in several scripts

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Literal

from adaptive.learn.parts import message_parts, without_inline_code, without_quotations

NO_WORDS = "there are no words in it"
ONLY_PASTED = "it is only pasted text or code"
ONLY_ASKING = "it only asks for something and says nothing about you"
ONLY_POLITE = "it is only a greeting or thanks"

_WorthKind = Literal[
    "self", "nobody", "memory", "question", "order", "han", "kana", "telling", "korean", "polite"
]

# Longer sentences may tell something on the way, and longer messages always do.
_LONGEST_ASKING = 240
_LONGEST_REQUEST = 4000
# What may stand before a question or an order.
_BEFORE_ASKING = (
    r"\W*(?:(?:so|and|but|ok(?:ay)?|hey|hi|hello|well|please|also|now|then|oh|btw|quick question"
    "|thanks|just curious|sorry|und|aber|bitte|hallo|et|mais|bonjour|salut|alors|y|pero|hola|e"
    "|mas|olá|oi|ma|ciao|allora|а|и|но|привет|пожалуйста|s['’]il (?:te|vous) pla[iî]t|por favor"
    r"|per favore)\b\W*){0,3}"
)
_HAN_ORDERS = (
    "翻[译譯]|解[释釋]|[写寫]|[总總][结結]|概括|列[出举舉]|介[绍紹]|推[荐薦]|告[诉訴]|[说說]"
    "|比[较較]|[计計]算|生成|[创創]建|修改|改[写寫]|[润潤]色|分析|描述|[讲講]|[举舉]|[证證]明"
    "|查|找|[设設][计計]|做"
)

# The languages follow one another: English, German, French, Spanish, Portuguese, Italian, Russian,
# Chinese, Japanese, Korean.
_WORTH_PATTERNS: Mapping[_WorthKind, tuple[str, ...]] = {
    # "I", "my", "we", and the commonest verb forms that need no pronoun.
    "self": (
        r"(?-i:(?<!War )(?<!Part )(?<!Type )(?<![\w/])I(?![\w/]))|\bi(?:['’](?:m|ve|ll|d)| (?:am"
        "|was|have|had|do|don['’]?t|did|live|work|like|love|hate|need|want|think|use|got|went"
        r"|moved|can|will|would))\b|\b(?:am|do|did|can|could|should|would|will|was|have|had|if"
        r"|when|what|where|that|and|but|so) i\b|\b(?:im|ive|my|mine|myself|(?-i:[Mm]e)|we"
        r"|(?-i:[Uu]s)|our|ours|ourselves)\b",
        r"\b(?:ich|mich|mir|mein(?:e[mnrs]?)?|wir|uns|unser(?:e[mnrs]?)?)\b",
        r"\b(?:je|mon|ma|mes|(?<!-)moi|(?<!-)nous|notre|nos)\b|\b[jm]['’](?=\w)",
        r"\b(?:yo|mis?|mí[oa]s?|conmigo|nosotr[oa]s|nuestr[oa]s?|tengo|soy|estoy|vivo|trabajo"
        "|quiero|necesito|voy|uso|nací|compré|fui|tuve|prefiero|odio|creo|tenemos|somos|vivimos"
        r"|estamos|vamos|he \w{2,15}[aio]do)\b",
        r"\b(?:(?-i:[Ee]u)|meus?|minhas?|comigo|nós|noss[oa]s?|tenho|moro|sou|estou|trabalho"
        r"|quero|preciso|gosto|faço|vou|comprei|nasci|temos|moramos|prefiro)\b",
        r"\b(?:io|mi[oae]|miei|noi|nostr[oaei]|ho|abbiamo|siamo|abito|lavoro|voglio|devo|faccio"
        r"|vado|preferisco|sono (?:un[oa]?|nat[oa]|stat[oa]|andat[oa]|allergic[oa]|in|a|di))\b",
        r"\b(?:я|меня|мне|мной|мо[йяеёи]|моего|моей|моему|моих|моим|мою|мы|нас|нам|наш\w{0,3}"
        "|живу|работаю|хочу|люблю|учусь|имею|собираюсь|буду|еду|езжу|болею|занимаюсь|играю|ем"
        r"|пью|ищу|купила?)\b",
        "我|咱|俺|本人|[妈媽爸]{2}|老[婆公]|[女儿兒]儿|儿子|私|僕|わたし|ぼく|自分|うちの|母|父"
        "|妻|夫|息子|娘|上司|나는|난 |내 |내가|나의|저는|제가|제 |우리",
    ),
    # First persons that say nothing of anybody: "how do I", orders, set phrases.
    "nobody": (
        r"\b(?:how|where) (?:do|can|could|should|would|might) (?:i|we)\b|\bwhat (?:do"
        r"|should) i (?:do|use)\b",
        r"\b(?:i(?:['’]d| would)? (?:want|need|like)|i(?:['’]m| am) asking) you\b|\blet['’]?s\b"
        r"|\blet us\b",
        r"\b(?:tell|give|show|help|send|teach|let|write|make|get|find|remind|ask|provide"
        r"|recommend|suggest) (?:me|us)\b|\b(?:explain|describe|recommend|translate|write|find"
        r"|make|check|plan|summari[sz]e)\b[^.?!]{0,60} (?:to|for) (?:me|us)\b",
        r"\bmy (?:first|next|last) (?:request|question|prompt|command)\b|\b(?:like|as if)"
        r" i(?:['’]m| am| was| were) (?:\d+|five|a \w+)\b",
        r"\bwie (?:kann|soll|muss|könnte) (?:ich|man)\b|\b(?:gib|zeig|sag|hilf|schreib|nenn"
        "|erklär|erzähl|mach|empfiehl|such|kannst du|könntest du|können sie|könnten sie)(?:e"
        r"|en sie)? (?:mir|uns)\b",
        r"\bcomment (?:puis-je|je peux|je fais|est-ce que je peux)\b|\b(?:peux|pourrais|pouvez"
        r"|pourriez)[- ](?:tu|vous) (?:m['’]|me |nous )|\b(?:tu peux|vous pouvez) (?:me |m['’])",
        r"\b(?:cómo|dónde|qué) (?:puedo|podría|debo|hago)\b|\b(?:me|mi) (?:puedes|podrías|ayudas"
        "|dices|das|dê|dá|diga|explique|ajude|mostre|conte|fale|recomende|puoi|potresti|dici"
        r"|spieghi|aiuti|dai)\b",
        r"\b(?:come|dove|cosa) (?:posso|faccio|devo)\b|\b(?:como|onde|o que) (?:posso|faço"
        r"|devo)\b",
        r"\b(?:скажи|расскажи|объясни|дай|покажи|помоги|напиши|посоветуй|порекомендуй"
        r"|подскажи)(?:те)? мне\b|\b(?:как|где|что) мне\b|\b(?:можешь|можете) мне\b",
        "(?:[给給帮幫教为為让讓请請]"
        "|告[诉訴])我们?(?=[写寫讲講说說推列做一看找翻解总總介举舉出生查画畫改算])|我(?:想"
        "|要)(?:知道|问|問|请你|让你)|我(?:该|應該|应该|要)?(?:如何|怎么|怎麼|怎样)",
    ),
    # Whoever speaks of remembering wants something kept or forgotten.
    "memory": (
        r"remember|memori[sz]e|memories|\b(?:your|to|from) memory|memory (?:of|about|that)"
        r"|forget|\bnote\b|(?:keep|bear) in mind|\bmerk(?:e|t)?\b|erinner|vergiss|notier"
        "|denke? daran|souvien|rappel|retien|retenir|oubli|mémoris|mémoire|recuerd|acuérd|olvid"
        "|memoriz|memoria|memória|lembr|esque[cç]|ricord|dimentic|запомни|помни|забудь"
        "|[记記](?:住|得|下|[忆憶])|忘|覚え|記憶|기억|잊",
    ),
    # Words that begin a question, if a question mark ends it.
    "question": (
        "what|whats|who|whom|whose|which|where|when|why|how|(?:is|are|was|were|isn['’]t"
        r"|aren['’]t)(?! (?:in|at|on|born|just|always|never)\b)|(?:do|does|did|can|could|would"
        "|will|should|shall|may|might|has|have|doesn['’]t|don['’]t|didn['’]t|won['’]t) (?:you"
        r"|they|he|she|it|there|this|that|these|those|the|an?|any|one|all|people|(?-i:[A-Z])\w*"
        r"|\w{2,20}s)|any(?:thing|one|body)?",
        r"was(?! (?:in|at|on|born)\b)|wer|wen|wem|wessen|wo|woher|wohin|wann|warum|wieso|weshalb"
        "|wie|wie ?viele?|welche[rsmn]?|ist|gibt|kannst|könntest|wird|weißt|stimmt|(?:sind|kann"
        "|können|könnten|hat|haben|soll|sollte|darf|muss) (?:man|das|die|der|es|sie|eine?|alle"
        "|diese)",
        r"quel(?:le)?s?|qui|qu['’]\w+|que|quoi|où|quand|pourquoi|comment|combien|est-ce|est-il"
        r"|y a-t-il|c['’]est quoi|peux-tu|pouvez-vous|pourr\w{2,5}-\w{2,4}|sais-tu|connais-tu"
        "|as-tu|es-tu",
        "qué|cuál(?:es)?|quién(?:es)?|dónde|adónde|cuándo|por qué|cómo|cuánt[oa]s?|puedes"
        "|podrías|hay|sabes|conoces|en qué|de qué",
        "o que|que|qual|quais|quem|onde|quando|por que|porque|como|quant[oa]s?|você (?:pode"
        "|sabe)|pode|há",
        "cosa|che|chi|qual[ei]?|dove|dov['’]è|quando|perché|come|com['’]è|cos['’]è|quant[oaie]"
        "|puoi|potresti|c['’]è|ci sono|sai",
        "что|чем|чего|кто|кого|где|когда|почему|зачем|как|как(?:ой|ая|ое|ие|ого|ую)|сколько"
        "|куда|откуда|чей|можешь|можете|есть ли|можно ли|верно ли|правда ли|знаешь|в ч[её]м",
    ),
    # Words that begin a question or an order in any case.
    "order": (
        "(?:what|who|where|when|why|how|which)(?:['’]s| (?:is|are|was|were|do|does|did|to|many"
        "|much|about))",
        "(?:was|wer|wo|wann|warum|wie|welche[rs]?) (?:ist|sind|war|bedeutet|heißt|funktioniert"
        "|viele?)",
        "qu['’]est-ce|c['’]est quoi|quel(?:le)?s? (?:est|sont)|comment (?:faire|fonctionne)"
        "|cos['’]è|qual è|quali sono|come (?:si|funziona)",
        "(?:qué|cuál(?:es)?|cómo|dónde) (?:es|son|se|está|funciona)|(?:o que|qual|quais"
        "|como) (?:é|são|se)|что такое|как (?:работает|сделать|называется)",
        "translate|summari[sz]e|explain|describe|define|list|give|tell|show|write|create"
        "|generate|make|compose|draft|rewrite|rephrase|paraphrase|reword|shorten|expand|improve"
        "|fix|debug|proofread|convert|calculate|compute|solve|compare|analy[sz]e|find(?! it)"
        "|search|look up|suggest|recommend|provide|classify|extract|sort(?! of)|count|format"
        "|implement|outline|evaluate|act as|pretend|imagine|continue|try again|go on|repeat|say"
        "|identify|optimi[sz]e|refactor|prove|simplify|elaborate|discuss|ensure|brainstorm"
        "|let['’]?s|you are (?:an?|the|now)|(?:can|could|would|will) you|do (?:it|that|this)"
        r"|(?:turn|ask|put) (?:this|the|it|an?)|help\W*$|help (?:me|with)|(?:answer|respond"
        "|reply) (?:in|with|to|as|briefly|only)|the (?:answer|output|response|code|function"
        "|text|result) (?:should|must|has to|needs to)|(?:name|correct|edit|review|complete"
        "|play|plan|design|develop|teach|remove|replace) (?:the|this|these|an?|all|any|some|me"
        r"|\d+|three|five|ten)|(?:more|shorter|longer|again)(?: please)?\W*$|i(?:['’]d"
        "| would)? (?:want|need|like) you to",
        "(?:übersetz|erklär|fass|nenn|erstell|korrigier|verbesser|formulier|berechn|vergleich"
        "|beschreib|definier|analysier|kürz|liste)(?:e|en sie)?|(?:schreib|zeig|sag|erzähl|mach"
        "|such)(?:en sie|e? (?:bitte|mir|uns))?|gib|geben sie|hilf|empfiehl|(?:kannst"
        "|könntest) du|(?:können|könnten) sie",
        "(?:traduis|explique|écri[st]|résume|donne|di[st]|raconte|montre|fai[st]|corrige"
        "|reformule|liste|compare|décri[st]|calcule|trouve|propose|aide|crée|génère|rédige"
        r"|analyse|améliore)(?:z|ez|es|tes)?(?:-\w{2,4})?",
        "(?:tradu[cz]|tradúzc|expli[cq]|expl[ií]qu|escrib|escrev|resum|corri[gj]|calcul|compar"
        "|descri[bv]|enumer|busc|busqu|gener|cre|cri|redact|mejor|melhor|recomi[eé]nd|recomend"
        "|sugi[eé]r|suger|analic|analiz|analis|muestr|muéstr|mostr|cuent|cuént|cont|ayud|ayúd"
        "|ajud|list)(?:u?[ea]n?)(?:me|nos|lo|la)?|dame|dime|haz|hazme|dê|diga|diz|faça|faz"
        "|puedes|podrías|me (?:dê|diga|explique|ajude|mostre|conte)|traduz|tradúceme|explícame",
        "(?:traduci|spiega|scrivi|riassumi|dammi|dimmi|fai|fammi|mostra|racconta|correggi"
        "|calcola|confronta|descrivi|elenca|crea|genera|migliora|consiglia|suggerisci|aiuta"
        "|definisci|analizza|riscrivi)(?:mi|lo)?",
        "(?:переведи|объясни|напиши|расскажи|скажи|дай|покажи|составь|сделай|исправь|перепиши"
        "|сократи|сравни|опиши|найди|посчитай|вычисли|придумай|сочини|приведи|посоветуй"
        "|порекомендуй|помоги|назови|перечисли|подскажи)(?:те)?",
    ),
    "han": (
        "什[么麼]|甚麼|怎|哪|[谁誰]|[为為]何|如何|多少|多[长長高大远遠久]|几[个個天年岁点]|是否"
        "|是不是|能不能|有没有|吗|嗎",
        rf"^(?:[请請]|麻[烦煩]|[帮幫给給]|你?能|你?可以).{{0,20}}(?:{_HAN_ORDERS})",
        rf"^(?:用.{{1,12}}|把.{{1,20}})?(?:{_HAN_ORDERS})(?:[一下以这這出成几幾两三0-9]|[个個])",
    ),
    "kana": (
        "何|誰|どこ|どの|どれ|どう|どん|いつ|いくつ|いくら|なぜ|なんで|(?:です|ます|でしょう"
        "|だろう)か|教えて",
        "[てで](?:ください|下さい|くれ(?:ますか|ませんか)?|もらえますか|いただけますか|ほしい"
        r"|欲しい)\W*$|お願いします\W*$|(?:書|訳し|作っ|説明し|直し|見せ|要約し)い?て\W*$"
        r"|とは\W*$",
    ),
    # These carry a statement beside what is asked.
    "telling": (
        r"\S,? (?:because|weil|denn|parce que|porque|perché|потому что)\b|[,;–—] ?(?:and "
        r"|but )?(?:he|she|they|(?-i:[A-Z])\w+) (?:is|are|was|were|has|have|had|will|can|cannot"
        r"|can['’]t|\w{2,20}(?:s|ed))\b",
        "けど|けれど|ので(?!す|しょう)|から(?!何)|(?:です|ます)が|[ただ]が、",
    ),
    "korean": (
        r"무엇|뭐|뭘|어디|누구|언제|왜|어떻게|몇|얼마|어느|무슨|(?:까|나요|니|가요)\W*$|(?:줘"
        r"|주세요|줄래)(?:요)?\W*$",
    ),
    "polite": (
        "(?:many |so )?(?:thanks|thank you|thx|ty|cheers)(?: (?:so |very )?much| a lot"
        "| a million| again| for (?:the|your) (?:help|answer|reply|info))?|h(?:i|ello"
        "|ey)(?: there)?|good (?:morning|afternoon|evening|night)|(?:good)?bye|see (?:you"
        "|ya)(?: later| soon)?|lol|(?:ha){2,9}|you['’]re welcome|how are you(?: doing)?(?:"
        " today)?|(?:thanks|thank you)?[,!. ]{0,3}(?:that|this|it)(?:['’]s| is| was) (?:very "
        "|really |so )?(?:helpful|great|perfect|useful|nice|good|all)",
        "danke(?: schön| sehr)?|vielen dank|hallo|guten (?:tag|morgen|abend)|gute nacht|tschüss"
        "|wie geht['’]?s",
        "merci(?: beaucoup)?|bonjour|bonsoir|salut|au revoir|ça va",
        "(?:muchas )?gracias|hola|buenos días|buenas (?:tardes|noches)|adiós|(?:muito"
        " )?obrigad[oa]|olá|oi|bom dia|boa (?:tarde|noite)|tchau|(?:mille )?grazie(?: mille)?"
        "|ciao|buongiorno|buonasera|arrivederci",
        "(?:большое )?спасибо(?: большое)?|привет|здравствуй(?:те)?|добр(?:ый день|ое утро"
        "|ый вечер)|пока",
        "[谢謝]{2}(?:你|您)?|多[谢謝]|你好|您好|早上好|晚安|再[见見]|ありがとう(?:ございま(?:す"
        "|した))?|こんにちは|おはよう(?:ございます)?|こんばんは|さようなら|おやすみ(?:なさい)?"
        "|감사합니다|고마워요?|안녕(?:하세요)?",
    ),
}
_ASKING_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_HAN_CLAUSE_END = re.compile("[，,；;、]")
_KANA_SIGN = re.compile("[\u3041-\u30ff]")
_HAN_SIGN = re.compile("[\u4e00-\u9fff]")
_HANGUL_SIGN = re.compile("[\uac00-\ud7a3]")


def reason_to_skip(words: str) -> str | None:
    """Why a message cannot hold a fact about the user, in words for them; ``None`` if it may.

    Skipped are messages without a letter, pasted matter with at most a bare order around it, bare
    questions and orders without a first person, greetings and thanks.
    """
    if not _has_letters(words):
        return NO_WORDS
    parts = message_parts(words)
    own = without_inline_code(parts.typed)
    typed = without_quotations(own)
    if not _has_letters(typed):
        # A quotation alone may be a name that was asked for.
        return None if _has_letters(own) else ONLY_PASTED
    if len(typed) > _LONGEST_REQUEST:
        return None
    if _worth("memory").search(typed) or has_first_person(typed):
        return None
    said = [one for one in _ASKING_END.split(typed) if _has_letters(one)]
    polite = [_is_polite(one) for one in said]
    if not all(kind or _asks(one) for one, kind in zip(said, polite, strict=True)):
        return None
    if parts.pasted or len(own) < len(parts.typed):
        return ONLY_PASTED
    return ONLY_POLITE if all(polite) else ONLY_ASKING


def has_first_person(text: str) -> bool:
    """Whether a text speaks of the one who wrote it, set phrases apart."""
    return _worth("self").search(_worth("nobody").sub(" ", text)) is not None


def _has_letters(text: str) -> bool:
    return any(sign.isalpha() for sign in text)


def _is_polite(sentence: str) -> bool:
    bare = sentence[:_LONGEST_ASKING].strip(" ,.!?。！？…~:)\n\t-")
    return len(sentence) <= _LONGEST_ASKING and _worth("polite").fullmatch(bare) is not None


def _asks(sentence: str) -> bool:
    """Whether a sentence without a first person does nothing but ask or order."""
    if len(sentence) > _LONGEST_ASKING:
        return False
    if _worth("telling").search(sentence):
        return False
    if _KANA_SIGN.search(sentence):
        return _worth("kana").search(sentence) is not None
    if _HAN_SIGN.search(sentence):
        clauses = [one.strip() for one in _HAN_CLAUSE_END.split(sentence) if _has_letters(one)]
        return all(_is_polite(one) or _worth("han").search(one) for one in clauses)
    if _HANGUL_SIGN.search(sentence):
        return _worth("korean").search(sentence) is not None
    if _worth("order").match(sentence):
        return True
    asked = sentence.rstrip(' )"”*_').endswith(("?", "？", "؟"))
    return asked and _worth("question").match(sentence) is not None


@cache
def _worth(kind: _WorthKind) -> re.Pattern[str]:
    """The pattern of one kind, compiled when a message first needs it."""
    pattern = "|".join(_WORTH_PATTERNS[kind])
    if kind in ("question", "order"):
        pattern = rf"{_BEFORE_ASKING}(?:{pattern})(?!\w)"
    return re.compile(pattern, re.IGNORECASE)
