"""What a turn costs with the filter, an empty filter, the host's own memory, and nothing.

All four are measured in one run on one server, for one user per number of memories after the other:
in short blocks of turns, the blocks in a shuffled order. In blocks, because reading thousands of
rows as objects, as the host's memory does on each turn, leaves garbage whose collection stops the
process for half a second in one of the next turns, and a turn is to pay for itself only: the first
turn of a block does not count, and each begins when what the one before has left to be done behind
the answer is over. The clock starts when the page sends its message. At the middle size each
question is asked once more behind a paragraph of sixty words.
``before_model`` ends when the chat model receives the request; ``after_answer`` is the time from
the page's `done` to the host's `chat:active = false`. Learning is measured elsewhere: the messages
are questions that hold no fact, so no model is asked to find one.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from benchmarks.figures import Spread, say, spread, write_results
from benchmarks.host import (
    EMPTY,
    FILTER,
    HOST_MEMORY,
    NOTHING,
    THINGS,
    VERBS,
    TurnTimes,
    Variant,
    complete_index,
    give_host_vectors,
    measured_host,
    store_memories,
    store_vectors,
    timed_turn,
)
from benchmarks.paragraphs import paragraphs_of
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page

SIZES = (100, 1000, 5000)
ROUNDS = 10
BLOCK = 3
SETTLING = 1
REST_SECONDS = 0.6
LEAST_MS = 5
PARAGRAPH_SIZE = 1000
VARIANTS = (NOTHING, EMPTY, HOST_MEMORY, FILTER)


async def measure() -> dict[str, Any]:
    """Run the whole comparison and return its figures."""
    async with measured_host() as host:
        pages = {size: await host.user(f"owner{size}") for size in SIZES}
        for size, page in pages.items():
            say(f"storing {size} memories")
            store_memories(host, page, size)
            store_vectors(host, page)
        say("storing vectors for the host")
        await give_host_vectors(host, list(pages.values()))
        for size, page in pages.items():
            await complete_index(host, page, size)
        sizes = {
            str(size): _summary(await _rounds(host, page, size))
            for size, page in pages.items()
        }
        behind = paragraphs_of("before")
        rounds = await _rounds(host, pages[PARAGRAPH_SIZE], 0, behind)
        return {
            "open_webui": host.version,
            "turns": ROUNDS * BLOCK,
            "memories": sizes,
            "paragraphs": _summary(rounds),
        }


async def _rounds(
    host: RunningHost, page: Page, seed: int, paragraphs: Sequence[str] = ()
) -> dict[str, list[TurnTimes]]:
    """All variants of one user; users one after the other, so that none waits for a larger one."""
    say(f"{seed}: {ROUNDS} rounds of {len(VARIANTS)} blocks of {BLOCK} turns")
    taken: dict[str, list[TurnTimes]] = defaultdict(list)
    order = random.Random(seed)
    for block in range(ROUNDS):
        for variant in order.sample(VARIANTS, len(VARIANTS)):
            for turn in range(SETTLING + BLOCK):
                number = block * (SETTLING + BLOCK) + turn
                question = _question(variant, number)
                if paragraphs:
                    before = paragraphs[number % len(paragraphs)]
                    question = f"{before} {question}"
                await asyncio.sleep(REST_SECONDS)
                times = await timed_turn(host, page, variant, question)
                if turn >= SETTLING:
                    taken[variant.name].append(times)
    say(f"  load of the machine: {os.getloadavg()[0]:.1f}")
    return taken


def _question(variant: Variant, number: int) -> str:
    """A question like a user's, which no other turn has asked; such a question teaches nothing."""
    thing, verb = THINGS[number % 8], VERBS[number // 8 % 8]
    euros = 100 + VARIANTS.index(variant) * 1000 + number
    return f"Who {verb} a {thing} for {euros} euros, and when was that?"


def _summary(taken: dict[str, list[TurnTimes]]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    base = spread([one.before_model for one in taken[NOTHING.name]]).median
    for name in (one.name for one in VARIANTS):
        times = taken[name]
        waiting = spread([one.before_model for one in times])
        figures[name] = {
            "before_model_ms": waiting,
            "added_ms": Spread(
                round(waiting.median - base, 2),
                round(waiting.p95 - base, 2),
                waiting.count,
            ),
            "after_answer_ms": spread([one.after_answer for one in times]),
            "entries": round(
                sum(one.entries for one in times) / len(times), 2
            ),
        }
    ours, theirs = (
        figures[one.name]["added_ms"].median for one in (FILTER, HOST_MEMORY)
    )
    # The host adds nothing that could be told from chance for a user without memories.
    figures["filter_to_host_ratio"] = (
        round(ours / theirs, 3) if theirs > LEAST_MS else None
    )
    for name in taken:
        say(f"  {name}: {figures[name]}")
    say(f"  ratio {figures['filter_to_host_ratio']}")
    return figures


def main() -> None:
    """Measure and write ``results/latency.json``."""
    say(f"written: {write_results('latency', asyncio.run(measure()))}")


if __name__ == "__main__":
    main()
