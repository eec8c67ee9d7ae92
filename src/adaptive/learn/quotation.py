"""Where a quotation stands in what a user typed, misspelled or with words between."""

from __future__ import annotations

import difflib
import importlib
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from adaptive.search.tokens import folded_text

try:
    _rapidfuzz: Any = importlib.import_module("rapidfuzz")
except ImportError:  # words are compared by Python's own difflib
    _rapidfuzz = None
_UNSPACED_SIGNS = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3"
UNSPACED = re.compile(f"[{_UNSPACED_SIGNS}]")
_UNITS = re.compile(rf"{UNSPACED.pattern}|[^\W_{_UNSPACED_SIGNS}]+")
# Models mend the spelling of what they quote. A shorter word with another letter is another word.
_LEAST_ALIKE = 0.85
_LEAST_LETTERS = 5
_WINDOW = 2  # times as long as its quotation, whose words may stand apart
_LONGEST_QUOTED = 60  # words that are looked for; the prompt asks for 12
_AROUND = 100  # words on each side of a quotation that a fact may be made of


@dataclass(frozen=True, slots=True)
class _Window:
    """How many words of a span stand in a text near each other, and behind which of its words."""

    held: int
    end: int


def word_units(text: str) -> list[str]:
    """The words of a text, or its signs where words are not spaced."""
    return _UNITS.findall(folded_text(text))


def word_places(folded: str) -> list[tuple[int, int]]:
    """Where the words of a folded text, or its signs, begin and end."""
    return [match.span() for match in _UNITS.finditer(folded)]


def quoted_share(spans: Sequence[str], text: str) -> float:
    """The share of a quotation's words that stand near each other in a text, from 0 to 1."""
    units = word_units(text)
    wanted = _spelled_spans(spans, units)
    total = sum(map(len, wanted))
    return (
        sum(_best_window(span, units).held for span in wanted) / total
        if total
        else 0.0
    )


def neighbourhood(spans: Sequence[str], text: str) -> str:
    """What stands around a quotation in a text: all of it where that is short."""
    folded = folded_text(text)
    places = word_places(folded)
    if not spans or len(places) <= 2 * _AROUND:
        return folded
    units = [folded[begin:end] for begin, end in places]
    around: list[str] = []
    for span in _spelled_spans(spans, units):
        end = _best_window(span, units).end
        first = max(0, end - len(span) - _AROUND)
        last = min(len(places), end + _AROUND) - 1
        around.append(folded[places[first][0] : places[last][1]])
    return "\n".join(around)


def _spelled_spans(
    spans: Sequence[str], units: Sequence[str]
) -> list[list[str]]:
    """The words of a quotation as the text spells them."""
    known = frozenset(units)
    quoted = [word_units(span)[:_LONGEST_QUOTED] for span in spans]
    return [
        [as_spelled(word, known) for word in span] for span in quoted if span
    ]


def as_spelled(word: str, words: Collection[str]) -> str:
    """The word, or the one of these that it is spelled nearly like."""
    if word in words or len(word) < _LEAST_LETTERS:
        return word
    if _rapidfuzz is not None:
        alike, least = _rapidfuzz.fuzz.ratio, 100 * _LEAST_ALIKE
        near = _rapidfuzz.process.extractOne(
            word, words, scorer=alike, score_cutoff=least
        )
        return str(near[0]) if near else word
    return next(
        iter(difflib.get_close_matches(word, words, 1, _LEAST_ALIKE)), word
    )


def _best_window(span: Sequence[str], units: Sequence[str]) -> _Window:
    """The window of a text that holds most words of a span, found in one pass."""
    wanted, held = Counter(span), Counter[str]()
    width, number = _WINDOW * len(span), 0
    best = _Window(held=0, end=0)
    for place, unit in enumerate(units):
        if place >= width:
            leaving = units[place - width]
            if leaving in wanted:
                number -= held[leaving] <= wanted[leaving]
                held[leaving] -= 1
        if unit in wanted:
            held[unit] += 1
            number += held[unit] <= wanted[unit]
            if number > best.held:
                best = _Window(held=number, end=place + 1)
    return best
