"""What texts are like, by how near their vectors are to those of a few example texts.

``tools/train_examples.py`` has chosen the examples and learned what each of them weighs for each
judge, on several embedding models at once, so that nothing is fitted here: a new model has only to
embed them. All of them are embedded as messages are, whatever they are compared with.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaptive.core import Vectors, frozen, listed_lines
from adaptive.search.calibration import (
    NULL_PROMPTS,
    NullLevel,
    Script,
    null_levels,
    script_of,
)
from adaptive.search.vectors import normalised

Scores = NDArray[np.floating[Any]]
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
        self.added: Scores = numbers[:2]  # in Latin script, and in others
        self.weights: Scores = numbers[2:]
        self.texts = [row[count] for row in rows[2:]]

    def weights_of(self, judge: str) -> Scores:
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
    ) -> Mapping[str, Scores]:
        """By each judge the scores of texts with their normalised vectors; from 0 on it says yes."""
        is_other = [int(script_of(text) != "latin") for text in texts]
        near = nearness(vectors, self.vectors)
        scores: Scores = near @ self.examples.weights
        scores += self.examples.added[is_other]
        return dict(zip(self.examples.judges, scores.T, strict=True))


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


def nearness(vectors: Vectors, examples: Vectors) -> Scores:
    """How near texts are to examples by their normalised vectors, texts by examples."""
    centre = examples.mean(axis=0)
    # Directions as seen from the middle of the examples: some models find all texts alike.
    of_texts = normalised(vectors - centre).astype(np.float64)
    of_examples = normalised(examples - centre).astype(np.float64)
    return ((1 + of_texts @ of_examples.T) / 2) ** _DEGREE
