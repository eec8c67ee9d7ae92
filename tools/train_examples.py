"""Choose the examples that judges compare texts with, and learn what each of them weighs.

usage: python -m tools.train_examples MODEL ...

A MODEL is the folder of a SentenceTransformer, or the address of a service that speaks as OpenAI's.
What is learned is the same for all of them, so that it holds for a model that is not among them: of
``fact_examples.txt`` and ``message_examples.txt`` beside this file the middles of groups are chosen
that all models find alike, and ridge regression over their nearness gives them weights. It writes
``prompts/fact_examples.txt``, ``prompts/prefilter_examples.txt`` and ``prompts/fact_weights.txt``,
and prints the bars that stand in ``learn/lasting.py`` and ``learn/prefilter.py``, and what they
refuse of examples that were left out.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from adaptive.core.classifier import Classifier
from adaptive.core.model import Vectors
from adaptive.search.calibration import NULL_PROMPTS, script_of
from benchmarks.figures import say
from tools.example_vectors import (
    PROMPTS,
    SEED,
    ByModel,
    Floats,
    embedded,
    middles,
    nearness,
    ridge_weights,
    titled_lines,
    write_examples,
)
from tools.train_pastes import feature_rows, trained, write_weights

Mask = NDArray[np.bool_]

# What matters for many answers: who the user is, and how they want to be answered.
CORE_KINDS = ("identity", "wish", "health", "work", "home")
# How many examples of facts are chosen in English, other Latin scripts, and other scripts.
PASSING_CHOSEN = (30, 8, 8)
CORE_CHOSEN = (12, 5, 5)
OTHER_CHOSEN = (14, 5, 5)
# And of messages; null prompts are embedded anyway.
TELLING_CHOSEN = 36
IDLE_CHOSEN = 6
NULLS_CHOSEN = 48
# Of lasting facts that may be refused, and of others that may be marked as who the user is.
LASTING_REFUSED = 0.1
PLAIN_MARKED = 0.25
# In scripts that some of the models have not learned a third of these.
CAUTION = 1 / 3
# Of the telling messages that may be skipped.
SKIPPED = 0.02
FULL_RIDGE = 0.3
FULL_DEGREE = 8
FOLDS = 5
# Whose examples are only chosen from, and tell how good what was learned of the others' is.
TEST_AUTHOR = "2"
# Examples of this author were written where those of the first were thin: together they count half.
THIRD_AUTHOR = "3"


@dataclass(frozen=True, slots=True)
class Fact:
    """An example sentence, and what is known of it."""

    text: str
    kind: str
    language: str
    author: str

    @property
    def script(self) -> int:
        """0 for English, 1 for other Latin scripts, 2 for others."""
        if script_of(self.text) != "latin":
            return 2
        return int(self.language != "en")


def fact_examples() -> list[Fact]:
    """All example sentences."""
    return [
        Fact(line, *title.split(", "))
        for title, lines in titled_lines("fact_examples.txt").items()
        for line in lines
    ]


def evenly(*labels: NDArray[np.generic]) -> Floats:
    """What each text counts, so that every group of the same labels counts alike."""
    keys = ["/".join(map(str, key)) for key in zip(*labels, strict=True)]
    sizes = {key: keys.count(key) for key in set(keys)}
    return np.array([1 / sizes[key] for key in keys])


@dataclass(frozen=True)
class FactJudge:
    """What was learned of facts: weights by judge, and the letters of those that last."""

    chosen: list[int]
    weights: Floats  # examples, and what is added, by judge
    letters: Classifier
    letters_share: float

    def scores(self, vectors: Vectors, rows: Floats) -> Floats:
        """How lasting and how plain facts are, by the vectors of all and their letters' features."""
        scores = nearness(vectors, self.chosen) @ self.weights
        letters = rows @ self.letters.weights[0] + self.letters.biases[0]
        scores[:, 0] += self.letters_share * letters
        return scores


class FactTraining:
    """The example sentences with their labels, vectors and letters."""

    def __init__(self, facts: Sequence[Fact], vectors: ByModel) -> None:
        self.vectors = vectors
        self.lasts = np.array([fact.kind != "passing" for fact in facts])
        self.is_core = np.array([fact.kind in CORE_KINDS for fact in facts])
        self.scripts = np.array([fact.script for fact in facts])
        self.authors = np.array([fact.author for fact in facts])
        self.languages = np.array([fact.language for fact in facts])
        self.rows = feature_rows([fact.text for fact in facts])

    def chosen(self, known: Mask) -> list[int]:
        """The examples that texts are compared with."""
        chosen: list[int] = []
        for group, counts in (
            (~self.lasts, PASSING_CHOSEN),
            (self.lasts & self.is_core, CORE_CHOSEN),
            (self.lasts & ~self.is_core, OTHER_CHOSEN),
        ):
            for script, count in enumerate(counts):
                places = np.flatnonzero(
                    known & group & (self.scripts == script)
                )
                # There are none where a language is left out.
                if len(places):
                    chosen += middles(
                        self.vectors, places, min(count, len(places))
                    )
        return chosen

    def judge(self, known: Mask) -> FactJudge:
        """What is learned of the ``known`` examples."""
        chosen = self.chosen(known)
        known = known & (self.authors != TEST_AUTHOR)
        nears = [nearness(some, chosen) for some in self.vectors.values()]
        weights: list[Floats] = []
        for right, counted in (
            (self.lasts, known),
            (~self.is_core, known & self.lasts),
        ):
            targets = np.where(right[counted], 1.0, -1.0)
            counts = evenly(
                right[counted],
                self.authors[counted],
                self.scripts[counted] == 2,
            )
            counts[self.scripts[counted] == 2] /= 2
            counts[self.authors[counted] == THIRD_AUTHOR] /= 2
            weights.append(
                ridge_weights(
                    [near[counted] for near in nears],
                    [targets] * len(nears),
                    counts,
                )
            )
        letters = self._letters(known)
        share = self._letters_share(
            known, [near @ weights[0] for near in nears]
        )
        return FactJudge(chosen, np.stack(weights, axis=1), letters, share)

    def _letters(self, known: Mask) -> Classifier:
        """The classifier that has learned from the letters of the known examples."""
        return trained(self.rows[known], self.lasts[known, None])[0]

    def _letters_share(self, known: Mask, scores: Sequence[Floats]) -> float:
        """What letters count beside vectors, by examples that the letters were not learned from."""
        places = np.flatnonzero(known)
        folds = np.random.default_rng(SEED).integers(FOLDS, size=len(places))
        letters = np.zeros(len(places))
        for fold in range(FOLDS):
            rest = np.zeros(len(known), bool)
            rest[places[folds != fold]] = True
            model = self._letters(rest)
            rows = self.rows[places[folds == fold]]
            letters[folds == fold] = rows @ model.weights[0] + model.biases[0]
        ones = np.ones(len(places))
        rows = np.vstack(
            [
                np.stack([some[places], letters, ones], axis=1)
                for some in scores
            ]
        )
        targets = np.tile(np.where(self.lasts[places], 1.0, -1.0), len(scores))
        by_vector, by_letters, _ = np.linalg.lstsq(rows, targets)[0]
        return float(by_letters / by_vector)

    def judgements(self) -> list[tuple[str, Mask, Mask, float]]:
        """What is told from what, and the share of the first that may be taken for the second."""
        plain = self.lasts & ~self.is_core
        core = self.lasts & self.is_core
        return [
            ("lasting", self.lasts, ~self.lasts, LASTING_REFUSED),
            ("plain", plain, core, PLAIN_MARKED),
        ]

    def left_out(self, groups: NDArray[np.generic]) -> Mapping[str, Floats]:
        """Scores by model of each example by what was learned without its group."""
        scores = {
            name: np.zeros((len(self.lasts), 2)) for name in self.vectors
        }
        for group in np.unique(groups):
            known = groups != group
            judge = self.judge(known)
            for name, some in self.vectors.items():
                scores[name][~known] = judge.scores(some, self.rows)[~known]
        return scores


def bar_for(scores: Sequence[Floats], share: float) -> float:
    """The bar that a share of the scores of all models stays below."""
    return float(np.quantile(np.concatenate(scores), share))


def train_facts(vectors: ByModel, facts: Sequence[Fact]) -> None:
    """Learn of facts, and write it."""
    training = FactTraining(facts, vectors)
    judge = training.judge(np.ones(len(facts), bool))
    say(f"letters count {judge.letters_share:.2f}")
    folds = np.random.default_rng(SEED).integers(FOLDS, size=len(facts))
    scores = training.left_out(folds)
    for name, is_of_script, part in (
        ("latin", training.scripts < 2, 1.0),
        ("others", training.scripts == 2, CAUTION),
    ):
        learned = is_of_script & (training.authors != TEST_AUTHOR)
        tested = is_of_script & (training.authors == TEST_AUTHOR)
        for place, (kind, right, wrong, share) in enumerate(
            training.judgements()
        ):
            bar = bar_for(
                [some[right & learned, place] for some in scores.values()],
                share * part,
            )
            say(f"{kind}, {name}: bar {bar:.2f}")
            for model, some in scores.items():
                is_refused = some[:, place] < bar
                shares = [
                    f"{is_refused[group & among].mean():.1%}"
                    for among in (learned, tested)
                    for group in (right, wrong)
                ]
                say(f"  {Path(model).name}: refused {', '.join(shares)}")
    write_examples(
        "fact_examples",
        "how much a fact that is like it lasts, how little it says who the user is",
        [facts[place].text for place in judge.chosen],
        judge.weights,
    )
    learned = training.authors != TEST_AUTHOR
    letters, steps, sizes = trained(
        training.rows[learned], training.lasts[learned, None]
    )
    share = judge.letters_share
    scaled = Classifier(letters.weights * share, letters.biases * share)
    write_weights(
        PROMPTS / "fact_weights.txt",
        "How long a fact lasts by its letters, beside its vector",
        ["lasting"],
        (scaled, steps, sizes * share),
    )


def full_scores(vectors: Vectors, known: int, targets: Floats) -> Floats:
    """Scores by kernel ridge regression over all of the first, ``known``, texts."""
    rows = vectors - vectors[:known].mean(axis=0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    kernel = (np.maximum(1 + rows @ rows[:known].T, 0) / 2) ** FULL_DEGREE
    ridge = FULL_RIDGE * np.eye(known)
    return kernel @ np.linalg.solve(kernel[:known] + ridge, targets)


def train_messages(
    vectors: ByModel, messages: Mapping[str, Sequence[str]]
) -> None:
    """Learn of messages to say by few examples what all of them say, and write it."""
    texts = [text for some in messages.values() for text in some]
    kinds = np.repeat([*messages], [len(some) for some in messages.values()])
    known = int((kinds != "others").sum())
    targets = np.where(kinds[:known] == "telling", 1.0, -1.0)
    chosen: list[int] = []
    for kind, count in (
        ("telling", TELLING_CHOSEN),
        ("idle", IDLE_CHOSEN),
        ("nulls", NULLS_CHOSEN),
    ):
        chosen += middles(vectors, np.flatnonzero(kinds == kind), count)
    nears = [nearness(some, chosen) for some in vectors.values()]
    full = [full_scores(some, known, targets) for some in vectors.values()]
    weights = ridge_weights(nears, full, np.ones(len(texts)))
    is_latin = np.array([script_of(text) == "latin" for text in texts])
    for name, group in (("latin", is_latin), ("others", ~is_latin)):
        telling = (kinds == "telling") & group
        scores = [near @ weights for near in nears]
        bar = bar_for([some[telling] for some in scores], SKIPPED)
        say(f"messages, {name}: bar {bar:.2f}")
    write_examples(
        "prefilter_examples",
        "how much a message that is like it tells",
        [texts[place] for place in chosen],
        weights[:, None],
    )


def main(models: Sequence[str]) -> None:
    """Learn from all examples, and write what is learned."""
    facts = fact_examples()
    sentences = [fact.text for fact in facts]
    messages = titled_lines("message_examples.txt")
    messages = {
        "telling": messages["telling"],
        "idle": messages["idle"],
        "nulls": [*NULL_PROMPTS],
        "others": messages["others"],
    }
    texts = [text for some in messages.values() for text in some]
    of_facts: dict[str, Vectors] = {}
    of_messages: dict[str, Vectors] = {}
    for model in models:
        of_facts[model] = asyncio.run(embedded(model, sentences, query=False))
        of_messages[model] = asyncio.run(embedded(model, texts, query=True))
    train_facts(of_facts, facts)
    train_messages(of_messages, messages)


if __name__ == "__main__":
    main(sys.argv[1:])
