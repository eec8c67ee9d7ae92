"""How sentences command an assistant, as data: fragments of fifteen languages in frames.

A fragment in capitals stands for the words of that name in the language at hand. Statements about
a person use other forms of the same verbs ("User recommends"), so the imperative is what tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Literal

from adaptive.privacy.injection_languages import COMMAND_LANGUAGES
from adaptive.privacy.need_table import NeedTable
from adaptive.privacy.pattern_needs import needs_of

CommandKind = Literal["override", "reveal", "role", "secrecy", "trigger", "standing", "authority"]

# Of commands, what a person is told about why such a text is no memory.
COMMAND_REASONS: Mapping[CommandKind, str] = {
    "override": "it tells the assistant to disregard its instructions",
    "reveal": "it tells the assistant to give away what it must not",
    "role": "it gives the assistant another role",
    "secrecy": "it tells the assistant to hide something from you",
    "trigger": "it tells the assistant what to say on an occasion",
    "standing": "it reads as an instruction to the assistant, not as a fact about you",
    "authority": "it claims an authority that no memory has",
}
# The beginning of a clause, where an imperative stands.
_COMMAND_CLAUSE = (
    r"(?:^|[.;:!?,\"'(\[\n\u2014\u2013\u2026*>-]\s{0,3}|\bCONJ\s"
    r"|\b(?:called|named|titled|entitled|is|reads|says|means)\s)(?:PLEASE[, ]{1,3}){0,2}"
)
_COMMAND_OPENING = r"(?:^|[.:!?\n\"'(]\s{0,3})(?:[^\w]{0,4}PLEASE[, ]{1,3}){0,2}[^\w]{0,4}"
# A kind's frames are alternatives; each is compiled when a text may fit it.
_COMMAND_FRAMES: Mapping[CommandKind, tuple[str, ...]] = {
    "override": (r"IGNORE\b[^.!?\n]{0,60}?TARGET",),
    "reveal": (r"REVEAL\b[^.!?\n]{0,50}?HIDDEN",),
    "role": ("BECOME",),
    "secrecy": ("SECRETLY",),
    "trigger": (
        r"\bWHEN\b[^.!?\n]{0,120}?ASKED[^.!?\n]{0,100}?(?:[,:;\u2014-]\s{0,3}|\bTHEN\s)"
        r"(?:(?!(?:user|they|he|she|we|i)\s)[^\W\d_]{1,12}\s){0,2}?\b(?:ACT|STRONG)\b",
    ),
    "standing": (
        rf"{_COMMAND_CLAUSE}"
        rf"(?:\bALWAYS\b[, ]{{0,3}}(?:[^\W\d_]{{1,12}}\s){{0,3}}?\b(?:ACT|STRONG)\b"
        r"|\b(?:ACT|STRONG)\b[^.!?\n]{0,60}?\bALWAYS\b)",
        rf"{_COMMAND_OPENING}\bSTRONG\b",
        rf"{_COMMAND_OPENING}\b(?:ACT|STRONG)\b[^.!?\n]{{0,80}}?\bCONJ\sSTRONG\b",
        r"\b(?:assistant|ai|chatbot|bot|model)[,:]\s(?:PLEASE\s)?\b(?:ACT|STRONG)\b",
        r"\bASSISTANT\s(?:[^\W\d_]{1,12}\s){0,6}?\b(?:STRONG|DOING)\b",
    ),
    "authority": ("AUTHORITY",),
}
_FITS_NOTHING = "(?!)"
# No range of ``_COMMAND_LETTERS`` begins before it.
_FIRST_OTHER = "\u0400"


@dataclass(frozen=True, slots=True)
class _CommandPattern:
    """One frame of a kind of command, filled with the fragments of a language.

    Attributes:
        number: its place among all.
        letters: those of the language, one of which the text must hold; none for Latin ones.
    """

    number: int
    kind: CommandKind
    language: str
    frame: str
    letters: str

    @property
    def compiled(self) -> re.Pattern[str]:
        """Compiled when a text may fit it: all of them together take a fifth of a second."""
        return _compiled_command(self)


def commands_in(text: str) -> Iterator[tuple[CommandKind, int, int]]:
    """Each kind of command that a lower-case text holds, with the span of its first occurrence."""
    # What is beyond Latin letters.
    signs = set[str]() if text.isascii() else {sign for sign in text if sign >= _FIRST_OTHER}
    possible = [
        one
        for letters in _command_scripts()
        if not letters or _hold_letter(signs, letters)
        for one in _possible_commands(text, letters)
    ]
    possible.sort(key=attrgetter("number"))
    for (kind, _), frames in groupby(possible, key=lambda one: (one.kind, one.language)):
        spans = [match.span() for one in frames if (match := one.compiled.search(text))]
        if spans:
            # Of those that begin together, the first frame's.
            yield kind, *min(spans, key=itemgetter(0))


def commands_to_compile() -> Iterator[Callable[[], re.Pattern[str]]]:
    """What compiles the patterns, one each, where no text has needed it so far."""
    for one in _command_patterns():
        yield partial(_compiled_command, one)


@cache
def _compiled_command(one: _CommandPattern) -> re.Pattern[str]:
    # No ``cached_property``: before Python 3.12 it compiles for one thread at a time.
    return re.compile(_filled_frame(one.frame, COMMAND_LANGUAGES[one.language]))


@cache
def _command_patterns() -> tuple[_CommandPattern, ...]:
    patterns: Iterator[tuple[CommandKind, str, str, str]] = (
        (kind, language, frame, _COMMAND_LETTERS.get(language.rstrip("+"), ""))
        for language, fragments in COMMAND_LANGUAGES.items()
        for kind, frames in _COMMAND_FRAMES.items()
        for frame in ((fragments[kind],) if kind in fragments else frames)
        if kind in fragments or frame in fragments or not (frame.isupper() or "+" in language)
    )
    return tuple(_CommandPattern(number, *one) for number, one in enumerate(patterns))


def _possible_commands(text: str, letters: str) -> list[_CommandPattern]:
    """The patterns of the languages with these letters that the words of a text allow."""
    patterns, needs = _command_needs(letters)
    return [patterns[number] for number in needs.possible(text)]


@cache
def _command_scripts() -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.letters for one in _command_patterns()))


@cache
def _command_needs(letters: str) -> tuple[tuple[_CommandPattern, ...], NeedTable]:
    patterns = tuple(one for one in _command_patterns() if one.letters == letters)
    needs = [needs_of(one.frame, COMMAND_LANGUAGES[one.language]) for one in patterns]
    return patterns, NeedTable(needs)


def _hold_letter(signs: Set[str], letters: str) -> bool:
    """Whether one of some signs lies in one of some ranges, given by their firsts and lasts."""
    ranges = list(zip(letters[::2], letters[1::2], strict=True))
    return any(low <= sign <= high for sign in signs for low, high in ranges)


# Ranges of letters, each by its first and its last.
_COMMAND_LETTERS: Mapping[str, str] = {
    "ru": "\u0400\u04ff",
    "zh": "\u4e00\u9fff",
    "ja": "\u3041\u30ff\u4e00\u9fff",
    "ko": "\uac00\ud7a3",
    "ar": "\u0600\u06ff",
    "hi": "\u0900\u097f",
}


def _filled_frame(frame: str, fragments: Mapping[str, str]) -> str:
    """A frame with the fragments of a language in it; a name that it lacks fits nothing."""

    def put(match: re.Match[str]) -> str:
        return f"(?:{fragments.get(match.group(), _FITS_NOTHING)})"

    return re.sub(r"(?<![A-Z\\])[A-Z]{3,}(?![A-Z])", put, frame)
