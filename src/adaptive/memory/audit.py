"""The log of a user's store: each change with what it replaced, numbered for good."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal, Self

from adaptive.core.model import Memory, TablesUnavailable, with_detail
from adaptive.core.runtime import UserCache
from adaptive.memory.tables import (
    YEAR_SECONDS,
    ArchivedMemory,
    Entry,
    EntryTable,
    read_as,
)
from adaptive.privacy.secrets import find_secrets, without_secrets

log_audit = logging.getLogger("adaptive_memory.memory")

_MOST_ENTRIES = 10_000
# A log is trimmed with the first changes in a process, and with each hundredth after them.
_TRIMMED_EACH = 100
_COUNTED_USERS = 5000
# A place begins with nanoseconds since the epoch.
_DIGITS_OF_TIME = 20

_Learned = Literal[
    "saved", "updated", "deleted", "ended", "flagged", "refused"
]
ChangeKind = Literal[
    _Learned, "pruned", "summarised", "restored", "imported", "undone"
]


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One change of a user's store: the row as it was, and the content that it has since.

    Without ``before`` the row is new, without ``after`` it is gone. ``archived`` is what went into
    the archive with it, or came out of it where there is no ``before``. Changes of one ``step`` are
    taken back together, and ``undoes`` is the ``key`` of the change that this one takes back. What
    is ``flagged`` or ``refused`` is no change: it names no memory, and says why alone.
    """

    kind: ChangeKind
    memory_id: str
    changed_at: int
    before: Memory | None = None
    after: str = ""
    reason: str = ""
    chat_id: str = ""
    message_id: str = ""
    archived: ArchivedMemory | None = None
    step: str = ""
    undoes: str = ""
    key: str = ""


@dataclass(frozen=True, slots=True)
class ChangeKey:
    """What the key of a change tells without its sealed text.

    Keys are in the order of writing, by their ``place``; ``undoes`` is the place of the change that
    this one takes back. ``number`` is 0 where an older release has written none.
    """

    text: str
    place: str
    step: str
    undoes: str
    number: int
    kind: str
    memory_id: str

    @classmethod
    def read(cls, text: str) -> Self:
        """The parts of a key, as ``written`` puts them together."""
        head, kind, memory_id = ["", "", *text.rsplit(":", 2)][-3:]
        place, step, undoes, number = [*head.split("~"), "", "", ""][:4]
        return cls(
            text=text,
            place=place,
            step=step,
            undoes=undoes,
            number=int(number or 0),
            kind=kind,
            memory_id=memory_id,
        )

    @property
    def written_at(self) -> int:
        """When it was written, in nanoseconds since the epoch, else 0."""
        return int(self.place[:_DIGITS_OF_TIME] or 0)

    @staticmethod
    def written(place: str, number: int, entry: AuditEntry) -> str:
        """The key of a change at a place, with the number by which its user names it."""
        undone = ChangeKey.read(entry.undoes).place
        return f"{place}~{entry.step}~{undone}~{number}:{entry.kind}:{entry.memory_id}"


# Adds changes of a user at an epoch second to the audit; raises nothing.
RecordChanges = Callable[[str, Sequence[AuditEntry], int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class AuditTable(EntryTable):
    """The changes of each store: a user's newest 10,000, for 400 days.

    A log that is full holds some more until it is trimmed, now and then.
    """

    _untrimmed: UserCache[int] = field(
        default_factory=lambda: UserCache[int](_COUNTED_USERS)
    )

    async def keys(self, user_id: str, since: float = 0.0) -> list[ChangeKey]:
        """The keys of a user's changes since an epoch second, the newest first."""
        first = f"{int(since * 1e9):0{_DIGITS_OF_TIME}}"
        keys = await self.entries.keys("audit", user_id, first)
        return list(map(ChangeKey.read, keys))

    async def read(
        self, user_id: str, keys: Sequence[str]
    ) -> tuple[AuditEntry, ...]:
        """The changes of these keys, the newest first."""
        entries = await self.entries.read("audit", user_id, keys)
        newest_first = sorted(
            entries, key=lambda entry: entry.key, reverse=True
        )
        keyed = [
            replace(one, body={**one.body, "key": one.key})
            for one in newest_first
        ]
        return read_as(AuditEntry, keyed)

    async def append(
        self, user_id: str, changes: Sequence[AuditEntry], now: int
    ) -> None:
        """Add changes in the order in which they were made."""
        newest = await self._newest(user_id)
        first_number = newest.number + 1
        # Behind the newest, whose worker's clock may be ahead of ours.
        written_at = max(time.time_ns(), newest.written_at + 1)
        new: list[Entry] = []
        for at, change in enumerate(changes):
            place = f"{written_at:0{_DIGITS_OF_TIME}}{at:04}"
            entry = Entry(
                key=ChangeKey.written(place, first_number + at, change),
                body=asdict(change),
                created_at=change.changed_at,
                chat_id=change.chat_id,
                message_id=change.message_id,
                expires_at=now + YEAR_SECONDS,
            )
            new.append(entry)
        untrimmed = self._untrimmed.get((user_id,))
        untrimmed = len(new) + (
            _TRIMMED_EACH if untrimmed is None else untrimmed
        )
        is_due = untrimmed >= _TRIMMED_EACH
        await self.entries.put(
            "audit", user_id, new, _MOST_ENTRIES if is_due else 0
        )
        self._untrimmed.put((user_id,), 0 if is_due else untrimmed)

    async def _newest(self, user_id: str) -> ChangeKey:
        """The key of a user's newest change; of a log without numbers its length is the number."""
        texts = await self.entries.keys("audit", user_id, most=1)
        newest = ChangeKey.read("".join(texts))
        if newest.text and not newest.number:
            length = len(await self.entries.keys("audit", user_id))
            return replace(newest, number=length)
        return newest


class AuditTrail:
    """An audit table that may fail: a failure is logged, none is raised."""

    def __init__(self, table: AuditTable) -> None:
        self._table = table
        self.keys = table.keys
        self.read = table.read

    async def record(
        self, user_id: str, changes: Sequence[AuditEntry], now: int
    ) -> None:
        """Add changes that were made, in their order; ``now`` is in epoch seconds."""
        try:
            await self._table.append(
                user_id, list(map(_secretless, changes)), now
            )
        except TablesUnavailable as error:
            log_audit.warning(
                "changes are not written down: %s", with_detail(error)
            )


def _secretless(change: AuditEntry) -> AuditEntry:
    """A change without secrets; a row that held one, from another tool, can't be put back."""
    bare = replace(change, after=without_secrets(change.after))
    before = change.before
    if before is None or not find_secrets(
        f"{before.stored[0]}\n{before.meta}"
    ):
        return bare
    content = without_secrets(before.content)
    masked = replace(
        before, content=content, meta={}, stored=(content, None, None)
    )
    return replace(bare, before=masked, archived=None)
