"""Learn what turns a sentence round: ``python -m tools.train_entailment``.

From pairs of what people say and what is made of it (``entailment_pairs.txt``), facts in frames
(``entailment_frames.txt``), both also within longer messages, and the right facts and notes that
readers have found (``tests/learn/reader``, ``entailment_notes.txt``). It needs scikit-learn, as the
environments of Open WebUI have it. Each line, and each reader's person, is judged by what the
others teach. Below the bar are 4 % of what follows and repeats a quotation, of lines and people left
out: readers' notes count for two fifths of it, each other kind of pairs for one. The penalty is on
absolute weights, so that few features have one.
"""

from __future__ import annotations

import math
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
from tools.packing import packed
from tools.train_pastes import paste_examples

PROJECT = Path(__file__).resolve().parent.parent
WEIGHTS = PROJECT / "prompts/entailment_weights.txt"
PAIRS = PROJECT / "tools/entailment_pairs.txt"
FRAMES = PROJECT / "tools/entailment_frames.txt"
NOTES = PROJECT / "tools/entailment_notes.txt"
BRACKETS = re.compile(r"\[([^\]]*)\]")
SLOT = re.compile(r"\{([A-Z])(?:\+(\d))?\}")
FOLDS = 5
SEED = 3
INVERSE_PENALTY = 1.0
LEAST_LINES = 2  # that a feature stands in
MOST_DRAWN = 24  # of a line with brackets of several lengths
EMBEDDED = (
    2  # of what is said in a written line about the user, in longer messages
)
READERS_WEIGHT = 3.0
# Of what follows and is refused at the bar, by where it comes from
SHARES = {"reader": 0.4, "written": 0.2, "framed": 0.2, "embedded": 0.2}
REFUSED = 0.04
SCALE = 20  # of whole weights


@dataclass(frozen=True)
class Pair:
    """What was said, what is claimed, and whether it follows; ``group`` is judged by others."""

    message: str
    said: tuple[str, ...]  # what is quoted of it
    claim: str
    kind: str  # as in the files
    language: str
    group: str
    origin: str

    @property
    def follows(self) -> bool:
        return self.kind == "+"

    @property
    def line(self) -> tuple[str, ...]:
        """What pairs have in common that count less, for there are many of them."""
        is_read = self.origin == "reader"
        return (self.group, *(self.said if is_read else ()))

    @cached_property
    def features(self) -> frozenset[str]:
        """What tells of the claim beside its message."""
        sentences = begun_sentences(self.message)
        return pair_features(sentences, self.said, self.claim)


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


def told(
    said: str, claim: str, kind: str, language: str, line: str, origin: str
) -> Pair:
    """A pair of which all that is said is quoted."""
    message = said.replace("\\n", "\n")
    return Pair(
        message=message,
        said=(message,),
        claim=claim,
        kind=kind,
        language=language,
        group=f"{origin} {language} {line}",
        origin=origin,
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
                yield told(
                    _drawn(said, number),
                    _drawn(claim, number),
                    line[0],
                    language,
                    f"{line_number}",
                    "written",
                )


def _drawn(text: str, number: int) -> str:
    """One of the sentences that a varied one stands for."""

    def alternative(match: re.Match[str]) -> str:
        words = match[1].split("|")
        return words[number % len(words)]

    return BRACKETS.sub(alternative, text)


def framed_pairs() -> Iterator[Pair]:
    """Each fact of a language in each of its frames."""
    language = ""
    forms: dict[str, list[str]] = {}
    lines = FRAMES.read_text(encoding="utf-8").splitlines()
    for line_number, line in enumerate(lines):
        if line.startswith("== "):
            language, forms = line[3:], {}
        elif line[1:3] == ": ":
            forms[line[0]] = line[3:].split("|")
        elif not line.startswith("#"):
            kinds, _, frame = line.partition(" ")
            slots = [*SLOT.finditer(frame)]
            facts = len(forms["N"])
            for number in range(facts):
                places = [
                    (number + int(slot[2] or 0)) % facts for slot in slots
                ]
                said = frame
                for slot, place in zip(slots, places, strict=True):
                    said = said.replace(slot[0], forms[slot[1]][place])
                for kind, place in zip(kinds, places, strict=True):
                    yield told(
                        said,
                        forms["N"][place],
                        kind,
                        language,
                        f"{line_number}",
                        "framed",
                    )


def embedded_pairs(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Some of the pairs within messages that say and ask other things, too, and hold pastes."""
    texts = defaultdict[tuple[str, str], list[str]](list)
    for example in paste_examples():
        texts[example.language, example.kind].append(example.text)
    lines = defaultdict[tuple[str, ...], list[Pair]](list)
    for pair in pairs:
        lines[pair.group, pair.kind, pair.claim[:3]].append(pair)
    chance = random.Random(SEED)  # noqa: S311 - texts to learn from

    def text(pair: Pair, kind: str) -> str:
        return chance.choice(texts[pair.language, kind])

    for alike in lines.values():
        count = EMBEDDED if alike[0].origin == "written" else 1
        for pair in chance.sample(alike, min(count, len(alike))):
            beside = text(pair, chance.choice(("task", "own"))).rstrip(".:")
            paste = f"{text(pair, 'request')}\n\n{text(pair, 'text')}"
            gap = chance.choice((". ", "\n", "\n\n"))
            own, task = text(pair, "own"), text(pair, "task")
            message = chance.choice(
                (
                    f"{beside}{gap}{pair.message}",
                    f"{pair.message}{gap}{beside}",
                    f"{beside}{gap}{pair.message}{gap}{task}",
                    f"{own} {pair.message}{gap}{task}",
                    f"{paste}\n\n{pair.message}",
                    f"{pair.message}\n\n{paste}",
                )
            )
            yield replace(pair, message=message, origin="embedded")


def read_pairs() -> Iterator[Pair]:
    """Right facts, as a reader has quoted and told them."""
    messages = defaultdict[str, list[str]](list)
    pair = partial(Pair, kind="+", language="reader", origin="reader")
    for lesson in read_lessons():
        messages[lesson.user].append(lesson.words)
        for one in lesson.proposals(hook_settings()):
            if one.kind != "DELETE" and one.draft.content:
                yield pair(
                    message=lesson.words,
                    said=one.evidence,
                    claim=one.draft.content,
                    group=lesson.user,
                )
    for line in NOTES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            person, said, claim = line.split("\t")
            message = max(messages[person], key=partial(quoted_share, (said,)))
            yield pair(
                message=message, said=(said,), claim=claim, group=person
            )


def trained(pairs: Sequence[Pair]) -> Model:
    """What pairs teach."""
    counted = defaultdict[str, set[str]](set)
    for number, pair in enumerate(pairs):
        group = f"{number}" if pair.origin == "reader" else pair.group
        for feature in pair.features:
            counted[feature].add(group)
    features = sorted(
        one for one, groups in counted.items() if len(groups) >= LEAST_LINES
    )
    places = {feature: place for place, feature in enumerate(features)}
    columns = [
        [places[one] for one in pair.features if one in places]
        for pair in pairs
    ]
    matrix: Any = csr_matrix(
        (
            np.ones(sum(map(len, columns))),
            [place for row in columns for place in row],
            np.cumsum([0, *map(len, columns)]),
        ),
        shape=(len(pairs), len(features)),
    )
    sizes = Counter(pair.line for pair in pairs)
    machine = LogisticRegression(
        C=INVERSE_PENALTY,
        l1_ratio=1,
        solver="liblinear",
        tol=1e-3,
        random_state=SEED,
    )
    machine.fit(
        matrix,
        [pair.follows for pair in pairs],
        sample_weight=[
            (READERS_WEIGHT if pair.origin == "reader" else 1)
            * sizes[pair.line] ** -0.5
            for pair in pairs
        ],
    )
    weights = dict(zip(features, machine.coef_[0], strict=True))
    return Model(weights, float(np.ravel(machine.intercept_)[0]))


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
                is_judged = is_repeated(pair.said, pair.claim)
                scores[place] = model.score(pair) if is_judged else math.inf
    return scores


def bar_of(pairs: Sequence[Pair], scores: Sequence[float]) -> float:
    """The score below which few are that follow."""
    right = [
        (score, pair.origin)
        for pair, score in zip(pairs, scores, strict=True)
        if pair.follows
    ]
    right.sort()
    counts = Counter(origin for _, origin in right)
    shares = np.cumsum(
        [SHARES[origin] / counts[origin] for _, origin in right]
    )
    return right[int(np.searchsorted(shares, REFUSED))][0]


def main() -> None:
    """Print the figures of what was left out, write the weights."""
    told_pairs = [*written_pairs(), *framed_pairs()]
    pairs = [*told_pairs, *embedded_pairs(told_pairs), *read_pairs()]
    scores = left_out_scores(pairs)
    bar = bar_of(pairs, scores)
    refused = defaultdict[tuple[str, str], list[bool]](list)
    for pair, score in zip(pairs, scores, strict=True):
        for name in {pair.language, pair.origin}:
            refused[name, pair.kind].append(score < bar)
    for (name, kind), outcomes in sorted(refused.items()):
        say(f"{name} {kind}: {np.mean(outcomes):.1%} of {len(outcomes)}")
    model = trained(pairs)
    kept = {
        feature: round(weight * SCALE)
        for feature, weight in model.weights.items()
        if round(weight * SCALE)
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
