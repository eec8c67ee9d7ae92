"""The protocols between our rooms and the world; ``host`` and the providers implement them.

Any call of a table may raise ``TablesUnavailable``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from adaptive.core.model import (
    Completion,
    CompletionRequest,
    Draft,
    Memory,
    Provenance,
    StoreStamp,
)

Vectors = NDArray[np.float32]
ResponseFormat = Literal["json_schema", "json_object", "text"]
# What a new row says, where it comes from, and what else goes into its meta.
NewMemory = tuple[Draft, Provenance, Mapping[str, Any] | None]


class MemoryStore(Protocol):
    """The memories of one user, in the host's own table.

    Any call may raise ``MemoryUnavailable``, where the host allows this user none, ``HostError``,
    and a write that can't be proven by reading it back ``StoreError``. Where it ``keeps_history``
    a row has a place for the contents that it had before.
    """

    @property
    def keeps_history(self) -> bool: ...

    async def stamp(self) -> StoreStamp:
        """How the table stands, by one cheap query."""
        ...

    async def changes(
        self, since: int
    ) -> tuple[tuple[Memory, ...], frozenset[str]]:
        """Rows changed at or after an epoch second, and the ids of all rows."""
        ...

    async def read(
        self, ids: Collection[str] | None = None
    ) -> tuple[Memory, ...]:
        """The user's memories of these ids, or all, in no particular order."""
        ...

    async def add(
        self,
        draft: Draft,
        source: Provenance,
        extra: Mapping[str, Any] | None = None,
    ) -> Memory:
        """Write a new row and return it; ``extra`` goes into its meta, too."""
        ...

    async def add_all(self, memories: Sequence[NewMemory]) -> Sequence[Memory]:
        """Write up to 100 new rows, all or none."""
        ...

    async def update(
        self, memory: Memory, draft: Draft, source: Provenance
    ) -> Memory:
        """Give a row a new content and return it; the former one is kept in meta."""
        ...

    async def delete(self, *memories: Memory) -> None:
        """Remove up to 100 rows, all or none, and prove that they are gone."""

    async def put_back(self, *memories: Memory) -> Sequence[Memory]:
        """Write up to 100 rows exactly as they once stood, in place of what stands there now."""
        ...


class Embedder(Protocol):
    """Texts to vectors."""

    async def name(self) -> str:
        """Provider and model: vectors of different names must never be compared."""
        ...

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of shape (len(texts), dimension), as the provider scales them.

        Raises:
            EmbeddingError: no vectors, fewer than texts, or values that are not finite.
        """
        ...


class Completer(Protocol):
    """One model of one provider; both are its ``key``, to remember what they accept."""

    @property
    def key(self) -> str: ...

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """Ask once, or raise a ``ModelError``; the caller bounds the time."""
        ...


@dataclass(frozen=True, slots=True)
class StoredVector:
    """A vector of length 1 and the hash of the text that it stands for."""

    content_hash: str
    vector: Vectors


class VectorTable(Protocol):
    """Vectors of memories that outlive the process."""

    async def read(
        self,
        user_id: str,
        embedder: str,
        memory_ids: Sequence[str] | None = None,
    ) -> dict[str, StoredVector]:
        """A user's vectors of one embedder, by memory id; of a few memories, or of all."""
        ...

    async def write(
        self, user_id: str, embedder: str, vectors: Mapping[str, StoredVector]
    ) -> None:
        """Store vectors by memory id, replacing former ones of the same memories."""

    async def tidy(self, user_id: str, embedder: str) -> None:
        """Drop a user's vectors of memories that are gone, and those of other embedders."""

    async def held(
        self, user_id: str, memories: Sequence[Memory]
    ) -> dict[str, Vectors]:
        """The host's own vectors of just these texts, if any: of whatever model, scale, filling."""
        ...


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a user's index comes from."""

    user_id: str
    store: MemoryStore
    embedder: Embedder
    table: VectorTable
