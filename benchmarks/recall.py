"""Which memories a message gets, and whether it gets none when nothing fits; no call, no host.

Recall@k is the share of a question's gold among the first k memories, averaged over questions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adaptive.search.fusion import GATES
from benchmarks.abstention import curve, follow_ups, geometries, small_stores
from benchmarks.figures import say, write_results
from benchmarks.locomo import DEFAULT_DATA, minilm
from benchmarks.quality import SIMPLE, our_quality, simple_quality
from benchmarks.weights import costs, cross_validation
from benchmarks.world import load_world


def measure(folder: Path) -> dict[str, Any]:
    """All figures."""
    encode = minilm()
    world = load_world(folder, encode)
    figures: dict[str, Any] = {
        "model": "all-MiniLM-L6-v2",
        "conversations": [one.about.name for one in world.subjects],
        "questions": sum(len(one.about.questions) for one in world.subjects),
        "off_topic_prompts": len(world.prompts),
        "gates": GATES,
        "variants": {},
    }
    for name in SIMPLE:
        figures["variants"][name] = simple_quality(world, name)
        say(f"{name}: {figures['variants'][name]}")
    figures["variants"]["ours"] = our_quality(world)
    say(f"ours: {figures['variants']['ours']}")
    figures["curve"] = curve(world)
    for point in figures["curve"]:
        say(f"  {point}")
    figures["small_stores"] = small_stores(encode, world.nulls)
    for point in figures["small_stores"]:
        say(f"small stores: {point}")
    figures["other_geometries"] = geometries(world)
    for name, found in figures["other_geometries"].items():
        say(f"{name}: {found}")
    figures["follow_ups_recall_10"] = follow_ups(world, encode)
    say(f"follow-ups: {figures['follow_ups_recall_10']}")
    say("cross-validation")
    figures["cross_validation"] = cross_validation(world)
    say(f"{figures['cross_validation']}")
    say("costs")
    figures["costs"] = costs(world.nulls)
    return figures


def main(folder: Path = DEFAULT_DATA) -> None:
    """Measure and write ``results/recall.json``."""
    say(f"written: {write_results('recall', measure(folder))}")


if __name__ == "__main__":
    main()
