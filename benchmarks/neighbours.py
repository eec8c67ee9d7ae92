"""How long others wait while one user asks much of the server, or what it leans on hangs.

On one server, a real one with SQLite and embedded Chroma: three measures are taken again and again,
first while nobody does anything else, then while one user sends or asks for something. Two other
users talk meanwhile: one asks questions, the other has facts remembered. ``request`` is an ordinary
HTTP request, which waits for as long as something holds the event loop, ``asked`` the time from a
message to the model's request, ``turn`` that to the end of the answer, and ``remember`` that of a
``/remember`` to its answer. What is written are the median and the longest of what a case adds to
the quiet server's median; in seconds. Where the vector database hangs, a filter of this benchmark's
own lets all calls of the host's client wait, and where the embedding service does, a service on
loopback takes requests and never answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from adaptive.core.model import Memory
from adaptive.host.tables import SealedEntries
from adaptive.memory.audit import AuditEntry, AuditTable
from adaptive.privacy.sealing import Sealer
from benchmarks.figures import say, write_results
from benchmarks.host import (
    FILTER,
    THINGS,
    VERBS,
    command_result,
    complete_index,
    made_up_memory,
    measured_host,
    request_saying,
    store_memories,
)
from benchmarks.import_lines import made_up_lines
from tests.e2e.driver.extraction import learns, new, operations
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Hang
from tests.e2e.driver.soak import WAITING
from tests.host.databases import Worker

QUIET_SECONDS = 20.0
HANGING_SECONDS = 20.0
REST_BETWEEN_TURNS = 0.2
REST_BETWEEN_REQUESTS = 0.05
LONGEST_CASE_SECONDS = 900.0
LINES = 5000
LOG_ENTRIES = 10_000
NEIGHBOUR_MEMORIES = 100
IMPORT = "/memory import\n"
ERASING = "/forget everything"
LEAST_SECONDS = 5.0
MEASURES = ("request", "asked", "turn", "remember")
FACT = "I am allergic to peanuts."
LEARNED = operations(new("User is allergic to peanuts.", evidence=FACT))
RECIPE = "\n".join(
    [
        FACT,
        *(f"Ingredient {number}: {number * 10} g" for number in range(1, 41)),
    ]
)
PASTED = (
    f"{FACT}\n"
    + "What was said in the meeting goes on like this for long. " * 18_000
)
EMBEDDING_SERVICE = {
    "RAG_EMBEDDING_ENGINE": "openai",
    "RAG_EMBEDDING_MODEL": "words",
    "RAG_OPENAI_API_BASE_URL": "{model_url}",
    "RAG_OPENAI_API_KEY": "none",
}
# While a file exists, no call of the host's vector database comes back.
HANGING_FILTER = '''"""
title: Hanging
"""
import time
from pathlib import Path
from open_webui.retrieval.vector.async_client import ASYNC_VECTOR_DB_CLIENT

SWITCH = Path({switch!r})

def waiting(own):
    def call(*values, **named):
        while SWITCH.exists():
            time.sleep(0.05)
        return own(*values, **named)
    return call

client = ASYNC_VECTOR_DB_CLIENT.sync
for name in ("upsert", "insert", "search", "query", "get", "delete", "delete_collection",
             "has_collection"):
    setattr(client, name, waiting(getattr(client, name)))

class Filter:
    async def inlet(self, body):
        return body
'''

Action = Callable[[], Awaitable[object]]


@dataclass(slots=True)
class Street:
    """A server with the user who asks much of it, and two neighbours who are measured."""

    host: RunningHost
    busy: Page
    asking: Page
    remembering: Page
    said: int = 0
    rows: dict[str, Any] = field(default_factory=dict[str, Any])
    quiet: dict[str, float] = field(default_factory=dict[str, float])

    async def send(self, words: str) -> str:
        """What the busy user is answered in a new chat, or what a command comes to."""
        return await command_result(self.busy, words, LONGEST_CASE_SECONDS)

    async def measure(
        self, case: str, action: Action | None, least: float
    ) -> None:
        """One row: what the neighbours wait until an action is done, ``least`` seconds at least."""
        samples: dict[str, list[float]] = defaultdict(list)
        measures = (self._requests, self._questions, self._facts)
        measuring = [asyncio.create_task(one(samples)) for one in measures]
        began = time.monotonic()
        if action is not None:
            told = await action()
            say(f"  {str(told)[:100]}")
        lasted = time.monotonic() - began
        await asyncio.sleep(max(0.0, least - lasted))
        for task in measuring:
            task.cancel()
        for task in measuring:
            with contextlib.suppress(asyncio.CancelledError):
                await task
        if action is None:
            self.quiet = {
                name: statistics.median(samples[name]) for name in MEASURES
            }
        row: dict[str, Any] = {"lasted": round(lasted, 2)}
        for name in MEASURES:
            added = [one - self.quiet[name] for one in samples[name]]
            row[name] = {
                "median": round(statistics.median(added), 3)
                if added
                else None,
                "longest": round(max(added), 3) if added else None,
                "count": len(added),
            }
        self.rows[case] = row
        say(f"  {case}: {row}; load of the machine: {os.getloadavg()[0]:.1f}")

    async def _requests(self, samples: dict[str, list[float]]) -> None:
        while True:
            began = time.monotonic()
            try:
                await self.asking.request("GET", "/api/models")
            finally:  # one that still waits at the end has waited for so long at least
                samples["request"].append(time.monotonic() - began)
            await asyncio.sleep(REST_BETWEEN_REQUESTS)

    async def _questions(self, samples: dict[str, list[float]]) -> None:
        while True:
            self.said += 1
            thing, verb = THINGS[self.said % 8], VERBS[self.said // 8 % 8]
            words = f"Who {verb} a {thing} for {self.said} euros, and when was that?"
            began = time.perf_counter()
            try:
                chat = self.asking.new_chat(model=FILTER.model)
                await (await chat.start(words)).finish(LONGEST_CASE_SECONDS)
            finally:
                samples["turn"].append(time.perf_counter() - began)
            samples["asked"].append(
                request_saying(self.host, words).at - began
            )
            await asyncio.sleep(REST_BETWEEN_TURNS)

    async def _facts(self, samples: dict[str, list[float]]) -> None:
        while True:
            self.said += 1
            words = f"/remember I have seen {made_up_memory(self.said)}"
            began = time.perf_counter()
            try:
                chat = self.remembering.new_chat(model=FILTER.model)
                await (await chat.start(words)).finish(LONGEST_CASE_SECONDS)
            finally:
                samples["remember"].append(time.perf_counter() - began)
            await asyncio.sleep(REST_BETWEEN_TURNS)


@asynccontextmanager
async def _street(
    variables: dict[str, str] | None = None,
) -> AsyncIterator[Street]:
    """Neighbours on a server, all of whom have been there before."""
    async with measured_host(variables) as host:
        street = Street(
            host=host,
            busy=await host.user("busy"),
            asking=await host.user("asking"),
            remembering=await host.user("remembering"),
        )
        learns(host.model, FACT, LEARNED)
        store_memories(host, street.asking, NEIGHBOUR_MEMORIES)
        await complete_index(host, street.asking, NEIGHBOUR_MEMORIES)
        for page in (street.busy, street.asking, street.remembering):
            page.answers |= {"confirmation": True, "input": "erase"}
            await page.new_chat(model=FILTER.model).send(
                "/remember I own a red kite."
            )
        await street.measure("warming up", None, 3.0)
        await street.measure("quiet", None, QUIET_SECONDS)
        yield street


async def _large_log(host: RunningHost, user_id: str) -> None:
    """Give a user a full log: changes of one memory each, as if learned one by one."""
    worker = Worker(f"sqlite+aiosqlite:///{host.database}")
    sealer = Sealer(host.server.variables["WEBUI_SECRET_KEY"])
    table = AuditTable(SealedEntries(sealer, worker.database))
    now = int(time.time())
    for begin in range(0, LOG_ENTRIES, 1000):
        changes = [
            AuditEntry(
                kind="updated",
                memory_id=f"memory-{number % 100}",
                changed_at=now,
                before=Memory(
                    f"memory-{number % 100}", made_up_memory(number), now, now
                ),
                after=made_up_memory(number + 1),
                reason="fact",
            )
            for number in range(begin, begin + 1000)
        ]
        await table.record(user_id, changes)
    await worker.engine.dispose()


async def _learned_from(street: Street, words: str) -> None:
    """Have the busy user learned from, to the end: no turn of the user waits any more."""
    await street.send(words)
    busy = street.busy.user_id
    waiting = f"{WAITING} AND user_id = ?"
    while street.host.query(waiting, busy)[0]["turns"]:
        await asyncio.sleep(0.2)


async def _looked_up(street: Street) -> None:
    """Have the busy user look at the memory and its log."""
    for command in ("/memory", "/memory log", "/undo 9999"):
        await street.send(command)


async def _ordinary_cases(cases: Sequence[str]) -> dict[str, Any]:
    """What one user may ask of a server that is well, and a vector database that hangs."""
    lines = "\n".join(f"- {line}" for line in made_up_lines(LINES))
    async with _street() as street:

        async def nothing() -> None:
            """The case needs no preparation."""

        importing = partial(street.send, IMPORT + lines)
        full_log = partial(_large_log, street.host, street.busy.user_id)
        ordinary: Sequence[tuple[str, str, Action, Action]] = (
            (
                "a",
                "recipe of 40 ingredients",
                nothing,
                partial(_learned_from, street, RECIPE),
            ),
            (
                "b",
                "1 MB pasted",
                nothing,
                partial(_learned_from, street, PASTED),
            ),
            ("c", "import of 5,000 lines", nothing, importing),
            (
                "c",
                "undo of the import",
                nothing,
                partial(street.send, "/undo"),
            ),
            (
                "d",
                "log of 10,000 changes",
                full_log,
                partial(_looked_up, street),
            ),
            (
                "e",
                "5,000 memories erased",
                importing,
                partial(street.send, ERASING),
            ),
        )
        for case, name, prepare, action in ordinary:
            if case in cases:
                await prepare()
                await street.measure(name, action, LEAST_SECONDS)
        if "f" in cases:
            switch = street.host.server.data / "vectors_hang"
            source = HANGING_FILTER.format(switch=str(switch))
            await street.host.install_filter(
                source, function_id="hanging", make_global=False
            )
            switch.touch()
            learning = partial(street.send, FACT)
            await street.measure(
                "vector database hangs", learning, HANGING_SECONDS
            )
            switch.unlink()
        return street.rows


async def _hanging_embeddings() -> dict[str, Any]:
    """An embedding service that never answers; the busy user's message finds that out."""
    async with _street(EMBEDDING_SERVICE) as street:
        street.host.model.trouble_embeddings(Hang())
        await street.send("Who has a boat, and since when?")
        learning = partial(street.send, FACT)
        await street.measure(
            "embedding service hangs", learning, HANGING_SECONDS
        )
        street.host.model.trouble_embeddings(None)
        return street.rows


async def measure(cases: Sequence[str] = "abcdefg") -> dict[str, Any]:
    """All rows, of those cases that are named."""
    figures: dict[str, Any] = {"ordinary": await _ordinary_cases(cases)}
    if "g" in cases:
        figures["embedding service"] = await _hanging_embeddings()
    rows = [row for street in figures.values() for row in street.values()]
    longest = [
        row[name]["longest"] or 0.0 for row in rows[2:] for name in MEASURES
    ]
    return {**figures, "longest_s": max(longest)}


def main() -> None:
    """Measure and write ``results/neighbours.json``."""
    say("what one user costs another")
    say(f"written: {write_results('neighbours', asyncio.run(measure()))}")


if __name__ == "__main__":
    main()
