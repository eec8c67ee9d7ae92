"""The protocols between our rooms and the world; ``host`` and the providers implement them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


class MemoryStore(Protocol):
    """The memories of one user, in the host's own table.

    Any call may raise ``MemoryUnavailable``, where the host allows this user none, ``HostError``,
    and a write that can't be proven by reading it back ``StoreError``.
    """

    @property
    def keeps_history(self) -> bool:
        """Whether a row has a place for the contents that it had before."""
        ...

    async def stamp(self) -> StoreStamp:
        """How the table stands, by one cheap query."""
        ...

    async def changes(self, since: int) -> tuple[tuple[Memory, ...], frozenset[str]]:
        """Rows changed at or after an epoch second, and the ids of all rows."""
        ...

    async def read(self) -> tuple[Memory, ...]:
        """All memories of the user, in no particular order."""
        ...

    async def add(
        self, draft: Draft, source: Provenance, extra: Mapping[str, Any] | None = None
    ) -> Memory:
        """Write a new row and return it; ``extra`` goes into its meta, too."""
        ...

    async def update(self, memory: Memory, draft: Draft, source: Provenance) -> Memory:
        """Give a row a new content and return it; the former one is kept in meta."""
        ...

    async def complete(self, memory: Memory, draft: Draft, source: Provenance) -> Memory:
        """Finish what a broken-off ``add`` has left: the row stands, what belongs to it may not."""
        ...

    async def delete(self, memory: Memory) -> None:
        """Remove a row and prove that it is gone."""


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
    """One model of one provider."""

    @property
    def key(self) -> str:
        """Provider and model, to remember what they accept."""
        ...

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """Ask once, or raise a ``ModelError``; the caller bounds the time."""
        ...


class Notifier(Protocol):
    """Tells the user, in the page; never raises."""

    async def status(self, text: str) -> None:
        """Show one finished line with the answer."""

    async def source(self, name: str, documents: list[str], metadata: list[dict[str, Any]]) -> None:
        """Show a source under the answer: its texts, and what is known of each."""


Consent = Literal["yes", "no", "unanswered"]


class Dialog(Protocol):
    """Asks the user, in the page, in plain text; never raises, and waits for a bounded time."""

    async def confirm(self, title: str, message: str) -> Consent:
        """A question to be answered with yes or no.

        The Enter key may answer yes while its user is typing: for what can be undone.
        """
        ...

    async def ask(self, title: str, message: str, hint: str, value: str = "") -> str | None:
        """A question to be answered in words; ``hint`` stands in a field without a ``value``.

        ``None`` where nobody answered, an empty text where the user answered nothing or declined.
        """
        ...


class StoredAnswer(Protocol):
    """The answer of a turn in a saved chat, in the database and on the page; never raises."""

    async def said(self) -> str | None:
        """What a whole answer says, without our lines; ``None`` where none is stored."""
        ...

    async def add_note(self, line: str) -> bool:
        """Add a line of ours at its end, in place of a former one; whether it stands there."""
        ...

    async def rewrite(self, said: str, rewriting: Callable[[str], str]) -> bool:
        """Rewrite what it says, if that is still what it ``said``; whether that was done."""
        ...

    async def add_follow_ups(self, lines: Sequence[str]) -> bool:
        """Store what to ask next with it; not where it has some already."""
        ...
