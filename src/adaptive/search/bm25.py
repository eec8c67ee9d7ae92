"""Keyword search over one user's memories: Okapi BM25 on inverted lists.

The formula is Robertson's and Zaragoza's ("The Probabilistic Relevance Framework: BM25 and Beyond",
2009), with the inverse document frequency of Lucene, ``log(1 + (N - n + 0.5) / (n + 0.5))``, which
stays positive for a word that most memories have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adaptive.core.model import Vectors

# Memories are single sentences: a word's repetition and the sentence's length say little.
_SATURATION = 0.9
_LENGTH_SHARE = 0.4
# A store of three memories can't tell a rare word from a common one: coverage counts that many
# memories without any of the words as well.
_IMAGINED_MEMORIES = 30


@dataclass(frozen=True, slots=True)
class KeywordIndex:
    """Inverted lists of one version of a store; texts are known by their place."""

    size: int
    terms: Mapping[str, int]
    starts: NDArray[np.int64]
    rows: NDArray[
        np.int32
    ]  # the list of term t is rows[starts[t]:starts[t + 1]]
    impacts: Vectors  # what each entry adds to a score

    def scores(self, words: Iterable[str]) -> Vectors:
        """BM25 of each memory for a query's tokens, each counted once; shape (n,)."""
        total = np.zeros(self.size, dtype=np.float32)
        for entries in self._lists(set(words)):
            total[self.rows[entries]] += self.impacts[entries]
        return total

    def coverage(self, words: Iterable[str]) -> Vectors:
        """Share of the query that each memory holds, from 0 to 1, rare words counting more.

        Unlike BM25 it is comparable between queries: a long message shares a word with some memory
        by chance, but not most of its words.
        """
        distinct = set(words)
        lists = self._lists(distinct)
        total = np.zeros(self.size, dtype=np.float32)
        mass = (len(distinct) - len(lists)) * self._rarity(0)
        for entries in lists:
            rarity = self._rarity(entries.stop - entries.start)
            mass += rarity
            total[self.rows[entries]] += rarity
        return total / np.float32(mass) if mass else total

    def _lists(self, words: Set[str]) -> list[slice]:
        """The lists of a query's words in a fixed order, so that sums are the same to the bit."""
        terms = sorted(self.terms[word] for word in words & self.terms.keys())
        return [slice(*self.starts[term : term + 2]) for term in terms]

    def _rarity(self, frequency: int) -> float:
        return float(
            _inverse_frequency(self.size + _IMAGINED_MEMORIES, frequency)
        )


def keyword_index(documents: Sequence[Sequence[str]]) -> KeywordIndex:
    """The index over the tokens of texts."""
    terms: dict[str, int] = {}
    words = [
        terms.setdefault(word, len(terms))
        for document in documents
        for word in document
    ]
    lengths = np.array([*map(len, documents)], dtype=np.int64)
    # One entry per term and text, ordered by term, then by text.
    size = max(len(documents), 1)
    places = np.repeat(np.arange(len(documents)), lengths)
    entries, counts = np.unique(
        np.array(words, dtype=np.int64) * size + places,
        return_counts=True,
    )
    owners, rows = np.divmod(entries, size)
    starts = np.searchsorted(owners, np.arange(len(terms) + 1))
    rarity = _inverse_frequency(len(documents), np.diff(starts))
    average = lengths.mean() if lengths.any() else 1.0
    damping = _SATURATION * (
        1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths[rows] / average
    )
    impacts = rarity[owners] * counts * (_SATURATION + 1) / (counts + damping)
    return KeywordIndex(
        size=len(documents),
        terms=terms,
        starts=starts,
        rows=rows.astype(np.int32),
        impacts=impacts.astype(np.float32),
    )


def _inverse_frequency(
    size: int, frequency: NDArray[np.int64] | int
) -> NDArray[np.float64]:
    return np.log1p(
        (size - np.asarray(frequency) + 0.5) / (np.asarray(frequency) + 0.5)
    )
