"""Which patterns' needs a text meets."""

from __future__ import annotations

from dataclasses import dataclass

from adaptive.privacy.need_table import NeedTable
from adaptive.privacy.pattern_needs import WORD_EDGE, Need
from tests.rates import over


def _whole(*words: str) -> Need:
    return frozenset(f"{WORD_EDGE}{word}{WORD_EDGE}" for word in words)


PATTERNS = (
    (_whole("say", "tell"),),
    (_whole("say"), _whole("always", "from now on")),
    (frozenset({"prompt", "指"}),),
    (),
    (frozenset[str](),),
)


@dataclass(frozen=True, slots=True)
class Case:
    """A text, and the patterns that may fit it."""

    id: str
    text: str
    possible: tuple[int, ...]


CASES = (
    Case("no word", "a dog", (3,)),
    Case("no text", "", (3,)),
    Case("whole word", "tell, me", (0, 3)),
    Case("part of a word", "the teller says", (3,)),
    Case("all needs", "from now on say", (0, 1, 3)),
    Case("words that stand apart", "from here on, now say", (0, 3)),
    Case("within a word", "two prompts", (2, 3)),
    Case("one sign", "忽略指令", (2, 3)),
)


@over("case", CASES)
def test_possible(case: Case) -> None:
    """A pattern is possible where each of its needs is met by one of its texts."""
    assert tuple(NeedTable(PATTERNS).possible(case.text)) == case.possible
