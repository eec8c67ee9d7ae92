"""Words that are misspelled."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.search.tokens import KnownWords

TYPED = KnownWords(
    ["lisabon", "portugese", "merlin", "max", "oluwaseun", "x" * 99_999]
)


@dataclass(frozen=True)
class Case:
    """A word, and the one that it is taken for."""

    word: str
    taken_for: str


CASES = (
    Case("lisbon", "lisabon"),  # a letter is missing
    Case("portuguese", "portugese"),  # or is there too much
    Case("oluwasuen", "oluwaseun"),  # two have changed places
    Case("oluwaseum", "oluwaseun"),  # or one is another
    Case("merlon", "merlon"),  # which makes another of a short word
    Case("berlin", "berlin"),
    Case("mas", "mas"),
    Case("max", "max"),
    Case("x" * 100_000, "x" * 100_000),  # what is so long is no word
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.word[:20])
def test_spelling(case: Case) -> None:
    """A long word is known by another spelling; no other word is."""
    assert TYPED.as_spelled(case.word) == case.taken_for


def test_nothing_known() -> None:
    """Without any known word, each stays as it is."""
    assert KnownWords([]).as_spelled("lisbon") == "lisbon"


@given(st.text(min_size=7, max_size=30), st.integers(0), st.characters())
def test_one_letter_wrong(word: str, place: int, letter: str) -> None:
    """A long word is found with any letter but the first exchanged, left out or put in."""
    at = 1 + place % (len(word) - 1)
    known = KnownWords([word])
    for wrong in (
        word[:at] + letter + word[at + 1 :],
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
    ):
        assert known.as_spelled(wrong) == word
