"""How alike two sentences are by their words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from adaptive.search.text_similarity import holds_words_of, token_set_ratio

WORDS = st.lists(st.text("abcdé12я猫狗", min_size=1, max_size=8), min_size=1, max_size=8)


@given(WORDS.map(" ".join), WORDS.map(" ".join))
def test_ratio_is_that_of_rapidfuzz(one: str, other: str) -> None:
    """The figure is the one that the package computes."""
    plain = [text.replace("é", "e") for text in (one, other)]
    theirs = fuzz.token_set_ratio(*plain) / 100
    assert token_set_ratio(one, other) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("User likes tea.", "user likes green TEA", 1.0),
        ("CAFÉ crème", "cafe creme", 1.0),
        ("cat", "cats", 6 / 7),
        ("", "User likes tea", 0.0),
        ("begin " + "middle " * 100_000 + "end", "begin middle end", 1.0),
    ],
)
def test_ratio(one: str, other: str, expected: float) -> None:
    """Case and accents do not count, a subset is the same, and long texts are bounded."""
    assert token_set_ratio(one, other) == pytest.approx(expected)


def test_holds_words_of() -> None:
    """A longer text that has all words says what the shorter one said."""
    assert holds_words_of("User has a big dog.", "user has a dog")
    assert not holds_words_of("User has a dog", "User had a dog")
