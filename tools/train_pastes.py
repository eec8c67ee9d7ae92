"""Learn where messages hold pastes: ``python -m tools.train_pastes``.

Messages are composed of the examples of ``prompts/paste_examples.txt``, those of each fold scored
by a fit on the other folds, so that no text is judged by what was learned from it. It prints the
weights of ``learn/pastes.py``, and what they find, by language, at several bars.
"""

from __future__ import annotations

import itertools
import random
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from adaptive.learn.pastes import (
    Example,
    KindFit,
    Paragraph,
    message_features,
    paragraph_features,
    paste_examples,
    request_place,
)
from adaptive.search.calibration import script_of
from benchmarks.figures import say
from benchmarks.locomo import Encode, minilm

FOLDS = 4
MESSAGES = 12000
SEED = 14
PENALTY = 10.0
FALSE_ALARMS = (0.01, 0.02, 0.03, 0.05)
# How often each language comes: people write English most.
SHARES = {"en": 6.0, "de": 2.0, "fr": 2.0, "es": 2.0}
Floats = NDArray[np.floating[Any]]
# One part of a message: the examples that it is made of, and whether it is pasted.
Part = tuple[list[Example], bool]


@dataclass(frozen=True)
class Scores:
    """The scores of examples by their text, and the highest ones of the sentences of each."""

    whole: Mapping[str, Floats]
    best: Mapping[str, Floats]


@dataclass(frozen=True)
class Composed:
    """A message made of examples: what is seen of it, and what is right."""

    fold: int
    group: str
    is_own_draft: bool
    message: Floats
    parts: Floats
    pasted: NDArray[np.bool_]


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


def composed_messages(
    examples: Sequence[Example], encode: Encode
) -> list[Composed]:
    """Messages whose examples were left out of the fits that score them."""
    chance = random.Random(SEED)  # noqa: S311 - nothing is kept secret
    places = [*range(len(examples))]
    chance.shuffle(places)
    folds = np.zeros(len(examples), dtype=int)
    seen = defaultdict[tuple[str, str], int](int)
    for place in places:
        key = (examples[place].kind, examples[place].language)
        folds[place] = seen[key] % FOLDS
        seen[key] += 1
    vectors = encode([one.text for one in examples])
    messages: list[Composed] = []
    for fold in range(FOLDS):
        rest = [examples[place] for place in places if folds[place] != fold]
        rows = [place for place in places if folds[place] != fold]
        fit = KindFit.of(rest, vectors[rows])
        left = [examples[one] for one in places if folds[one] == fold]
        spoken = {
            one.text: Paragraph(one.text, range(0)).sentences() for one in left
        }
        texts = [*dict.fromkeys(itertools.chain(*spoken.values()))]
        made = fit.scores(texts, encode(texts))
        scores = dict(zip(texts, made, strict=True))
        best = {
            text: np.max([scores[one] for one in sentences], axis=0)
            for text, sentences in spoken.items()
        }
        messages += composed_fold(fold, left, Scores(scores, best), chance)
    return messages


def composed_fold(
    fold: int,
    examples: Sequence[Example],
    scores: Scores,
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
    messages: list[Composed] = []
    while len(messages) < MESSAGES // FOLDS:
        language = chance.choices(languages, shares)[0]
        parts = composed_parts(pools[language], chance)
        parts = [(made_of, pasted) for made_of, pasted in parts if made_of]
        if len(parts) < 2:
            continue
        lengths = [[len(one.text) for one in made_of] for made_of, _ in parts]
        rows = [
            [scores.whole[one.text] for one in made_of] for made_of, _ in parts
        ]
        # A part that is made of several is scored as their mean: its own vector is near it.
        whole = np.stack(
            [
                np.average(row, axis=0, weights=length)
                for row, length in zip(rows, lengths, strict=True)
            ]
        )
        best = np.stack(
            [
                np.max([scores.best[one.text] for one in made_of], axis=0)
                for made_of, _ in parts
            ]
        )
        kinds = {one.kind for made_of, _ in parts for one in made_of}
        script = script_of(parts[0][0][0].text)
        messages.append(
            Composed(
                fold=fold,
                group="en"
                if language == "en"
                else "latin"
                if script == "latin"
                else "other",
                is_own_draft="draft" in kinds,
                message=message_features(whole, best),
                parts=np.delete(
                    paragraph_features(whole, best),
                    request_place(whole, best),
                    axis=0,
                ),
                pasted=np.delete(
                    np.array([pasted for _, pasted in parts]),
                    request_place(whole, best),
                ),
            )
        )
    return messages


def fitted(rows: Floats, right: NDArray[np.bool_]) -> Floats:
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
    messages = composed_messages(examples, minilm())
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


if __name__ == "__main__":
    main()
