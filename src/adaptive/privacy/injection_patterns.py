"""How sentences command an assistant, as data: fragments of fifteen languages in frames.

A fragment in capitals stands for the words of that name in the language at hand. Statements about
a person use other forms of the same verbs ("User recommends"), so the imperative is what tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal

from adaptive.privacy.injection_languages import COMMAND_LANGUAGES

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
_COMMAND_FRAMES: Mapping[CommandKind, str] = {
    "override": r"IGNORE\b[^.!?\n]{0,60}?TARGET",
    "reveal": r"REVEAL\b[^.!?\n]{0,50}?HIDDEN",
    "role": r"BECOME",
    "secrecy": r"SECRETLY",
    "trigger": r"\bWHEN\b[^.!?\n]{0,120}?ASKED[^.!?\n]{0,100}?(?:[,:;\u2014-]\s{0,3}|\bTHEN\s)"
    r"(?:[^\W\d_]{1,12}\s){0,2}?(?:ACT|STRONG)\b",
    "standing": rf"{_COMMAND_CLAUSE}"
    rf"(?:ALWAYS\b[, ]{{0,3}}(?:[^\W\d_]{{1,12}}\s){{0,3}}?(?:ACT|STRONG)\b"
    r"|(?:ACT|STRONG)\b[^.!?\n]{0,60}?\bALWAYS\b)"
    rf"|{_COMMAND_OPENING}STRONG\b"
    rf"|{_COMMAND_OPENING}(?:ACT|STRONG)\b[^.!?\n]{{0,80}}?\bCONJ\sSTRONG\b"
    r"|\b(?:assistant|ai|chatbot|bot|model)[,:]\s(?:PLEASE\s)?(?:ACT|STRONG)\b"
    r"|\bASSISTANT\s(?:[^\W\d_]{1,12}\s){0,6}?(?:STRONG|DOING)\b",
    "authority": r"AUTHORITY",
}
_FITS_NOTHING = "(?!)"


def commands_in(text: str) -> Iterator[tuple[CommandKind, int, int]]:
    """Each kind of command that a lower-case text holds, with the span of its first occurrence."""
    for kind, signs, pattern in _command_patterns():
        if signs and not signs.search(text):
            continue
        if match := pattern.search(text):
            yield kind, match.start(), match.end()


@cache
def _command_patterns() -> tuple[tuple[CommandKind, re.Pattern[str] | None, re.Pattern[str]], ...]:
    """Kind, the letters of its language (none for Latin ones) and pattern."""
    patterns: list[tuple[CommandKind, re.Pattern[str] | None, re.Pattern[str]]] = []
    for language, fragments in COMMAND_LANGUAGES.items():
        signs = (
            re.compile(f"[{_COMMAND_LETTERS[language]}]") if language in _COMMAND_LETTERS else None
        )
        for kind, frame in _COMMAND_FRAMES.items():
            own = fragments.get(kind, frame)
            filled = _filled_frame(own, fragments)
            if filled != f"(?:{_FITS_NOTHING})":
                patterns.append((kind, signs, re.compile(filled)))
    return tuple(patterns)


_COMMAND_LETTERS: Mapping[str, str] = {
    "ru": "\u0400-\u04ff",
    "zh": "\u4e00-\u9fff",
    "ja": "\u3041-\u30ff\u4e00-\u9fff",
    "ko": "\uac00-\ud7a3",
    "ar": "\u0600-\u06ff",
    "hi": "\u0900-\u097f",
}


def _filled_frame(frame: str, fragments: Mapping[str, str]) -> str:
    """A frame with the fragments of a language in it; a name that it lacks fits nothing."""

    def put(match: re.Match[str]) -> str:
        return f"(?:{fragments.get(match.group(), _FITS_NOTHING)})"

    return re.sub(r"(?<![A-Z\\])[A-Z]{3,}(?![A-Z])", put, frame)
