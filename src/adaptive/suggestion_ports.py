"""The protocol of what is kept of suggested memories: those that wait, and those rejected."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from adaptive.model import Operation, Provenance, Turn
from adaptive.ports import Dialog
from adaptive.settings import Settings

SuggestionAnswer = TypeVar("SuggestionAnswer")

# Whether the user's turns are still this worker's.
TurnHeld = Callable[[], Awaitable[bool]]


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


# Saves what the user has said yes to; false where it is neither a memory nor refused as one.
KeepSuggestion = Callable[[WaitingSuggestion], Awaitable[bool]]


class SuggestionTable(Protocol):
    """Suggestions by user, for all workers; any call may raise ``TablesUnavailable``."""

    async def put(self, user_id: str, waiting: Sequence[WaitingSuggestion], now: int) -> None:
        """Let suggestions wait, replacing former ones of the same digest; not rejected ones."""
        ...

    async def waiting(self, user_id: str) -> tuple[WaitingSuggestion, ...]:
        """A user's waiting suggestions, the oldest first."""
        ...

    async def claim(
        self, user_id: str, chat_id: str, now: int, most: int
    ) -> tuple[WaitingSuggestion, ...]:
        """The newest suggestions that may be asked about in this chat now, which nobody else asks.

        What was asked about in this chat rests there for a while, and in every chat for as long as
        somebody may still be answering.
        """
        ...

    async def release(self, user_id: str, digests: Collection[str]) -> None:
        """Let claimed suggestions wait on: other chats may ask about them at once."""
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


class Proposer(Protocol):
    """Proposes memories to users in place of saving them; calls may raise ``TablesUnavailable``."""

    async def propose(
        self, turn: Turn, operations: Sequence[Operation], settings: Settings, held: TurnHeld
    ) -> int:
        """Let changes of a turn wait that are new and were not rejected; how many do."""
        ...

    def proposed(self, user_id: str) -> tuple[str, ...]:
        """What was proposed to a user of late, be it answered or not."""
        ...

    async def waits(self, user_id: str, digest: str) -> bool:
        """Whether a suggestion waits still."""
        ...

    async def offer(self, dialog: Dialog, user_id: str, chat_id: str, keep: KeepSuggestion) -> str:
        """Ask a user about all that waits; a line where it is left unanswered."""
        ...

    async def left(self, user_id: str) -> str:
        """The line that tells how much of a user waits, empty for nothing."""
        ...

    async def asking(
        self, user_id: str, questions: Awaitable[SuggestionAnswer]
    ) -> SuggestionAnswer:
        """Ask a user something else, while nothing is offered."""
        ...
