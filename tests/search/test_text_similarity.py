"""How alike two sentences are by their words."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from adaptive.search.text_similarity import jaccard, own_token_set_ratio, token_set_ratio
from tests.rates import over

LETTERS = "abcdé ßжя猫狗 '12"


@dataclass(frozen=True, slots=True)
class Likeness:
    """Two texts with their token set ratio and the Jaccard index of their stems."""

    id: str
    one: str
    other: str
    token_set: float
    stems: float


CASES = (
    Likeness("the same", "User likes tea.", "user likes TEA", 1.0, 1.0),
    Likeness("a subset is 1", "User likes tea", "User likes green tea", 1.0, 2 / 3),
    Likeness("nothing in common", "abc", "xyz", 0.0, 0.0),
    Likeness("empty", "", "User likes tea", 0.0, 0.0),
    Likeness("both empty", "", "", 0.0, 0.0),
    Likeness("only signs", "?!", "...", 0.0, 0.0),
    Likeness("accents and case", "CAFÉ crème", "cafe creme", 1.0, 1.0),
    Likeness("inflection counts for letters", "cat", "cats", 6 / 7, 1.0),
)


@pytest.fixture(params=["rapidfuzz", "without"])
def fuzzy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With ``rapidfuzz``, and as where it can't be imported."""
    if request.param == "without":
        monkeypatch.setitem(sys.modules, "rapidfuzz.fuzz", None)
    return request.param


@over("case", CASES)
def test_measures(case: Likeness, fuzzy: str) -> None:
    """Both measures have the value that their definition gives, with rapidfuzz and without."""
    assert token_set_ratio(case.one, case.other) == pytest.approx(case.token_set)
    assert jaccard(case.one, case.other) == pytest.approx(case.stems)


WORDS = st.lists(st.text(LETTERS.replace(" ", ""), min_size=1, max_size=8), min_size=1, max_size=8)


@given(WORDS, WORDS)
def test_own_ratio_is_that_of_rapidfuzz(one: list[str], other: list[str]) -> None:
    """The fallback computes the figure of rapidfuzz, not another one like it."""
    theirs = fuzz.token_set_ratio(" ".join(one), " ".join(other)) / 100
    assert own_token_set_ratio(one, other) == pytest.approx(theirs, abs=1e-9)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_texts(one: str, other: str) -> None:
    """Any two texts have measures from 0 to 1, the same both ways."""
    for measure in (token_set_ratio, jaccard):
        assert 0 <= measure(one, other) <= 1
        assert measure(one, other) == pytest.approx(measure(other, one))


def test_long_texts_are_bounded(fuzzy: str) -> None:
    """Of very long texts head and tail are compared."""
    long = "begin " + "middle " * 100_000 + "end"
    assert token_set_ratio(long, "begin middle end") == 1.0
    assert jaccard(long, "begin middle end") == 1.0
