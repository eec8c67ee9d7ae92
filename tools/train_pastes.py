"""Learn where messages hold pastes: ``python -m tools.train_pastes``.

Messages are composed of the texts of ``paste_examples.txt`` beside this file, those of each fold
scored by a classifier that learned from the other folds, so that no text is judged by what was
learned from it. It writes the weights of the classifier of kinds, and prints those that stand in
``learn/pastes.py``, and what they find, by language, at several bars.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from adaptive.core.texts import BUCKETS, Classifier, features
from adaptive.learn.pastes import KINDS, Paragraph, ParagraphScores
from adaptive.search.calibration import script_of
from benchmarks.figures import say
from tools.packing import packed

PROJECT = Path(__file__).resolve().parent.parent
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
# A classifier, the steps of its weights, and how large a step of each kind is.
Training = tuple[Classifier, NDArray[np.int8], Floats]
EXAMPLES = PROJECT / "tools/paste_examples.txt"
WEIGHTS = PROJECT / "prompts/paste_weights.txt"
STEPS = 7  # on each side of zero
STEPS_OF_KINDS = 4  # which is enough for long texts
KEPT = 3000  # weights of a kind that are not zero
RIDGE = 1.5
FOLDS = 4
MESSAGES = 12000
SEED = 14
PENALTY = 10.0
FALSE_ALARMS = (0.02, 0.05, 0.1)
# How often each language comes: people write English most.
SHARES = {"en": 6.0, "de": 2.0, "fr": 2.0, "es": 2.0}


@dataclass(frozen=True, slots=True)
class Example:
    """A text of which it is known what it is, and in which language."""

    kind: str
    language: str
    text: str


# One part of a message: the examples that it is made of, and whether it is pasted.
Part = tuple[list[Example], bool]


def paste_examples() -> list[Example]:
    """The examples that are learned from, below the title of their kind and language."""
    examples: list[Example] = []
    for titled in EXAMPLES.read_text(encoding="utf-8").split("\n= ")[1:]:
        title, _, lines = titled.partition("\n")
        kind, language = title.split()
        texts = [line for line in lines.split("\n") if line]
        examples += [Example(kind, language, text) for text in texts]
    return examples


@dataclass(frozen=True)
class Composed:
    """A message made of examples: what is seen of it, and what is right."""

    fold: int
    group: str
    is_own_draft: bool
    message: Floats
    parts: Floats
    pasted: Mask


def composed_parts(
    by_kind: Mapping[str, Sequence[Example]], chance: random.Random
) -> list[Part]:
    """The parts of one message, in one of the ways in which people write."""

    def some(kind: str, most: int) -> list[Example]:
        pool = by_kind[kind]
        return chance.sample(pool, min(len(pool), most))

    def own() -> Part:
        return some("own", chance.choice((1, 1, 2, 3))), False

    def alone(kind: str) -> Part:
        return some(kind, 1), False

    def request() -> Part:
        around = chance.choice((0, 0, 0, 0, 0, 0, 1, 1, 2))
        spoken = some("request", 1) + some("own", around)
        chance.shuffle(spoken)
        return spoken, False

    def texts(*, pasted: bool) -> list[Part]:
        most = chance.choice((1, 1, 1, 1, 2, 3))
        if most == 2:
            return [(some("text", 2), pasted)]
        return [([text], pasted) for text in some("text", most)]

    own_words = chance.choice((texts(pasted=False), [own()]))
    ways: list[tuple[float, list[Part]]] = [
        (22, [request(), *texts(pasted=True)]),
        (12, [*texts(pasted=True), request()]),
        (4, [own(), request(), *texts(pasted=True)]),
        (4, [request(), *texts(pasted=True), own()]),
        (3, [request(), *texts(pasted=True), alone("request")]),
        (10, [own(), own(), alone("task")]),
        (5, [own(), alone("task")]),
        (10, [alone("task"), own()]),
        # What people tell of themselves may read as a text.
        (6, [alone("task"), *texts(pasted=False)]),
        (4, [*texts(pasted=False), alone("task")]),
        (4, [alone("task"), own(), own()]),
        (8, [own(), own(), own()]),
        (6, [alone("task"), alone("task")]),
        (4, [(some("task", 1) + some("own", 1), False), own()]),
        (5, [alone("draft"), *own_words]),
        (3, [*own_words, alone("draft")]),
        (3, [alone("request"), alone("task")]),
        (4, [alone("task"), *(([one], False) for one in some("own", 4))]),
    ]
    weights = [weight for weight, _ in ways]
    return chance.choices([way for _, way in ways], weights)[0]


def composed_messages(examples: Sequence[Example]) -> list[Composed]:
    """Messages whose examples were left out of the classifiers that score them."""
    chance = random.Random(SEED)  # noqa: S311 - nothing is kept secret
    places = [*range(len(examples))]
    chance.shuffle(places)
    folds = np.zeros(len(examples), dtype=int)
    seen = defaultdict[tuple[str, str], int](int)
    for place in places:
        key = (examples[place].kind, examples[place].language)
        folds[place] = seen[key] % FOLDS
        seen[key] += 1
    messages: list[Composed] = []
    for fold in range(FOLDS):
        left = [examples[place] for place in places if folds[place] == fold]
        rest = [examples[place] for place in places if folds[place] != fold]
        kinds, _, _ = trained_kinds(rest)
        messages += composed_fold(fold, left, kinds, chance)
    return messages


def kind_labels(examples: Sequence[Example]) -> Mask:
    """Which of the kinds each example is; a row for each."""
    return np.array([[one.kind == kind for kind in KINDS] for one in examples])


def trained_kinds(examples: Sequence[Example]) -> Training:
    """The classifier of kinds that has learned from these examples."""
    rows = feature_rows([one.text for one in examples])
    return trained(rows, kind_labels(examples), most_steps=STEPS_OF_KINDS)


def feature_rows(texts: Sequence[str]) -> Floats:
    """The features of texts; a row for each."""
    return np.stack([features(text) for text in texts])


def trained(
    rows: Floats, labels: Mask, ridge: float = RIDGE, most_steps: int = STEPS
) -> Training:
    """The classifier that has learned from rows, whose labels are columns.

    Its weights are rounded to a few steps, and the smallest dropped: that costs no more than chance
    does, and packs into a third.
    """
    targets = np.where(labels, 1.0, -1.0)
    kernel = rows @ rows.T + 1.0
    duals = np.linalg.solve(kernel + ridge * np.eye(len(rows)), targets)
    weights = rows.T @ duals
    grams = weights[:BUCKETS].T
    least = np.sort(np.abs(grams), axis=1)[:, -KEPT, None]
    kept = np.where(np.abs(grams) >= least, grams, 0.0)
    sizes = np.array(
        [np.quantile(np.abs(row[row != 0]), 0.98) / most_steps for row in kept]
    )
    steps = np.clip(np.round(kept / sizes[:, None]), -most_steps, most_steps)
    model = Classifier(
        weights=np.hstack([steps * sizes[:, None], weights[BUCKETS:].T]),
        biases=duals.sum(axis=0),
    )
    return model, steps.astype(np.int8), sizes


def write_weights(
    path: Path, meaning: str, labels: Sequence[str], training: Training
) -> None:
    """Write the weights of a classifier of these labels."""
    model, steps, sizes = training
    lines = [
        f"# {meaning}, by a script in tools/: the size",
        "# of a step, the bias, and the weights of a text's length; then all weights in steps, packed.",
    ]
    for place, label in enumerate(labels):
        numbers = [
            sizes[place],
            model.biases[place],
            *model.weights[place, BUCKETS:],
        ]
        lines.append(" ".join([label, *(f"{one:.6g}" for one in numbers)]))
    lines.append(packed(steps.tobytes()))
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def part_scores(
    parts: Sequence[Sequence[Example]], score: Callable[[str], Floats]
) -> ParagraphScores:
    """The scores of a message's parts; one of several examples is scored as their mean.

    Strung together they would be longer than what most people say, and read as a text.
    """
    whole: list[Floats] = []
    best: list[Floats] = []
    for examples in parts:
        texts = [Paragraph(one.text, range(0)) for one in examples]
        scores = ParagraphScores.of(texts, score)
        lengths = [len(one.text) for one in examples]
        whole.append(np.average(scores.whole, axis=0, weights=lengths))
        best.append(scores.best.max(axis=0))
    return ParagraphScores(whole=np.stack(whole), best=np.stack(best))


def composed_fold(
    fold: int,
    examples: Sequence[Example],
    kinds: Classifier,
    chance: random.Random,
) -> list[Composed]:
    """Messages of the examples of one fold."""
    pools = defaultdict[str, dict[str, list[Example]]](
        lambda: defaultdict(list)
    )
    for example in examples:
        pools[example.language][example.kind].append(example)
    languages = [*pools]
    shares = [SHARES.get(language, 1.0) for language in languages]
    score = cache(kinds.scores)
    messages: list[Composed] = []
    while len(messages) < MESSAGES // FOLDS:
        language = chance.choices(languages, shares)[0]
        parts = composed_parts(pools[language], chance)
        parts = [(made_of, pasted) for made_of, pasted in parts if made_of]
        if len(parts) < 2:
            continue
        scores = part_scores([made_of for made_of, _ in parts], score)
        script = script_of(parts[0][0][0].text)
        other = "latin" if script == "latin" else "other"
        messages.append(
            Composed(
                fold=fold,
                group="en" if language == "en" else other,
                is_own_draft=any(
                    one.kind == "draft"
                    for made_of, _ in parts
                    for one in made_of
                ),
                message=scores.message_features(),
                parts=np.delete(
                    scores.paragraph_features(), scores.request, axis=0
                ),
                pasted=np.delete(
                    np.array([pasted for _, pasted in parts]), scores.request
                ),
            )
        )
    return messages


def fitted(rows: Floats, right: Mask) -> Floats:
    """Weights by ridge regression; the last column is what is added, and is not held small."""
    spread = rows.std(axis=0)
    spread[-1] = 1.0
    penalty = PENALTY * np.eye(rows.shape[1])
    penalty[-1, -1] = 0.0
    scaled = rows / spread
    targets = np.where(right, 1.0, -1.0)
    return (
        np.linalg.solve(scaled.T @ scaled + penalty, scaled.T @ targets)
        / spread
    )


def fits(messages: Sequence[Composed]) -> tuple[Floats, Floats]:
    """The weights that tell messages with a paste, and those that tell the pasted parts."""
    has_paste = np.array([one.pasted.any() for one in messages])
    of_messages = fitted(
        np.stack([one.message for one in messages]), has_paste
    )
    with_paste = [one for one in messages if one.pasted.any()]
    of_parts = fitted(
        np.vstack([one.parts for one in with_paste]),
        np.concatenate([one.pasted for one in with_paste]),
    )
    return of_messages, of_parts


def main() -> None:
    """Cross-validate, and print figures and weights."""
    examples = paste_examples()
    messages = composed_messages(examples)
    scores = np.zeros(len(messages))
    part_scores: list[Floats] = [np.zeros(0)] * len(messages)
    for fold in range(FOLDS):
        of_messages, of_parts = fits(
            [one for one in messages if one.fold != fold]
        )
        for place, one in enumerate(messages):
            if one.fold == fold:
                scores[place] = one.message @ of_messages
                part_scores[place] = one.parts @ of_parts
    has_paste = np.array([one.pasted.any() for one in messages])
    own_draft = np.array([one.is_own_draft for one in messages])
    group = np.array([one.group for one in messages])
    for name in ("en", "latin", "other"):
        personal = scores[(group == name) & ~has_paste & ~own_draft]
        drafts = scores[(group == name) & ~has_paste & own_draft]
        pasted = scores[(group == name) & has_paste]
        for share in FALSE_ALARMS:
            bar = np.quantile(personal, 1 - share)
            say(
                f"{name}: bar {bar:.2f}, {share:.0%} of personal messages and"
                f" {(drafts > bar).mean():.0%} of own drafts taken,"
                f" {(pasted > bar).mean():.1%} of pastes found"
            )
    with_paste = np.flatnonzero(has_paste)
    told = np.concatenate([part_scores[place] for place in with_paste])
    right = np.concatenate([messages[place].pasted for place in with_paste])
    for bar in (-0.2, 0.0, 0.2, 0.4):
        say(
            f"parts: bar {bar}, {(told[right] > bar).mean():.1%} of pasted ones found,"
            f" {(told[~right] > bar).mean():.1%} of others taken"
        )
    for name, weights in zip(("message", "part"), fits(messages), strict=True):
        say(f"{name}: {[round(float(one), 3) for one in weights]}")
    write_weights(
        WEIGHTS,
        "What a paragraph of a message is (KINDS in learn/pastes.py)",
        KINDS,
        trained_kinds(examples),
    )


if __name__ == "__main__":
    main()
