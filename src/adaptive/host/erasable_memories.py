"""The memories of one user as one that erases sees them, the host's vectors included."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Protocol

from adaptive.errors import StoreError
from adaptive.host.faults import HostFaults
from adaptive.host.memories import HostMemoryStore
from adaptive.host.requests import accepted_arguments
from adaptive.host.uninterrupted import uninterrupted
from adaptive.model import Memory

# Before each look: some vector databases show a deletion only after a second.
_COLLECTION_PAUSES_SECONDS = (0.0, 0.5, 1.5)


class ErasableMemories(Protocol):
    """The memories of one user, and whatever of them the host searches in."""

    @property
    def keeps_provenance(self) -> bool:
        """Whether rows have a place for where they came from."""
        ...

    async def read(self) -> tuple[Memory, ...]:
        """All memories of the user; raises as ``MemoryStore.read`` does."""
        ...

    async def delete(self, memory: Memory) -> None:
        """Remove a row and its vector, and prove that the row is gone.

        Raises:
            StoreError: the row still stands.
        """
        ...

    async def delete_all(self) -> None:
        """Remove all rows, and all vectors, those without a row included.

        Raises:
            MemoryUnavailable: the host allows this user no memories.
            StoreError: rows or vectors still stand.
        """
        ...


@dataclass(frozen=True, slots=True)
class HostMemories:
    """``ErasableMemories`` through the host's own memory API, with its vectors and its events."""

    store: HostMemoryStore

    @property
    def keeps_provenance(self) -> bool:
        """Whether the release has the column for it, 0.10 and newer."""
        from open_webui.models.memories import Memories

        update = Memories.update_memory_by_id_and_user_id
        return bool(accepted_arguments(update, {"meta": None}))

    async def read(self) -> tuple[Memory, ...]:
        """All memories of the user."""
        return await self.store.read()

    async def delete(self, memory: Memory) -> None:
        """Remove a row and its vector."""
        await self.store.delete(memory)

    @uninterrupted
    async def delete_all(self) -> None:
        """Remove all rows and the user's collection, and look that they are gone."""
        from open_webui.routers import memories as router

        if await self.store.read():
            arguments = {"request": self.store.request, "user": self.store.user, "db": None}
            accepted = accepted_arguments(router.delete_memory_by_user_id, arguments)
            with HostFaults("erasing the memories", StoreError):
                await router.delete_memory_by_user_id(**accepted)
            if await self.store.read():
                raise StoreError("Open WebUI reported success, but memories are still there")
        await self._delete_vectors()

    async def _delete_vectors(self) -> None:
        """Remove the collection itself: the host deletes it with the rows, and hides a failure.

        One that is not there is an error for some vector databases, so only looking tells.
        """
        from open_webui.retrieval.vector.async_client import ASYNC_VECTOR_DB_CLIENT

        name, failure = f"user-memory-{self.store.user.id}", None
        try:
            with HostFaults("erasing Open WebUI's vectors", StoreError):
                await ASYNC_VECTOR_DB_CLIENT.delete_collection(name)
        except StoreError as error:
            failure = error
        for pause in _COLLECTION_PAUSES_SECONDS:
            await asyncio.sleep(pause)
            with HostFaults("looking for Open WebUI's vectors", StoreError):
                stands = await ASYNC_VECTOR_DB_CLIENT.has_collection(name)
            if not stands and (failure is None or not await _holds_any(name)):
                return
        raise failure or StoreError("Open WebUI's vectors of the memories still stand")


async def _holds_any(collection: str) -> bool:
    """Whether there is a vector in it: 0.9 denies every collection that Chroma has.

    (host: retrieval/vector/dbs/chroma.py, has_collection) One that is not there is an error again.
    """
    from open_webui.retrieval.vector.async_client import ASYNC_VECTOR_DB_CLIENT

    try:
        with HostFaults("reading Open WebUI's vectors", StoreError):
            found = await ASYNC_VECTOR_DB_CLIENT.get(collection)
    except StoreError:
        return False
    return any(getattr(found, "ids", None) or [])
