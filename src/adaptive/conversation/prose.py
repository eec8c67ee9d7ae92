"""Where in a Markdown text there is code, which nobody may change.

Fences as in CommonMark 0.31 (4.5), whatever stands before them on their line of quotes and
indentation; every line that is indented by four; code spans (6.1), which end with their paragraph.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced block from its first sign to its last; ``body`` is what stands between the fences.

    One that is never closed ends with the text.
    """

    start: int
    end: int
    body: Span


class MarkedCode:
    """The code of a text, found once."""

    def __init__(self, text: str) -> None:
        self.fences: list[Fence] = []
        spans: list[Span] = []
        paragraph: list[Span] = []
        for line in self._prose_lines(text):
            start, end = line
            if paragraph and start != paragraph[-1][1] + 1:  # a fence stands between
                spans += _code_spans(text, paragraph)
                paragraph = []
            if not text[start:end].strip():
                spans += _code_spans(text, paragraph)
                paragraph = []
            elif text.startswith(("    ", "\t"), start):
                spans += [*_code_spans(text, paragraph), line]
                paragraph = []
            else:
                paragraph.append(line)
        spans += _code_spans(text, paragraph)
        self.spans: list[Span] = sorted([*spans, *((one.start, one.end) for one in self.fences)])
        self._starts = [start for start, _ in self.spans]

    def holds(self, position: int) -> bool:
        """Whether a character is part of code."""
        at = bisect_right(self._starts, position) - 1
        return at >= 0 and position < self.spans[at][1]

    def next_start(self, position: int) -> int:
        """Where the next code begins behind a position; a huge number where none does."""
        at = bisect_right(self._starts, position)
        return self._starts[at] if at < len(self._starts) else 1 << 62

    def _prose_lines(self, text: str) -> Iterator[Span]:
        """Lines outside of fences, without their line ends; the fences are noted on the way."""
        opening: re.Match[str] | None = None
        for start, end in _line_spans(text):
            if opening is None:
                opening = _fence_opening().match(text, start, end)
                if opening is None:
                    yield start, end
                continue
            closing = _fence_closing().match(text, start, end)
            mark = opening["mark"]
            if closing and closing["mark"][0] == mark[0] and len(closing["mark"]) >= len(mark):
                body = (min(opening.end() + 1, start), start)
                self.fences.append(Fence(opening.start(), closing.end("mark"), body))
                opening = None
                if text[closing.end("mark") : end].strip():
                    yield closing.end("mark"), end
        if opening is not None:
            body = (min(opening.end() + 1, len(text)), len(text))
            self.fences.append(Fence(opening.start(), len(text), body))


def without_cuts(text: str, cuts: Sequence[Span]) -> str:
    """The text without these spans, which may overlap."""
    kept: list[str] = []
    position = 0
    for start, end in sorted(cuts):
        if start > position:
            kept.append(text[position:start])
        position = max(position, end)
    return "".join([*kept, text[position:]])


def _line_spans(text: str) -> Iterator[Span]:
    start = 0
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, end
        start = end + 1


def _code_spans(text: str, paragraph: Sequence[Span]) -> list[Span]:
    """Spans between two runs of equally many backticks, the first one first."""
    if not paragraph or "`" not in text[paragraph[0][0] : paragraph[-1][1]]:
        return []
    runs = [
        run.span() for run in _backtick_runs().finditer(text, paragraph[0][0], paragraph[-1][1])
    ]
    places: dict[int, list[int]] = {}
    for number, (start, end) in enumerate(runs):
        places.setdefault(end - start, []).append(number)
    spans: list[Span] = []
    number = 0
    while number < len(runs):
        start, end = runs[number]
        equal = places[end - start]
        at = bisect_right(equal, number)
        if at < len(equal):
            number = equal[at]
            spans.append((start, runs[number][1]))
        number += 1
    return spans


@cache
def _fence_opening() -> re.Pattern[str]:
    """A fence with what it says of its language; of backticks it may hold no other one."""
    return re.compile(
        r"[ \t>]{0,80}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4})?(?P<mark>`{3,}(?=[^`]*$)|~{3,})[^\n]*"
    )


@cache
def _fence_closing() -> re.Pattern[str]:
    """The end of a fence, to which a model may have glued the mark with which it stops."""
    return re.compile(r"[ \t>]{0,80}(?P<mark>`{3,}|~{3,})(?=[ \t]*(?:$|</|<\|))")


@cache
def _backtick_runs() -> re.Pattern[str]:
    return re.compile(r"(?<![\\`])`+")
