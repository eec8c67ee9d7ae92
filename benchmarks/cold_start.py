"""The first message after a restart of the server.

The users' memories are known: their vectors are in the host's database, and they were here lately.
After each restart the page is loaded, and at once, or five seconds later, as people take to type, a
user without memories sends the server's first message with nothing, then the user with memories
sends the first one with the filter, then both go on in turns; the other way round every second
time. The clock runs from the page's message to the model's request.
"""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from benchmarks.figures import say, spread, write_results
from benchmarks.host import (
    FILTER,
    NOTHING,
    Variant,
    complete_index,
    measured_host,
    restart,
    store_memories,
    store_vectors,
    timed_turn,
)
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page

SIZES = (0, 1000)
RESTARTS = 6
LATER = 8
# What passes between the loading of a page and its first message.
TYPING_SECONDS = (0.0, 5.0)
_WHEN = ("first", "later")


async def measure() -> dict[str, Any]:
    """All restarts, of the users in a shuffled order."""
    async with measured_host() as host:
        nobody = await host.user("nobody")
        owners = {size: await _owner(host, size) for size in SIZES}
        taken: dict[tuple[float, int, str], list[float]] = defaultdict(list)
        order = random.Random(2)
        kinds = [(typing, size) for typing in TYPING_SECONDS for size in SIZES]
        for number in range(RESTARTS):
            for typing, size in order.sample(kinds, len(kinds)):
                await restart(host, [nobody, owners[size]])
                await asyncio.sleep(typing)
                talkers = [(nobody, NOTHING), (owners[size], FILTER)][
                    :: -1 if number % 2 else 1
                ]
                times = await _first_and_later(
                    host, talkers, f"{number} {size} {typing}"
                )
                for name, values in times.items():
                    taken[typing, size, name] += values
                say(
                    f"restart {number + 1}, {size} memories, {typing:g} s: {_first(times)}"
                )
        return {
            "open_webui": host.version,
            "restarts": RESTARTS,
            "typing_seconds": {
                f"{typing:g}": {
                    str(size): _summary(taken, typing, size) for size in SIZES
                }
                for typing in TYPING_SECONDS
            },
        }


async def _owner(host: RunningHost, size: int) -> Page:
    page = await host.user(f"owner{size}")
    say(f"storing {size} memories")
    store_memories(host, page, size)
    if size:
        store_vectors(host, page)
        await complete_index(host, page, size)
    return page


async def _first_and_later(
    host: RunningHost, talkers: Sequence[tuple[Page, Variant]], name: str
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = defaultdict(list)
    for turn in range(LATER + 1):
        when = "later" if turn else "first"
        for page, variant in talkers:
            words = f"Who repaired a boat in winter? ({variant.name} {name} {turn})"
            spent = await timed_turn(host, page, variant, words)
            times[f"{variant.name}, {when}"].append(spent.before_model)
    return times


def _first(times: dict[str, list[float]]) -> dict[str, float]:
    return {
        name: round(values[0], 1)
        for name, values in times.items()
        if "first" in name
    }


def _summary(
    taken: dict[tuple[float, int, str], list[float]], typing: float, size: int
) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for variant in (NOTHING, FILTER):
        first, later = (
            spread(taken[typing, size, f"{variant.name}, {when}"])
            for when in _WHEN
        )
        figures[variant.name] = {
            "first_ms": first,
            "first_ms_each": [
                round(one, 1)
                for one in taken[typing, size, f"{variant.name}, first"]
            ],
            "later_ms": later,
            "first_above_later_ms": round(first.median - later.median, 1),
        }
    say(f"  {typing:g} s, {size} memories: {figures}")
    return figures


def main() -> None:
    """Measure and write ``results/cold_start.json``."""
    say(f"written: {write_results('cold_start', asyncio.run(measure()))}")


if __name__ == "__main__":
    main()
