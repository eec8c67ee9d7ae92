"""Knowing when nothing fits, for any embedding model and any store.

What a cosine of 0.4 means differs from model to model, and the best of 5,000 memories comes nearer
to anything than the best of five. So the gate asks: how near do prompts come that are known to have
nothing to do with anybody? Null prompts are embedded once per model; the nearest memory of each
gives a mean and a spread for this store (a null distribution, as score normalisation in speaker
verification takes it from a cohort of impostors: Auckenthaler et al., "Score Normalization for
Text-Independent Speaker Verification Systems", 2000). A query's cosine counts in such spreads above
that mean, which no shift or stretch of the model's scale can change.

A model finds all texts in a script that it has not learned alike: null prompts have the query's.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from adaptive.core.messages import head_and_tail
from adaptive.core.model import (
    Embedder,
    StoredVector,
    Vectors,
    VectorTable,
    frozen,
)
from adaptive.core.texts import listed_lines, word_table
from adaptive.search.vectors import (
    content_hash,
    embedded_texts,
    store_vectors,
    stored_vectors,
)

Script = Literal[
    "latin", "cyrillic", "arabic", "han", "kana", "korean", "other"
]

NULL_PROMPTS = tuple(listed_lines("null_prompts"))
# Of recall (recall/core_facts.py), by the title of their section.
RECALL_EXAMPLES = word_table("recall_examples")
_SCRIPT_LETTERS: Mapping[Script, str] = {
    "latin": "[A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]",
    "cyrillic": "[\u0400-\u052f]",
    "arabic": "[\u0600-\u06ff]",
    "kana": "[\u3041-\u30ff]",
    "han": "[\u3400-\u4dbf\u4e00-\u9fff]",
    "korean": "[\uac00-\ud7a3]",
}
_LONGEST_SAMPLE = 2000
# Few null prompts of a script say little of their spread; that of all counts as this many more.
_BORROWED_PROMPTS = 10
# A store about what a null prompt asks (a programmer's) must not widen the spread.
_CUT_FROM = 0.9
# Far below the spread of any real model; keeps a store of one odd vector from dividing by zero.
_LEAST_SPREAD = 1e-4

_SELF, _IMPERSONAL = "|".join(listed_lines("speaking_of_self")).split("|==|")
_ABOUT_SELF = re.compile(_SELF)
_ABOUT_ANYBODY = re.compile(_IMPERSONAL, re.IGNORECASE)
_LONGEST_PERSONAL = 240
# Texts that are embedded at once: between two portions a message gets its turn.
_PORTION = 32
# What belongs to no user stands in the table under this name instead of a user's.
NOBODY = ""


@frozen
class NullLevel:
    """How near the nearest memory comes to a prompt that has nothing to do with the user."""

    mean: float
    spread: float

    def standing(self, cosine: Vectors) -> Vectors:
        """Cosines in spreads above what an unrelated prompt reaches."""
        return ((cosine - self.mean) / self.spread).astype(np.float32)


def null_levels(nearest: Vectors) -> dict[Script, NullLevel]:
    """The null distribution of a store for each script.

    ``nearest`` are the cosines of ``NULL_PROMPTS``, in their order, with the nearest memory.
    """
    general = _level(nearest[_SCRIPTS_OF_NULLS == "latin"])
    levels: dict[Script, NullLevel] = {"latin": general}
    for script in _SCRIPT_LETTERS.keys() - {"latin"}:
        own = nearest[script == _SCRIPTS_OF_NULLS]
        level, size = _level(own), len(own)
        squares = (
            size * level.spread**2 + _BORROWED_PROMPTS * general.spread**2
        )
        levels[script] = NullLevel(
            level.mean, (squares / (size + _BORROWED_PROMPTS)) ** 0.5
        )
    levels["other"] = _level(nearest[_SCRIPTS_OF_NULLS != "latin"])
    return levels


def _level(nearest: Vectors) -> NullLevel:
    """Mean and spread with the highest values cut down to a quantile (winsorised)."""
    cut = np.minimum(nearest, np.quantile(nearest, _CUT_FROM))
    return NullLevel(float(cut.mean()), max(float(cut.std()), _LEAST_SPREAD))


def script_of(text: str) -> Script:
    """The script that most of a text is written in."""
    sample = head_and_tail(text, _LONGEST_SAMPLE)
    counts = Counter[Script](
        {
            script: len(re.findall(letters, sample))
            for script, letters in _SCRIPT_LETTERS.items()
        }
    )
    # A Han character says about what two letters do; Japanese is told by its kana.
    counts["han"] *= 2
    if counts["kana"]:
        counts["kana"] += counts.pop("han")
    letters = sum(map(str.isalpha, sample))
    if not letters and not counts.total():
        return "latin"  # nothing but digits and signs: they are everybody's
    script, count = counts.most_common(1)[0]
    return script if count * 2 >= letters else "other"


def speaks_of_self(text: str) -> bool:
    """Whether a short message is about the person who writes it.

    Such a message is far more likely to need a memory than another of the same cosine: "Can I eat
    satay sauce?" has no word in common with an allergy to peanuts. Long messages are left out: they
    carry other people's words.
    """
    is_short = len(text) <= _LONGEST_PERSONAL
    return (
        is_short
        and _ABOUT_SELF.search(_ABOUT_ANYBODY.sub("", text)) is not None
    )


_SCRIPTS_OF_NULLS = np.array([script_of(prompt) for prompt in NULL_PROMPTS])


def shared_key(text: str, *, query: bool) -> str:
    """By what the vector of nobody's text stands in the table: its prefix is one of two."""
    return content_hash(text if query else f"content: {text}")


class SharedVectors:
    """Normalised vectors of nobody's texts and examples, made per model by the first process."""

    def __init__(
        self,
        texts: Sequence[str],
        examples: Sequence[str] = (),
        *,
        query: bool = True,
    ) -> None:
        self._query = query
        self._texts = {
            shared_key(text, query=query): text for text in (*texts, *examples)
        }
        self._examples_from = len(texts)
        self._vectors: dict[str, Vectors] = {}
        self._making = asyncio.Lock()

    async def known(self, table: VectorTable, name: str) -> Vectors | None:
        """Those of a model that this process or any other has made."""
        if name not in self._vectors:
            stored = await self._stored(table, name)
            lengths = {len(one.vector) for one in stored.values()}
            if len(stored) == len(self._texts) and len(lengths) == 1:
                self._vectors[name] = np.stack(
                    [stored[one].vector for one in self._texts]
                )
        vectors = self._vectors.get(name)
        return None if vectors is None else vectors[: self._examples_from]

    def examples_for(self, name: str, dimension: int) -> Vectors | None:
        """Those of the examples, where this process knows any of that length."""
        vectors = self._vectors.get(name)
        if vectors is None or vectors.shape[1] != dimension:
            return None
        return vectors[self._examples_from :]

    async def made(
        self, embedder: Embedder, table: VectorTable, dimension: int = 0
    ) -> Vectors:
        """Those of an embedder's model, made where there are none of that dimension (0: any).

        Whoever asks meanwhile waits for the same. They are made in portions, each of which stays
        where a later one fails. Raises ``EmbeddingError`` where the embedder brings none.
        """
        name = await embedder.name()
        async with self._making:
            known = await self.known(table, name)
            if known is not None and dimension in (0, known.shape[1]):
                return known
            stored = await self._stored(table, name)
            lengths = {len(one.vector) for one in stored.values()}
            if known is not None or len(lengths) > 1:
                stored.clear()  # they were made before the model has changed
            while missing := [one for one in self._texts if one not in stored]:
                portion = missing[:_PORTION]
                made = await embedded_texts(
                    embedder,
                    [self._texts[digest] for digest in portion],
                    query=self._query,
                )
                rows = {
                    digest: StoredVector(digest, row)
                    for digest, row in zip(portion, made, strict=True)
                }
                await store_vectors(table, NOBODY, name, rows)
                # Those of another length were made before the model has changed.
                stored = rows | {
                    digest: one
                    for digest, one in stored.items()
                    if len(one.vector) == made.shape[1]
                }
            vectors = np.stack([stored[one].vector for one in self._texts])
            self._vectors[name] = vectors
            return vectors[: self._examples_from]

    async def _stored(
        self, table: VectorTable, name: str
    ) -> dict[str, StoredVector]:
        """Those of a model that any process has made so far, by the hash of their text."""
        stored = await stored_vectors(table, NOBODY, name)
        return {one: stored[one] for one in self._texts if one in stored}
