"""Finding personal data in a text: by shape, by a word nearby that names it, by a check digit.

Time is linear in the length of the text, all of which is read: nothing may pass unseen.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter

from adaptive.core.texts import pattern_table, word_table
from adaptive.privacy.personal_shapes import SHAPES, Shape
from adaptive.privacy.scanning import Finding, any_of, plain_text

# Words that name what a number or a line is, all languages together.
_STEMS = word_table("personal_data")
# Names a home as well as a word does: the post code of a city.
_POST_CODE = re.compile(
    "[A-Z]{2} [0-9]{5}(?![0-9])|, [0-9]{4,5}(?: [A-Z]{2})? [A-Z]"
    "|[A-Z][0-9]{1,2} [0-9][A-Z]{2}(?![0-9A-Za-z])| [0-9]{6}(?![0-9])"
)


def _key(words: str) -> str:
    """Letters and digits alone, which tell a stem however its words are parted."""
    return "".join(filter(str.isalnum, words))


def _pattern(stem: str) -> str:
    parted = re.escape(stem.rstrip("$")).replace(r"\ ", r"[\W_]{1,2}")
    return parted + (r"(?![^\W\d_])" if stem.endswith("$") else "")


@dataclass(frozen=True, slots=True)
class _Mention:
    """Where a text names subjects."""

    start: int
    end: int
    subjects: set[str]


_START = attrgetter("start")
_SUBJECTS: dict[str, set[str]] = {}
for _subject, _stems in _STEMS.items():
    for _stem in _stems:
        _SUBJECTS.setdefault(_key(_stem), set()).add(_subject)
_LONGEST_FIRST = sorted(chain(*_STEMS.values()), key=len, reverse=True)
_NAMING = re.compile(
    r"(?:(?<![A-Za-z\u00c0-\u058f])|(?=[\u0590-\uffff]))"
    f"(?:{any_of(map(_pattern, _LONGEST_FIRST))})"
)


def _mentions(text: str) -> list[_Mention]:
    """All places where a text names subjects, in its order."""
    small = text.replace(
        "İ", "i"
    ).lower()  # the only letter that is longer in small letters
    mentions = [
        _Mention(*name.span(), _SUBJECTS[_key(name[0])])
        for name in _NAMING.finditer(small)
    ]
    mentions += [
        _Mention(*code.span(), {"residence"})
        for code in _POST_CODE.finditer(text)
    ]
    return sorted(mentions, key=_START)


# A street address counts near a word of living.
PERSONAL_SHAPES = (
    *SHAPES,
    *(
        Shape("address", re.compile(pattern), words={"residence"})
        for pattern in pattern_table("streets")["address"]
    ),
)
# So many characters before a value, and behind it, may a word begin that tells what it is.
_BEFORE = 80
_BEHIND = 40


def find_personal_data(text: str) -> tuple[Finding, ...]:
    """All personal data in a text, in its order, none over another."""
    seen = plain_text(text)
    mentions = _mentions(seen.text)
    judged = (
        _judged(shape, match, mentions)
        for shape in PERSONAL_SHAPES
        for match in shape.pattern.finditer(seen.text)
    )
    return seen.in_original(filter(None, judged))


def _judged(
    shape: Shape, match: re.Match[str], mentions: Sequence[_Mention]
) -> Finding | None:
    """What was matched, if it is named where it must be, and its check holds."""
    start, end = match.span("value" if "value" in match.re.groupindex else 0)
    first = bisect_left(mentions, start - _BEFORE, key=_START)
    near = mentions[first : bisect_right(mentions, end + _BEHIND, key=_START)]
    if _is_something_else(shape, match.string, start, near):
        return None
    named = any(shape.words & mention.subjects for mention in near)
    holds = (
        shape.holds(match, named) if shape.holds else named or not shape.words
    )
    return Finding(shape.kind, start, end) if holds else None


def _is_something_else(
    shape: Shape, text: str, start: int, near: Sequence[_Mention]
) -> bool:
    """Whether the nearest word before a value that tells what it is names something else."""
    telling = shape.words | shape.against
    before = [
        mention
        for mention in near
        if mention.end <= start and telling & mention.subjects
    ]
    if not before or shape.words & before[-1].subjects:
        return False
    # What another line speaks of, as another message, does not tell what this one holds.
    return "\n" not in text[before[-1].end : start]
