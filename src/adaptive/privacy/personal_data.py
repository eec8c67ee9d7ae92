"""Finding personal data in a text: by shape, by a word nearby that names it, by a check digit.

Time is linear in the length of the text, which is not bounded, since what stood behind a bound
would pass unseen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from adaptive.privacy.personal_shapes import SHAPES, PersonalKind, Shape
from adaptive.privacy.personal_words import Mentions
from adaptive.privacy.postal_addresses import ADDRESSES
from adaptive.privacy.scanning import plain_text

# So near must a word stand that tells of something else.
_AGAINST_REACH = 30
# No value that needs a word to name it is longer.
_WIDTH = 80
_DIGIT = re.compile("[0-9]")


@dataclass(frozen=True, slots=True)
class Finding:
    """What stands where in a text as it was given, and how believable it is, 0.5 to 1."""

    kind: PersonalKind
    start: int
    end: int
    score: float


def find_personal_data(text: str) -> tuple[Finding, ...]:
    """All personal data, by place, without overlaps; the best scored wins, then the longest."""
    plain, places = plain_text(text)
    mentions = Mentions(plain)
    found = [
        one
        for shape in (*SHAPES, *ADDRESSES)
        for match in _matches(shape, plain, mentions)
        if (one := _judged(shape, match, mentions))
    ]
    chosen: list[Finding] = []
    for one in sorted(found, key=lambda one: one.start):
        if chosen and one.start < chosen[-1].end:
            one = max(chosen.pop(), one, key=lambda one: (one.score, one.end - one.start))
        chosen.append(one)
    return tuple(
        replace(one, start=places[one.start], end=places[one.end - 1] + 1) for one in chosen
    )


def _matches(shape: Shape, text: str, mentions: Mentions) -> Iterator[re.Match[str]]:
    """Where the shape is written: near the words that it needs, or anywhere."""
    if shape.sign not in text:
        return
    if not shape.needed:
        yield from shape.pattern.finditer(text)
        return
    before, behind = shape.reach[1] + _WIDTH, shape.reach[0] + _WIDTH
    for low, high in mentions.around(shape.words, before, behind):
        if _DIGIT.search(text, low, high):
            yield from shape.pattern.finditer(text, low, high)


def _judged(shape: Shape, match: re.Match[str], mentions: Mentions) -> Finding | None:
    """What was matched, if it is named where it must be, and its check holds."""
    start, end = match.span("value") if "value" in match.re.groupindex else match.span()
    nearest = mentions.before(shape.words, start, shape.reach[0])
    if mentions.before(shape.against, start, _AGAINST_REACH) > nearest:
        return None
    named = nearest >= 0 or mentions.within(shape.words, start, end + shape.reach[1])
    if (shape.needed and not named) or (shape.holds and not shape.holds(match, named)):
        return None
    return Finding(shape.kind, start, end, max(shape.score, 0.9) if named else shape.score)
