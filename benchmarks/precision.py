"""How many entries come: share of gold against mean entries, and what the held-out parts say.

``strictness`` scales what each entry needs of the best score and of the best evidence. It is chosen
on all conversations but one, as the least that keeps the mean entries at ten, and measured on that
one, in turn; the large gate is chosen on each half of the prompts and measured on the other.
"""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from adaptive.search.fitting import fitting
from adaptive.search.fusion import Ranked, RankingQuery, rank
from benchmarks.figures import say, write_results
from benchmarks.locomo import DEFAULT_DATA, minilm
from benchmarks.world import World, load_world, questions_of

ENTRIES = 15
STRICTNESS = (0.0, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4)
LARGE_GATES = (4.5, 5.0, 5.5, 6.0, 6.5, 7.0)
MOST_UNRELATED = 0.15
_EVERYDAY = Path(__file__).parent / "everyday_prompts.json"

Answered = list[tuple[list[Ranked], frozenset[int]]]


def point(
    answered: Answered, strictness: float, gate: float | None = None
) -> tuple[float, float]:
    """Share of gold and mean entries."""
    given = [
        (
            [
                one.place
                for one in fitting(
                    [ranked], ENTRIES, gate=gate, strictness=strictness
                )
            ],
            gold,
        )
        for ranked, gold in answered
    ]
    share = statistics.fmean(
        len(gold.intersection(some)) / len(gold) for some, gold in given
    )
    return round(share, 3), round(
        statistics.fmean(len(some) for some, _ in given), 2
    )


def unrelated(prompts: list[list[Ranked]], gate: float | None = None) -> float:
    """Mean entries for prompts that have to do with nobody."""
    return round(
        statistics.fmean(
            len(fitting([one], ENTRIES, gate=gate)) for one in prompts
        ),
        3,
    )


def measure(folder: Path) -> dict[str, Any]:
    """The curve, and both choices held out."""
    encode = minilm()
    world = load_world(folder, encode)
    everyday: list[str] = json.loads(_EVERYDAY.read_text(encoding="utf-8"))
    sets = {"off_topic": list(world.prompts), "everyday": everyday}
    stores = [subject.ranking_index(world.nulls) for subject in world.subjects]
    answered: list[Answered] = [
        [
            (rank(store, RankingQuery(t, v), ENTRIES), gold)
            for t, v, gold in questions_of(subject)
        ]
        for store, subject in zip(stores, world.subjects, strict=True)
    ]
    strange = {
        name: [
            [rank(store, RankingQuery(t, v), ENTRIES) for store in stores]
            for t, v in zip(prompts, encode(prompts), strict=True)
        ]
        for name, prompts in sets.items()
    }
    together = [one for some in answered for one in some]
    figures: dict[str, Any] = {
        "curve": {str(one): point(together, one) for one in STRICTNESS},
        "chosen": [point(some, 1.0) for some in answered],
        "held_out": held_out(world, answered),
        "unrelated": {
            name: unrelated([one for some in prompts for one in some])
            for name, prompts in strange.items()
        },
        "unrelated_by_large_gate": {
            str(gate): {
                "share_of_gold": point(together, 1.0, gate)[0],
                **{
                    name: unrelated(
                        [one for some in prompts for one in some], gate
                    )
                    for name, prompts in strange.items()
                },
            }
            for gate in LARGE_GATES
        },
        "gate_held_out": gate_held_out(
            [some for prompts in strange.values() for some in prompts]
        ),
    }
    for name, found in figures.items():
        say(f"{name}: {found}")
    return figures


def held_out(world: World, answered: list[Answered]) -> list[dict[str, Any]]:
    """The strictness chosen without each conversation, and what it gives there."""
    found: list[dict[str, Any]] = []
    for number, own in enumerate(answered):
        rest = [
            one
            for at, some in enumerate(answered)
            if at != number
            for one in some
        ]
        chosen = min(one for one in STRICTNESS if point(rest, one)[1] <= 10)
        name = world.subjects[number].about.name
        found.append(
            {"without": name, "chosen": chosen, "there": point(own, chosen)}
        )
    return found


def gate_held_out(prompts: list[list[list[Ranked]]]) -> list[dict[str, float]]:
    """The least gate that suffices for every second prompt, and what the others get then."""
    halves = [
        [one for some in prompts[start::2] for one in some] for start in (0, 1)
    ]
    found: list[dict[str, float]] = []
    for own, other in (halves, halves[::-1]):
        enough = (
            one for one in LARGE_GATES if unrelated(own, one) <= MOST_UNRELATED
        )
        chosen = min(enough, default=LARGE_GATES[-1])
        found.append(
            {
                "gate": chosen,
                "here": unrelated(own, chosen),
                "others": unrelated(other, chosen),
            }
        )
    return found


def main(folder: Path = DEFAULT_DATA) -> None:
    """Measure and write ``results/precision.json``."""
    say(f"written: {write_results('precision', measure(folder))}")


if __name__ == "__main__":
    main()
