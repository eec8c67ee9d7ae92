"""Keyword search over one user's memories: Okapi BM25 on inverted lists.

The formula is Robertson's and Zaragoza's ("The Probabilistic Relevance Framework: BM25 and Beyond",
2009), with the inverse document frequency of Lucene, ``log(1 + (N - n + 0.5) / (n + 0.5))``, which
stays positive for a word that most memories have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from sys import intern

import numpy as np
from numpy.typing import NDArray

from adaptive.core.ports import Vectors
from adaptive.search.tokens import tokens

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
    rows: NDArray[np.int32]  # the list of term t is rows[starts[t]:starts[t + 1]]
    impacts: Vectors  # what each entry adds to a score
    documents: Mapping[str, tuple[str, ...]]  # the terms of each text, for the next version

    def scores(self, words: Iterable[str]) -> Vectors:
        """BM25 of each memory for a query's tokens, each counted once; shape (n,)."""
        total = np.zeros(self.size, dtype=np.float32)
        for term in self._known(words):
            span = slice(self.starts[term], self.starts[term + 1])
            total[self.rows[span]] += self.impacts[span]
        return total

    def coverage(self, words: Iterable[str]) -> Vectors:
        """Share of the query that each memory holds, from 0 to 1, rare words counting more.

        Unlike BM25 it is comparable between queries: a long message shares a word with some memory
        by chance, but not most of its words.
        """
        distinct = set(words)
        total = np.zeros(self.size, dtype=np.float32)
        known = self._known(distinct)
        mass = (len(distinct) - len(known)) * self._rarity(0)
        for term in known:
            span = slice(self.starts[term], self.starts[term + 1])
            rarity = self._rarity(span.stop - span.start)
            mass += rarity
            total[self.rows[span]] += rarity
        return total / np.float32(mass) if mass else total

    def _known(self, words: Iterable[str]) -> list[int]:
        """Terms of the query in a fixed order, so that sums are the same to the bit."""
        return sorted(self.terms[word] for word in set(words) if word in self.terms)

    def _rarity(self, frequency: int) -> float:
        return float(_inverse_frequency(self.size + _IMAGINED_MEMORIES, frequency))


def keyword_index(texts: Sequence[str], previous: KeywordIndex | None = None) -> KeywordIndex:
    """The index over these texts; those that ``previous`` knows are not cut into words again."""
    known: Mapping[str, tuple[str, ...]] = previous.documents if previous is not None else {}
    documents = {text: known.get(text) or tuple(map(intern, tokens(text))) for text in texts}
    terms: dict[str, int] = {}
    words = [terms.setdefault(word, len(terms)) for text in texts for word in documents[text]]
    lengths = np.fromiter((len(documents[text]) for text in texts), np.int64, len(texts))
    rows = np.repeat(np.arange(len(texts), dtype=np.int64), lengths)
    # One entry per term and text, ordered by term, then by text.
    keys, counts = np.unique(
        np.array(words, dtype=np.int64) * max(len(texts), 1) + rows, return_counts=True
    )
    owners, holders = np.divmod(keys, max(len(texts), 1))
    starts = np.searchsorted(owners, np.arange(len(terms) + 1))
    rarity = _inverse_frequency(len(texts), np.diff(starts))
    average = lengths.mean() if lengths.any() else 1.0
    damping = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths[holders] / average)
    impacts = rarity[owners] * counts * (_SATURATION + 1) / (counts + damping)
    lists = (starts.astype(np.int64), holders.astype(np.int32), impacts.astype(np.float32))
    return KeywordIndex(len(texts), terms, *lists, documents)


def _inverse_frequency(size: int, frequency: NDArray[np.int64] | int) -> NDArray[np.float64]:
    return np.log1p((size - np.asarray(frequency) + 0.5) / (np.asarray(frequency) + 0.5))
