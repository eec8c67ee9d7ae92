"""The protocols between our rooms and the world; ``host`` and the providers implement them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from adaptive.model import (
    Completion,
    CompletionRequest,
    Draft,
    Memory,
    Provenance,
    StoreStamp,
)

Vectors = NDArray[np.float32]
ResponseFormat = Literal["json_schema", "json_object", "text"]


@dataclass(frozen=True, slots=True)
class StoredVector:
    """A vector of length 1 and the hash of the text that it stands for."""

    content_hash: str
    vector: Vectors


class MemoryStore(Protocol):
    """The memories of one user, in the host's own table."""

    async def stamp(self) -> StoreStamp:
        """How the table stands, by one cheap query.

        Raises:
            MemoryUnavailable: the host allows this user no memories.
            HostError: the host could not tell.
        """
        ...

    async def changes(self, since: int) -> tuple[tuple[Memory, ...], frozenset[str]]:
        """Rows changed at or after an epoch second, and the ids of all rows.

        Raises:
            HostError: the host could not read them.
        """
        ...

    async def read(self) -> tuple[Memory, ...]:
        """All memories of the user, in no particular order.

        Raises:
            MemoryUnavailable: the host allows this user no memories.
            HostError: the host could not read them.
        """
        ...

    async def add(self, draft: Draft, source: Provenance) -> Memory:
        """Write a new row, read it back and return it.

        Raises:
            StoreError: the row does not stand in the table as it was written.
        """
        ...

    async def update(self, memory: Memory, draft: Draft, source: Provenance) -> Memory:
        """Give a row a new content, read it back and return it; the former one is kept in meta.

        Raises:
            StoreError: the row is gone, or does not hold the new content.
        """
        ...

    async def delete(self, memory: Memory) -> None:
        """Remove a row and prove that it is gone.

        Raises:
            StoreError: the row still stands.
        """
        ...


class Embedder(Protocol):
    """Texts to vectors."""

    async def name(self) -> str:
        """Provider and model: vectors of different names must never be compared."""
        ...

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of shape (len(texts), dimension), float32, as the provider scales them.

        Raises:
            EmbeddingError: no vectors, fewer than texts, or values that are not finite.
        """
        ...


class Completer(Protocol):
    """One model of one provider."""

    @property
    def key(self) -> str:
        """Provider and model, to remember what they accept."""
        ...

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """Ask once; the caller bounds the time.

        Raises:
            ModelBusy: another try may succeed.
            ModelRejected: it would not.
            ReplyUnusable: the answer holds no text.
        """
        ...


class Notifier(Protocol):
    """Tells the user, in the page; never raises."""

    async def status(self, text: str) -> None:
        """Show one finished line with the answer."""
        ...

    async def source(self, name: str, documents: list[str], metadata: list[dict[str, Any]]) -> None:
        """Show a source under the answer: its texts, and what is known of each."""
        ...


class VectorTable(Protocol):
    """Vectors of memories that outlive the process; any call may raise ``TablesUnavailable``."""

    async def read(self, user_id: str, embedder: str) -> dict[str, StoredVector]:
        """A user's vectors of one embedder, by memory id."""
        ...

    async def write(self, user_id: str, embedder: str, vectors: Mapping[str, StoredVector]) -> None:
        """Store vectors by memory id, replacing former ones of the same memories."""
        ...

    async def keep_only(self, user_id: str, embedder: str, memory_ids: Sequence[str]) -> None:
        """Drop a user's vectors of memories that are gone, and those of other embedders."""
        ...


class ChatTable(Protocol):
    """One short text per chat, shared by all workers; may raise ``TablesUnavailable``."""

    async def read(self, user_id: str, chat_id: str) -> str | None:
        """The text of a chat, ``None`` where there is none."""
        ...

    async def write(self, user_id: str, chat_id: str, state: str, now: int) -> None:
        """Replace the text of a chat."""
        ...


class Tables(Protocol):
    """State that the host has no place for, shared by all its workers."""

    async def claim_turn(self, user_id: str, message_id: str, now: int) -> bool:
        """Claim a user's message for learning; ``False`` when it was claimed before.

        Raises:
            TablesUnavailable: the state can't be kept there.
        """
        ...

    async def release_turn(self, user_id: str, message_id: str) -> None:
        """Give a claim back, so that a repetition of the turn may learn it.

        Raises:
            TablesUnavailable: the state can't be kept there.
        """
        ...
