"""The log of a user's store: each change with what it replaced, numbered for good.

Changes that were made together are a step, which is taken back as a whole.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, field, replace
from typing import Literal, Self

from adaptive.core import (
    Memory,
    MemoryStore,
    Provenance,
    TablesUnavailable,
    frozen,
    log_failure,
)
from adaptive.memory.gate import Gate
from adaptive.memory.tables import (
    YEAR_SECONDS,
    ArchivedMemory,
    ArchiveTable,
    Entry,
    EntryTable,
    bodies_by_key,
)
from adaptive.privacy import find_secrets, without_secrets

# A place begins with nanoseconds since the epoch.
_DIGITS_OF_TIME = 20

_NOWHERE = Provenance("", "", 0)

_Learned = Literal["saved", "updated", "deleted", "ended", "refused"]
ChangeKind = Literal[
    _Learned,
    "quieted",
    "pruned",
    "summarised",
    "restored",
    "imported",
    "undone",
]


def _now() -> int:
    return int(time.time())


@frozen
class AuditEntry:
    """One change of a user's store: the row as it was, and the content that it has since.

    Without ``before`` the row is new, without ``after`` it is gone. ``archived`` is what went into
    the archive with it, or came out of it where there is no ``before``. Changes of one ``step`` are
    taken back together, and ``undoes`` is the ``key`` of the change that this one takes back. What
    is ``refused`` is no change: it names no memory, and says why alone.
    """

    kind: ChangeKind
    memory_id: str
    changed_at: int = field(default_factory=_now)
    before: Memory | None = None
    after: str = ""
    reason: str = ""
    chat_id: str = ""
    message_id: str = ""
    archived: ArchivedMemory | None = None
    step: str = ""
    undoes: str = ""
    key: str = ""


@frozen
class ChangeKey:
    """What the key of a change tells without its sealed text.

    Keys are in the order of writing, by their ``place``; ``undoes`` is the place of the change that
    this one takes back.
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
        """The parts of a key, as ``written`` puts them together; without a text all are empty."""
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

    @staticmethod
    def written(place: str, number: int, entry: AuditEntry) -> str:
        """The key of a change at a place, with the number by which its user names it."""
        undone = ChangeKey.read(entry.undoes).place
        return f"{place}~{entry.step}~{undone}~{number}:{entry.kind}:{entry.memory_id}"


class AuditTable(EntryTable):
    """The changes of each store, for 400 days."""

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
        changes = bodies_by_key(AuditEntry, entries)
        return tuple(replace(changes[key], key=key) for key in changes)

    async def record(
        self, user_id: str, changes: Sequence[AuditEntry]
    ) -> None:
        """Add changes in the order in which they were made; a failure is logged, none is raised."""
        try:
            await self._append(user_id, map(_secretless, changes))
        except TablesUnavailable as error:
            log_failure("changes are not written down", error)

    async def _append(
        self, user_id: str, changes: Iterable[AuditEntry]
    ) -> None:
        texts = await self.entries.keys("audit", user_id, most=1)
        newest = ChangeKey.read("".join(texts))
        # Behind the newest, whose worker's clock may be ahead of ours.
        after_newest = int(newest.place[:_DIGITS_OF_TIME] or 0) + 1
        written_at = max(time.time_ns(), after_newest)
        number = newest.number
        new: list[Entry] = []
        for at, change in enumerate(changes):
            number += 1
            place = f"{written_at:0{_DIGITS_OF_TIME}}{at:04}"
            entry = Entry(
                key=ChangeKey.written(place, number, change),
                body=asdict(change),
                created_at=change.changed_at,
                chat_id=change.chat_id,
                message_id=change.message_id,
                expires_at=change.changed_at + YEAR_SECONDS,
            )
            new.append(entry)
        await self.entries.put("audit", user_id, new)


def _secretless(change: AuditEntry) -> AuditEntry:
    """A change without secrets; a row that held one, from another tool, can't be put back."""
    change = replace(change, after=without_secrets(change.after))
    before = change.before
    # Ids and digests in a row's meta look as made by chance as a secret does.
    if before is None or not find_secrets(
        f"{before.stored}\n{before.topics}\n{before.meta.get('history')}"
    ):
        return change
    content = without_secrets(before.content)
    masked = replace(
        before, content=content, meta={}, stored=(content, None, None)
    )
    return replace(change, before=masked, archived=None)


@frozen
class Step:
    """Changes that were made together, by their keys, the newest first.

    ``standing`` are those in effect. Its ``number`` is that of its first change, by which the user
    names it. ``latest`` are the keys of changes after which their memories were not changed again,
    but for what was taken back, as far as it was written down.
    """

    number: int
    changes: tuple[ChangeKey, ...]
    standing: tuple[ChangeKey, ...]
    latest: frozenset[str]

    @property
    def is_undo(self) -> bool:
        """Whether it took another one back."""
        return bool(self.changes[0].undoes)


def steps_of(keys: Sequence[ChangeKey]) -> list[Step]:
    """The steps of a log whose keys these are, the newest first."""
    undone: set[str] = set()
    latest: set[str] = set()
    # By memory the place down to which its changes are void: an undo's, or none's.
    void_until: dict[str, str] = {}
    changes: dict[str, list[ChangeKey]] = {}
    for key in keys:
        # What undoes it is newer, and so was seen before.
        if key.undoes and key.place not in undone:
            undone.add(key.undoes)
        if key.memory_id:
            place = void_until.get(key.memory_id, "")
            if not place:
                latest.add(key.text)
                void_until[key.memory_id] = key.undoes or key.text
            elif place == key.place:
                void_until[key.memory_id] = ""
            changes.setdefault(key.step or key.place, []).append(key)
    numbers: dict[str, int] = {}
    number = 0
    for key in reversed(keys):
        # Two workers that write at the same time give the same one.
        number = max(key.number, number + 1)
        numbers[key.text] = number
    return [
        Step(
            number=numbers[together[-1].text],
            changes=tuple(together),
            standing=tuple(key for key in together if key.place not in undone),
            latest=frozenset(latest),
        )
        for together in changes.values()
    ]


@frozen
class UserStore:
    """One user's store and its gate, with archive and log.

    Nothing here holds the user's lock: whoever changes something goes through ``UserMemory``.
    """

    user_id: str
    store: MemoryStore
    gate: Gate
    archive: ArchiveTable
    trail: AuditTable

    async def record(
        self, *changes: AuditEntry, source: Provenance = _NOWHERE
    ) -> None:
        """Write down changes from a message, in their order, as far as the log can be written."""
        said = [
            replace(
                change,
                chat_id=source.chat_id,
                message_id=source.message_id,
                step=change.step or source.step,
            )
            for change in changes
        ]
        await self.trail.record(self.user_id, said)

    async def steps(self) -> list[Step]:
        """What was changed, the newest step first; may raise ``TablesUnavailable``."""
        # In a thread: a full log takes longer than others may wait.
        return await asyncio.to_thread(
            steps_of, await self.trail.keys(self.user_id)
        )

    async def changes(
        self, keys: Sequence[ChangeKey]
    ) -> tuple[AuditEntry, ...]:
        """Changes of the log, the newest first; may raise ``TablesUnavailable``."""
        return await self.trail.read(self.user_id, [key.text for key in keys])
