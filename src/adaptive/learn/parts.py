"""What somebody typed in a message, told from what they pasted or cited in it.

Only their own typed words are a source of memories. Everything here takes time in proportion to the
length of the message.
"""

# ruff: noqa: RUF001 - the patterns are in several scripts

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

# What a line is can be told at its beginning.
_LINE_SAMPLE = 300
# Whoever pastes a text says so before it.
_ORDER_LINES = 50
_LEAST_QUOTED_WORDS = 4
_LEAST_QUOTED_HAN = 10
# Titles are written with capitals, sentences are not.
_TITLE_SHARE = 0.6
_LONGEST_THANKS = 200

_CODE_FENCE = re.compile(r"\s{0,3}(?:`{3,}|~{3,})")
_CITED_LINE = re.compile(r">(?![.:_<])|https?://\S+$|\|.*\|$")
_CODE_LINES = (
    r"(?:async )?def \w+\(|class [A-Z]\w*(?:\(.*\))? ?[:{]|import [\w.{*]+(?: as \w+)?;?$",
    r"from [\w.]+ import |(?:const|let|var|val) [\w{\[][^=]*=|(?:export )?function\b.*\w\(",
    r"(?:public|private|protected|static|void)\b.*\w\(|# ?(?:include|define)|#!|@\w+\(|\$ [a-z]",
    r"SELECT .*FROM.*[=;*]|SELECT \*|INSERT INTO .*\(|(?:CREATE|ALTER) TABLE .*[(;]|>>> ",
    r"(?:if|for|while|switch|catch) ?\(.*[:{)]$|(?:elif|except)\b.*:$|with \w+\(.*:$|return\b.*;$",
    r"(?:\} ?)?(?:else|try|finally|do) ?[:{]$|for [a-z_]\w* in \w.*:$|.*\) ?=>|[\])}]+[,;]?$",
    r"if \w\S* (?:==|!=|<|>|is|in|not) .*:$|(?=.*[=(){}<>]).*;$|.*[{}]$|[\w.]+\(.*\)$|[{\[]$",
    r'</?[a-zA-Z!][^<>]*>$|<[a-zA-Z!][^<>]*>.*</[a-z0-9]+>$|"[^"]*" ?:|[{\[] ?["{\[].*[}\]]$',
    # traces, logs, differences
    r"Traceback \(most|File \"|at \S+\(|Exception in thread|Caused by:|\^+$|panic: |goroutine \d",
    r"[\w.]*\w(?:Error|Exception|Warning)(?::|$)|npm ERR!|\d+(?:\.\d+){3} - |diff --git |@@ ",
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\[?\d\d:\d\d:\d\d\b|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d ",
    r"\[(?:INFO|DEBUG|WARN|WARNING|ERROR|FATAL|TRACE|CRITICAL|info|debug|warn|error)\]",
    r"(?:INFO|DEBUG|WARN|WARNING|ERROR|FATAL|TRACE)[:| ]+[\w.]*\w[.:(\[]\w|(?:\+\+\+|---) [ab]?/",
)
# What no line of those kinds does without.
_SIGN_OF_CODE = re.compile(
    r"[(){}\[\]<>;:=|$@^+]|^(?:import|from|npm|diff|\d)|\w(?:Error|Exception|Warning)"
)
# Code only beside other code.
_BESIDE_CODE = re.compile(r"\s{2,}\S|\t|\s*(?:#|//|/?\*|--|\+|-)|.{0,300}[=(),:\\]$|\S{1,99} ?=")
_COMMENT = re.compile(r"\s*(?:#|//|/\*|--)")
_MAIL_HEADER = re.compile(
    r"(?:from|to|date|sent|cc|von|an|gesendet|datum|de|à|para|da|a|от|кому|发件人|收件人|差出人|宛先"
    r"|(?P<subject>subject|betreff|objet|asunto|assunto|oggetto|тема|主题|件名)) ?[:：] ?\S",
    re.IGNORECASE,
)
_MOST_HEADERS = 8
# Orders that hand a text over: it stands after a colon, or below a word that points to it.
_HANDING_OVER = (
    r"(?:translate|summari[sz]e|proofread|rewrite|rephrase|paraphrase|shorten|tl;?dr)(?: (?:in)?to"
    r" \w+| in \w+| from \w+ to \w+)? ?(?=:)",
    r"(?:translate|summari[sz]e|proofread|rewrite|rephrase|paraphrase|shorten|correct|edit|improve"
    r"|simplify|convert|classify|fix|analy[sz]e|review)\b[^:]{0,60}\b(?:this|these|the following"
    r"|following|below|the (?:text|sentence|paragraph|e?-?mail|article|message|code))\b",
    r"(?:explain|what does|what is wrong with)\b[^:]{0,30}\b(?:this|the following|following|below)"
    r" (?:text|code|error|log|article|sentence|email|paragraph|function|poem|quote)\b",
    r"(?:übersetz|fass|korrigier|verbesser|formulier|kürz)\w{0,3}\b(?:[^:]{0,60}\b(?:diese[nrs]?"
    r"|folgend\w+|den (?:text|satz|absatz)|die (?:e-?)?mail|die nachricht)\b|(?: (?:ins|auf) \w+)?"
    r" ?(?=:))",
    r"(?:traduis|résume|corrige|reformule|améliore|raccourci)\w{0,3}\b(?:[^:]{0,60}\b(?:ceci|ce|cette"
    r"|suivante?|le texte|la phrase)\b|(?: (?:en|au) \w+)? ?(?=:))",
    r"(?:traduc|resum|corri[gj]|reescrib|reescrev|reformul|mejor|melhor|traduz|encurt|acort)\w{1,3}\b"
    r"(?:[^:]{0,60}\b(?:est[eoa]|isto|siguiente|seguinte|[eo]l? texto|l?a frase)\b"
    r"|(?: (?:al?|para o?) ?\w+)? ?(?=:))",
    r"(?:traduci|riassumi|correggi|riscrivi|riformula|migliora|accorcia)\b(?:[^:]{0,60}\b(?:quest[oa]"
    r"|seguente|il testo|la frase)\b|(?: in \w+)? ?(?=:))",
    r"(?:переведи|сократи|исправь|перепиши|перефразируй|улучши)(?:те)?\b(?:[^:]{0,60}(?:это|этот"
    r"|следующ|текст|предложение)|(?: на \w+)? ?(?=:))",
    r"(?:请|請|帮我|幫我|麻烦)?[^:：]{0,12}(?:翻[译譯]|[总總][结結]|润色|改写|校对|修改)"
    r"[^:：]{0,12}(?=[:：])",
    r"[^:：]{0,24}(?:翻訳|要約|校正|添削|書き直|訳し)[^:：]{0,16}(?=[:：])",
    r"(?:以下|次の|下記)[^:：]{0,24}(?:翻訳|要約|校正|添削|書き直|訳し)[^:：]{0,12}$",
    r".{0,40}\b(?:here(?:'s| is| are)|this is|below is|read|got|received|wrote)\b.{0,60}\b(?:email"
    r"|article|text|letter|message|post|review|lyrics|transcript|log|output|story|poem)\b"
    r"(?! about (?:me|myself|us)\b)[^:]{0,40}(?=:\s*$)",
)
# What may stand before such an order.
_BEFORE_ORDER = (
    r"(?:(?:please|can|could|would|will|you|hi|hello|hey|ok(?:ay)?|now|then|and|help|me|to|just|also"
    r"|so|thanks|i(?:'d like| want| need| would like) you|bitte|kannst|könntest|du|mir|peux|tu|vous"
    r"|pouvez|puedes|podrías|por favor|você|pode|puoi|potresti|можешь|пожалуйста)[ ,.!]{1,3}){0,6}"
)
_BEFORE_NEXT_ORDER = re.compile(r"[.!?…]\s+|[。！？]\s*")
_COLON_AFTER = re.compile(r"[^.!?:：]{0,60}[:：]")
_THANKS = re.compile(
    r"\b(?:thanks|thank you|thx|please|danke|bitte|merci|gracias|obrigad[oa]|grazie|спасибо)\b"
    r"|谢谢|謝謝|ありがとう|お願い",
    re.IGNORECASE,
)
_INLINE_CODE = re.compile(r"`[^`\n]+`|https?://\S+")
_QUOTATION = re.compile(
    r"(?<!\w)\"(?=\S)[^\"]+(?<=\S)\"(?!\w)|“[^“”]+”|„[^„“”]+[“”]|«[^«»]+»|»[^«»]+«|「[^「」]+」|『[^『』]+』"
    r"|(?<!\w)'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){2,}(?<=\S)'(?!\w)|‘[^‘’]+’(?!\w)"
)
_HAN_OR_KANA = re.compile("[\u3041-\u30ff\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class MessageParts:
    """The two sorts of text in a message.

    Quotations, addresses and code within a line stay in what was typed: titles and names stand in
    quotation marks too.
    """

    typed: str
    pasted: str


def message_parts(words: str) -> MessageParts:
    """Tell the parts: code, logs, citations, mails, texts that an order hands over are pasted."""
    lines = words.splitlines()
    marks = _code_marks(lines)
    typed: list[str] = []
    pasted: list[str] = []
    for number, (line, marked) in enumerate(zip(lines, marks, strict=True)):
        if marked:
            pasted.append(line)
            continue
        if number >= _ORDER_LINES:
            typed.append(line)
            continue
        if _begins_mail(lines, number):
            rest = lines[number:]
        elif (cut := _hands_over(line)) and _follows(line[cut:], lines, marks, number):
            typed.append(line[:cut])
            rest = [line[cut:], *lines[number + 1 :]]
        else:
            typed.append(line)
            continue
        closing = _closing_words(rest)
        typed.append(closing)
        pasted += rest[:-1] if closing else rest
        break
    return MessageParts("\n".join(typed).strip(), "\n".join(pasted).strip())


def without_inline_code(text: str) -> str:
    """The text without code between backticks, and without addresses of the web."""
    return _INLINE_CODE.sub(" ", text)


def without_quotations(text: str) -> str:
    """The text without what stands in quotation marks."""
    return _QUOTATION.sub(" ", text)


def masked_citations(text: str) -> str:
    """The text, as long as it was, with a filler for each sign within quotations and code."""
    return _QUOTATION.sub(_masked, _INLINE_CODE.sub(_masked, text))


def _masked(found: re.Match[str]) -> str:
    mark, *inner, other = found[0]
    return mark + "\0" * len(inner) + other


def quoted_sentences(text: str) -> tuple[str, str]:
    """The text without the sentences in quotation marks, and those; titles and names stay."""
    quoted: list[str] = []

    def taken(found: re.Match[str]) -> str:
        inner = found[0][1:-1]
        if not _is_sentence(inner):
            return found[0]
        quoted.append(inner)
        return " "

    return _QUOTATION.sub(taken, text), "\n".join(quoted)


def _is_sentence(text: str) -> bool:
    if len(_HAN_OR_KANA.findall(text)) >= _LEAST_QUOTED_HAN:
        return True
    words = [word for word in text.split() if word[:1].isalpha()]
    capitals = sum(word[0].isupper() for word in words)
    return len(words) >= _LEAST_QUOTED_WORDS and capitals < _TITLE_SHARE * len(words)


def _code_marks(lines: Sequence[str]) -> list[bool]:
    """For each line whether it is code, a log or a citation."""
    marks: list[bool] = []
    fence = ""
    beside = False
    for line in lines:
        if opening := _CODE_FENCE.match(line):
            mark = opening[0].strip()[0]
            if not fence and 3 * mark not in line[opening.end() :]:
                fence = mark
            elif fence == mark:
                fence = ""
            marks.append(True)
            continue
        sample = line[:_LINE_SAMPLE].strip()
        if fence or not sample:
            marks.append(bool(fence))
            continue
        code = _SIGN_OF_CODE.search(sample) and _code_line().match(sample)
        beside = bool(code or (beside and _BESIDE_CODE.match(line)))
        marks.append(beside or bool(_CITED_LINE.match(sample)))
    for place in range(len(lines) - 2, -1, -1):  # comments stand above what they explain
        if marks[place + 1] and not marks[place] and _COMMENT.match(lines[place]):
            marks[place] = True
    return marks


def _begins_mail(lines: Sequence[str], number: int) -> bool:
    """Whether the headers of a mail begin here: two at least, and one of them its subject."""
    found = map(_MAIL_HEADER.match, lines[number : number + _MOST_HEADERS])
    headers = list(takewhile(bool, found))
    return len(headers) > 1 and any(header and header["subject"] for header in headers)


def _hands_over(line: str) -> int:
    """Where the text begins that a line hands over; 0 if it hands none over."""
    sample = line[:_LINE_SAMPLE]
    for start in (0, *(found.end() for found in _BEFORE_NEXT_ORDER.finditer(sample))):
        if order := _handing_over_line().match(sample, start):
            colon = _COLON_AFTER.match(line, order.end())
            return colon.end() if colon else len(line)
    return 0


def _follows(rest: str, lines: Sequence[str], marks: Sequence[bool], number: int) -> bool:
    """Whether a text follows, and no code block in its place."""
    if rest.strip():
        return True
    following = (place for place in range(number + 1, len(lines)) if lines[place].strip())
    place = next(following, None)
    return place is not None and not marks[place]


def _closing_words(rest: Sequence[str]) -> str:
    """The last line of a text handed over, if it speaks to the assistant again."""
    last = rest[-1]
    return last if len(rest) > 1 and len(last) <= _LONGEST_THANKS and _THANKS.search(last) else ""


@cache
def _code_line() -> re.Pattern[str]:
    return re.compile("|".join(_CODE_LINES))


@cache
def _handing_over_line() -> re.Pattern[str]:
    orders = "|".join(_HANDING_OVER)
    return re.compile(rf"\W{{0,9}}{_BEFORE_ORDER}(?:{orders})", re.IGNORECASE)
