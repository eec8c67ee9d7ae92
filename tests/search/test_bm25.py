"""Keyword search over one user's memories."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.search.tokens import keyword_index, tokens

TEXTS = [
    "User's dog is called Biscuit.",
    "User is allergic to peanuts.",
    "User walks the dog in the park; the dog loves the park.",
    "User lives in Lisbon.",
    "User's sister has a dog and a cat and lives in Porto.",
]


def reference(
    texts: list[str], query: str, k1: float = 0.9, b: float = 0.4
) -> list[float]:
    """BM25 as it stands in the books, one document after the other."""
    documents = [Counter(tokens(text)) for text in texts]
    lengths = [document.total() for document in documents]
    average = sum(lengths) / len(lengths)
    scores: list[float] = []
    for document, length in zip(documents, lengths, strict=True):
        score = 0.0
        for word in set(tokens(query)):
            holders = sum(word in other for other in documents)
            rarity = math.log(
                1 + (len(texts) - holders + 0.5) / (holders + 0.5)
            )
            count = document[word]
            score += (
                rarity
                * count
                * (k1 + 1)
                / (count + k1 * (1 - b + b * length / average))
            )
        scores.append(score)
    return scores


WORDS = st.sampled_from(
    ["dog", "cat", "tea", "lisbon", "garden", "piano", "peanut"]
)
SENTENCES = st.lists(
    st.lists(WORDS, min_size=1, max_size=6).map(" ".join),
    min_size=1,
    max_size=8,
)


@given(SENTENCES, st.lists(WORDS, max_size=4).map(" ".join))
def test_formula_on_any_store(texts: list[str], query: str) -> None:
    """So they are for any store and any query."""
    index = keyword_index([tokens(text) for text in texts])
    scores = index.matches(tokens(query)).scores
    assert scores == pytest.approx(reference(texts, query), abs=1e-5)


def test_coverage() -> None:
    """Coverage is the share of a query's words, from none to all, and rare words weigh more."""
    texts = [*TEXTS, *(f"User likes tea number {n}." for n in range(40))]
    index = keyword_index([tokens(text) for text in texts])
    assert index.matches(["dog"]).coverage[0] == pytest.approx(1.0)
    assert index.matches(["submarine"]).coverage.max() == 0
    both = index.matches(tokens("tea and Biscuit")).coverage
    assert 0 < both[10] < 0.5 < both[0] < 1
