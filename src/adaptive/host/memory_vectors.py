"""Vectors of memories in the host's vector database: whether those of what was deleted are gone.

Some of the host's clients swallow what goes wrong with a deletion (host: retrieval/vector/dbs:
Chroma, Weaviate), and the router has deleted the row by then. A change by hand whose vector is
still being made brings it back behind the deletion. So it is looked, in ways that all engines have,
and once more with the day's sweep.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import Column, String, Table, delete, select

from adaptive.core.errors import HostError, StoreError, with_detail
from adaptive.core.model import Memory
from adaptive.core.shapes import listing
from adaptive.host.entries import ENTRIES
from adaptive.host.faults import HostFaults
from adaptive.host.own_table import TABLES, OwnTable, Sessions, portions
from adaptive.host.vector_database import HOST_VECTORS, WHOLE_COLLECTION_SECONDS

log_memory_vectors = logging.getLogger("adaptive_memory.host")

# The host's own (host: models/memories.py).
HOST_MEMORIES = Table(
    "memory",
    TABLES,
    Column("id", String),
    Column("user_id", String),
)
# Of a user whose collection may hold vectors of memories that are no more.
STALE_VECTORS = "stale_vectors"
_SWEPT_LATER = (
    "the vector database may hold vectors of deleted memories; they are swept in a day: %s"
)
# Before each look: some vector databases show a deletion only after a second.
_PAUSES_SECONDS = (0.0, 0.5, 1.5)
# Memories that were made in the same second: an import.
_MOST_LOOKED_AT = 1000


def memory_collection(user_id: str) -> str:
    """The name of a user's collection (host: routers/memories.py)."""
    return f"user-memory-{user_id}"


def _ids(found: object) -> list[str]:
    """The ids of a result of the host's, which is ``None`` where there is no collection."""
    lists = listing(getattr(found, "ids", None))
    return [str(one) for one in listing(lists[0])] if lists else []


async def sure_of_deletion(user_id: str, memories: Sequence[Memory]) -> None:
    """Delete the vectors of deleted memories once more if they stand; the day's sweep looks again.

    Where some stay it is logged.
    """
    await note_deletion(user_id)
    try:
        for pause in _PAUSES_SECONDS[:2]:
            await asyncio.sleep(pause)
            if not (standing := await _standing(user_id, memories)):
                return
            with HostFaults("deleting vectors of memories"):
                await HOST_VECTORS.call("delete", memory_collection(user_id), ids=standing)
        if not await _standing(user_id, memories):
            return
        reason = "some still stand"
    except HostError as error:
        reason = with_detail(error)
    log_memory_vectors.warning(_SWEPT_LATER, reason)


async def _standing(user_id: str, memories: Sequence[Memory]) -> list[str]:
    """Those of the memories that have a vector, all where the engine does not tell.

    All releases put the time of a row with its vector.
    """
    name = memory_collection(user_id)
    made_at: defaultdict[int, list[str]] = defaultdict(list)
    for memory in memories:
        made_at[memory.created_at].append(memory.id)
    standing: list[str] = []
    for created_at, ids in made_at.items():
        with HostFaults("looking for vectors of memories"):
            found = await HOST_VECTORS.call(
                "query", name, filter={"created_at": created_at}, limit=_MOST_LOOKED_AT
            )
        if found is None:  # there is no collection, or the engine did not answer
            return [memory.id for memory in memories] if await _holds_any(name) else []
        standing += {*ids} & {*_ids(found)}
    return standing


async def note_deletion(user_id: str, sessions: Sessions | None = None) -> None:
    """Have the day's sweep look for vectors of a user's deleted memories."""
    row = {"user_id": user_id, "kind": STALE_VECTORS, "key": "memories", "body": "noted"}
    row |= {"chat_id": "", "message_id": ""}
    times = {"created_at": int(time.time()), "expires_at": None}
    try:
        await OwnTable(ENTRIES, sessions).upsert("noting a deletion", [row | times])
    except HostError as error:
        log_memory_vectors.warning("%s", with_detail(error))


async def sweep_stale_vectors(sessions: Sessions | None = None) -> None:
    """Delete the vectors without a memory of the users whose memories were deleted.

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
            await HOST_VECTORS.call("delete", name, ids=some)
    return len(await _orphans(user_id, table))


async def _orphans(user_id: str, table: OwnTable) -> list[str]:
    """The vectors without a memory; a row is written before its vector, so these are read first."""
    name = memory_collection(user_id)
    if not await _holds_any(name):
        return []
    with HostFaults("reading the vectors of a user"):
        found = await HOST_VECTORS.call("get", name, seconds=WHOLE_COLLECTION_SECONDS)
        vectors = _ids(found)
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
            await HOST_VECTORS.call("delete_collection", name, seconds=WHOLE_COLLECTION_SECONDS)
    except HostError as error:
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
            found = await HOST_VECTORS.call("get", collection, seconds=WHOLE_COLLECTION_SECONDS)
    except HostError:
        with HostFaults("looking for Open WebUI's vectors", StoreError):
            return bool(await HOST_VECTORS.call("has_collection", collection))
    return bool(_ids(found))
