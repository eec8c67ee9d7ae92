"""What keeping attacks out of the memory block adds to a turn, before the model is asked.

A user has 1,000 memories, ten of which fit each question. The same question is recollected with
and without the steps in turns: escaping, verdicts on entries, and banks for local models only.
``first`` are turns whose ten entries nobody has judged yet, ``known`` those whose entries were, as
they are behind the user's first turn. Times are of the processor: the steps wait for nothing.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from adaptive.core.embedding import Sources
from adaptive.core.runtime import forget_texts
from adaptive.recall import block, selection
from adaptive.recall.question import Question
from adaptive.recall.request import RequestWindow
from adaptive.settings.hook import Hook
from benchmarks.figures import say, spread, write_results
from tests.fakes import (
    ListedMemories,
    ShelvedVectors,
    WordEmbedder,
    memory,
)
from tests.recall.test_recall import House

TOPICS = 100
ENTRIES = 10
ROUNDS = 5
SENTENCES = (
    "User keeps the {topic} of year {n} in a box under the stairs, next to the winter coats.",
    "User's sister Marta wants to borrow the {topic} no. {n} for a trip to Porto in spring.",
    "Nutzer hat für {topic} {n} einen schönen Platz im Büro gefunden, gleich neben der Tür.",
    "User's note on {topic} {n}: it is worth 40 [euros], and <3 of them are left.",
    "ユーザーは{topic} {n} を東京の店で買いました。",
)


def main() -> None:
    """Measure and write ``results/guard_read_path.json``."""
    figures = asyncio.run(measure())
    say(json.dumps(figures, indent=2, default=str))
    say(f"written: {write_results('guard_read_path', figures)}")


async def measure() -> dict[str, Any]:
    """Times of turns with and without the steps, in milliseconds."""
    rows = [
        memory(
            f"m-{topic}-{n}",
            _sentence(topic, n),
            created_at=topic * 100 + n,
            bank="Personal",
        )
        for topic in range(TOPICS)
        for n in range(ENTRIES)
    ]
    house = House()
    house.sources = Sources(
        "ada", ListedMemories(*rows), WordEmbedder(), ShelvedVectors()
    )
    window = RequestWindow({}, [], memory_tokens=5000)

    async def turn(topic: int, hidden: frozenset[str]) -> float:
        """Milliseconds of processor time of one turn."""
        hook = cast(
            Hook, house.turn(related_memories_n=ENTRIES, hidden=hidden)
        )
        question = Question(f"Where is the {_topic(topic)}?")
        began = time.process_time()
        found = await house.recall.selection(
            hook, window, house.sources, question
        )
        block.rendered_block(found.core, found.retrieved, "bullet")
        took = time.process_time() - began
        assert len(found.shown) == ENTRIES, (topic, found.shown)
        return took * 1000

    async def bare(topic: int) -> float:
        """The same without the steps that are measured."""
        with _without_the_steps():
            return await turn(topic, frozenset())

    for _ in range(2):
        for topic in range(TOPICS):
            await bare(topic)
    forget_texts()
    order = range(TOPICS)
    first = [
        (await bare(topic), await turn(topic, frozenset({"health"})))
        for topic in order
    ]
    known = [
        (await bare(topic), await turn(topic, frozenset({"health"})))
        for topic in order
        for _ in range(ROUNDS)
    ]
    return {
        "memories": len(rows),
        "injected": ENTRIES,
        **_told("first", first),
        **_told("known", known),
    }


def _told(name: str, pairs: list[tuple[float, float]]) -> dict[str, Any]:
    without, with_steps = zip(*pairs, strict=True)
    added = [after - before for before, after in pairs]
    return {
        f"{name}_without_ms": spread(without),
        f"{name}_with_ms": spread(with_steps),
        f"{name}_added_ms": spread(added),
    }


@contextmanager
def _without_the_steps() -> Iterator[None]:
    """Recollecting as it was before there was a guard: entries on one line, all allowed."""
    reason_against, escape = selection.reason_against, block.escaped_entry
    selection.reason_against = lambda memory: ""  # noqa: ARG005
    setattr(block, "escaped_entry", _on_one_line)  # noqa: B010 - the block does not export it
    try:
        yield
    finally:
        selection.reason_against = reason_against
        setattr(block, "escaped_entry", escape)  # noqa: B010


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _topic(number: int) -> str:
    """A made-up word, another one for each number."""
    return "".join(
        "bdfgklmnprstvz"[digit] + vowel for digit, vowel in _syllables(number)
    )


def _syllables(number: int) -> Iterator[tuple[int, str]]:
    for vowel in "aeo":
        yield number % 14, vowel
        number = number // 14 + 3


def _sentence(topic: int, n: int) -> str:
    sentence = SENTENCES[(topic + n) % len(SENTENCES)]
    return sentence.format(topic=_topic(topic), n=n)
