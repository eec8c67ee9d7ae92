"""Run by a host's own interpreter: many memories written through the plug-in's store, timed.

Prints what it took as JSON: seconds for each number of memories at once and for a few one by one,
and how long the event loop was held meanwhile, which is what a chat would feel: on the clock, and
as processor time of its thread, which nothing else on the machine lengthens.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace
from typing import Any

# As `open-webui serve` has it, which knows where the package keeps its files; the tables of the
# host are made when it is imported.
os.environ |= {"FROM_INIT_PY": "true", "ENABLE_DB_MIGRATIONS": "true"}

_LOOKS_EACH_SECONDS = 0.005
_ROWS_AT_ONCE = 100


async def main(told: dict[str, Any]) -> dict[str, Any]:
    """Write as many memories as are asked for, each number for a user of its own."""
    sys.path.insert(0, told["source"])
    from adaptive.core.model import Draft, NewMemory, Provenance, WriteRefused
    from adaptive.host.memories import HostMemoryStore
    from adaptive.host.memory_vectors import VECTOR_UPKEEP
    from adaptive.memory.gate import Gate
    from adaptive.settings.merged import Settings
    from adaptive.settings.valves import Valves

    importlib.import_module(
        "open_webui.config"
    )  # brings the host's tables up to date
    from open_webui.retrieval.vector.async_client import ASYNC_VECTOR_DB_CLIENT

    request = _request()
    gate = Gate(Settings.merge(Valves(), None))
    source = Provenance("import", "", int(time.time()))
    held: list[tuple[float, float]] = []

    def store_of(user: str) -> HostMemoryStore:
        """A user's memories."""
        return HostMemoryStore(request, SimpleNamespace(id=user, role="admin"))

    async def written(number: int) -> float:
        """Seconds for so many lines at once, all of which are there afterwards, with vectors."""
        store = store_of(f"user-{number}")
        lines = [
            NewMemory(Draft(line, ("preference",)), source)
            for line in told["lines"][:number]
        ]
        kept: list[str] = []
        async with _watched(held):
            begin = time.perf_counter()
            for start in range(0, number, _ROWS_AT_ONCE):
                rows: list[NewMemory] = []
                for line in lines[start : start + _ROWS_AT_ONCE]:
                    with suppress(WriteRefused):
                        rows.append(await gate.passed(line))
                kept += [row.content for row in await store.write(*rows)]
            while VECTOR_UPKEEP.tasks:
                await asyncio.wait(VECTOR_UPKEEP.tasks)
            taken = time.perf_counter() - begin
        indexed = await ASYNC_VECTOR_DB_CLIENT.get(
            f"user-memory-user-{number}"
        )
        assert sorted(one.content for one in await store.read()) == sorted(
            kept
        )
        assert len(indexed.ids[0]) == len(kept) > 0.95 * number
        return taken

    single = store_of("singly")
    await single.write(NewMemory(Draft("User has a warm model."), source))
    begin = time.perf_counter()
    for line in told["lines"][: told["singly"]]:
        memory = NewMemory(Draft(line, ("preference",)), source)
        with suppress(WriteRefused):
            await single.write(await gate.passed(memory))
    one_by_one = time.perf_counter() - begin
    return {
        "one_by_one_s": one_by_one,
        "at_once_s": {
            str(number): await written(number) for number in told["sizes"]
        },
        "loop_held_ms": [late for late, _ in held],
        "loop_worked_ms": [worked for _, worked in held],
    }


@asynccontextmanager
async def _watched(held: list[tuple[float, float]]) -> AsyncIterator[None]:
    """Note how many milliseconds too late the loop comes back, and has worked, again and again."""

    async def look() -> None:
        while True:
            begin, worked = time.perf_counter(), time.thread_time()
            await asyncio.sleep(_LOOKS_EACH_SECONDS)
            late = time.perf_counter() - begin - _LOOKS_EACH_SECONDS
            held.append((late * 1000, (time.thread_time() - worked) * 1000))

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()


def _request() -> Any:
    """A request to an app with the host's own way to embed, as it sets it up when it starts."""
    from fastapi import FastAPI, Request
    from sentence_transformers import SentenceTransformer

    app = FastAPI()
    if (
        importlib.util.find_spec("open_webui.models.config") is None
    ):  # before 0.10
        features = {"features": {"memories": True}}
        app.state.config = SimpleNamespace(
            ENABLE_MEMORIES=True,
            USER_PERMISSIONS=features,
            RAG_EMBEDDING_ENGINE="",
            RAG_EMBEDDING_MODEL="minilm",
        )
    app.state.ef = SentenceTransformer(os.environ["RAG_EMBEDDING_MODEL"])
    retrieval: Any = importlib.import_module("open_webui.retrieval.utils")
    engine: dict[str, Any] = {
        "url": None,
        "key": None,
        "embedding_batch_size": 1,
    }
    embedding = retrieval.get_embedding_function(
        "", "minilm", app.state.ef, **engine
    )
    app.state.EMBEDDING_FUNCTION = embedding
    return Request(
        {"type": "http", "app": app, "headers": [], "path": "/", "state": {}}
    )


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
