"""Embedding models, as they were set and as they answer."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Protocol

from adaptive.core.model import MemoryStore, Vectors, VectorTable, frozen
from adaptive.core.pace import Pace


@frozen
class EmbedderIdentity:
    """What decides the vectors that an embedder makes, as it was set; prefixes stand before texts."""

    engine: str
    model: str
    address: str = ""
    query_prefix: str = ""
    content_prefix: str = ""

    def __str__(self) -> str:
        """Its name, which no other identity has."""
        named = {
            field.name: getattr(self, field.name) for field in fields(self)
        }
        return " ".join(
            f"{name}={value!r}" for name, value in named.items() if value
        )

    def prefix(self, *, query: bool) -> str:
        """What stands before queries, or before contents."""
        return self.query_prefix if query else self.content_prefix


class EmbeddingModel(Protocol):
    """Texts to vectors; ``source`` is another object where the model was loaded or set anew."""

    @property
    def identity(self) -> EmbedderIdentity: ...

    @property
    def source(self) -> object: ...

    def new_pace(self) -> Pace:
        """How fast a process may ask the model."""
        ...

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of shape (len(texts), dimension), as the provider scales them.

        Raises:
            EmbeddingError: no vectors, fewer than texts, or values that are not finite.
        """
        ...


class Embedder(Protocol):
    """An embedding model that was seen to answer; ``service`` is its identity as a text."""

    @property
    def service(self) -> str: ...

    @property
    def pace(self) -> Pace: ...

    async def name(self) -> str:
        """Identity and fingerprint, by which vectors are kept apart; may raise ``EmbeddingError``."""
        ...

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of texts (see ``EmbeddingModel``)."""
        ...


@frozen
class Sources:
    """Where a user's index comes from."""

    user_id: str
    store: MemoryStore
    embedder: Embedder
    table: VectorTable
