"""Choose the examples that judges compare texts with, and learn what each of them weighs.

usage: python -m tools.train_examples

What is learned is the same for all embedding models of ``benchmarks/embedding_models.py``, so that
it holds for a model that is not among them. Of ``fact_examples.txt`` and ``message_examples.txt``
beside this file those of recall are examples, and of the others the middles of groups that all
models find alike; ridge regression over the nearness to them gives each its weights. It writes
``fact_examples.txt``, ``message_examples.txt`` and ``fact_weights.txt`` in ``prompts/``, and prints
what each judge says of texts that were left out.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from adaptive.core.texts import Classifier
from adaptive.search.calibration import NULL_PROMPTS, script_of
from benchmarks.embedding_models import EmbeddingModel, mini_lm, mpnet, nano_e5
from benchmarks.figures import say
from tools.example_vectors import (
    PROMPTS,
    RIDGE,
    ByModel,
    Floats,
    JudgeWeights,
    left_out_letters,
    middles,
    near_examples,
    ridge_weights,
    smoothness,
    titled_lines,
    write_examples,
)
from tools.train_pastes import feature_rows, trained, write_weights

Mask = NDArray[np.bool_]

MODELS = (mini_lm, nano_e5, mpnet)
# What matters for many answers: who the user is, and how they want to be answered.
CORE_KINDS = ("identity", "wish", "health", "work", "home")
# How many facts are chosen in English, other Latin scripts, and other scripts.
PASSING_CHOSEN = (40, 10, 10)
CORE_CHOSEN = (6, 3, 3)
OTHER_CHOSEN = (8, 3, 3)
# And of messages; null prompts are embedded anyway.
MESSAGES_CHOSEN = {"telling": 36, "idle": 6, "nulls": 48}
# Kinds of messages that recall learns from, of which all that stand first are examples.
RECALL_CHOSEN = {
    "consuming": 15,
    "asking": 21,
    "recalling": 25,
    "impersonal": 9,
    "common knowledge": 10,
}
# Whose facts recall learns from, too: all of them are examples.
RECALL_AUTHOR = "5"
# What each of the other authors' facts counts where recall learns which facts always matter.
OTHERS_COUNT = 0.1
# Of lasting facts that may be refused, and of others that may be marked as who the user is.
LASTING_REFUSED = 0.07
PLAIN_MARKED = 0.25
# In scripts that some of the models have not learned a third of these.
CAUTION = 1 / 3
# Of the telling messages that may be skipped.
SKIPPED = 0.02
# What is taken for ... wrongly, of what is not.
STANDING_WRONGLY = 0.04
HAZARD_WRONGLY = 0.05
CONSUMING_WRONGLY = 0.05
PERSONAL_WRONGLY = 0.08
# What speaks for a message's being about its writer before its vector does: most are not.
PRIOR_EVIDENCE = -3.5
# Spreads of the others by which examples are told from them; more tell nothing.
MOST_DISTANCE = 4.0
FULL_RIDGE = 0.3
LETTERS_RIDGE = 0.375
FULL_DEGREE = 8
FOLDS = 10
# Of some that were tried those by which most is told of what is left out.
FACTS_SEED = 4
MESSAGES_SEED = 8
# Whose examples the judges of learning learn nothing of: they tell how good these are.
TEST_AUTHOR = "2"


@dataclass(frozen=True, slots=True)
class Fact:
    """An example sentence, and what is known of it."""

    text: str
    kind: str
    language: str
    author: str

    @property
    def category(self) -> str:
        """What the fact is about, for all but wishes."""
        return self.kind.split(" ")[0]

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


def message_examples() -> dict[str, list[str]]:
    """All example messages by their kind; those that tell whether something is told come first."""
    titled = titled_lines("message_examples.txt")
    titled["nulls"] = [*NULL_PROMPTS]
    order = (*MESSAGES_CHOSEN, *titled)
    return {title: titled[title] for title in order}


@dataclass(frozen=True)
class Judgement:
    """What a judge tells from what, and how much each text counts for it.

    Its bar is one that the ``share`` of the right ones stay below, or that the others reach
    ``wrongly``. One that ``is_smooth`` may use many examples that are alike.
    """

    judge: str
    right: Mask
    wrong: Mask
    counts: Floats
    share: float = 0.0
    wrongly: float = 0.0
    is_smooth: bool = True

    @property
    def learned(self) -> Mask:
        """The texts that it learns of."""
        return (self.right | self.wrong) & (self.counts > 0)

    def bar(self, scores: Sequence[Floats], group: Mask, part: float) -> float:
        """The bar for a group of texts by the scores of all models; a ``part`` of its share counts."""
        kind = self.right if self.share else self.wrong
        counted = group & kind & self.learned
        of_kind = np.concatenate([some[counted] for some in scores])
        if self.share:
            return float(np.quantile(of_kind, self.share * part))
        level = NormalDist(float(of_kind.mean()), float(of_kind.std()))
        return level.inv_cdf(1 - self.wrongly)


class Training:
    """Texts, by how near each is to the examples as each model sees them."""

    def __init__(
        self, vectors: ByModel, asked: ByModel, chosen: Sequence[int]
    ) -> None:
        """``asked`` are the texts embedded as messages are: so the chosen ones are."""
        self.models = [*vectors]
        examples = [some[chosen] for some in asked.values()]
        self.nears = [
            near_examples(some, own)
            for some, own in zip(vectors.values(), examples, strict=True)
        ]
        self._examples = examples
        self._chosen = chosen

    def weights(self, judgement: Judgement, known: Mask) -> Floats:
        """What a judge learns of the known texts."""
        counted = known & judgement.learned
        targets = np.where(judgement.right[counted], 1.0, -1.0)
        own = judgement.right | judgement.wrong
        return self.fitted(
            counted,
            [targets] * len(self.nears),
            judgement.counts,
            own,
            is_smooth=judgement.is_smooth,
        )

    def fitted(
        self,
        counted: Mask,
        targets: Sequence[Floats],
        counts: Floats,
        own: Mask,
        *,
        is_smooth: bool,
    ) -> Floats:
        """Weights that bring the counted texts near to the targets of each model.

        Examples that are not the judge's ``own`` weigh nothing.
        """
        places = np.flatnonzero(own[self._chosen])
        columns = [*places, len(self._chosen)]
        penalty = RIDGE * np.eye(len(places))
        if is_smooth:
            penalty = smoothness([some[places] for some in self._examples])
        weights = np.zeros(len(self._chosen) + 1)
        weights[columns] = ridge_weights(
            [near[counted][:, columns] for near in self.nears],
            targets,
            counts[counted],
            penalty,
        )
        return weights

    def left_out(self, judgement: Judgement) -> list[Floats]:
        """Scores by model of each text by what was learned without it and a tenth of the others."""
        size = len(judgement.right)
        folds = np.random.default_rng(FACTS_SEED).integers(FOLDS, size=size)
        by_fold = np.stack(
            [self.weights(judgement, folds != fold) for fold in range(FOLDS)]
        )
        return [(near * by_fold[folds]).sum(axis=1) for near in self.nears]

    def bars(
        self, judgement: Judgement, scores: Sequence[Floats], is_latin: Mask
    ) -> tuple[float, float]:
        """The bars for Latin script and for others; it says what they do."""
        bars: list[float] = []
        for script, group, part in (
            ("latin", is_latin, 1.0),
            ("others", ~is_latin, CAUTION),
        ):
            bar = judgement.bar(scores, group, part)
            bars.append(bar)
            say(f"{judgement.judge}, {script}: bar {bar:.2f}")
            for model, some in zip(self.models, scores, strict=True):
                shares = [
                    f"{(some[group & kind & among] >= bar).mean():.1%}"
                    for among in (judgement.learned, ~judgement.learned)
                    for kind in (judgement.right, judgement.wrong)
                    if (group & kind & among).any()
                ]
                say(f"  {model}: yes to {', '.join(shares)}")
        return bars[0], bars[1]


def chosen_facts(facts: Sequence[Fact], vectors: ByModel) -> list[int]:
    """The facts that texts are compared with: those of recall, and the middles of groups."""
    lasts = np.array([fact.kind != "passing" for fact in facts])
    is_core = np.array([fact.category in CORE_KINDS for fact in facts])
    scripts = np.array([fact.script for fact in facts])
    authors = np.array([fact.author for fact in facts])
    may_be_chosen = ~np.isin(authors, [TEST_AUTHOR, RECALL_AUTHOR])
    chosen: list[int] = np.flatnonzero(authors == RECALL_AUTHOR).tolist()
    for group, counts in (
        (~lasts, PASSING_CHOSEN),
        (lasts & is_core, CORE_CHOSEN),
        (lasts & ~is_core, OTHER_CHOSEN),
    ):
        for script, count in enumerate(counts):
            places = np.flatnonzero(
                may_be_chosen & group & (scripts == script)
            )
            chosen += middles(vectors, places, count, FACTS_SEED)
    return chosen


def fact_judgements(facts: Sequence[Fact]) -> list[Judgement]:
    """What is told of facts: whether they last, do not say who the user is, always matter, or harm."""
    lasts = np.array([fact.kind != "passing" for fact in facts])
    is_core = np.array([fact.category in CORE_KINDS for fact in facts])
    is_wish = np.array([fact.kind == "wish" for fact in facts])
    is_standing = is_wish | np.array(
        [fact.kind == "identity standing" for fact in facts]
    )
    is_hazard = np.array([fact.kind == "health hazard" for fact in facts])
    authors = np.array([fact.author for fact in facts])
    of_known_authors = np.where(authors == TEST_AUTHOR, 0.0, 1.0)
    return [
        Judgement(
            "lasting",
            lasts,
            ~lasts,
            of_known_authors,
            share=LASTING_REFUSED,
            is_smooth=False,
        ),
        Judgement(
            "plain",
            lasts & ~is_core,
            is_core,
            of_known_authors,
            share=PLAIN_MARKED,
            is_smooth=False,
        ),
        # What recall asks has other people to be tested on: it learns of all authors.
        Judgement(
            "standing",
            is_standing,
            lasts & ~is_standing,
            np.where(authors == RECALL_AUTHOR, 1.0, OTHERS_COUNT),
            wrongly=STANDING_WRONGLY,
        ),
        Judgement(
            "hazard",
            is_hazard,
            lasts & ~is_hazard,
            np.ones(len(facts)),
            wrongly=HAZARD_WRONGLY,
        ),
    ]


def train_facts(models: Sequence[EmbeddingModel]) -> None:
    """Learn of facts, and write it."""
    facts = fact_examples()
    texts = [fact.text for fact in facts]
    vectors = {model.label: model.contents(texts) for model in models}
    asked = {model.label: model.queries(texts) for model in models}
    chosen = chosen_facts(facts, vectors)
    training = Training(vectors, asked, chosen)
    everything = np.ones(len(facts), bool)
    is_latin = np.array([fact.script < 2 for fact in facts])
    learned: list[JudgeWeights] = []
    for judgement in fact_judgements(facts):
        scores = training.left_out(judgement)
        if judgement.judge == "lasting":
            letters = train_letters(texts, judgement, scores)
            scores = [some + letters for some in scores]
        bars = training.bars(judgement, scores, is_latin)
        weights = training.weights(judgement, everything)
        learned.append(JudgeWeights(judgement.judge, weights, bars))
    write_examples("fact_examples", learned, [texts[one] for one in chosen])


def train_letters(
    texts: Sequence[str], judgement: Judgement, scores: Sequence[Floats]
) -> Floats:
    """Learn of letters and write it; what they say of each text by what was learned without it.

    They are weighed by how much they tell beside the ``scores`` by vectors.
    """
    rows = feature_rows(texts)
    known = judgement.learned
    classifier, steps, sizes = trained(
        rows[known], judgement.right[known, None], LETTERS_RIDGE
    )
    letters = rows @ classifier.weights[0] + classifier.biases[0]
    letters[known] = left_out_letters(
        rows[known], judgement.right[known], LETTERS_RIDGE
    )
    ones = np.ones(known.sum())
    columns = [
        np.stack([some[known], letters[known], ones], axis=1)
        for some in scores
    ]
    targets = np.where(judgement.right[known], 1.0, -1.0)
    by_vector, by_letters, _ = np.linalg.lstsq(
        np.vstack(columns), np.tile(targets, len(scores))
    )[0]
    share = float(by_letters / by_vector)
    say(f"letters count {share:.2f}")
    scaled = Classifier(classifier.weights * share, classifier.biases * share)
    write_weights(
        PROMPTS / "fact_weights.txt",
        "How long a fact lasts by its letters, beside its vector",
        ["lasting"],
        (scaled, steps, sizes * share),
    )
    return letters * share


def train_messages(models: Sequence[EmbeddingModel]) -> None:
    """Learn of messages, and write it.

    Whether one tells something the few examples say as all messages would that are known for it.
    """
    messages = message_examples()
    texts = [text for some in messages.values() for text in some]
    kinds = np.repeat([*messages], [len(some) for some in messages.values()])
    vectors = {model.label: model.queries(texts) for model in models}
    chosen: list[int] = []
    for kind, count in MESSAGES_CHOSEN.items():
        chosen += middles(
            vectors, np.flatnonzero(kinds == kind), count, MESSAGES_SEED
        )
    for kind, count in RECALL_CHOSEN.items():
        chosen += np.flatnonzero(kinds == kind)[:count].tolist()
    training = Training(vectors, vectors, chosen)
    is_latin = np.array([script_of(text) == "latin" for text in texts])
    known = int(np.isin(kinds, [*MESSAGES_CHOSEN]).sum())
    is_telling = kinds == "telling"
    full = [
        full_scores(some, known, np.where(is_telling[:known], 1.0, -1.0))
        for some in vectors.values()
    ]
    everything = np.ones(len(texts), bool)
    weights = training.fitted(
        everything, full, np.ones(len(texts)), everything, is_smooth=False
    )
    telling = Judgement(
        "telling",
        is_telling,
        kinds == "nulls",
        np.ones(len(texts)),
        share=SKIPPED,
    )
    scores = [near @ weights for near in training.nears]
    bars = training.bars(telling, scores, is_latin)
    learned = [JudgeWeights("telling", weights, bars)]
    for judgement in recall_judgements(kinds):
        scores = training.left_out(judgement)
        weights = training.weights(judgement, everything)
        if judgement.wrongly:
            bars = training.bars(judgement, scores, is_latin)
        else:
            weights, bars = evidence(judgement, weights, scores, is_latin)
        learned.append(JudgeWeights(judgement.judge, weights, bars))
    write_examples("message_examples", learned, [texts[one] for one in chosen])


def recall_judgements(kinds: NDArray[np.str_]) -> list[Judgement]:
    """What recall is told of messages."""
    is_about_nobody = np.isin(kinds, ["impersonal", "nulls"])
    is_personal = np.isin(kinds, ["consuming", "asking"])
    ones = np.ones(len(kinds))
    return [
        Judgement(
            "consuming",
            kinds == "consuming",
            is_about_nobody | (kinds == "asking"),
            ones,
            wrongly=CONSUMING_WRONGLY,
        ),
        Judgement(
            "personal",
            is_personal,
            is_about_nobody,
            ones,
            wrongly=PERSONAL_WRONGLY,
        ),
        Judgement(
            "about_writer",
            is_personal | (kinds == "recalling"),
            is_about_nobody | (kinds == "common knowledge"),
            ones,
        ),
    ]


def evidence(
    judgement: Judgement,
    weights: Floats,
    scores: Sequence[Floats],
    is_latin: Mask,
) -> tuple[Floats, tuple[float, float]]:
    """Weights that make a score evidence, and what is taken off in Latin script and in others.

    Evidence counts from what speaks for most messages, in spreads of the others, as many more as
    the right ones stand above them.
    """
    wrong = np.concatenate(
        [some[judgement.wrong & is_latin] for some in scores]
    )
    right = np.concatenate(
        [some[judgement.right & is_latin] for some in scores]
    )
    spread = float(wrong.std())
    distance = float(right.mean() - wrong.mean()) / spread
    scale = min(distance, MOST_DISTANCE) / spread
    say(f"{judgement.judge}: {distance:.2f} spreads apart")
    taken_off: list[float] = []
    for group in (is_latin, ~is_latin):
        of_group = np.concatenate(
            [some[judgement.wrong & group] for some in scores]
        )
        taken_off.append(scale * float(of_group.mean()) - PRIOR_EVIDENCE)
    return weights * scale, (taken_off[0], taken_off[1])


def full_scores(vectors: Floats, known: int, targets: Floats) -> Floats:
    """Scores by kernel ridge regression over all of the first, ``known``, texts."""
    rows = vectors - vectors[:known].mean(axis=0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    kernel = (np.maximum(1 + rows @ rows[:known].T, 0) / 2) ** FULL_DEGREE
    ridge = FULL_RIDGE * np.eye(known)
    return kernel @ np.linalg.solve(kernel[:known] + ridge, targets)


def main() -> None:
    """Learn from all examples, and write what is learned."""
    models = [model() for model in MODELS]
    train_messages(models)
    train_facts(models)


if __name__ == "__main__":
    main()
