"""The memories of one user as one that erases sees them, the host's vectors included."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Protocol

from adaptive.errors import StoreError
from adaptive.host.faults import HostFaults
from adaptive.host.memories import HostMemoryStore
from adaptive.host.requests import accepted_arguments
from adaptive.host.uninterrupted import uninterrupted
from adaptive.ports import MemoryStore

# Before each look: some vector databases show a deletion only after a second.
_COLLECTION_PAUSES_SECONDS = (0.0, 0.5, 1.5)


class ErasableMemories(MemoryStore, Protocol):
    """The memories of one user, and whatever of them the host searches in."""

    async def delete_all(self) -> None:
        """Remove all rows, and all vectors, those without a row included.

        Raises:
            MemoryUnavailable: the host allows this user no memories.
            StoreError: rows or vectors still stand.
        """
        ...


class HostMemories(HostMemoryStore):
    """``ErasableMemories`` through the host's own memory API, with its vectors and its events."""

    @uninterrupted
    async def delete_all(self) -> None:
        """Remove all rows and the user's collection, and look that they are gone."""
        from open_webui.routers import memories as router

        if await self.read():
            arguments = {"request": self.request, "user": self.user, "db": None}
            accepted = accepted_arguments(router.delete_memory_by_user_id, arguments)
            with HostFaults("erasing the memories", StoreError):
                await router.delete_memory_by_user_id(**accepted)
            if await self.read():
                raise StoreError("Open WebUI reported success, but memories are still there")
        await self._delete_vectors()

    async def _delete_vectors(self) -> None:
        """Remove the collection itself: the host deletes it with the rows, and hides a failure.

        One that is not there is an error for some vector databases, so only looking tells.
        """
        from open_webui.retrieval.vector.async_client import ASYNC_VECTOR_DB_CLIENT

        name = f"user-memory-{self.user.id}"
        with suppress(StoreError), HostFaults("erasing Open WebUI's vectors", StoreError):
            await ASYNC_VECTOR_DB_CLIENT.delete_collection(name)
        for pause in _COLLECTION_PAUSES_SECONDS:
            await asyncio.sleep(pause)
            if not await _holds_any(name):
                return
        raise StoreError("Open WebUI's vectors of the memories still stand")


async def _holds_any(collection: str) -> bool:
    """Whether there is a vector in it; one that is not there is an error for some databases.

    Only then it is asked for by name, since 0.9 denies every collection that Chroma has (host:
    retrieval/vector/dbs/chroma.py, has_collection).

    Raises:
        StoreError: the vector database does not tell.
    """
    from open_webui.retrieval.vector.async_client import ASYNC_VECTOR_DB_CLIENT

    try:
        with HostFaults("reading Open WebUI's vectors", StoreError):
            found = await ASYNC_VECTOR_DB_CLIENT.get(collection)
    except StoreError:
        with HostFaults("looking for Open WebUI's vectors", StoreError):
            return await ASYNC_VECTOR_DB_CLIENT.has_collection(collection)
    return any(getattr(found, "ids", None) or [])
