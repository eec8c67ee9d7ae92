"""Knowing when nothing fits, for any embedding model and any store.

What a cosine of 0.4 means differs from model to model, and the best of 5,000 memories comes nearer
to anything than the best of five. So the gate asks: how near do prompts come that are known to have
nothing to do with anybody? Null prompts are embedded once per model; the nearest memory of each
gives a mean and a spread for this store (a null distribution, as score normalisation in speaker
verification takes it from a cohort of impostors: Auckenthaler et al., "Score Normalization for
Text-Independent Speaker Verification Systems", 2000). A query's cosine counts in such spreads above
that mean, which no shift or stretch of the model's scale can change.

A model finds all texts in a script that it has not learned alike: null prompts have the query's.

What texts are like is told by how near their vectors are to those of a few example texts.
``tools/train_examples.py`` has chosen these and learned what each of them weighs for each judge, on
several embedding models at once, so that nothing is fitted here: a new model has only to embed them.
All of them are embedded as messages are, whatever they are compared with.
"""

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adaptive.core import (
    Embedder,
    StoredVector,
    Vectors,
    VectorTable,
    frozen,
    head_and_tail,
    listed_lines,
)
from adaptive.search.vectors import (
    content_hash,
    embedded_texts,
    normalised,
    products,
    store_vectors,
    stored_vectors,
)

Script = Literal[
    "latin", "cyrillic", "arabic", "han", "kana", "korean", "other"
]

NULL_PROMPTS = tuple(listed_lines("null_prompts"))
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
_BORROWED_PROMPTS = 5
# A store about what a null prompt asks (a programmer's) must not widen the spread.
_CUT_FROM = 0.9
# Far below the spread of any real model; keeps a store of one odd vector from dividing by zero.
_LEAST_SPREAD = 1e-4

_SELF, _IMPERSONAL = "|".join(listed_lines("speaking_of_self")).split("|==|")
_ABOUT_SELF = re.compile(_SELF)
_ABOUT_ANYBODY = re.compile(_IMPERSONAL, re.IGNORECASE)
_LONGEST_PERSONAL = 240
# Texts that are made between two looks at what else is to be embedded.
_PORTION = 32
# So many null prompts, of several scripts, tell enough for a beginning.
FIRST_TEXTS = 12
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

    ``nearest`` are the cosines of the first ``NULL_PROMPTS`` with the nearest memory.
    """
    scripts = _SCRIPTS_OF_NULLS[: len(nearest)]
    general = _level(nearest[scripts == "latin"])
    levels: dict[Script, NullLevel] = {"latin": general}
    for script in _SCRIPT_LETTERS.keys() - {"latin"}:
        own = nearest[script == scripts]
        level, size = _level(own), len(own)
        squares = (
            size * level.spread**2 + _BORROWED_PROMPTS * general.spread**2
        )
        levels[script] = NullLevel(
            level.mean, (squares / (size + _BORROWED_PROMPTS)) ** 0.5
        )
    levels["other"] = _level(nearest[scripts != "latin"])
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


class SharedVectors:
    """Normalised vectors of nobody's texts, made once for each model: first those of null prompts.

    All are embedded as messages are. All workers share what is made, which stays in the table
    portion by portion.
    """

    def __init__(self, *texts: str) -> None:
        self.texts = [*dict.fromkeys(texts)]
        self._made: dict[str, dict[str, Vectors]] = {}

    def missing(self, name: str) -> int:
        """How many texts this process has no vector of for an embedder."""
        return len(self.texts) - len(self._made.get(name, {}))

    def rows(self, name: str, texts: Sequence[str]) -> Vectors:
        """Those of some texts for an embedder, all of which this process has."""
        return np.stack([self._made[name][text] for text in texts])

    def held(self, name: str) -> Vectors | None:
        """Those of the null prompts that this process has for an embedder; few tell nothing."""
        made = self._made.get(name, {})
        first = [*itertools.takewhile(made.__contains__, NULL_PROMPTS)]
        return self.rows(name, first) if len(first) >= FIRST_TEXTS else None

    async def known(self, table: VectorTable, name: str) -> Vectors | None:
        """The same, with what any other process has made."""
        made = self._made.setdefault(name, {})
        if name and self.missing(name):
            stored = await stored_vectors(table, NOBODY, name)
            for text in self.texts:
                if (key := content_hash(text)) in stored:
                    made[text] = stored[key].vector
        return self.held(name)

    async def first(self, embedder: Embedder, table: VectorTable) -> Vectors:
        """The same, made where there are too few; raises ``EmbeddingError``."""
        # Another model may answer to the same identity meanwhile.
        while (
            nulls := await self.known(table, await embedder.name())
        ) is None:
            await self.make_more(embedder, table, FIRST_TEXTS)
        return nulls

    async def make_more(
        self, embedder: Embedder, table: VectorTable, most: int = _PORTION
    ) -> None:
        """Make some of those that are missing; what has come stays where the embedder fails."""
        name = await embedder.name()
        async with embedder.pace.sharing:
            await self.known(table, name)
            made = self._made[name]
            missing = [text for text in self.texts if text not in made]
            async for portion in embedder.pace.portions(
                partial(embedded_texts, embedder, query=True), missing[:most]
            ):
                rows: dict[str, StoredVector] = {}
                for text, vector in zip(
                    portion.texts, portion.vectors, strict=True
                ):
                    made[text] = vector
                    key = content_hash(text)
                    rows[key] = StoredVector(key, vector)
                await store_vectors(table, NOBODY, name, rows)


# How steeply an example's say falls with the distance; chosen for messages and facts at once.
_DEGREE = 4
# From how many spreads above the null prompts a message is about its writer, and what each further
# one says. Counted so since models differ in how much they make of a language.
_LEAST_STANDING = 2.6
_EVIDENCE_PER_SPREAD = 4.0


class WeightedExamples:
    """The examples of a file in ``prompts/``, each behind its weight for each judge.

    Above them stand the judges, and what is added for a text in Latin script and in others: some
    embedding models have not learned these.
    """

    def __init__(self, name: str) -> None:
        judges, *lines = listed_lines(name)
        self.judges = judges.split()
        count = len(self.judges)
        rows = [line.split(" ", count) for line in lines]
        numbers = np.array([row[:count] for row in rows], dtype=float)
        self.added = numbers[:2]  # in Latin script, and in others
        self.weights = numbers[2:]
        self.texts = [row[count] for row in rows[2:]]

    def weights_of(self, judge: str) -> NDArray[np.float64]:
        """What each example weighs for a judge: above zero if it speaks for what that looks for."""
        return self.weights[:, self.judges.index(judge)]


MESSAGE_EXAMPLES = WeightedExamples("message_examples")
FACT_EXAMPLES = WeightedExamples("fact_examples")
EXAMPLE_TEXTS = [*MESSAGE_EXAMPLES.texts, *FACT_EXAMPLES.texts]


@frozen
class ComparedExamples:
    """Examples with their normalised vectors, in their order."""

    examples: WeightedExamples
    vectors: Vectors

    def scores(
        self, texts: Sequence[str], vectors: Vectors
    ) -> Mapping[str, Vectors]:
        """By each judge the scores of texts with their normalised vectors; from 0 on it says yes."""
        is_other = [int(script_of(text) != "latin") for text in texts]
        near = nearness(vectors, self.vectors)
        scores = near @ self.examples.weights + self.examples.added[is_other]
        columns = scores.T.astype(np.float32)
        return dict(zip(self.examples.judges, columns, strict=True))


@frozen
class Judges:
    """All examples as one embedding model sees them.

    Of messages, which are ``telling`` something, are about what somebody eats or takes
    (``consuming``), or are about their writer or ask for advice (``personal``), and how much speaks
    for their being ``about_writer``, who may ask for what they have told. Of facts, which are
    ``lasting``, do not say who the user is (``plain``), matter for every answer (``standing``), or
    could do harm with what somebody eats or takes (``hazard``).
    ``cohort`` are vectors of the example messages that are personal, ``null_levels`` what prompts
    score that have nothing to do with anybody, as being about their writer.
    """

    messages: ComparedExamples
    facts: ComparedExamples
    cohort: Vectors
    null_levels: Mapping[Script, NullLevel]

    def evidence(self, message: str, vector: Vectors) -> float:
        """How much speaks for a message's being about its writer; 0 where nothing does."""
        scores = self.messages.scores([message], vector[np.newaxis])
        level = self.null_levels[script_of(message)]
        [standing] = level.standing(scores["about_writer"])
        return max(
            _EVIDENCE_PER_SPREAD * (float(standing) - _LEAST_STANDING), 0.0
        )


def judges_by(vectors: Vectors, nulls: Vectors) -> Judges:
    """The judges of an embedding model by its vectors of ``EXAMPLE_TEXTS`` and ``NULL_PROMPTS``."""
    texts = MESSAGE_EXAMPLES.texts
    messages = ComparedExamples(MESSAGE_EXAMPLES, vectors[: len(texts)])
    of_personal = MESSAGE_EXAMPLES.weights_of("personal")
    return Judges(
        messages=messages,
        facts=ComparedExamples(FACT_EXAMPLES, vectors[len(texts) :]),
        cohort=messages.vectors[of_personal > 0],
        null_levels=null_levels(
            messages.scores(NULL_PROMPTS, nulls)["about_writer"]
        ),
    )


def nearness(vectors: Vectors, examples: Vectors) -> NDArray[np.float64]:
    """How near texts are to examples by their normalised vectors, texts by examples."""
    centre = examples.mean(axis=0)
    # Directions as seen from the middle of the examples: some models find all texts alike.
    of_texts = normalised(vectors - centre)
    of_examples = normalised(examples - centre)
    return ((1 + products(of_texts, of_examples)) / 2) ** _DEGREE
