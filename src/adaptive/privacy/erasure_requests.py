"""Requests to erase memories, read from what a user typed, without a model.

Only a message that is such a request as a whole counts: what is quoted, pasted, told, negated or
asked about is none, and neither is one that goes on to something else. Whatever leaves a doubt is
no request here; who wants one thing forgotten is understood where facts are learned.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from functools import cache

from adaptive.privacy.erasure_requests_days import erasure_day
from adaptive.privacy.erasure_requests_forms import ErasureLanguage, ErasureScope
from adaptive.privacy.erasure_requests_more_forms import erasure_languages

_LONGEST_ERASURE_REQUEST = 200
_MOST_CLOSINGS = 2
_ERASURE_END_MARKS = " \t\r\n.!。…"
# Written without spaces between words.
_UNSPACED_LANGUAGES = frozenset({"zh", "ja"})
_A_DAY = "(?P<date>[^;:!?]{2,32}?)"


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """What a user asks to erase.

    ``day`` is given for the scope ``day``, a day where the user lives; ``word`` is what a speaker
    of the message's language is asked to type.
    """

    scope: ErasureScope
    day: date | None = None
    word: str = "erase"


def read_erasure_request(words: str, today: date) -> ErasureRequest | None:
    """What a message asks to erase, ``None`` where it is no such request; ``today`` is the user's.

    It takes time in proportion to the message, of which at most 200 characters are a request.
    """
    if len(words) > _LONGEST_ERASURE_REQUEST:
        return None
    said = " ".join(unicodedata.normalize("NFKC", words).lower().replace("\u2019", "'").split())
    asks = "?" in said[-3:]
    plain = said.strip("¿¡ ").rstrip(_ERASURE_END_MARKS + "?")
    for language in erasure_languages():
        if not _erasure_stems(language.code).search(plain):
            continue
        start, end, asked = _bare_request(plain, language.code)
        for scope, form, only_asked in _erasure_patterns(language.code):
            match = form.fullmatch(plain, start, end)
            if match is None or (only_asked and not asked):
                continue
            if asks and not (asked or _around_requests(language.code).asked.search(plain)):
                continue
            if scope != "day":
                return ErasureRequest(scope, word=language.word)
            day = erasure_day(match["date"], today, language.days, language.code)
            if day is not None:
                return ErasureRequest(scope, day, language.word)
    return None


def erasure_words() -> frozenset[str]:
    """What confirms an erasure when it is typed, in any of the languages, in small letters."""
    return frozenset(language.word for language in erasure_languages())


@cache
def _erasure_stems(code: str) -> re.Pattern[str]:
    return re.compile(_language_of(code).stems)


@dataclass(frozen=True, slots=True)
class _Around:
    """What stands around a request: greetings before it, a polite question, thanks after it."""

    lead: re.Pattern[str]
    asked: re.Pattern[str]
    close: re.Pattern[str]


@cache
def _around_requests(code: str) -> _Around:
    language = _language_of(code)
    apart = "*" if code in _UNSPACED_LANGUAGES else "+"
    return _Around(
        re.compile(f"(?:(?:{language.lead})[ ,.!:。、]{apart}){{0,4}}"),
        re.compile(language.asked),
        re.compile(f"[ ,.!。、]{apart}(?:{language.close})$"),
    )


def _bare_request(plain: str, code: str) -> tuple[int, int, bool]:
    """Where a request begins and ends within a message, and whether it is a polite question."""
    around = _around_requests(code)
    start, asked = _after(around.lead, plain, 0), False
    if polite := around.asked.match(plain, start):
        start, asked = _after(around.lead, plain, polite.end()), True
    end = len(plain)
    for _ in range(_MOST_CLOSINGS):
        if close := around.close.search(plain, start, end):
            end = close.start()
    return start, end, asked


def _after(pattern: re.Pattern[str], plain: str, start: int) -> int:
    found = pattern.match(plain, start)
    return found.end() if found else start


def _language_of(code: str) -> ErasureLanguage:
    return next(one for one in erasure_languages() if one.code == code)


@cache
def _erasure_patterns(code: str) -> tuple[tuple[ErasureScope, re.Pattern[str], bool], ...]:
    """The forms of a language, compiled when first needed, and which are for questions alone."""
    language = _language_of(code)
    names = {**language.words, "ASKED": "", "DAY": _A_DAY}
    name = re.compile("|".join(sorted(names, key=len, reverse=True)))
    return tuple(
        (scope, re.compile(name.sub(lambda found: names[found[0]], form)), form.startswith("ASKED"))
        for scope, forms in language.forms.items()
        for form in forms
    )
