"""Vectors of memories in the host's vector database: whether those of what was deleted are gone.

Some of the host's clients swallow what goes wrong with a deletion (host: retrieval/vector/dbs:
Chroma, Weaviate), and the router has deleted the row by then. So it is looked, in ways that all
engines have, and what still stands is noted and swept with the day's tidying.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from sqlalchemy import Column, String, Table, delete, select

from adaptive.core.errors import HostError, StoreError, with_detail
from adaptive.core.model import Memory
from adaptive.core.shapes import listing
from adaptive.host.entries import ENTRIES
from adaptive.host.faults import HostFaults
from adaptive.host.own_table import TABLES, OwnTable, Sessions, portions

log_memory_vectors = logging.getLogger("adaptive_memory.host")

# The host's own (host: models/memories.py).
HOST_MEMORIES = Table(
    "memory",
    TABLES,
    Column("id", String),
    Column("user_id", String),
)
# Of a user whose collection holds vectors of memories that are no more.
STALE_VECTORS = "stale_vectors"
# Before each look: some vector databases show a deletion only after a second.
_PAUSES_SECONDS = (0.0, 0.5, 1.5)
# Memories that were made in the same second: an import.
_MOST_LOOKED_AT = 1000


def memory_collection(user_id: str) -> str:
    """The name of a user's collection (host: routers/memories.py)."""
    return f"user-memory-{user_id}"


def _host_client() -> Any:
    from open_webui.retrieval.vector.async_client import ASYNC_VECTOR_DB_CLIENT

    return ASYNC_VECTOR_DB_CLIENT


def _ids(found: object) -> list[str]:
    """The ids of a result of the host's, which is ``None`` where there is no collection."""
    lists = listing(getattr(found, "ids", None))
    return [str(one) for one in listing(lists[0])] if lists else []


async def sure_of_deletion(user_id: str, memory: Memory) -> None:
    """Delete the vector of a deleted memory once more if it stands; note it where it stays."""
    try:
        for pause in _PAUSES_SECONDS[:2]:
            await asyncio.sleep(pause)
            if not await _stands(user_id, memory):
                return
            with HostFaults("deleting a memory's vector"):
                await _host_client().delete(memory_collection(user_id), ids=[memory.id])
        if not await _stands(user_id, memory):
            return
        reason = "it still stands"
    except HostError as error:
        reason = with_detail(error)
    await note_stale_vectors(user_id, reason)


async def _stands(user_id: str, memory: Memory) -> bool:
    """Whether a memory has a vector; all releases put the time of a row with its vector."""
    name = memory_collection(user_id)
    made_then = {"created_at": memory.created_at}
    with HostFaults("looking for a memory's vector"):
        found = await _host_client().query(name, filter=made_then, limit=_MOST_LOOKED_AT)
    if found is None:  # there is no collection, or the engine did not answer
        return await _holds_any(name)
    return memory.id in _ids(found)


async def note_stale_vectors(user_id: str, reason: str, sessions: Sessions | None = None) -> None:
    """Note that vectors of deleted memories may stand, for the day's tidying; it is logged."""
    told = "the vector database may hold vectors of deleted memories; they are swept in a day: %s"
    log_memory_vectors.warning(told, reason)
    row = {"user_id": user_id, "kind": STALE_VECTORS, "key": "memories", "body": "noted"}
    row |= {"chat_id": "", "message_id": ""}
    times = {"created_at": int(time.time()), "expires_at": None}
    try:
        await OwnTable(ENTRIES, sessions).upsert("noting stale vectors", [row | times])
    except HostError as error:
        log_memory_vectors.warning("%s", with_detail(error))


async def sweep_stale_vectors(sessions: Sessions | None = None) -> None:
    """Delete the vectors without a memory of those users of whom some were noted.

    Raises:
        HostError: our tables can't be read.
    """
    table = OwnTable(ENTRIES, sessions)
    noted = ENTRIES.c.kind == STALE_VECTORS
    rows = await table.rows("reading of stale vectors", select(ENTRIES.c.user_id).where(noted))
    for row in rows:
        try:
            left = await _without_orphans(row.user_id, table)
        except HostError as error:
            log_memory_vectors.warning(
                "stale vectors are swept another day: %s", with_detail(error)
            )
            continue
        if left:
            log_memory_vectors.warning("%d vectors of deleted memories can't be deleted", left)
            continue
        done = delete(ENTRIES).where(noted, ENTRIES.c.user_id == row.user_id)
        await table.change("dropping a note of stale vectors", done)


async def _without_orphans(user_id: str, table: OwnTable) -> int:
    """Delete vectors without a memory from a user's collection; how many still stand."""
    name = memory_collection(user_id)
    if not await _orphans(user_id, table):
        return 0
    with HostFaults("deleting stale vectors"):
        for some in portions(await _orphans(user_id, table)):
            await _host_client().delete(name, ids=some)
    return len(await _orphans(user_id, table))


async def _orphans(user_id: str, table: OwnTable) -> list[str]:
    """The vectors without a memory; a row is written before its vector, so these are read first."""
    name = memory_collection(user_id)
    if not await _holds_any(name):
        return []
    with HostFaults("reading the vectors of a user"):
        vectors = _ids(await _host_client().get(name))
    rows = select(HOST_MEMORIES.c.id).where(HOST_MEMORIES.c.user_id == user_id)
    known = {row.id for row in await table.rows("reading the memories of a user", rows)}
    return [one for one in vectors if one not in known]


async def drop_collection(name: str) -> None:
    """Remove a collection and look that nothing of it is left.

    One that is not there is an error for some vector databases, so only looking tells.

    Raises:
        StoreError: vectors still stand, or nobody can tell.
    """
    try:
        with HostFaults("erasing Open WebUI's vectors", StoreError):
            await _host_client().delete_collection(name)
    except StoreError as error:
        log_memory_vectors.debug("%s", with_detail(error))
    for pause in _PAUSES_SECONDS:
        await asyncio.sleep(pause)
        if not await _holds_any(name):
            return
    raise StoreError("Open WebUI's vectors of the memories still stand")


async def _holds_any(collection: str) -> bool:
    """Whether there is a vector in it; 0.9 denies by name every collection that Chroma has."""
    try:
        with HostFaults("reading Open WebUI's vectors", StoreError):
            found = await _host_client().get(collection)
    except StoreError:
        with HostFaults("looking for Open WebUI's vectors", StoreError):
            return await _host_client().has_collection(collection)
    return bool(_ids(found))
