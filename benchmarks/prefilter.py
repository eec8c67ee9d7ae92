"""Which messages cost no model call for learning, and which of them told something; no host.

Unrelated prompts are to be skipped. Turns of LoCoMo that an observation comes from tell something,
and so do nearly all messages of the written dialogues, of which those that are skipped are listed.
The method and its two constants were chosen by all three sets, the examples written before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.core.model import Vectors
from adaptive.learn.judges import may_tell, spoken_parts
from adaptive.search.calibration import MESSAGE_EXAMPLES, ComparedExamples
from benchmarks.abstention import distortions
from benchmarks.figures import say, write_results
from benchmarks.locomo import (
    CONVERSATIONS,
    DEFAULT_DATA,
    Encode,
    load_conversations,
    load_off_topic,
    minilm,
)

PREFILTER_DIALOGUES = "dialogues-dev.json"
SHARES_SKIPPED = (0.0, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02)


def telling_turns(folder: Path) -> list[str]:
    """The turns of LoCoMo that its observations come from."""
    load_conversations(
        folder
    )  # ends the program with advice if there are none
    found: list[str] = []
    for one in json.loads(
        (folder / CONVERSATIONS).read_text(encoding="utf-8")
    ):
        sessions = [
            turns
            for turns in one["conversation"].values()
            if isinstance(turns, list)
        ]
        turns = {
            turn["dia_id"]: turn["text"]
            for session in sessions
            for turn in session
        }
        told = [
            some for by in one["observation"].values() for some in by.values()
        ]
        named = sorted(
            {name for facts in told for _, by in facts for name in _names(by)}
        )
        found += [turns[name] for name in named if name in turns]
    return found


def _names(evidence: Any) -> list[str]:
    parts = [evidence] if isinstance(evidence, str) else evidence
    return [
        name.strip()
        for part in parts
        for name in str(part).replace(";", ",").split(",")
    ]


def said_in_dialogues(folder: Path) -> list[str]:
    """What the people of the written dialogues say; nothing where the file is not there."""
    path = folder / PREFILTER_DIALOGUES
    people = (
        json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    )
    return [
        message
        for person in people
        for chat in person["chats"]
        for message in chat
    ]


def vectors_of_parts(messages: Sequence[str], encode: Encode) -> list[Vectors]:
    """For each message its vector, and those of its parts where it has several."""
    parts = [
        list(dict.fromkeys([message, *spoken_parts(message)]))
        for message in messages
    ]
    rows = iter(encode([part for some in parts for part in some]))
    return [np.stack([next(rows) for _ in some]) for some in parts]


def skipped(
    messages: Sequence[str],
    vectors: Sequence[Vectors],
    examples: ComparedExamples,
) -> list[str]:
    """Those that cost no call."""
    pairs = zip(messages, vectors, strict=True)
    return [
        message
        for message, rows in pairs
        if not may_tell(message, rows, examples)
    ]


def measure(folder: Path) -> dict[str, Any]:
    """All figures."""
    encode = minilm()
    sets = {
        "off_topic": load_off_topic(folder),
        "locomo_telling": telling_turns(folder),
        "dialogues": said_in_dialogues(folder),
    }
    vectors = {
        name: vectors_of_parts(messages, encode)
        for name, messages in sets.items()
    }
    vectors_of_examples = encode(MESSAGE_EXAMPLES.texts)
    examples = ComparedExamples(MESSAGE_EXAMPLES, vectors_of_examples)
    figures: dict[str, Any] = {
        "model": "all-MiniLM-L6-v2",
        "examples": len(MESSAGE_EXAMPLES.texts),
    }
    for name, messages in sets.items():
        found = skipped(messages, vectors[name], examples)
        share = round(len(found) / max(len(messages), 1), 4)
        figures[name] = {
            "messages": len(messages),
            "skipped": len(found),
            "share": share,
        }
        say(f"{name}: {figures[name]}")
        if name != "off_topic":
            say("\n".join(f"  skipped: {one[:150]!r}" for one in found))
    figures["curve"] = curve(
        vectors["off_topic"], vectors["locomo_telling"], examples
    )
    for point in figures["curve"]:
        say(f"  {point}")
    figures["other_geometries"] = {}
    for name, change in distortions().items():
        point = distorted(change, sets, vectors, vectors_of_examples)
        figures["other_geometries"][name] = point
        say(f"{name}: {point}")
    return figures


def curve(
    idle: Sequence[Vectors],
    telling: Sequence[Vectors],
    examples: ComparedExamples,
) -> list[dict[str, float]]:
    """The share of unrelated prompts that cost no call, by the share of telling turns skipped."""

    def best(rows: Vectors) -> float:
        """The score of a message in Latin script by its vectors."""
        texts = ["a"] * len(rows)
        return float(examples.scores(texts, rows)["telling"].max())

    off = np.array([best(rows) for rows in idle])
    told = np.array([best(rows) for rows in telling])
    bars = [float(np.quantile(told, share)) for share in SHARES_SKIPPED]
    return [
        {
            "bar": round(bar, 3),
            "telling_skipped": round(float((told < bar).mean()), 4),
            "off_topic_skipped": round(float((off < bar).mean()), 3),
        }
        for bar in bars
    ]


def distorted(
    change: Callable[[Vectors], Vectors],
    sets: dict[str, list[str]],
    vectors: dict[str, list[Vectors]],
    vectors_of_examples: Vectors,
) -> dict[str, float]:
    """The shares skipped, untuned, where the embedding model is another one."""
    examples = ComparedExamples(MESSAGE_EXAMPLES, change(vectors_of_examples))
    found: dict[str, float] = {}
    for name, messages in sets.items():
        rows = [change(one) for one in vectors[name]]
        found[name] = round(
            len(skipped(messages, rows, examples)) / max(len(messages), 1), 4
        )
    return found


def main(folder: Path = DEFAULT_DATA) -> None:
    """Measure and write ``results/prefilter.json``."""
    say(f"written: {write_results('prefilter', measure(folder))}")


if __name__ == "__main__":
    main()
