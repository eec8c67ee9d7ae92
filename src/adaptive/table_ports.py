"""The protocols of what is kept outside the host's own table, and the rows that they hold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from adaptive.model import Memory
from adaptive.ports import Vectors

ChangeKind = Literal[
    "saved", "updated", "deleted", "ended", "pruned", "summarised", "restored", "flagged"
]


@dataclass(frozen=True, slots=True)
class StoredVector:
    """A vector of length 1 and the hash of the text that it stands for."""

    content_hash: str
    vector: Vectors


class VectorTable(Protocol):
    """Vectors of memories that outlive the process; any call may raise ``TablesUnavailable``."""

    async def read(
        self, user_id: str, embedder: str, memory_ids: Sequence[str] | None = None
    ) -> dict[str, StoredVector]:
        """A user's vectors of one embedder, by memory id; of a few memories, or of all."""
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


class AuditTable(Protocol):
    """What was changed in each store, and why; any call may raise ``TablesUnavailable``."""

    async def append(self, user_id: str, entries: Sequence[AuditEntry], now: int) -> None:
        """Add changes in the order they were made; old ones are dropped from time to time."""
        ...

    async def changes(self, user_id: str, since: int, limit: int) -> tuple[AuditEntry, ...]:
        """A user's changes at or after an epoch second, the newest first."""
        ...


@dataclass(frozen=True, slots=True)
class ArchivedMemory:
    """A memory that was taken out of the store; ``archived_at`` is in epoch seconds.

    ``summary`` is the content of the memory that stands for it now, empty where none does.
    """

    memory: Memory
    reason: str
    archived_at: int
    summary: str = ""


class ArchiveTable(Protocol):
    """Memories that were pruned or summarised; any call may raise ``TablesUnavailable``."""

    async def put(self, user_id: str, archived: Sequence[ArchivedMemory]) -> None:
        """Store all or none, replacing former ones of the same memories."""
        ...

    async def find(self, user_id: str, memory_ids: Sequence[str]) -> dict[str, ArchivedMemory]:
        """Those of the named memories that are archived, by memory id."""
        ...

    async def read(self, user_id: str) -> tuple[ArchivedMemory, ...]:
        """All of a user's archived memories, the last archived first."""
        ...

    async def restore(self, user_id: str, memory_id: str) -> ArchivedMemory | None:
        """The archived memory, to be written back; it stays until it is discarded."""
        ...

    async def discard(self, user_id: str, memory_ids: Sequence[str]) -> None:
        """Drop memories from the archive."""
        ...


@dataclass(frozen=True, slots=True)
class Recalls:
    """How often a memory was recalled, and when last, in epoch seconds."""

    count: int
    last: int


class UsageTable(Protocol):
    """How often each memory was recalled; any call may raise ``TablesUnavailable``."""

    async def record(self, user_id: str, memory_ids: Sequence[str], now: int) -> None:
        """Count one recall of each of the named memories."""
        ...

    async def read(self, user_id: str) -> dict[str, Recalls]:
        """The recalls of a user's memories, by memory id; those never recalled are absent."""
        ...

    async def merge(self, user_id: str, memory_ids: Sequence[str], into: str) -> None:
        """Give the recalls of memories to the one that stands for them now."""
        ...

    async def keep_only(self, user_id: str, memory_ids: Sequence[str]) -> None:
        """Drop the recalls of memories that are gone."""
        ...


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
    """Turns to be learned, and for a month those that were; may raise ``TablesUnavailable``.

    A user is under one lease at a time. What changes the lease and turns under it changes all of
    them, or none where one of them is another one's by now: then the answer is ``False``. A lease
    whose end has passed stands until somebody else takes it.
    """

    async def put(self, turn: PendingTurn) -> None:
        """Let a turn wait, unless its message waits already or was learned.

        What waits already, for another try perhaps, is due when the new one is, if that is sooner.
        """
        ...

    async def waiting(self, user_id: str, since: float) -> WaitingTurns:
        """What waits of a user; model calls are those for turns queued since an epoch second."""
        ...

    async def take(
        self, lease: TurnLease, now: float, until: float
    ) -> tuple[PendingTurn, ...] | None:
        """Take the lease on a user and return its turns whole, in the lease's order.

        What a process has left in its hands counts one attempt more. ``None`` where another one has
        the lease, or one of the turns waits no more or has another journal.
        """
        ...

    async def renew(
        self, lease: TurnLease, until: float, journal: str | None = None, calls: int = 0
    ) -> bool:
        """Prolong a lease; keep a journal for its turns and count model calls, if there are any."""
        ...

    async def finish(self, lease: TurnLease, calls: int, now: float) -> bool:
        """Mark turns as learned, empty payload and journal, count calls and end the lease."""
        ...

    async def give_back(self, lease: TurnLease, due_at: float, *, failed: bool, calls: int) -> bool:
        """End a lease, the work undone; count model calls, and an attempt where it failed."""
        ...


class Leases(Protocol):
    """Names that one owner holds at a time, across workers; may raise ``TablesUnavailable``."""

    async def acquire(self, name: str, owner: str, now: float, seconds: float) -> bool:
        """Take a name that is free or whose lease has ended, or prolong the owner's own lease."""
        ...

    async def release(self, name: str, owner: str) -> None:
        """Free a name if the owner holds it."""
        ...


class RetainedChats(ChatTable, Protocol):
    """A ``ChatTable`` that lets go of chats; what is dropped is counted."""

    async def keep_newest(self, user_id: str, chats: int, since: int) -> int:
        """Drop a user's states but those of the newest chats that were used since an epoch second.

        Now and then what others have not used since then is dropped, too.
        """
        ...

    async def drop_deleted(self, user_id: str, current: str = "") -> int:
        """Drop a user's states of chats that the host has no more, the current one excepted."""
        ...
