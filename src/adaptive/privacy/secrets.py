"""Secrets in a text: told by their form, or near a word that names them ("password is ...").

They are never a memory, and no status, log, table or request of ours carries them.

A closed list of nouns names, a sign, a copula or a blank links the noun to a value, and the look of
the value decides. What is read around a noun is bounded, so the work is linear.
"""

# ruff: noqa: RUF001 - words of many scripts
from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from adaptive.core.messages import head_and_tail
from adaptive.core.texts import word_table
from adaptive.privacy.scanning import Finding, any_of, in_order, plain_text, with_marks
from adaptive.privacy.secret_forms import formed_secrets, is_placeholder, looks_random

SECRET_MARK = "[secret removed]"  # noqa: S105 - the mark in its place
_Span = tuple[int, int]
_CODE_KIND, _KEY_KIND, _NONE = "PIN or one-time code", "key or token", "none"
_WORDS = word_table("secrets")
_KINDS = {
    noun: kind for kind in ("password", _CODE_KIND, _KEY_KIND, _NONE) for noun in _WORDS[kind]
}
# A letter beside a short noun makes it part of another word, in scripts with small letters.
_ALONE = r"{0[0]}(?<![^\W\d_].){1}(?![^\W\d_])"
# A noun and the ending of its case or number.
_NOUN = re.compile(
    "(?P<noun>"
    + any_of(
        _ALONE.format(noun, noun[1:]) if len(noun) < 5 and noun[0].islower() else noun
        for noun in sorted(_KINDS, key=len, reverse=True)
    )
    + r")(?:(?<![\u2e80-\uffff])[a-z\u00e0-\u024f\u0430-\u0451]{1,3}(?![^\W\d_]))?"
)
_REACH = 120
_LINK = re.compile(
    r"(?i)(?P<sign>[\"'`*_\])]{0,4}\s{0,3}(?:[:=：]{1,2}>?(?!\?)|\A>(?=[^\s@])|->|→|—|–"
    r"|(?<!\S)-(?= ))\s{0,4}(?:[\"']?(?:basic|bearer|token|apikey) )?)"
    r"|(?<!\w)(?:is|was|are|to|as|be|je|ist|lautet|auf|est|es|era|é|è|war|était|это|är|er|este|olarak"
    r"|adalah|là|na|en|on|à|su|в|είναι|هو|هي|है|הוא|היא)(?: (?:now|still|le|het|jetzt|ahora|agora))?"
    r":?[ \t]{1,3}|(?:是|为|為|は|が|を|는|은|이|가)[ \t:：]{0,3}"
    r"|(?P<joined>\A(?=[!-~]))|(?P<blank>\A(?:'s)?\s{1,3}|\s(?=\S{0,40}[\d@#$!*]))"
)
_FIGURES = re.compile(r"[\d*#零〇一二三四五六七八九]{4,}")
_LONGEST = 4000
_WIDEST_SECRET = 20_000  # a private key
_QUOTED = re.compile(r"\\?[\"'`“「『](?P<value>[^\"'`“”「」『』\n]{4,200})[\"'`”」』]")
_VALUE = re.compile(
    r"[\"'`“*(\[]{0,3}(?P<value>(?:(?!</)[!-~\u00c0-\u052f]){3,}(?:[\u2e80-\uffff]{1,2}[!-~]{2,})?(?<![.,;:)\]}>\"'`])|[^\s,;，。、；！？「」』]{3,80})"
)
_WORD = re.compile(r"[^\W\d_\u2e80-\uffff]{5,40}(?=[\"'`*)\]]{0,3}(?:\s*$|\s*\n|[.!?;,](?:\s|$)))")
_CODE = re.compile(
    r"[\"'`*(#]{0,3}(?:[A-Z]-)?(?P<value>\d{4}[ \-]\d{4}|\d{3}[ \-]\d{3}"
    r"|(?=[0-9A-ZА-Я]{4,8}(?![0-9A-ZА-Я]))[A-ZА-Я]?\d{1,8}(?:[A-ZА-Я]\d{0,6})?"
    r"|\d\d(?: ?[ \-] ?\d\d){2,4}|\d(?:[ \-]\d){3,7}|[零〇一二三四五六七八九]{4,8}"
    r"|(?=[A-Za-z\-]{0,8}\d)[A-Za-z0-9]{4,6}(?:-[A-Za-z0-9]{4,6}){1,5})#?"
    r"(?![A-Za-z0-9_%€$])(?![.,:/\-]\d)"
)
_MORE = re.compile(
    r"[\"'`)]{0,2}(?:\s?[,;、/&]\s?|\s?\n\s?(?:- |\d\d?[.)] )?|\s(?:and|und|et|y|e|и|i|en|ve)\s)"
    + _CODE.pattern
)
# What holds figures and is no password: addresses, dates, numbers with a unit, paths, joined words.
_PLAIN = re.compile(
    r"(?i)https?://\S*|[\w.+\-]+@[\w\-]+\.[\w.]+|v?\d+(?:[.:/,\-]\d+)+\w?|\d+-?[a-z]{0,10}|[\w.\-]*/\S*"
    r"|[A-Za-z]+(?:['’_./\-][A-Za-z]+)*|\w+\([^)]*\)|(?:user|login|name|mail)\w*=.*"
    r"|(?:sha|md|base|argon|wpa|aes|rsa|oauth|ps|win|ed)-?\d+\w*"
)
_AMOUNT = re.compile(rf"(?i)\s?(?:{'|'.join(_WORDS['amount'])})")
# What a number or a run of chance signs may be called that is no secret.
_OTHER = re.compile(rf"(?i)(?:{'|'.join(_WORDS['other'])})\w*\W*$")
# What is said about a password in one word, where a password could stand.
_SAYING = re.compile(
    rf"(?i)(?:{'|'.join(_WORDS['saying'])})"
    rf"|[\w\-]+(?:\.[a-z]+)+|.{{3,}}(?:{'|'.join(_WORDS['ending'])})"
)
_SAID_BEFORE = re.compile(
    r"(?i)(?:^|(?<=[\s\"'`(「:：]))(?P<value>\d{3}[ \-]\d{3}|[!-~]{4,60})[\"'`)」]{0,2}"
    r"\s?(?:\s(?:is|are|ist|sind|est|es|é|è|jest|as|als|comme|como|come|это|है)\s|\s[—–-]\s|は|が|是|为|作为)"
    r"\s?(?:[^\W\d_]{1,12}[ '’]){0,4}[^\W\d_]{0,12}$"
)


def find_secrets(text: str) -> tuple[Finding, ...]:
    """All secrets in a text, in its order, none within or over another; linear in the text."""
    seen, places = plain_text(text)
    spans = (*formed_secrets(seen), *_named_secrets(seen))
    return in_order((Finding(*span) for span in spans), places)


def without_secrets(text: str) -> str:
    """The text with a fixed mark in the place of each secret; itself where there is none."""
    return with_marks(text, find_secrets(text), lambda _: SECRET_MARK)


def excerpt_without_secrets(text: str, limit: int) -> str:
    """Head and tail of a text, about ``limit`` characters long, with marks in place of secrets.

    A secret is known by what stands around it, so that a wider excerpt is cleaned first.
    """
    return head_and_tail(without_secrets(wide_excerpt(text, limit)), limit)


def wide_excerpt(text: str, limit: int) -> str:
    """All of a text that an excerpt without secrets needs; their ends lie within the margin."""
    return head_and_tail(text, limit + 3 * _WIDEST_SECRET)


def secret_reason(findings: tuple[Finding, ...]) -> str:
    """Why a text with these secrets is not kept, in words for its user, without the secrets."""
    kinds = list(dict.fromkeys(finding.kind for finding in findings))[:2]
    if not kinds:
        return ""
    article = "an" if kinds[0][0] in "aeioAEIO" else "a"
    told = " and ".join(kinds)
    return f"it holds what looks like {article} {told}; secrets are never remembered"


def _named_secrets(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each secret near a noun that names it, in the order of the nouns."""
    lower = text.replace("\u0130", "I").lower()  # the one letter that grows in small letters
    places = [(*one.span(), one["noun"]) for one in _NOUN.finditer(lower)]
    former = reached = 0
    for (start, end, noun), (following, *_) in pairwise([*places, (len(text), 0, "")]):
        kind = _KINDS[noun]
        reach = min(following, end + _REACH)
        before, former = text[max(former, start - _REACH) : start], end
        after = text[end : end + _LONGEST]
        if kind != _NONE and start >= reached:
            if span := _value_near(kind, noun, before, text[end:reach], after):
                reached = end + span[1]
                yield kind, end + span[0], reached
                while kind == _CODE_KIND and (more := _MORE.match(text, reached)):
                    reached = more.end("value")
                    yield kind, *more.span("value")
            elif span := _value_before(kind, before):
                yield kind, start + span[0], start + span[1]


def _value_near(kind: str, noun: str, before: str, between: str, after: str) -> _Span | None:
    """Where in ``after``, the text behind a noun, a value of this kind stands that it names.

    ``between`` is what stands of it before the next noun.
    """
    spaceless = noun[-1] > "\u2e80"
    # Of nouns that follow one another directly the last leads to the value: SECRET_KEY=...
    reach = len(between) if len(between) > 2 else 0
    for link in _LINK.finditer(after, 0, reach):
        is_other = _OTHER.search(after[: link.start()]) is not None
        pattern = _CODE if kind == _CODE_KIND else _VALUE
        quoted = _QUOTED.match(after, link.end()) if kind == "password" else None
        value = quoted or pattern.match(after, link.end()) or _VALUE.match(after, link.end())
        if not value or (link["joined"] is not None and not spaceless):
            continue
        said = value["value"]
        is_number = said[0].isdigit() and not any(map(str.isalpha, said))
        if is_placeholder(said) or (is_number and _AMOUNT.match(after, value.end("value"))):
            continue
        if kind == _CODE_KIND and value.re is _CODE:
            good = not (is_other or _OTHER.search(before))
        elif kind in (_KEY_KIND, _CODE_KIND):
            good = not is_other and looks_random(said, 16 if link["blank"] else 8)
        elif quoted:
            good = not _SAYING.fullmatch(said)
        elif link["blank"]:
            # Nothing says that it is the password: it must look like one, and like nothing else.
            good = len(said) >= 6 and _looks_chosen(said)
        else:
            good = _looks_chosen(said) or _FIGURES.fullmatch(said) is not None
            # A plain word, where nothing else can stand, that says nothing about the password.
            is_told = link["sign"] or (link.start() == 1 and link.group().startswith("is "))
            if is_told and not good and _WORD.match(after, link.end()):
                good = not _SAYING.fullmatch(said.rstrip("!?"))
        if good:
            return value.span("value")
    return None


def _looks_chosen(value: str) -> bool:
    """Whether it is a password by its own look: letters with figures or signs within."""
    if len(value) < 4 or value[-1] > "\u2e80" or _PLAIN.fullmatch(value) or is_placeholder(value):
        return False
    marked = re.search(r"\d|[@#$%^&*+=~|\\!?<>{}](?=.)", value)
    return marked is not None and any(map(str.isalpha, value))


def _value_before(kind: str, before: str) -> _Span | None:
    """A value that the noun follows, counted from the noun: "hunter2 is my password"."""
    match = _SAID_BEFORE.search(before)
    if not match or is_placeholder(said := match["value"]):
        return None
    if kind == _CODE_KIND:
        good = _CODE.fullmatch(said) is not None
    else:
        good = _looks_chosen(said) or before[: match.start("value")].endswith(("'", '"', "`", "「"))
    start = match.start("value") - len(before)
    return (start, start + len(said)) if good else None
