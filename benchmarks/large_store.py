"""One user with 100,000 memories: what recall takes, and what the server's process grows by.

Rows and vectors are written into the host's database, the vectors those of the first 20,000 texts
again and again. After a restart a user without memories sends messages with the filter, until the
process is at work; then the owner comes. Turns of both go on in turns, so that an index that is not
kept would be seen. The clock runs from the page's message to the model's request.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from itertools import cycle
from typing import Any

from adaptive.search.vectors import content_hash
from benchmarks.figures import say, spread, write_results
from benchmarks.host import (
    FILTER,
    NOTHING,
    made_up_vectors,
    measured_host,
    resident_mebibytes,
    restart,
    send_away,
    store_memories,
    timed_turn,
)
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page

SIZE = 100_000
TURNS = 15


async def measure() -> dict[str, Any]:
    """Store the memories, restart, and take turns."""
    async with measured_host() as host:
        nobody, owner = await host.user("nobody"), await host.user("owner")
        say(f"storing {SIZE} memories")
        store_memories(host, owner, SIZE)
        _store_vectors(host, owner)
        await owner.disconnect()
        send_away(host, owner)
        await restart(host, [nobody])
        for turn in range(TURNS):
            await timed_turn(
                host, nobody, FILTER, f"Who sold a piano? (before {turn})"
            )
        before = resident_mebibytes(host)
        await owner.connect()
        first = await timed_turn(
            host, owner, FILTER, "Who sold a piano? (first)"
        )
        await asyncio.sleep(10)
        taken: dict[str, list[float]] = {
            "nothing": [],
            "without memories": [],
            "owner": [],
        }
        entries: list[int] = []
        for turn in range(TURNS):
            for name, page, variant in (
                ("nothing", nobody, NOTHING),
                ("without memories", nobody, FILTER),
                ("owner", owner, FILTER),
            ):
                await asyncio.sleep(0.6)
                words = f"Who sold a piano? ({name} {turn})"
                spent = await timed_turn(host, page, variant, words)
                taken[name].append(spent.before_model)
                entries += [spent.entries] if page is owner else []
        after = resident_mebibytes(host)
        figures = {name: spread(times) for name, times in taken.items()}
        added = round(figures["owner"].median - figures["nothing"].median, 1)
        return {
            "open_webui": host.version,
            "memories": SIZE,
            "first_ms": round(first.before_model),
            "before_model_ms": figures,
            "added_ms": added,
            "entries_least": min(entries),
            "process_mebibytes_before": round(before),
            "process_mebibytes_after": round(after),
        }


def _store_vectors(host: RunningHost, page: Page) -> None:
    """Write a vector for each memory into the filter's table."""
    vectors = [row.astype("<f4").tobytes() for row in made_up_vectors()]
    query = "SELECT id, content FROM memory WHERE user_id = ? ORDER BY rowid"
    embedder = host.query(
        "SELECT embedder FROM adaptive_memory_vector LIMIT 1"
    )[0]["embedder"]
    owned = host.query(query, page.user_id)
    rows = [
        (
            page.user_id,
            row["id"],
            embedder,
            content_hash(row["content"]),
            vector,
        )
        for row, vector in zip(owned, cycle(vectors), strict=False)
    ]
    with (
        closing(sqlite3.connect(host.database, timeout=30)) as connection,
        connection,
    ):
        connection.executemany(
            "INSERT INTO adaptive_memory_vector VALUES (?, ?, ?, ?, ?)", rows
        )


def main() -> None:
    """Measure and write ``results/large_store.json``."""
    figures = asyncio.run(measure())
    say(f"{figures}\nwritten: {write_results('large_store', figures)}")


if __name__ == "__main__":
    main()
