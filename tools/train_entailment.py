"""Learn what turns a sentence round: ``python -m tools.train_entailment``.

From pairs of what people say and what is made of it (``entailment_pairs.txt``), and the right facts
and notes that readers have found (``tests/learn/reader``, ``entailment_notes.txt``). It needs
scikit-learn, as the environments of Open WebUI have it. Each line, and each reader's person, is
judged by what the others teach. Below the bar are 4.1 % of what readers found that repeats a
quotation, of people left out. The penalty is on absolute weights, so that few features have one.
"""

from __future__ import annotations

import base64
import lzma
import math
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from adaptive.learn.entailment import is_repeated, pair_features
from adaptive.learn.quotation import quoted_share
from adaptive.learn.support import begun_sentences
from benchmarks.figures import say
from tests.fakes import hook_settings
from tests.learn.reader.lessons import read_lessons

PROJECT = Path(__file__).resolve().parent.parent
WEIGHTS = PROJECT / "prompts/entailment_weights.txt"
PAIRS = PROJECT / "tools/entailment_pairs.txt"
NOTES = PROJECT / "tools/entailment_notes.txt"
BRACKETS = re.compile(r"\[([^\]]*)\]")
FOLDS = 8
SEED = 3
INVERSE_PENALTY = 1.0
LEAST_LINES = 3  # that a feature stands in
MOST_DRAWN = 24  # of a line with brackets of several lengths
READERS_WEIGHT = 3.0
REFUSED = 0.041  # of readers' facts
SCALE = 20  # of whole weights


@dataclass(frozen=True)
class Pair:
    """What was said, what is claimed, and whether it follows; ``group`` is judged by others."""

    message: str
    said: tuple[str, ...]  # what is quoted of it
    claim: str
    kind: str
    language: str
    group: str

    @property
    def follows(self) -> bool:
        return self.kind in ("+", "reader")

    @cached_property
    def features(self) -> frozenset[str]:
        """What tells of the claim beside its message."""
        said = begun_sentences(self.message)
        return pair_features(said, self.said, self.claim)


@dataclass(frozen=True, slots=True)
class Model:
    """Weights by feature, and the bias."""

    weights: dict[str, float]
    bias: float

    def score(self, pair: Pair) -> float:
        """How much a claim looks as if it followed."""
        return self.bias + sum(
            self.weights.get(feature, 0.0) for feature in pair.features
        )


def written_pairs() -> Iterator[Pair]:
    """The pairs of the file, with each of their alternatives."""
    language = ""
    said = ""
    line_number = 0
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line:
            continue
        if line.startswith("== "):
            language = line[3:]
        elif line[:2] not in ("+ ", "w ", "n "):
            said = line
            line_number += 1
        else:
            claim = line[2:]
            groups = BRACKETS.findall(said + claim)
            sizes = {len(one.split("|")) for one in groups}
            count = math.lcm(*sizes)
            if len(sizes) > 1:
                count = min(count, MOST_DRAWN)
            for number in range(count):
                yield Pair(
                    _drawn(said, number),
                    (_drawn(said, number),),
                    _drawn(claim, number),
                    line[0],
                    language,
                    f"{language} {line_number}",
                )


def _drawn(text: str, number: int) -> str:
    """One of the sentences that a varied one stands for."""

    def alternative(match: re.Match[str]) -> str:
        words = match[1].split("|")
        return words[number % len(words)]

    return BRACKETS.sub(alternative, text)


def read_pairs() -> Iterator[Pair]:
    """Right facts, as a reader has quoted and told them."""
    messages = defaultdict[str, list[str]](list)
    for lesson in read_lessons():
        messages[lesson.user].append(lesson.words)
        for one in lesson.proposals(hook_settings()):
            if one.kind != "DELETE" and one.draft.content:
                yield Pair(
                    lesson.words,
                    one.evidence,
                    one.draft.content,
                    "reader",
                    "reader",
                    lesson.user,
                )
    for line in NOTES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            person, said, claim = line.split("\t")
            spans = (said,)
            message = max(messages[person], key=partial(quoted_share, spans))
            yield Pair(message, spans, claim, "reader", "reader", person)


def trained(pairs: Sequence[Pair]) -> Model:
    """What pairs teach."""
    rows = [pair.features for pair in pairs]
    counted = defaultdict[str, set[str]](set)
    for number, (pair, row) in enumerate(zip(pairs, rows, strict=True)):
        group = f"{number}" if pair.kind == "reader" else pair.group
        for feature in row:
            counted[feature].add(group)
    features = sorted(
        one for one, groups in counted.items() if len(groups) >= LEAST_LINES
    )
    places = {feature: place for place, feature in enumerate(features)}
    columns = [[places[one] for one in row if one in places] for row in rows]
    matrix: Any = csr_matrix(
        (
            np.ones(sum(map(len, columns))),
            [place for row in columns for place in row],
            np.cumsum([0, *map(len, columns)]),
        ),
        shape=(len(rows), len(features)),
    )
    sizes = Counter(map(_alike, pairs))
    machine = LogisticRegression(
        C=INVERSE_PENALTY, l1_ratio=1, solver="liblinear", random_state=SEED
    )
    machine.fit(
        matrix,
        [pair.follows for pair in pairs],
        sample_weight=[
            (READERS_WEIGHT if pair.kind == "reader" else 1)
            * sizes[_alike(pair)] ** -0.5
            for pair in pairs
        ],
    )
    weights = dict(zip(features, machine.coef_[0], strict=True))
    return Model(weights, float(np.ravel(machine.intercept_)[0]))


def _alike(pair: Pair) -> tuple[str, ...]:
    """What pairs have in common that count less, for there are many of them."""
    quoted = pair.said if pair.kind == "reader" else ()
    return (pair.group, *quoted)


def left_out_scores(pairs: Sequence[Pair]) -> list[float]:
    """The score of each pair by a model that has not seen its group."""
    groups = sorted({pair.group for pair in pairs})
    random.Random(SEED).shuffle(groups)  # noqa: S311 - folds to learn from
    folds = {group: place % FOLDS for place, group in enumerate(groups)}
    scores = [0.0] * len(pairs)
    for fold in range(FOLDS):
        model = trained([one for one in pairs if folds[one.group] != fold])
        for place, pair in enumerate(pairs):
            if folds[pair.group] == fold:
                scores[place] = model.score(pair)
    return scores


def bar_of(pairs: Sequence[Pair], scores: Sequence[float]) -> float:
    """The score below which few of the reader's right facts are that repeat their quotation."""
    reader = [
        score
        for pair, score in zip(pairs, scores, strict=True)
        if pair.kind == "reader" and is_repeated(pair.said, pair.claim)
    ]
    return float(np.quantile(reader, REFUSED))


def main() -> None:
    """Print the figures of what was left out, write the weights."""
    pairs = [*written_pairs(), *read_pairs()]
    scores = left_out_scores(pairs)
    bar = bar_of(pairs, scores)
    refused = defaultdict[tuple[str, str], list[bool]](list)
    for pair, score in zip(pairs, scores, strict=True):
        is_refused = score < bar and is_repeated(pair.said, pair.claim)
        refused[pair.language, pair.kind].append(is_refused)
        refused["all", pair.kind].append(is_refused)
    for (language, kind), outcomes in refused.items():
        say(f"{language} {kind}: {np.mean(outcomes):.1%} of {len(outcomes)}")
    model = trained(pairs)
    kept = {
        feature: round(weight * SCALE)
        for feature, weight in model.weights.items()
        if round(weight * SCALE)
    }
    kept[""] = round((bar - model.bias) * SCALE)
    lines = "\n".join(f"{one}\t{weight}" for one, weight in kept.items())
    packed = base64.b85encode(lzma.compress(lines.encode(), preset=9))
    text = (
        "# Weights of what turns a sentence round, written by tools/train_entailment.py:"
        f" a feature and a whole number\n# ({SCALE} for 1) on each line, and the bar;"
        f" packed with lzma and base85.\n{packed.decode()}\n"
    )
    WEIGHTS.write_text(text, encoding="utf-8")
    say(f"bar {bar:.2f}; {len(kept)} features, {len(text)} bytes")


if __name__ == "__main__":
    main()
