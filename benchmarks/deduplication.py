"""Whether a new fact is known already: duplicates found, and facts lost; no host.

Labelled pairs of a known and a new statement, in eight languages, stand in
``deduplication_pairs.json``: from those of the set *development* rewordings are learned
(``tools/train_duplicates.py``, which prints what cross-validation finds), those of *control* gave
rise to no change. Of LoCoMo only references and labels are kept. What is found to be the same is
not stored: where the label says otherwise a true fact is lost, which is the worst error.
"""

from __future__ import annotations

import json
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rapidfuzz import fuzz

from adaptive.core.model import (
    Draft,
    Memory,
    Proposal,
    StoredVector,
    Vectors,
)
from adaptive.learn.duplicates import (
    REWORDED_FROM,
    calibrated_likeness,
    reconciled,
    same_fact,
    unrelated_likeness,
)
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.index import build_index
from adaptive.search.tokens import folded_text
from adaptive.search.vectors import content_hash, normalised
from adaptive.settings.merged import Settings
from adaptive.settings.valves import Valves
from benchmarks.abstention import distortions
from benchmarks.figures import say, write_results
from benchmarks.locomo import (
    CONVERSATIONS,
    DEFAULT_DATA,
    Encode,
    load_conversations,
    minilm,
)

PAIRS = Path(__file__).parent / "deduplication_pairs.json"
SETS = ("development", "control")
THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.92, 0.94, 0.96, 0.98, 1.0)
BARS = (0.7, 0.75, 0.8, 0.82, 0.84, REWORDED_FROM, 0.9, 0.93)
RANDOM_PAIRS = 20_000
STORE_SIZES = (1_000, 5_000, 20_000)
DRAFTS = 20
_SEED = 5
PairLabel = Literal["same", "refines", "contradicts", "different"]


def token_set_ratio(one: str, other: str) -> float:
    """Share of letters that two texts have in common as sets of words, from 0 to 1."""
    words = (
        " ".join(re.findall(r"[^\W_]+", folded_text(text)))
        for text in (one, other)
    )
    return fuzz.token_set_ratio(*words) / 100


@dataclass(frozen=True, slots=True)
class Pair:
    """A known and a new statement with the relation that a person sees between them."""

    group: str
    language: str
    label: PairLabel
    known: str
    said: str
    cosine: float = 0.0

    @property
    def near_miss(self) -> bool:
        """Whether both are facts of their own."""
        return self.label == "different"


def load_pairs() -> list[Pair]:
    """The written pairs, without their cosines."""
    groups = json.loads(PAIRS.read_text(encoding="utf-8"))["written"]
    return [
        Pair(group["set"], group["language"], group["relation"], *texts)
        for group in groups
        for texts in group["pairs"]
    ]


def with_cosines(
    pairs: Sequence[Pair], known: Vectors, said: Vectors
) -> list[Pair]:
    """The pairs with the cosine of their vectors."""
    cosines = (known * said).sum(axis=1)
    return [
        replace(pair, cosine=float(one))
        for pair, one in zip(pairs, cosines, strict=True)
    ]


def score(pairs: Sequence[Pair], found: Sequence[bool]) -> dict[str, float]:
    """The share of duplicates found, and how many near-misses and changes are lost."""
    counts = Counter(
        pair.label for pair, one in zip(pairs, found, strict=True) if one
    )
    total = Counter(pair.label for pair in pairs)
    return {
        "recall": round(counts["same"] / max(total["same"], 1), 3),
        "near_misses_lost": counts["different"],
        "near_misses": total["different"],
        "changes_lost": counts["contradicts"] + counts["refines"],
        "changes": total["contradicts"] + total["refines"],
    }


def curve(
    pairs: Sequence[Pair],
    measure: Callable[[Pair], float],
    thresholds: Iterable[float],
) -> list[dict[str, float]]:
    """A single measure: from the threshold on it says *same*."""
    values = [measure(pair) for pair in pairs]
    return [
        {"threshold": at, **score(pairs, [one >= at for one in values])}
        for at in thresholds
    ]


def verdicts(
    pairs: Sequence[Pair], nulls: Vectors | None, bar: float = REWORDED_FROM
) -> list[bool]:
    """What is found to be the same; without ``nulls`` by words alone."""
    unrelated = unrelated_likeness(nulls)
    return [
        same_fact(
            pair.known,
            pair.said,
            calibrated_likeness(pair.cosine, unrelated),
            bar,
        )
        for pair in pairs
    ]


def by_language(
    pairs: Sequence[Pair], nulls: Vectors
) -> dict[str, dict[str, float]]:
    """The figures for each language."""
    languages = list(dict.fromkeys(pair.language for pair in pairs))
    found: dict[str, dict[str, float]] = {}
    for language in languages:
        own = [pair for pair in pairs if pair.language == language]
        found[language] = {
            "pairs": len(own),
            **score(own, verdicts(own, nulls)),
        }
    return found


def other_geometries(
    pairs: Sequence[Pair], known: Vectors, said: Vectors, nulls: Vectors
) -> dict[str, Any]:
    """The same for other embedding models, imitated by distorting these vectors."""
    figures: dict[str, Any] = {}
    for name, change in distortions().items():
        seen, other = (
            with_cosines(pairs, change(known), change(said)),
            change(nulls),
        )
        figures[name] = score(seen, verdicts(seen, other))
    return figures


@dataclass(frozen=True, slots=True)
class Observation:
    """One observation of LoCoMo: whose, where, from which turns, and its place in the vectors."""

    speaker: str
    reference: str
    evidence: str
    text: str
    place: int


def observations(folder: Path) -> dict[str, list[Observation]]:
    """The observations of each conversation."""
    load_conversations(
        folder
    )  # ends the program with advice if there are none
    found: dict[str, list[Observation]] = {}
    for one in json.loads(
        (folder / CONVERSATIONS).read_text(encoding="utf-8")
    ):
        rows = [
            (
                speaker,
                f"{session.removesuffix('_observation')}/{speaker}/{at}",
                evidence,
                text,
            )
            for session, speakers in one["observation"].items()
            for speaker, facts in speakers.items()
            for at, (text, evidence) in enumerate(facts)
        ]
        found[one["sample_id"]] = [
            Observation(speaker, reference, json.dumps(evidence), text, place)
            for place, (speaker, reference, evidence, text) in enumerate(rows)
        ]
    return found


def locomo(folder: Path, encode: Encode, nulls: Vectors) -> dict[str, Any]:
    """The rule on observations: nearest pairs with labels, the same turn, and pairs at random."""
    stores = observations(folder)
    vectors = {
        name: encode([one.text for one in rows])
        for name, rows in stores.items()
    }

    def pair(
        name: str, one: Observation, other: Observation, label: PairLabel
    ) -> Pair:
        cosine = float(vectors[name][one.place] @ vectors[name][other.place])
        return Pair("locomo", "en", label, one.text, other.text, cosine)

    labelled: list[Pair] = []
    for row in json.loads(PAIRS.read_text(encoding="utf-8"))["locomo"]:
        rows = {
            one.reference: one for one in stores.get(row["conversation"], [])
        }
        if row["known"] in rows and row["said"] in rows:
            ends = rows[row["known"]], rows[row["said"]]
            labelled.append(pair(row["conversation"], *ends, row["relation"]))
    same_turn: list[Pair] = []
    one_speaker: list[Pair] = []
    for name, rows in stores.items():
        for at, other in enumerate(rows):
            for one in rows[:at]:
                if one.speaker == other.speaker:
                    made = pair(name, one, other, "different")
                    one_speaker.append(made)
                    if one.evidence == other.evidence:
                        same_turn.append(made)
    chance = random.Random(_SEED)
    strangers: list[Pair] = []
    for _ in range(RANDOM_PAIRS):
        one, other = (
            chance.choice(stores[name]).text
            for name in chance.sample(list(stores), 2)
        )
        strangers.append(Pair("locomo", "en", "different", one, other))
    return {
        "nearest_labelled": len(labelled),
        "nearest_labels": dict(Counter(one.label for one in labelled)),
        "nearest": score(labelled, verdicts(labelled, nulls)),
        "nearest_cosine": curve(
            labelled, lambda one: one.cosine, (0.88, 0.9, 0.92, 0.94)
        ),
        "same_turn": reached(same_turn, nulls),
        "one_speaker": reached(one_speaker, nulls),
        "other_conversation_words_only": sum(verdicts(strangers, None)),
    }


def reached(pairs: Sequence[Pair], nulls: Vectors) -> dict[str, Any]:
    """How many pairs are found to be the same, and how many each measure alone would call so."""
    return {
        "pairs": len(pairs),
        "same": sum(verdicts(pairs, nulls)),
        "cosine_from_0.90": sum(one.cosine >= 0.9 for one in pairs),
        "cosine_from_0.85": sum(one.cosine >= 0.85 for one in pairs),
        "token_set_from_0.90": sum(
            token_set_ratio(one.known, one.said) >= 0.9 for one in pairs
        ),
    }


def costs(nulls: Vectors) -> list[dict[str, float]]:
    """Time of holding one new fact against a made-up store, on the CPU alone."""
    settings = Settings.merge(Valves(), None)
    chance = np.random.default_rng(_SEED)
    people = ("User", "User's sister", "User's friend Tom", "User's boss")
    doing = (
        "likes",
        "lives in",
        "works at",
        "visited",
        "bought",
        "dislikes",
        "is learning",
    )
    found: list[dict[str, float]] = []
    for size in STORE_SIZES:
        texts = [
            f"{people[at % 4]} {doing[at % 7]} Thing{at % 997} with Part{at % 89} in {1900 + at}."
            for at in range(size)
        ]
        vectors = normalised(
            chance.normal(size=(size, nulls.shape[1])).astype(np.float32)
        )
        index = build_index(
            [Memory(str(at), text, at, at) for at, text in enumerate(texts)],
            {
                str(at): StoredVector(content_hash(text), vectors[at])
                for at, text in enumerate(texts)
            },
            nulls,
            "made up",
        )
        taken: list[float] = []
        for at in range(DRAFTS):
            draft = Proposal(
                "NEW",
                draft=Draft(f"User lives in Place{at} since {2000 + at}."),
            )
            began = time.perf_counter()
            reconciled(
                [draft], index, {draft.draft.content: vectors[at]}, settings
            )
            taken.append((time.perf_counter() - began) * 1000)
        found.append(
            {
                "memories": size,
                "first_ms": round(taken[0], 1),
                "median_ms": round(statistics.median(taken), 1),
            }
        )
    return found


def measure(folder: Path) -> dict[str, Any]:
    """All figures."""
    encode = minilm()
    nulls = encode(NULL_PROMPTS)
    written = load_pairs()
    known = encode([pair.known for pair in written])
    said = encode([pair.said for pair in written])
    pairs = with_cosines(written, known, said)
    figures: dict[str, Any] = {
        "model": "all-MiniLM-L6-v2",
        "reworded_from": REWORDED_FROM,
        "sets": {},
    }
    measures: Mapping[str, Callable[[Pair], float]] = {
        "cosine": lambda pair: pair.cosine,
        "token set": lambda pair: token_set_ratio(pair.known, pair.said),
    }
    for name in (*SETS, "all"):
        own = [pair for pair in pairs if name in (pair.group, "all")]
        found = {
            "labels": dict(Counter(pair.label for pair in own)),
            "measures": {
                one: curve(own, how, THRESHOLDS)
                for one, how in measures.items()
            },
            "words_only": score(own, verdicts(own, None)),
            "by_bar": [
                {"bar": bar, **score(own, verdicts(own, nulls, bar))}
                for bar in BARS
            ],
        }
        figures["sets"][name] = found
        say(f"{name}: {found['labels']}")
        for one, points in found["measures"].items():
            for point in points:
                say(f"  {one}: {point}")
        say(f"  words only: {found['words_only']}")
        for point in found["by_bar"]:
            say(f"  {point}")
    figures["by_language"] = by_language(pairs, nulls)
    for language, point in figures["by_language"].items():
        say(f"{language}: {point}")
    figures["other_geometries"] = other_geometries(pairs, known, said, nulls)
    for name, point in figures["other_geometries"].items():
        say(f"{name}: {point}")
    figures["locomo"] = locomo(folder, encode, nulls)
    say(f"LoCoMo: {figures['locomo']}")
    figures["costs"] = costs(nulls)
    say(f"costs: {figures['costs']}")
    return figures


def main(folder: Path = DEFAULT_DATA) -> None:
    """Measure and write ``results/deduplication.json``."""
    say(f"written: {write_results('deduplication', measure(folder))}")


if __name__ == "__main__":
    main()
