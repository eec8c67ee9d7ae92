"""Whether a new fact is known, replaces a known one or is another: precision and recall; no host.

Labelled pairs of a known and a new statement, in eight languages, stand in
``deduplication_pairs.json``: those of the set *development* were at hand while the rule was made,
those of *control* were written after it and gave rise to no change in it. Of LoCoMo only references
and labels are kept. *Same* is what the rule does not store: where the label says otherwise a true
fact is lost, which is the worst error.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.learn.attribute import Relation
from adaptive.learn.reconcile import reconciled
from adaptive.learn.relation import (
    RELATED_LIKENESS,
    SAME_FROM,
    Likeness,
    believable,
    likeness_of,
    relation,
    unrelated_cosine,
)
from adaptive.model import Draft, Memory, Operation, StoreStamp
from adaptive.ports import Vectors
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.index import IndexParts, build_index, content_hash
from adaptive.search.text_similarity import jaccard, token_set_ratio
from adaptive.search.vectors import normalised
from adaptive.settings import Settings
from adaptive.table_ports import StoredVector
from adaptive.valves import Valves
from benchmarks.abstention import distortions
from benchmarks.figures import say, write_results
from benchmarks.locomo import CONVERSATIONS, DEFAULT_DATA, Encode, load_conversations, minilm

PAIRS = Path(__file__).parent / "deduplication_pairs.json"
SETS = ("development", "control")
THRESHOLDS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.92, 0.94, 0.96, 0.98, 1.0)
BARS = (0.8, 0.85, 0.88, 0.9, 0.91, 0.92, SAME_FROM, 0.94, 0.95, 0.97)
WORDS_ONLY = "words only"
RANDOM_PAIRS = 20_000
STORE_SIZES = (1_000, 5_000, 20_000)
DRAFTS = 20
_SEED = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """A known and a new statement with the relation that a person sees between them."""

    group: str
    language: str
    label: Relation
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


def with_cosines(pairs: Sequence[Pair], known: Vectors, said: Vectors) -> list[Pair]:
    """The pairs with the cosine of their vectors."""
    cosines = (known * said).sum(axis=1)
    return [replace(pair, cosine=float(one)) for pair, one in zip(pairs, cosines, strict=True)]


def score(pairs: Sequence[Pair], verdicts: Sequence[Relation]) -> dict[str, float]:
    """What verdicts are worth: of *same*, and of near-misses lost or overwritten."""
    judged = list(zip(pairs, verdicts, strict=True))
    taken = [pair for pair, verdict in judged if verdict == "same"]
    right = sum(pair.label == "same" for pair in taken)
    doubles = [verdict for pair, verdict in judged if pair.label == "same"]
    misses = [verdict for pair, verdict in judged if pair.near_miss]
    return {
        "precision": round(right / len(taken), 3) if taken else 1.0,
        "recall": round(right / max(len(doubles), 1), 3),
        "doubles_merged": round(sum(one != "different" for one in doubles) / len(doubles), 3),
        "near_misses_lost": sum(one == "same" for one in misses),
        "near_misses_overwritten": sum(one in ("refines", "contradicts") for one in misses),
        "near_misses": len(misses),
    }


def curve(
    pairs: Sequence[Pair], measure: Callable[[Pair], float], thresholds: Iterable[float]
) -> list[dict[str, float]]:
    """A single measure: from the threshold on it says *same*."""
    values = [measure(pair) for pair in pairs]
    verdict: dict[bool, Relation] = {True: "same", False: "different"}
    return [
        {"threshold": at, **score(pairs, [verdict[one >= at] for one in values])}
        for at in thresholds
    ]


def verdicts(pairs: Sequence[Pair], nulls: Vectors | None, bar: float) -> list[Relation]:
    """What the rule says; without ``nulls`` by words alone."""
    unrelated = unrelated_cosine(nulls)
    return [
        relation(pair.known, pair.said, Likeness(likeness_of(pair.cosine, unrelated), bar))
        for pair in pairs
    ]


def rule_curve(pairs: Sequence[Pair], nulls: Vectors) -> list[dict[str, Any]]:
    """The rule by its bar, words alone first."""
    points: list[dict[str, Any]] = [{"bar": WORDS_ONLY, **score(pairs, verdicts(pairs, None, 2))}]
    return points + [{"bar": bar, **score(pairs, verdicts(pairs, nulls, bar))} for bar in BARS]


def confusion(pairs: Sequence[Pair], found: Sequence[Relation]) -> dict[str, dict[str, int]]:
    """How often each label got each verdict."""
    counts: dict[str, Counter[str]] = {}
    for pair, verdict in zip(pairs, found, strict=True):
        counts.setdefault(pair.label, Counter())[verdict] += 1
    return {label: dict(counter) for label, counter in counts.items()}


def by_language(pairs: Sequence[Pair], nulls: Vectors) -> dict[str, dict[str, float]]:
    """The rule for each language."""
    languages = list(dict.fromkeys(pair.language for pair in pairs))
    found: dict[str, dict[str, float]] = {}
    for language in languages:
        own = [pair for pair in pairs if pair.language == language]
        found[language] = {"pairs": len(own), **score(own, verdicts(own, nulls, SAME_FROM))}
    return found


def closest_near_miss(pairs: Sequence[Pair], nulls: Vectors) -> dict[str, Any]:
    """The likeness of the near-misses that nothing but the bar keeps apart."""
    open_to_vectors = [
        (round(likeness_of(pair.cosine, unrelated_cosine(nulls)) or 0, 3), pair)
        for pair in pairs
        if relation(pair.known, pair.said) == "different"
        and relation(pair.known, pair.said, Likeness(1.0, 0.0)) != "different"
    ]
    misses = sorted((one for one, pair in open_to_vectors if pair.near_miss), reverse=True)
    doubles = sorted((one for one, pair in open_to_vectors if pair.label == "same"), reverse=True)
    return {"near_misses": misses, "same": doubles}


def other_geometries(
    pairs: Sequence[Pair], known: Vectors, said: Vectors, nulls: Vectors
) -> dict[str, Any]:
    """The rule untuned for other embedding models, imitated by distorting these vectors.

    Beside it the same rule with a bar on the plain cosine that does here what the default does.
    """
    fixed = fixed_cosine(nulls)
    figures: dict[str, Any] = {}
    for name, change in distortions().items():
        seen, other = with_cosines(pairs, change(known), change(said)), change(nulls)
        plain: list[Relation] = [
            relation(one.known, one.said, Likeness(one.cosine, fixed)) for one in seen
        ]
        figures[name] = {
            "cosine_of_unrelated_texts": round(unrelated_cosine(other) or 0, 3),
            "calibrated": score(seen, verdicts(seen, other, SAME_FROM)),
            f"plain cosine {fixed:.2f}": score(seen, plain),
            "closest_near_misses": closest_near_miss(seen, other)["near_misses"][:3],
        }
    return figures


def fixed_cosine(nulls: Vectors) -> float:
    """The cosine that the default bar means for these null prompts."""
    unrelated = unrelated_cosine(nulls) or 0.0
    return unrelated + SAME_FROM * (1 - unrelated)


def updates(pairs: Sequence[Pair], encode: Encode, nulls: Vectors) -> dict[str, float]:
    """How many UPDATEs of a related row are believed, and how many of a row taken at random."""
    known = encode([pair.known for pair in pairs])
    said = encode([pair.said for pair in pairs])
    related = [at for at, pair in enumerate(pairs) if not pair.near_miss]
    unrelated = unrelated_cosine(nulls)
    chance = random.Random(_SEED)
    english = [at for at, pair in enumerate(pairs) if pair.language == "en"]
    apart = [tuple(chance.sample(english, 2)) for _ in range(RANDOM_PAIRS)]

    def believed(couples: Iterable[tuple[int, ...]], *, vectors: bool) -> float:
        found = [
            believable(
                pairs[one].known,
                pairs[other].said,
                likeness_of(float(known[one] @ said[other]), unrelated) if vectors else None,
            )
            for one, other in couples
        ]
        return round(statistics.fmean(found), 4)

    return {
        "related": len(related),
        "related_believed": believed([(at, at) for at in related], vectors=True),
        "related_believed_by_words": believed([(at, at) for at in related], vectors=False),
        "random_believed": believed(apart, vectors=True),
        "random_believed_by_words": believed(apart, vectors=False),
        "likeness": RELATED_LIKENESS,
    }


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
    load_conversations(folder)  # ends the program with advice if there are none
    found: dict[str, list[Observation]] = {}
    for one in json.loads((folder / CONVERSATIONS).read_text(encoding="utf-8")):
        rows = [
            (speaker, f"{session.removesuffix('_observation')}/{speaker}/{at}", evidence, text)
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
    vectors = {name: encode([one.text for one in rows]) for name, rows in stores.items()}

    def pair(name: str, one: Observation, other: Observation, label: Relation) -> Pair:
        cosine = float(vectors[name][one.place] @ vectors[name][other.place])
        return Pair("locomo", "en", label, one.text, other.text, cosine)

    labelled: list[Pair] = []
    for row in json.loads(PAIRS.read_text(encoding="utf-8"))["locomo"]:
        rows = {one.reference: one for one in stores.get(row["conversation"], [])}
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
        one, other = (chance.choice(stores[name]).text for name in chance.sample(list(stores), 2))
        strangers.append(Pair("locomo", "en", "different", one, other))
    return {
        "nearest_labelled": len(labelled),
        "nearest_labels": dict(Counter(one.label for one in labelled)),
        "nearest_rule": confusion(labelled, verdicts(labelled, nulls, SAME_FROM)),
        "nearest_cosine": curve(labelled, lambda one: one.cosine, (0.88, 0.9, 0.92, 0.94)),
        "same_turn": reached(same_turn, nulls),
        "one_speaker": reached(one_speaker, nulls),
        "other_conversation_words_only": dict(Counter(verdicts(strangers, None, 2))),
    }


def reached(pairs: Sequence[Pair], nulls: Vectors) -> dict[str, Any]:
    """Verdicts of the rule, and how many pairs each measure alone would call the same."""
    return {
        "pairs": len(pairs),
        "rule": dict(Counter(verdicts(pairs, nulls, SAME_FROM))),
        "cosine_from_0.90": sum(one.cosine >= 0.9 for one in pairs),
        "cosine_from_0.85": sum(one.cosine >= 0.85 for one in pairs),
        "token_set_from_0.90": sum(token_set_ratio(one.known, one.said) >= 0.9 for one in pairs),
    }


def costs(nulls: Vectors) -> list[dict[str, float]]:
    """Time of holding one new fact against a made-up store, on the CPU alone."""
    settings = Settings.merge(Valves(), None)
    chance = np.random.default_rng(_SEED)
    people = ("User", "User's sister", "User's friend Tom", "User's boss")
    doing = ("likes", "lives in", "works at", "visited", "bought", "dislikes", "is learning")
    found: list[dict[str, float]] = []
    for size in STORE_SIZES:
        texts = [
            f"{people[at % 4]} {doing[at % 7]} Thing{at % 997} with Part{at % 89} in {1900 + at}."
            for at in range(size)
        ]
        vectors = normalised(chance.normal(size=(size, nulls.shape[1])).astype(np.float32))
        index = build_index(
            IndexParts(
                [Memory(str(at), text, at, at) for at, text in enumerate(texts)],
                {
                    str(at): StoredVector(content_hash(text), vectors[at])
                    for at, text in enumerate(texts)
                },
                nulls,
                "made up",
                StoreStamp(size, size),
                0.0,
            )
        )
        taken: list[float] = []
        for at in range(DRAFTS):
            draft = Operation("NEW", "", Draft(f"User lives in Place{at} since {2000 + at}."))
            began = time.perf_counter()
            reconciled([draft], index, vectors[at : at + 1], settings)
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
        "same_from": SAME_FROM,
        "same_from_as_cosine": round(fixed_cosine(nulls), 3),
        "sets": {},
    }
    measures: Mapping[str, Callable[[Pair], float]] = {
        "cosine": lambda pair: pair.cosine,
        "token set": lambda pair: token_set_ratio(pair.known, pair.said),
        "jaccard": lambda pair: jaccard(pair.known, pair.said),
    }
    for name in (*SETS, "all"):
        own = [pair for pair in pairs if name in (pair.group, "all")]
        found = {
            "labels": dict(Counter(pair.label for pair in own)),
            "measures": {one: curve(own, how, THRESHOLDS) for one, how in measures.items()},
            "rule": rule_curve(own, nulls),
            "confusion": confusion(own, verdicts(own, nulls, SAME_FROM)),
            "closest": closest_near_miss(own, nulls),
        }
        figures["sets"][name] = found
        say(f"{name}: {found['labels']}")
        for one, points in found["measures"].items():
            for point in points:
                say(f"  {one}: {point}")
        for point in found["rule"]:
            say(f"  rule: {point}")
        say(f"  {found['confusion']}")
    figures["by_language"] = by_language(pairs, nulls)
    for language, point in figures["by_language"].items():
        say(f"{language}: {point}")
    figures["other_geometries"] = other_geometries(pairs, known, said, nulls)
    for name, point in figures["other_geometries"].items():
        say(f"{name}: {point}")
    figures["updates"] = updates(pairs, encode, nulls)
    say(f"updates: {figures['updates']}")
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
