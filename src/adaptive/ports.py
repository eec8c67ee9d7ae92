"""The protocols between our rooms and the world; ``host`` and the providers implement them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


class MemoryStore(Protocol):
    """The memories of one user, in the host's own table."""

    @property
    def keeps_history(self) -> bool:
        """Whether a row has a place for the contents that it had before."""
        ...

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

    async def add(
        self, draft: Draft, source: Provenance, extra: Mapping[str, Any] | None = None
    ) -> Memory:
        """Write a new row, read it back and return it; ``extra`` goes into its meta, too.

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

    async def complete(self, memory: Memory, draft: Draft, source: Provenance) -> Memory:
        """Finish what a broken-off ``add`` has left: the row stands, what belongs to it may not.

        Raises:
            StoreError: the row is gone.
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


Consent = Literal["yes", "no", "unanswered"]


class Dialog(Protocol):
    """Asks the user, in the page; never raises, and waits for a bounded time.

    Titles and messages are plain text: nothing in them is rendered as markup.
    """

    async def confirm(self, title: str, message: str) -> Consent:
        """A question to be answered with yes or no.

        In the page the Enter key may answer yes, and the question comes while its user may be
        typing; so what can't be undone is asked for with ``ask``.
        """
        ...

    async def ask(self, title: str, message: str, hint: str, value: str = "") -> str | None:
        """A question to be answered in words; ``hint`` stands in a field without a ``value``.

        ``None`` where nobody answered, an empty text where the user answered nothing or declined.
        """
        ...
