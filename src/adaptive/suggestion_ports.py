"""The protocol of what is kept of suggested memories: those that wait, and those rejected."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from adaptive.model import Provenance


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A memory that is proposed to the user: what it is about, and the sentence to store.

    ``until`` is the date on which it ends, ``memory_id`` the row whose content it replaces.
    """

    category: str
    title: str
    bank: str
    tags: tuple[str, ...]
    content: str
    until: str = ""
    memory_id: str = ""


@dataclass(frozen=True, slots=True)
class WaitingSuggestion:
    """A suggestion that nobody has answered yet, and the message that it was made of.

    ``digest`` tells it from others of its user; it is what is left of it when it is rejected.
    """

    digest: str
    suggestion: Suggestion
    source: Provenance


class SuggestionTable(Protocol):
    """Suggestions by user, for all workers; any call may raise ``TablesUnavailable``."""

    async def put(self, user_id: str, waiting: Sequence[WaitingSuggestion], now: int) -> None:
        """Let suggestions wait, replacing former ones of the same digest; not rejected ones."""
        ...

    async def waiting(self, user_id: str) -> tuple[WaitingSuggestion, ...]:
        """A user's waiting suggestions, the oldest first."""
        ...

    async def claim(self, user_id: str, chat_id: str, now: int) -> WaitingSuggestion | None:
        """The newest suggestion that may be asked about in this chat now, which nobody else asks.

        ``None`` where there is none. One that was asked about in this chat rests there for a while,
        and in every chat for as long as somebody may still be answering.
        """
        ...

    async def release(self, user_id: str, digest: str) -> None:
        """Let a claimed suggestion wait on: other chats may ask about it at once."""
        ...

    async def discard(self, user_id: str, digests: Collection[str]) -> None:
        """Drop suggestions that wait; rejected ones stay rejected."""
        ...

    async def reject(self, user_id: str, digest: str, now: int) -> None:
        """Remember a digest for good, and drop everything else that is held of it."""
        ...

    async def rejected(self, user_id: str, digests: Collection[str]) -> frozenset[str]:
        """Those of the digests that the user has rejected."""
        ...
