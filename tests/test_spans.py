"""Cutting marked spans out of a text."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.spans import within_spans, without_spans
from tests.rates import over

OPENING = re.compile(r"<x>")
CLOSING = re.compile(r"</x>")


@dataclass(frozen=True)
class Case:
    """A text, and what is left of it."""

    id: str
    text: str
    left: str


CASES = [
    Case("none", "a b", "a b"),
    Case("empty", "", ""),
    Case("one", "a<x>b</x>c", "ac"),
    Case("two", "<x>a</x>b<x>c</x>", "b"),
    Case("ends at the first closing", "<x>a<x>b</x>c</x>d", "c</x>d"),
    Case("never closed", "a<x>b", "a<x>b"),
    Case("one closed, one not", "<x>a</x>b<x>c", "b<x>c"),
    Case("closing first", "a</x>b<x>c</x>", "a</x>b"),
]


@over("case", CASES)
def test_spans_are_cut(case: Case) -> None:
    """Spans go with their marks; what is not a span stays."""
    assert without_spans(case.text, OPENING, CLOSING) == case.left


@settings(deadline=None)
@given(st.lists(st.sampled_from(["<x>", "</x>", "a", " "])).map("".join))
def test_as_the_obvious_pattern(text: str) -> None:
    """The results are those of the one pattern which would take quadratic time."""
    assert without_spans(text, OPENING, CLOSING) == re.sub(r"<x>.*?</x>", "", text)
    assert within_spans(text, OPENING, CLOSING) == re.findall(r"<x>(.*?)</x>", text)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("text", ["<x>" * 70_000, "</x>" * 50_000, "<x></x>" * 30_000])
def test_linear_time(text: str) -> None:
    """200 kB of marks are read in no time."""
    assert len(without_spans(text, OPENING, CLOSING)) <= len(text)
    assert len("".join(within_spans(text, OPENING, CLOSING))) <= len(text)
