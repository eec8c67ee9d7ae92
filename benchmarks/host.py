"""A real Open WebUI to measure on: entries of one model that differ in nothing but the filter."""

from __future__ import annotations

import asyncio
import json
import random
import re
import sqlite3
import subprocess
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.core.model import Vectors
from adaptive.search.vectors import content_hash, normalised
from benchmarks.figures import say
from benchmarks.locomo import minilm
from demo.environment import NEWEST, host_environment
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Say
from tests.e2e.driver.scripted_model import ModelRequest

PLUGIN = Path(__file__).parent.parent / "adaptive_memory.py"
# The host does work of its own for any filter: it loads it, and reads the chat for its outlet.
EMPTY_FILTER = '''"""
title: Empty
"""

class Filter:
    async def inlet(self, body):
        return body

    async def outlet(self, body):
        return body
'''
FILTERS = {
    "bare": [],
    "filtered": ["empty"],
    "remembering": ["adaptive_memory"],
}
# Runs in the host's interpreter, which has Chroma: collections as the host itself names them.
CHROMA_WRITER = """
import json, sys
import chromadb, numpy
client = chromadb.PersistentClient(sys.argv[1], chromadb.Settings(anonymized_telemetry=False))
vectors = numpy.load(sys.argv[2])
for user, rows in json.load(open(sys.argv[3])).items():
    collection = client.get_or_create_collection(
        f"user-memory-{user}", metadata={"hnsw:space": "cosine"}, embedding_function=None)
    for start in range(0, len(rows), 1000):
        some = rows[start : start + 1000]
        collection.upsert(
            ids=[row["id"] for row in some],
            documents=[row["content"] for row in some],
            embeddings=vectors[start : start + len(some)],
            metadatas=[
                {"created_at": row["created_at"], "updated_at": row["updated_at"],
                 "type": "context"} for row in some])
"""
NO_FACTS = '{"operations": []}'
TWO_YEARS = 2 * 365 * 86_400
MOST_MADE_UP = 20_000
VECTORS_TIMEOUT = 900.0

_PEOPLE = (
    "sister",
    "brother",
    "neighbour",
    "boss",
    "friend",
    "aunt",
    "uncle",
    "teacher",
)
THINGS = (
    "guitar",
    "bicycle",
    "garden",
    "boat",
    "kitchen",
    "camera",
    "library",
    "piano",
)
VERBS = (
    "bought",
    "sold",
    "repaired",
    "painted",
    "lost",
    "found",
    "rented",
    "cleaned",
)


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to answer: which model entry is asked, and whether the host's memory is on."""

    name: str
    model: str
    native: bool


NOTHING = Variant("nothing", "bare", native=False)
EMPTY = Variant("empty filter", "filtered", native=False)
HOST_MEMORY = Variant("host memory", "bare", native=True)
FILTER = Variant("filter", "remembering", native=True)


@asynccontextmanager
async def measured_host(
    variables: Mapping[str, str] | None = None,
) -> AsyncIterator[RunningHost]:
    """A server with the built filter and these environment variables; the model finds no facts."""
    with tempfile.TemporaryDirectory() as folder:
        say("starting Open WebUI")
        host = await RunningHost.start(
            host_environment(NEWEST), Path(folder) / "data", variables
        )
        try:
            await host.install_filter(PLUGIN, make_global=False)
            await host.install_filter(
                EMPTY_FILTER, function_id="empty", make_global=False
            )
            host.model.when_title("# Extract memories", Say(NO_FACTS))
            for name, filters in FILTERS.items():
                await host.admin.request(
                    "POST", "/api/v1/models/create", model_entry(name, filters)
                )
            await host.admin.request("GET", "/api/models")
            # Creates the filter's tables.
            await host.admin.add_memory("User likes tea.")
            await complete_index(host, host.admin, 1)
            yield host
        finally:
            await host.stop()


def model_entry(name: str, filters: list[str]) -> dict[str, Any]:
    """An entry of the chat model under a name of its own, served by these filter functions."""
    return {
        "id": name,
        "name": name,
        "base_model_id": "chat-model",
        "params": {},
        "meta": {"filterIds": filters},
        "access_control": None,
    }


# --- memories -----------------------------------------------------------------------------------


def made_up_memory(number: int) -> str:
    """A sentence like a memory; the first 20,000 all differ."""
    person, rest = _PEOPLE[number % 8], number // 8
    thing, verb = THINGS[rest % 8], VERBS[rest // 8 % 8]
    return f"User's {person} {verb} a {thing} in {1990 + number % 35} for {number} euros."


def store_memories(host: RunningHost, page: Page, size: int) -> None:
    """Write that many memories of a user into the host's table, spread over two years.

    They are marked as the host's router marks what is added under Settings (host:
    routers/memories.py, add_memory).
    """
    newest = int(time.time()) - 3600
    chance = random.Random(size)
    moments = sorted(newest - chance.randrange(TWO_YEARS) for _ in range(size))
    rows = [
        (
            str(uuid.UUID(int=chance.getrandbits(128))),
            page.user_id,
            made_up_memory(at),
            when,
            when,
        )
        for at, when in enumerate(moments)
    ]
    with (
        closing(sqlite3.connect(host.database, timeout=30)) as connection,
        connection,
    ):
        connection.executemany(
            "INSERT INTO memory (id, user_id, type, content, created_at, updated_at, meta)"
            """ VALUES (?, ?, 'context', ?, ?, ?, '{"created_by": "manual"}')""",
            rows,
        )


async def give_host_vectors(host: RunningHost, pages: Sequence[Page]) -> None:
    """Restart the server, and meanwhile write the users' made-up memories into its Chroma.

    The host's own way to embed many memories at once ends where one Chroma batch does, at about
    5,000. The vectors are those that its model gives.
    """
    owned = {page.user_id: _rows_of(host, page) for page in pages}
    with tempfile.TemporaryDirectory() as folder:
        vectors, rows = (
            Path(folder) / "vectors.npy",
            Path(folder) / "rows.json",
        )
        np.save(vectors, made_up_vectors())
        rows.write_text(json.dumps(owned), encoding="utf-8")
        await _leave(host, pages)
        await asyncio.to_thread(host.server.stop)
        python = host.server.environment.python
        chroma = host.server.data / "vector_db"
        await asyncio.to_thread(
            subprocess.run,
            [python, "-c", CHROMA_WRITER, chroma, vectors, rows],
            check=True,
        )
        await _come_back(host, pages)


def made_up_vectors() -> Vectors:
    """Vectors of all made-up memories; computed once and kept in a temporary file."""
    return normalised(
        minilm()([made_up_memory(number) for number in range(MOST_MADE_UP)])
    )


def _rows_of(host: RunningHost, page: Page) -> list[dict[str, Any]]:
    """A user's rows in the order in which ``store_memories`` has numbered them."""
    rows = "SELECT id, content, created_at, updated_at FROM memory WHERE user_id = ? ORDER BY rowid"
    return host.query(rows, page.user_id)


async def complete_index(host: RunningHost, page: Page, size: int) -> None:
    """Ask with the filter, and wait until all memories of a user have a vector in its table."""
    deadline = time.monotonic() + VECTORS_TIMEOUT
    await page.complete("Who has a boat?", model=FILTER.model)
    while (known := vectors_of(host, page)) < size:
        if time.monotonic() > deadline:
            message = f"{known} of {size} memories have a vector after {VECTORS_TIMEOUT} s"
            raise TimeoutError(message)
        await asyncio.sleep(0.5)
    await page.complete("Who has a piano?", model=FILTER.model)


def store_vectors(host: RunningHost, page: Page) -> None:
    """Write the vectors of a user's made-up memories into the filter's table.

    They are those that the host's own model would give, computed here and kept in a file, as the
    filter embeds many memories slowly in the background. The table must have been used before.
    """
    rows = zip(_rows_of(host, page), made_up_vectors(), strict=False)
    embedder = host.query(
        "SELECT embedder FROM adaptive_memory_vector LIMIT 1"
    )[0]["embedder"]
    with (
        closing(sqlite3.connect(host.database, timeout=30)) as connection,
        connection,
    ):
        connection.executemany(
            "INSERT INTO adaptive_memory_vector"
            " (user_id, memory_id, embedder, content_hash, vector)"
            " VALUES (?, ?, ?, ?, ?)",
            [
                (
                    page.user_id,
                    row["id"],
                    embedder,
                    content_hash(row["content"]),
                    vector.astype("<f4").tobytes(),
                )
                for row, vector in rows
            ],
        )


def vectors_of(host: RunningHost, page: Page) -> int:
    """How many memories of a user the filter has embedded."""
    counted = "SELECT count(*) AS known FROM adaptive_memory_vector WHERE user_id = ?"
    try:
        return host.query(counted, page.user_id)[0]["known"]
    except sqlite3.OperationalError:
        return 0


# --- turns ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TurnTimes:
    """One turn of a chat: milliseconds, and how many memories the model was given."""

    before_model: float
    after_answer: float
    entries: int


async def timed_turn(
    host: RunningHost, page: Page, variant: Variant, words: str
) -> TurnTimes:
    """Send the first message of a new chat; ``words`` must not have been said before."""
    chat = page.new_chat(model=variant.model)
    running = await chat.start(words, features={"memory": variant.native})
    turn = await running.finish()
    request = request_saying(host, words)
    assert turn.active_false is not None
    assert turn.answered is not None
    await asyncio.sleep(0.02)
    return TurnTimes(
        (request.at - running.started) * 1000,
        turn.active_false - turn.answered,
        len(entries_in(request.prompt)),
    )


async def command_result(page: Page, command: str, seconds: float) -> str:
    """What a command in a new chat came to, be it after the end of its turn."""
    chat = page.new_chat(model=FILTER.model)
    turn = await (await chat.start(command)).finish(seconds)
    said = turn.content
    while "goes on behind" in said:
        await asyncio.sleep(0.2)
        said = (await chat.stored_message(turn.message_id))["content"]
    return said


def request_saying(host: RunningHost, words: str) -> ModelRequest:
    """The newest request whose newest user message is this."""
    return next(
        one
        for one in reversed(host.model.requests)
        if one.user_text == words.strip()
    )


def entries_in(prompt: str) -> list[str]:
    """The lines of a system prompt that are memories, of the filter or of the host."""
    return [line for line in prompt.splitlines() if line.startswith("- ")]


# --- the server -----------------------------------------------------------------------------------


def send_away(host: RunningHost, page: Page) -> None:
    """Let a user have been active for the last time long ago."""
    with (
        closing(sqlite3.connect(host.database, timeout=30)) as connection,
        connection,
    ):
        connection.execute(
            "UPDATE user SET last_active_at = 0 WHERE id = ?", (page.user_id,)
        )


async def restart(host: RunningHost, pages: Sequence[Page]) -> None:
    """Stop the server, start it again on the same data, and load the page for all."""
    await _leave(host, pages)
    await asyncio.to_thread(host.server.stop)
    await _come_back(host, pages)


async def _leave(host: RunningHost, pages: Sequence[Page]) -> None:
    for page in [host.admin, *pages]:
        await page.disconnect()


async def _come_back(host: RunningHost, pages: Sequence[Page]) -> None:
    host.server.spawn()
    await host.server.wait_until_healthy()
    for page in [host.admin, *pages]:
        await page.connect()
        await page.request("GET", "/api/models")


def processor_ms(host: RunningHost) -> float:
    """The processor's time that all threads of the server have taken so far; milliseconds.

    The clock of another process has this number by its id (Linux: man 3 clock_getcpuclockid).
    """
    process = host.server._process
    assert process is not None
    return time.clock_gettime_ns((~process.pid << 3) | 2) / 1e6


def resident_mebibytes(host: RunningHost) -> float:
    """Memory of the server's process that is in RAM now."""
    process = host.server._process
    assert process is not None
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    found = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024
