"""Learn what turns a sentence round: ``python -m tools.train_entailment``.

From pairs of what people say and what is made of it (``entailment_pairs.txt``), and the right facts
and notes that readers have found (``tests/learn/reader``, ``entailment_notes.txt``). It needs
scikit-learn, as the environments of Open WebUI have it. Each line, and each reader's person, is
judged by what the others teach. Below the bar are 4 % of what readers found that repeats a
quotation, of people left out, if their scores are normally distributed.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from adaptive.learn.entailment import is_repeated, pair_features
from benchmarks.figures import say
from tests.fakes import hook_settings
from tests.learn.reader.lessons import read_lessons
from tools.packing import packed

PROJECT = Path(__file__).resolve().parent.parent
WEIGHTS = PROJECT / "prompts/entailment_weights.txt"
PAIRS = PROJECT / "tools/entailment_pairs.txt"
NOTES = PROJECT / "tools/entailment_notes.txt"
BRACKETS = re.compile(r"\[([^\]]*)\]")
FOLDS = 8
SEED = 3
INVERSE_PENALTY = 3.0
LEAST_LINES = 4  # that a word or a feature stands in
REFUSED_BELOW = 1.7  # standard deviations below the mean: 4 %
SCALE = 20  # of whole weights


@dataclass(frozen=True, slots=True)
class Pair:
    """What was said, what is claimed, and whether it follows; ``group`` is judged by others."""

    said: tuple[str, ...]
    claim: str
    kind: str
    language: str
    group: str

    @property
    def follows(self) -> bool:
        return self.kind in ("+", "reader")


@dataclass(frozen=True, slots=True)
class Model:
    """Weights by feature, and the bias."""

    weights: dict[str, float]
    bias: float
    known: frozenset[str]

    def score(self, pair: Pair) -> float:
        """How much a claim looks as if it followed."""
        features = pair_features(pair.said, pair.claim, self.known)
        return self.bias + sum(
            self.weights.get(feature, 0.0) for feature in features
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
            count = max((len(one.split("|")) for one in groups), default=1)
            for number in range(count):
                yield Pair(
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
    for lesson in read_lessons():
        for one in lesson.proposals(hook_settings()):
            if one.kind != "DELETE":
                yield Pair(
                    one.evidence,
                    one.draft.content,
                    "reader",
                    "reader",
                    lesson.user,
                )
    for line in NOTES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            person, said, claim = line.split("\t")
            yield Pair((said,), claim, "reader", "reader", person)


def trained(pairs: Sequence[Pair]) -> Model:
    """What pairs teach."""
    lines = defaultdict[str, set[str]](set)
    for number, pair in enumerate(pairs):
        group = f"{number}" if pair.kind == "reader" else pair.group
        for feature in pair_features(pair.said, pair.claim, None):
            lines[feature].add(group)
    known = frozenset(
        feature.split(" ")[1]
        for feature, groups in lines.items()
        if len(groups) >= LEAST_LINES and "|" not in feature
    )
    rows = [pair_features(pair.said, pair.claim, known) for pair in pairs]
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
    sizes = Counter(pair.group for pair in pairs if pair.kind != "reader")
    machine = LogisticRegression(
        C=INVERSE_PENALTY, solver="liblinear", random_state=SEED
    )
    machine.fit(
        matrix,
        [pair.follows for pair in pairs],
        sample_weight=[sizes.get(pair.group, 1) ** -0.5 for pair in pairs],
    )
    weights = dict(zip(features, machine.coef_[0], strict=True))
    return Model(weights, float(np.ravel(machine.intercept_)[0]), known)


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
    return float(np.mean(reader) - REFUSED_BELOW * np.std(reader))


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
        if round(weight * SCALE) or "|" not in feature
    }
    kept[""] = round((bar - model.bias) * SCALE)
    lines = "\n".join(f"{one}\t{weight}" for one, weight in kept.items())
    text = (
        "# Weights of what turns a sentence round, written by tools/train_entailment.py:"
        f" a feature and a whole number\n# ({SCALE} for 1) on each line, and the bar;"
        f" packed with lzma and base85.\n{packed(lines.encode())}\n"
    )
    WEIGHTS.write_text(text, encoding="utf-8")
    say(f"bar {bar:.2f}; {len(kept)} features, {len(text)} bytes")


if __name__ == "__main__":
    main()
