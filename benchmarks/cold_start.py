"""The first message after a restart of the server, and what memories take in its process.

The users' memories are known: their vectors are in the host's database, and they were here lately.
After each restart the page is loaded, and five seconds later, as people take to type, a user
without memories sends the server's first message with nothing, then the user with memories sends
the first one with the filter, then both go on in turns. The clock runs from the page's message to
the model's request. Memory of the process is what is resident (VmRSS).
"""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from typing import Any

from benchmarks.figures import say, spread, write_results
from benchmarks.host import (
    FILTER,
    NOTHING,
    complete_index,
    measured_host,
    resident_mebibytes,
    restart,
    send_away,
    store_memories,
    store_vectors,
    timed_turn,
)
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page

SIZES = (0, 1000, 5000)
LARGEST = 20_000
RESTARTS = 3
LATER = 12
# What passes between the loading of a page and its first message.
TYPING_SECONDS = 5.0
_WHEN = ("first", "later")


async def measure() -> dict[str, Any]:
    """All restarts, of the users in a shuffled order."""
    async with measured_host() as host:
        nobody = await host.user("nobody")
        owners = {size: await _owner(host, size) for size in (*SIZES, LARGEST)}
        taken: dict[tuple[int, str], list[float]] = defaultdict(list)
        order = random.Random(2)
        for number in range(RESTARTS):
            for size in order.sample(SIZES, len(SIZES)):
                await restart(host, [nobody, owners[size]])
                await asyncio.sleep(TYPING_SECONDS)
                times = await _first_and_later(host, nobody, owners[size], f"{number} {size}")
                for name, values in times.items():
                    taken[size, name] += values
                say(f"restart {number + 1}, {size} memories: first {_first(times)}")
        return {
            "open_webui": host.version,
            "restarts": RESTARTS,
            "typing_seconds": TYPING_SECONDS,
            "memories": {str(size): _summary(taken, size) for size in SIZES},
            "process": await _process_memory(host, nobody, owners[LARGEST]),
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
    host: RunningHost, nobody: Page, owner: Page, name: str
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = defaultdict(list)
    for turn in range(LATER + 1):
        when = "later" if turn else "first"
        for page, variant in ((nobody, NOTHING), (owner, FILTER)):
            words = f"Who repaired a boat in winter? ({variant.name} {name} {turn})"
            spent = await timed_turn(host, page, variant, words)
            times[f"{variant.name}, {when}"].append(spent.before_model)
    return times


def _first(times: dict[str, list[float]]) -> dict[str, float]:
    return {name: round(values[0], 1) for name, values in times.items() if "first" in name}


def _summary(taken: dict[tuple[int, str], list[float]], size: int) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for variant in (NOTHING, FILTER):
        first, later = (spread(taken[size, f"{variant.name}, {when}"]) for when in _WHEN)
        figures[variant.name] = {
            "first_ms": first,
            "first_ms_each": [round(one, 1) for one in taken[size, f"{variant.name}, first"]],
            "later_ms": later,
            "first_above_later_ms": round(first.median - later.median, 1),
        }
    say(f"  {size} memories: {figures}")
    return figures


async def _process_memory(host: RunningHost, nobody: Page, owner: Page) -> dict[str, Any]:
    """Before and after a user's memories come into the process; the filter is already at work.

    The user was long away, so that the memories are not made ready before the first message.
    """
    added: list[float] = []
    for number in range(RESTARTS):
        await owner.disconnect()
        send_away(host, owner)
        await restart(host, [nobody])
        for turn in range(LATER):
            words = f"Who sold a piano? (before {number} {turn})"
            await timed_turn(host, nobody, FILTER, words)
        before = resident_mebibytes(host)
        await owner.connect()
        for turn in range(LATER):
            await timed_turn(host, owner, FILTER, f"Who sold a piano? (after {number} {turn})")
        added.append(resident_mebibytes(host) - before)
        say(f"memory: {before:.0f} MiB, then {added[-1]:.0f} MiB more for {LARGEST} memories")
    grown = spread(added)
    return {
        "memories": LARGEST,
        "added_mebibytes": grown,
        "added_mebibytes_per_10000": round(grown.median * 10_000 / LARGEST, 1),
    }


def main() -> None:
    """Measure and write ``results/cold_start.json``."""
    say(f"written: {write_results('cold_start', asyncio.run(measure()))}")


if __name__ == "__main__":
    main()
