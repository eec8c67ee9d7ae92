"""Secrets that only their context tells: "password is ...", ``API_KEY=``, "... is my PIN".

A word announces (``secret_words``), a link leads from it to a value, and the look of the value
decides (``secret_values``). What is looked at after each word is bounded, so the work is linear.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from adaptive.privacy.secret_phrases import announced_phrase
from adaptive.privacy.secret_values import (
    bare_value,
    is_placeholder,
    is_saying,
    looks_chosen,
    looks_random,
)
from adaptive.privacy.secret_words import (
    ALONE,
    COMMON_STEMS,
    LINK_SIGNS,
    LINK_UNSPACED,
    LINK_WORDS,
    UNITS,
    SecretSort,
    announcing_words,
)

# Characters between an announcing word and the end of what is looked at.
_REACH = 120
_BEFORE = 90
# So many characters between two announcing words make them one.
_GLUED = 2
KIND_OF_SORT: dict[SecretSort, str] = {
    "password": "password",
    "code": "PIN or one-time code",
    "key": "key or token",
    "phrase": "recovery phrase",
}


class Announced(NamedTuple):
    """A place where a word announces a secret."""

    start: int
    end: int
    sort: SecretSort


class ContextFinding(NamedTuple):
    """A secret told by its context, as a span of the text that was looked at."""

    kind: str
    start: int
    end: int


def context_secrets(text: str) -> Iterator[ContextFinding]:
    """Secrets in a folded text, as far as words announce them; in no order."""
    places = _announced(text.lower())
    runs: list[tuple[int, int]] | None = None
    for number, place in enumerate(places):
        following = places[number + 1].start if number + 1 < len(places) else len(text)
        # Of words that follow one another directly, the last leads to the value: SECRET_KEY=...
        if following - place.end > _GLUED or following == len(text):
            if runs is None and place.sort == "key":
                runs = [run.span() for run in _chance_run().finditer(text)]
            yield from _after(text, place, min(following, place.end + _REACH), runs or [])
        if place.sort != "phrase":
            previous = places[number - 1].end if number else 0
            yield from _before(text, place, previous)


def _announced(lower: str) -> list[Announced]:
    """Where words announce; of those that overlap, the one that begins first, else the longest."""
    found: list[Announced] = []
    absent = {stem for stem in COMMON_STEMS if stem not in lower}
    for word, sort, stem in announcing_words():
        if stem in absent:
            continue
        at = lower.find(word)
        while at >= 0:
            end = at + len(word)
            if word not in ALONE or _stands_alone(lower, at, end):
                found.append(Announced(at, end, sort))
            at = lower.find(word, end)
    found.sort(key=lambda place: (place.start, -place.end))
    distinct: list[Announced] = []
    for place in found:
        if not distinct or place.start >= distinct[-1].end:
            distinct.append(place)
    return distinct


def _stands_alone(lower: str, start: int, end: int) -> bool:
    """No letter before, and none after but a plural or what an identifier joins to it."""
    before = lower[start - 1 : start]
    after = lower[end : end + 1]
    return not (before.isalpha() or (after.isalpha() and lower[end - 1].isalpha()))


def _after(
    text: str, place: Announced, stop: int, runs: list[tuple[int, int]]
) -> Iterator[ContextFinding]:
    kind = KIND_OF_SORT[place.sort]
    if place.sort == "phrase":
        opening = _phrase_opening().match(text, place.end)
        begin = opening.end() if opening else place.end
        if (end := announced_phrase(text, begin)) >= 0:
            yield ContextFinding(kind, begin, end)
        return
    if place.sort == "code":
        # The value may hold what looks like the next word.
        end = min(len(text), stop + 12)
        figure = _figure().search(text, place.end, end)
        match = _code_after().match(text, place.end, end) if figure else None
        if match and not _other_code().search(match.group()):
            yield ContextFinding(kind, *match.span("value"))
        return
    link = _link().match(text, place.end, min(len(text), stop + 1))
    if link and (span := _linked(text, place, link)):
        yield ContextFinding(kind, *span)
        return
    if span := _unlinked(text, place, stop, runs):
        yield ContextFinding(kind, *span)


def _linked(text: str, place: Announced, link: re.Match[str]) -> tuple[int, int] | None:
    """The value that a link leads to, if it is one."""
    if quoted := _quoted().match(text, link.end()):
        said = quoted.group("value")
        good = not is_placeholder(said) and (
            looks_random(said, 8) if place.sort == "key" else _is_quoted_password(said)
        )
        return quoted.span("value") if good else None
    value = _value().match(text, link.end())
    if not value:
        return None
    said = bare_value(value.group())
    span = (value.start(), _shown_end(text, value.start() + len(said)))
    if _names_account().match(text, place.start) and (second := _second().match(text, link.end())):
        told = bare_value(second.group("value"))
        if looks_chosen(told) or looks_random(told, 8):
            return second.span("value")
    if is_placeholder(said) or _is_amount(text, said, span[1]):
        return None
    if place.sort == "key":
        return span if looks_random(said, 8) or _is_token_of_words(said) else None
    if looks_chosen(said) or looks_random(said, 8):
        return span
    if len(said) >= 4 and said.isdigit():
        return span
    return span if _is_plain_password(text, said, span, link) else None


def _shown_end(text: str, end: int) -> int:
    """The end of a value with the marks right after it that may belong to it."""
    match = _closing_marks().match(text, end)
    return match.end() if match else end


def _is_quoted_password(said: str) -> bool:
    return len(said) >= 4 and not is_saying(said) and said.count(" ") < 9


def _is_plain_password(text: str, said: str, span: tuple[int, int], link: re.Match[str]) -> bool:
    """A plain word as a password: it ends the sentence, and says nothing about the password."""
    if len(said) < 5 or is_saying(said) or not said[0].isalpha() or said[-1] > "\u2e80":
        return False
    if _of_many().search(link.group()) or not _scope_of_secret().fullmatch(link.group("scope")):
        return False
    rest = _sentence_rest().match(text, span[1])
    if rest:
        return True
    # "pass phrase: correct horse battery staple"
    return "phrase" in text[max(0, link.start() - 12) : link.start()].lower() and bool(
        _few_words().match(text, span[0])
    )


def _is_token_of_words(said: str) -> bool:
    """A key of words and figures, as "prod-blue-7741-key"."""
    return len(said) >= 12 and sum(sign.isdigit() for sign in said) >= 3 and looks_chosen(said)


def _is_amount(text: str, said: str, end: int) -> bool:
    return said[:1].isdigit() and _amount().match(text, end) is not None


def _unlinked(
    text: str, place: Announced, stop: int, runs: list[tuple[int, int]]
) -> tuple[int, int] | None:
    """A value that stands by the word without a link: "with password Kedi2024", "token ghx..."."""
    line_end = text.find("\n", place.end, stop)
    if place.sort == "key":
        for start, end in runs[bisect_left(runs, (place.end, 0)) :]:
            if start >= stop:
                break
            value = text[start:end]
            if looks_random(value, 20) and not _is_uuid().fullmatch(value):
                if not _other_name().search(text, place.end, start):
                    return start, end
        return None
    end = line_end if line_end > place.end else min(len(text), stop + 12)
    value = _adjacent().match(text, place.end, end)
    if not value:
        return None
    said = bare_value(value.group("value"))
    span = (value.start("value"), _shown_end(text, value.start("value") + len(said)))
    if _is_amount(text, said, span[1]) or not looks_chosen(said) or len(said) < 6:
        return None
    return span


def _before(text: str, place: Announced, previous: int) -> Iterator[ContextFinding]:
    """A value that the word follows: "hunter2 is my password", "482913 ist dein Code"."""
    begin = max(previous, place.start - _BEFORE)
    head = text[begin : place.start]
    match = _said_before().search(head)
    if not match:
        return
    said = bare_value(match.group("value"))
    start = begin + match.start("value")
    if place.sort == "code":
        good = re.fullmatch(r"(?:[A-Z]{1,2}-)?\d{4,8}|\d{3}[ \-]\d{3}", said) is not None
    elif place.sort == "key":
        good = looks_random(said, 12)
    else:
        quoted = head[match.start("value") - 1 : match.start("value")] in ("'", '"', "`", "「")
        good = looks_chosen(said) or (quoted and _is_quoted_password(said))
    if good:
        yield ContextFinding(KIND_OF_SORT[place.sort], start, start + len(said))


@cache
def _link() -> re.Pattern[str]:
    """From the end of an announcing word to the beginning of its value.

    Between word and link stands the rest of an identifier, or what the secret is for.
    """
    return re.compile(
        rf"(?P<scope>[\w\-]{{0,24}}?|[\w\-']{{0,12}}[ \t](?:[^\s.!?:=\n,;]{{1,24}}[ \t]){{0,6}}?"
        rf"[^\s.!?:=\n,;]{{0,24}}?)"
        rf"(?:{LINK_SIGNS}(?:\n[ \t]{{0,8}})?|(?<!\w)\s?(?:{LINK_WORDS})[:]?[ \t]{{1,3}}"
        rf"|{LINK_UNSPACED}[ \t:：]{{0,3}})",
        re.IGNORECASE,
    )


@cache
def _quoted() -> re.Pattern[str]:
    return re.compile(
        r"\\?[\"'`\u300c\u300e]{1,3}(?P<value>[^\"'`\u300c\u300d\u300e\u300f\n]{4,200})[\"'`\u300d\u300f]"
    )


@cache
def _value() -> re.Pattern[str]:
    """ASCII signs up to a space or a letter of another script, else a word."""
    return re.compile(r"[!-~]{3,300}|[^\s\"'`,;，。、；！？!?「」]{3,80}")


@cache
def _chance_run() -> re.Pattern[str]:
    return re.compile(r"(?<![\w+/=\-])[A-Za-z0-9][\w+/.~\-]{18,300}={0,2}")


@cache
def _adjacent() -> re.Pattern[str]:
    return re.compile(
        r"(?:[^\W\d_]{0,4}[ \t]{1,3}(?:(?:of|is|it|:|was|ist|est|es|é|è)[ \t]{1,2})?|[이은는がはを]\s?)"
        r"[\"'`(]?(?P<value>[!-~]{4,200})"
    )


@cache
def _code_after() -> re.Pattern[str]:
    """A number of four to eight figures after a word for a code, no amount, year or date."""
    link = (
        rf"(?:{LINK_SIGNS}|(?<!\w)\s?(?:{LINK_WORDS})[:]?[ \t]{{1,3}}|{LINK_UNSPACED}\s?)"
    )
    between = r"(?:(?:'?s)?[ \t](?:[^\s.!?:=\n,;\d]{1,24}[ \t]){0,7}?[^\s.!?:=\n,;\d]{0,24}?|\w{0,12}?)"
    digits = (
        r"(?P<value>(?:[A-Z]{1,2}-)?\d{3}[ \-]\d{3}|\d{2}[ \-]\d{2}[ \-]\d{2}(?:[ \-]\d{2})?|[*#]?\d{4,8}[#*]?"
        r"|(?:[A-Z]-)\d{4,8}|(?=[a-zA-Z\-]{0,8}\d)(?=\d{0,8}[a-zA-Z])[a-zA-Z0-9]{4,6}-[a-zA-Z0-9]{4,6})"
    )
    return re.compile(
        rf"(?:{between}{link}[\"'`*(]{{0,2}}|[ \t]{{1,2}}(?:code |number |nummer |code: )?[\"'`(#]{{0,2}}|(?:\s?[이은는がはを]\s?))"
        rf"{digits}(?![A-Za-z0-9_])(?![.,:/\-]\d)(?!{UNITS}(?!\w))",
        re.IGNORECASE,
    )


@cache
def _other_code() -> re.Pattern[str]:
    return re.compile(
        r"post|zip|area|error|fehler|status|source|dress|promo|discount|rabatt|produ[ck]t|country|pays"
        r"|país|индекс|\bqr|\bbar|exit|http|color|colour|swift|\bbic|airport|dial|vorwahl|course|kurs"
        r"|item|\bsku|model|steuer|fiscal|tax|referral|coupon|invite|room|flight",
        re.IGNORECASE,
    )


@cache
def _said_before() -> re.Pattern[str]:
    return re.compile(
        r"(?:^|[\s\"'`(「:：])(?P<value>(?:(?<![\w])\d{3}[ \-]\d{3}|[!-~]{4,80}?))[\"'`*)」]{0,2}\s{0,2}"
        r"(?:\s(?:is|was|ist|war|est|es|é|è|jest|as|als|comme|como|come|jako|olarak|это|как|है|is het)\s"
        r"|[,]?\s?(?:—|–|-|это)\s|\s?(?:は|が|是|为|作为|はあなたの|là)\s?)"
        r"(?:[^\W\d_]{1,12}[ '’]|[^\W\d_'’]{1,3}['’]){0,4}[\"'(]?[^\W\d_]{0,12}$",
        re.IGNORECASE,
    )


@cache
def _sentence_rest() -> re.Pattern[str]:
    """What may follow a plain word that is a password."""
    return re.compile(
        r"[\"'`*)\]」”]{0,3}(?:\s*$|\s*\n|[.!?;,。，！；](?:\s|$)|[.!?]?[\"'”]|\s{1,2}[(/|—–-]"
        r"|\s(?:and|und|et|y|e|и|en|i|ve)\s(?:the|my|it|i|don't|mein\w*|das|der|die|ich|mon|le|la|je|mi|el|il|o"
        r"|a|minha|meu|мой|я|mijn|het|user\w*|login)\b|\s(?:but|aber|mais|pero|ma|но|maar|for|für|pour|para|per|для|on|please"
        r"|thanks|don't|do not|bitte|user(?:name)?|login|email)\b|[。」』])"
    )


@cache
def _of_many() -> re.Pattern[str]:
    return re.compile(r"\b(?:are|sont|son|são|sono)\s*$", re.IGNORECASE)


@cache
def _scope_of_secret() -> re.Pattern[str]:
    """What may stand between the word and a link to a plain word: what the password is for."""
    return re.compile(
        r"(?:[\w\-]{0,4}|\s?\([^)]{0,40}\)?|[\w\-']{0,8}\s+(?:for|of|to|on|at|from|in|für|von|vom|zum|zur|am"
        r"|im|du|de|des|del|della|dell'\w*|do|da|pour|para|per|van|voor|dla|do|od|от|для|к|i|we|is|was|used"
        r"|there|here|there|changed|now)\b.{0,90})",
        re.IGNORECASE,
    )


@cache
def _closing_marks() -> re.Pattern[str]:
    return re.compile(r"[!?*]{1,4}")


@cache
def _names_account() -> re.Pattern[str]:
    return re.compile(r"credential|login", re.IGNORECASE)


@cache
def _second() -> re.Pattern[str]:
    """What follows the name of an account: "sam / secret"."""
    return re.compile(r"[^\s/|,:]{1,64}\s?[/|,:]\s?(?P<value>[!-~]{4,200})")


@cache
def _few_words() -> re.Pattern[str]:
    return re.compile(r"[a-z]{2,12}(?:[ \-][a-z]{2,12}){2,9}\s*(?:$|[.\n\"'])")


@cache
def _amount() -> re.Pattern[str]:
    return re.compile(rf"{UNITS}(?!\w)", re.IGNORECASE)


@cache
def _phrase_opening() -> re.Pattern[str]:
    """What stands between the name of a phrase and its first word."""
    return re.compile(
        rf"(?:[^\n:]{{0,60}}?[:：=]|[^\n:]{{0,40}}?(?<!\w)(?:{LINK_WORDS})(?=\s)|{LINK_UNSPACED}|[^\n:]{{0,30}}(?=\n))"
        r"[\s\"'`*「(\[]{0,8}(?:\(?1[.):]\s?)?",
        re.IGNORECASE,
    )


@cache
def _other_name() -> re.Pattern[str]:
    """What a run of chance signs may be named as, if it is no secret."""
    return re.compile(
        r"(?<![a-z])(?:commit|sha-?\d*|hash\w*|md5|checksum|digest|uuid|guid|fingerprint|public|isbn"
        r"|order|tracking|invoice|serial|build|version|revision|branch|tag|image|img|file|path|url"
        r"|contract|address|transaction|tx|block|etag|bestell\w*|rechnung\w*|id)(?![a-z])",
        re.IGNORECASE,
    )


@cache
def _figure() -> re.Pattern[str]:
    return re.compile(r"\d")


@cache
def _is_uuid() -> re.Pattern[str]:
    return re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
