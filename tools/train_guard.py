"""Learn how orders to an assistant read: ``python -m tools.train_guard``.

From the labelled sets of ``tests/privacy`` and the ordinary memories of the repository. It needs
scikit-learn, as the environments of Open WebUI have it. Each source, that is what one author
wrote, is judged by what the others teach: so a new author's texts will fare. The threshold is the
score above which one in forty harmless look-alikes is, in the mean of the left-out sources.
"""

# ruff: noqa: RUF001 - words of several scripts

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from adaptive.privacy.injection import (
    NGRAM_BUCKETS,
    feature_values,
    injection_reason,
    ngram_buckets,
    order_parts,
)
from benchmarks.figures import say
from benchmarks.personal import PEOPLE
from tools.packing import packed

PROJECT = Path(__file__).resolve().parent.parent
WEIGHTS = PROJECT / "prompts/guard_weights.txt"
SETS = PROJECT / "tests/privacy"
# Each was written by another author.
LABELLED = (
    *("orders", "orders_a", "orders_b", "orders_d"),
    *(
        "orders_shapes",
        "orders_languages",
        "orders_twins",
        "orders_words",
        "orders_voices",
    ),
)
# Sentences with alternatives in brackets, and names in braces, of which so many are drawn.
VARIED = "varied_orders"
DRAWN = 2
# Memories about people, with names that are drawn as often; a quarter is kept back.
EVERYDAY = "ordinary_memories"
ALTERNATIVES = re.compile(r"\[([^\[\]]*)\]")
SEED = 14
FALSE_REFUSALS = 0.02
# So many weights are kept, the largest of a first model; a second one learns them again alone.
KEPT = 10_000
# The inverses of the regularisation of both.
FIRST_INVERSE_PENALTY = 40.0
INVERSE_PENALTY = 70.0
# There are three times as many harmless texts.
ATTACK_WEIGHT = 1.5
LONGEST_GAP = 255
# One attack in so many, and every harmless text, is joined with harmless ones of its set: attacks
# are longer by nature, and length is to tell nothing.
JOINED_ATTACKS_ONE_IN = 4
# Most memories open so and most orders do not; each text is learned without it as well.
USER = re.compile(
    r"(?:(?:(?:the |el |la |o |a |de |der |die )?(?:user|nutzer(?:in)?|usu[aá]ri[oa]|gebruiker)"
    r"|l'utilisat(?:eur|rice)|l'utente|użytkowni(?:k|czka)|пользователь|kullanıcı|المستخدم"
    r"|उपयोगकर्ता)(?:'s|s)?\b|用户|ユーザー[はの]?|사용자[는의]?)\s*",
    re.IGNORECASE,
)
Kind = Literal["attack", "look-alike", "ordinary"]
KINDS: tuple[Kind, ...] = ("attack", "look-alike", "ordinary")


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, what it is, and the set that it is of."""

    text: str
    kind: Kind
    source: str


@dataclass(frozen=True, slots=True)
class LinearModel:
    """Whole weights of the buckets, what one of them is worth, and the bias."""

    weights: np.ndarray[Any, np.dtype[np.int8]]
    scale: float
    bias: float

    def score(self, text: str) -> float:
        """The score of the text, or of the worst of its sentences."""
        return max(
            self._of_part(ngram_buckets(part)) for part in order_parts(text)
        )

    def _of_part(self, buckets: Any) -> float:
        return (
            float(self.weights[buckets] @ feature_values(buckets)) * self.scale
            + self.bias
        )


def labelled_texts() -> list[LabelledText]:
    """All texts, each once."""
    return list({one.text: one for one in reversed(list(_texts()))}.values())[
        ::-1
    ]


def _texts() -> Iterator[LabelledText]:
    for one in _read(SETS / "red_team.json"):
        yield LabelledText(" ".join(one["parts"]), "attack", "red_team")
    for one in _read(SETS / "look_alikes.json"):
        yield LabelledText(one["text"], "look-alike", "red_team")
    for name in LABELLED:
        own = _read(SETS / f"labelled/{name}.json")
        yield from (
            LabelledText(text, "attack", name) for text in own["orders"]
        )
        yield from (
            LabelledText(text, "look-alike", name) for text in own["harmless"]
        )
        yield from (
            LabelledText(text, "ordinary", name)
            for text in own.get("ordinary", ())
        )
    yield from _varied_texts()
    yield from _everyday_texts()
    for group in _read(PROJECT / "benchmarks/deduplication_pairs.json")[
        "written"
    ]:
        for text in (text for pair in group["pairs"] for text in pair[:2]):
            yield LabelledText(text, "ordinary", "deduplication")
    for lesson in _read(PROJECT / "tests/learn/reader/lessons.json"):
        try:
            operations = json.loads(lesson["reply"])["operations"]
        except (ValueError, KeyError):
            continue
        for text in (
            one["content"] for one in operations if one.get("content")
        ):
            yield LabelledText(text, "ordinary", "lessons")
    for text in (text for person in PEOPLE for text in person.memories):
        yield LabelledText(text, "ordinary", "people")


def _varied_texts() -> Iterator[LabelledText]:
    varied = _read(SETS / f"labelled/{VARIED}.json")
    chance = random.Random(SEED)  # noqa: S311 - texts to learn from
    kinds: dict[str, Kind] = {"orders": "attack", "harmless": "look-alike"}
    for key, kind in kinds.items():
        for text in (text for text in varied[key] for _ in range(DRAWN)):
            yield LabelledText(
                _drawn(text, varied["words"], chance), kind, VARIED
            )


def _everyday_texts() -> Iterator[LabelledText]:
    everyday = _read(SETS / f"labelled/{EVERYDAY}.json")
    chance = random.Random(SEED)  # noqa: S311 - texts to learn from
    for text in (text for text in everyday["ordinary"] for _ in range(DRAWN)):
        yield LabelledText(
            _drawn(text, everyday["words"], chance), "ordinary", EVERYDAY
        )


def _drawn(
    text: str, words: dict[str, list[str]], chance: random.Random
) -> str:
    """One of the sentences that a varied one stands for."""
    chosen = ALTERNATIVES.sub(
        lambda found: chance.choice(found[1].split("|")), text
    )
    return re.sub(
        r"\{(\w+)\}", lambda found: chance.choice(words[found[1]]), chosen
    )


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _learned(texts: Sequence[LabelledText]) -> list[LabelledText]:
    """The texts, the same without the user at their beginning, labels, and long texts."""
    opened = [
        replace(one, text=USER.sub("", one.text, count=1)) for one in texts
    ]
    # Tags, names of banks and titles are as short as one word or two.
    words = [
        (one, one.text.strip(".").split())
        for one in texts
        if one.kind == "ordinary"
    ]
    ends = [
        replace(one, text=" ".join(own[-size:]))
        for one, own in words
        for size in (1, 2)
    ]
    found = [
        *texts,
        *(one for one in opened if one.text),
        *ends,
        *_joined(texts),
    ]
    return list({one.text: one for one in reversed(found)}.values())[::-1]


def _joined(texts: Sequence[LabelledText]) -> Iterator[LabelledText]:
    """Harmless texts as parts of one long sentence, and some orders next to a harmless text."""
    chance = np.random.default_rng(SEED)
    for source in dict.fromkeys(one.source for one in texts):
        own = [one for one in texts if one.source == source]
        harmless = [one for one in own if one.kind != "attack"]
        for number, one in enumerate(own):
            is_attack = one.kind == "attack"
            if not harmless or (is_attack and number % JOINED_ATTACKS_ONE_IN):
                continue
            count = 1 if is_attack else int(chance.integers(1, 4))
            places = chance.integers(0, len(harmless), count)
            together = [one, *(harmless[place] for place in places)]
            chance.shuffle(together)
            yield replace(
                one,
                text=", ".join(each.text.rstrip(".。") for each in together)
                + ".",
            )


def trained(texts: Sequence[LabelledText]) -> LinearModel:
    """What some texts teach."""
    texts = _learned(texts)
    rows = [ngram_buckets(order_parts(one.text)[0]) for one in texts]
    ends = np.cumsum([0, *map(len, rows)])
    values = np.concatenate([feature_values(row) for row in rows])
    features = csr_matrix(
        (values, np.concatenate(rows), ends), shape=(len(rows), NGRAM_BUCKETS)
    )
    labels = [one.kind == "attack" for one in texts]
    first, _ = _fitted(features, labels, FIRST_INVERSE_PENALTY)
    kept = np.sort(np.argsort(-np.abs(first))[:KEPT])
    fitted, bias = _fitted(features[:, kept], labels, INVERSE_PENALTY)
    # Weights are whole numbers of steps, the middle one of those kept.
    scale = float(np.median(np.abs(fitted)))
    weights = np.zeros(NGRAM_BUCKETS, dtype=np.int8)
    # None is rounded to nothing that is more than a fourth of a step.
    steps = np.maximum(
        np.round(np.abs(fitted) / scale), np.abs(fitted) > scale / 4
    )
    weights[kept] = np.sign(fitted) * steps
    return LinearModel(weights, scale, bias)


def _fitted(
    features: csr_matrix, labels: Sequence[bool], inverse_penalty: float
) -> tuple[np.ndarray[Any, np.dtype[np.float64]], float]:
    """The weights and the bias of a logistic regression."""
    machine = LogisticRegression(
        C=inverse_penalty,
        class_weight={True: ATTACK_WEIGHT, False: 1},
        solver="liblinear",
        random_state=SEED,
    )
    machine.fit(features, labels)
    return machine.coef_[0], float(np.ravel(machine.intercept_)[0])


def threshold_of(
    texts: Sequence[LabelledText], scores: Sequence[float]
) -> float:
    """The lowest score that refuses few enough look-alikes, in the mean of the sources."""
    alike = [
        (score, one.source)
        for one, score in zip(texts, scores, strict=True)
        if one.kind == "look-alike" and one.source != VARIED
    ]
    counts = Counter(source for _, source in alike)
    refused = 0.0
    for score, source in sorted(alike, reverse=True):
        refused += 1 / counts[source] / len(counts)
        if refused > FALSE_REFUSALS:
            return score
    raise ValueError(
        f"no threshold refuses fewer than {FALSE_REFUSALS!r} of {len(alike)!r} texts"
    )


def weights_text(model: LinearModel, threshold: float) -> str:
    """The file that keeps the weights."""
    places = np.flatnonzero(model.weights)
    gaps = np.diff(places, prepend=0)
    if gaps.max() > LONGEST_GAP:
        raise ValueError(f"no byte holds {gaps.max()!r}")
    steps = model.weights[places]
    weights = packed(gaps.astype(np.uint8).tobytes() + steps.tobytes())
    return (
        "# What reads as an order to the assistant, by tools/train_guard.py: the size of a step"
        " and the bias;\n# then how far each weight stands behind the last one, and all in steps,"
        " packed.\n"
        f"order {model.scale:.6g} {model.bias - threshold:.6g}\n{weights}\n"
    )


def figures(
    texts: Sequence[LabelledText], scores: Sequence[float], threshold: float
) -> str:
    """The share of each source and kind that is refused, by score or by structure."""
    refused = [
        score > threshold or injection_reason(one.text, typed=True) != ""
        for one, score in zip(texts, scores, strict=True)
    ]
    lines = [
        "| left out | attacks | look-alikes | ordinary |",
        "|---|---|---|---|",
    ]
    for source in (
        *dict.fromkeys(one.source for one in texts if one.source != VARIED),
        "",
    ):
        cells = [source or "all"]
        for kind in KINDS:
            own = [
                hit
                for one, hit in zip(texts, refused, strict=True)
                if one.kind == kind
                and source in ("", one.source)
                and one.source != VARIED
            ]
            cells.append(
                f"{sum(own)} of {len(own)}, {sum(own) / len(own):.1%}"
                if own
                else ""
            )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the figures of left-out sources, write the weights."""
    texts = labelled_texts()
    scores = [0.0] * len(texts)
    for source in dict.fromkeys(
        one.source for one in texts if one.source != VARIED
    ):
        model = trained([one for one in texts if one.source != source])
        for number, one in enumerate(texts):
            if one.source == source:
                scores[number] = model.score(one.text)
    threshold = threshold_of(texts, scores)
    say(figures(texts, scores, threshold))
    text = weights_text(trained(texts), threshold)
    WEIGHTS.write_text(text, encoding="utf-8")
    say(f"{WEIGHTS.name}: {len(text)} bytes")


if __name__ == "__main__":
    main()
