"""What is kept outside the host's own memory table: its rows, and the protocols of its tables.

Calls may raise ``TablesUnavailable``, those about past conversation ``HostError``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from adaptive.core.model import Memory
from adaptive.core.ports import Embedder, MemoryStore, Vectors

ChangeKind = Literal[
    "saved", "updated", "deleted", "ended", "pruned", "summarised", "restored", "flagged"
]
UnitKind = Literal["message", "exchange", "topic"]
# What kind of unit it is, and the id of its message; unique within a chat.
UnitKey = tuple[UnitKind, str]


@dataclass(frozen=True, slots=True)
class StoredVector:
    """A vector of length 1 and the hash of the text that it stands for."""

    content_hash: str
    vector: Vectors


class VectorTable(Protocol):
    """Vectors of memories that outlive the process."""

    async def read(
        self, user_id: str, embedder: str, memory_ids: Sequence[str] | None = None
    ) -> dict[str, StoredVector]:
        """A user's vectors of one embedder, by memory id; of a few memories, or of all."""
        ...

    async def write(self, user_id: str, embedder: str, vectors: Mapping[str, StoredVector]) -> None:
        """Store vectors by memory id, replacing former ones of the same memories."""

    async def keep_only(self, user_id: str, embedder: str, memory_ids: Sequence[str]) -> None:
        """Drop a user's vectors of memories that are gone, and those of other embedders."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a user's index comes from."""

    user_id: str
    store: MemoryStore
    embedder: Embedder
    table: VectorTable


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One change of a user's store; ``before`` and ``after`` are contents, empty where none was.

    ``changed_at`` is in epoch seconds; chat and message are empty for what no message asked for.
    What is ``flagged`` is a message and no change: it names no memory, and says why alone.
    """

    kind: ChangeKind
    memory_id: str
    changed_at: int
    before: str = ""
    after: str = ""
    reason: str = ""
    chat_id: str = ""
    message_id: str = ""


# Adds changes of a user at an epoch second to the audit; raises nothing.
RecordChanges = Callable[[str, Sequence[AuditEntry], int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ArchivedMemory:
    """A memory that was taken out of the store; ``archived_at`` is in epoch seconds.

    ``summary`` is the content of the memory that stands for it now, empty where none does.
    """

    memory: Memory
    reason: str
    archived_at: int
    summary: str = ""


@dataclass(frozen=True, slots=True)
class PendingTurn:
    """A turn that waits to be learned; times are epoch seconds.

    ``payload`` is the text of whoever queued it, ``journal`` that of whoever works on it once the
    model has answered; both are opaque. ``batch`` is the message id of the newest of the turns
    that share a journal, empty where there is none yet. ``attempts`` counts failures, and how often
    a process ended with the turn in its hands.
    """

    user_id: str
    message_id: str
    chat_id: str
    payload: str
    queued_at: float
    due_at: float
    journal: str = ""
    batch: str = ""
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class WaitingTurns:
    """A user's oldest waiting turns without payload and journal, those at work included.

    ``leased_until`` is when the lease on the user ends, in epoch seconds; ``calls`` are the model
    calls for the user's turns that were queued since the time that was asked for.
    """

    turns: tuple[PendingTurn, ...] = ()
    leased_until: float = 0.0
    calls: int = 0


@dataclass(frozen=True, slots=True)
class TurnLease:
    """The lease on a user, with the turns that are worked on under it, oldest first.

    ``owner`` is good for one time; ``batch`` is what the turns' journal was kept under so far.
    Without turns it keeps everybody from learning while something else is done.
    """

    user_id: str
    owner: str
    message_ids: tuple[str, ...] = ()
    batch: str = ""

    @property
    def leader(self) -> str:
        """The newest message, which keeps the journal and the count of calls for all."""
        return self.message_ids[-1] if self.message_ids else ""


# For so many seconds after the table has said that a lease is held whoever holds it may write
# without asking again; so whoever takes turns away waits so long until nothing more is written.
LEASE_PROOF_SECONDS = 1.0


class PendingTable(Protocol):
    """Turns to be learned, and for a month those that were.

    A user is under one lease at a time. What changes the lease and turns under it changes all of
    them, or none where one of them is another one's by now: then the answer is ``False``. A lease
    whose end has passed stands until somebody else takes it. ``calls`` are model calls to count.
    """

    async def put(self, turn: PendingTurn) -> None:
        """Let a turn wait, unless it does or was learned; of two times it is due at the sooner."""

    async def waiting(self, user_id: str, since: float) -> WaitingTurns:
        """What waits of a user; model calls are those for turns queued since an epoch second."""
        ...

    async def take(
        self, lease: TurnLease, now: float, until: float
    ) -> tuple[PendingTurn, ...] | None:
        """Take the lease on a user and return its turns whole, in the lease's order.

        ``None`` where another one has it, or a turn waits no more or has another journal. What a
        process has left in its hands counts one attempt more.
        """
        ...

    async def renew(
        self, lease: TurnLease, until: float, journal: str | None = None, calls: int = 0
    ) -> bool:
        """Prolong a lease, and keep a journal for its turns, if there is one."""
        ...

    async def finish(self, lease: TurnLease, calls: int, now: float) -> bool:
        """Mark turns as learned, empty payload and journal, and end the lease."""
        ...

    async def give_back(self, lease: TurnLease, due_at: float, *, failed: bool, calls: int) -> bool:
        """End a lease, the work undone; count an attempt where it failed."""
        ...


class Leases(Protocol):
    """Names that one owner holds at a time, across workers."""

    async def acquire(self, name: str, owner: str, now: float, seconds: float) -> bool:
        """Take a name that is free or whose lease has ended, or prolong the owner's own lease."""
        ...

    async def release(self, name: str, owner: str) -> None:
        """Free a name if the owner holds it."""


@dataclass(frozen=True, slots=True)
class HistoryUnit:
    """What is embedded as one: a message, a message with the one before it, a topic's summary.

    ``message_id`` is the message that is found by it, of a topic the first one. ``digest`` tells
    whether what it stands for has changed. ``first`` marks one unit of each chat.
    """

    kind: UnitKind
    chat_id: str
    message_id: str
    text: str
    digest: str
    first: bool = False

    @property
    def key(self) -> UnitKey:
        """By which it is known within its chat."""
        return self.kind, self.message_id


@dataclass(frozen=True, slots=True)
class HistoryHit:
    """A unit that a search brought; ``score`` is the engine's own, the higher the nearer."""

    kind: UnitKind
    chat_id: str
    message_id: str
    score: float
    text: str = ""


class HistoryVectors(Protocol):
    """A user's units in a vector database; those of different embedders are never mixed."""

    async def known(self, user_id: str, embedder: str, chat_id: str) -> dict[UnitKey, str]:
        """Digests of a chat's units."""
        ...

    async def chats(self, user_id: str) -> frozenset[str]:
        """Ids of the chats that have units, whoever embedded them."""
        ...

    async def upsert(
        self, user_id: str, embedder: str, units: Sequence[HistoryUnit], vectors: Vectors
    ) -> None:
        """Store units with their vectors, of shape (len(units), d), in place of former ones."""

    async def search(
        self, user_id: str, embedder: str, vector: Vectors, limit: int, chat_id: str = ""
    ) -> tuple[HistoryHit, ...]:
        """The nearest units to a vector of shape (d,), best first; of one chat if it is named."""
        ...

    async def delete(
        self, user_id: str, chat_id: str, keys: Sequence[UnitKey] | None = None
    ) -> None:
        """Remove units of a chat, those named or all; unknown ones are passed over."""

    async def delete_all(self, user_id: str) -> None:
        """Remove everything of a user."""


@dataclass(frozen=True, slots=True)
class ChatHead:
    """A saved chat without its messages."""

    id: str
    title: str
    updated_at: int


class PastChats(Protocol):
    """A user's own saved chats in the host's tables, without those that the host keeps itself."""

    async def heads(
        self, user_id: str, chat_ids: Sequence[str] | None = None
    ) -> dict[str, ChatHead]:
        """The user's chats by id, the newest first; of those named, or all."""
        ...

    async def messages(
        self, user_id: str, chat_id: str, *, words: bool = True
    ) -> tuple[Mapping[str, Any], ...]:
        """A chat's messages of all branches; without ``words`` their places and roles alone."""
        ...

    async def current(
        self, user_id: str, keys: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], Mapping[str, Any]]:
        """Those of the messages that still stand, as they stand, by chat and message id."""
        ...
