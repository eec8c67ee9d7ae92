"""What was changed in a user's store, step by step, and taking it back exactly."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from adaptive.core.errors import WriteRefused
from adaptive.core.model import Memory
from adaptive.core.ports import MemoryStore
from adaptive.privacy.gate import AuditTrail
from adaptive.privacy.kept import ArchiveTable, AuditEntry, UsageTable


@dataclass(frozen=True, slots=True)
class UserStore:
    """One user's store, and the tables that stand behind it."""

    user_id: str
    store: MemoryStore
    archive: ArchiveTable
    usage: UsageTable
    trail: AuditTrail


@dataclass(frozen=True, slots=True)
class Step:
    """Changes that were made together, the newest first; ``standing`` are those in effect.

    Its ``number`` is the place of its first change in the log, so that it stays while others come.
    """

    number: int
    changes: tuple[AuditEntry, ...]
    standing: tuple[AuditEntry, ...]

    @property
    def is_undo(self) -> bool:
        """Whether it took another one back."""
        return bool(self.changes[0].undoes)


async def read_steps(user: UserStore) -> list[Step]:
    """A user's steps, the newest first; may raise ``TablesUnavailable``."""
    entries = await user.trail.read(user.user_id)
    undone: set[str] = set()
    changes: dict[str, list[AuditEntry]] = {}
    numbers: dict[str, int] = {}
    for number, entry in zip(range(len(entries), 0, -1), entries, strict=True):
        # What undoes it is newer, and so was seen before.
        if entry.undoes and entry.key not in undone:
            undone.add(entry.undoes)
        if entry.memory_id:
            name = entry.step or entry.key
            changes.setdefault(name, []).append(entry)
            numbers[name] = number
    return [
        Step(
            number=numbers[name],
            changes=tuple(together),
            standing=tuple(one for one in together if one.key not in undone),
        )
        for name, together in changes.items()
    ]


async def take_back(user: UserStore, step: Step) -> list[AuditEntry]:
    """Take a step back, the newest of its changes first; the changes that this made.

    Raises:
        WriteRefused: a memory was changed since, and nothing is written; or it may stand no more.
        HostError: a write has failed; what was taken back before it stays so.
    """
    rows = {row.id: row for row in await user.store.read()}
    planned: list[tuple[AuditEntry, Memory | None]] = []
    for change in step.standing:
        row, gone = rows.get(change.memory_id), False
        if change.before is not None and (put_away := change.archived) is not None:
            gone = not await user.archive.read(user.user_id, [put_away.memory.id])
        if gone or (row.content if row else "") != change.after:
            what = change.after or (change.before.content if change.before else "a memory")
            raise WriteRefused(f"\u201c{what}\u201d has been changed since")
        planned.append((change, row))
    made: list[AuditEntry] = []
    now = int(time.time())
    together = f"undo-{time.time_ns()}" if len(planned) > 1 else ""
    try:
        for change, row in planned:
            back = await _written_back(user, change, row)
            content = back.content if back else ""
            told = AuditEntry("undone", change.memory_id, now, row, content)
            made.append(replace(told, archived=change.archived, step=together, undoes=change.key))
    finally:
        await user.trail.record(user.user_id, made, now)
    return made


async def _written_back(user: UserStore, change: AuditEntry, row: Memory | None) -> Memory | None:
    """Make one change undone; the row as it stands then."""
    if change.before is not None:
        back = await user.store.put_back(change.before)
        if change.archived is not None:
            await user.archive.discard(user.user_id, [change.archived.memory.id])
        return back
    if change.archived is not None:
        await user.archive.put(user.user_id, [change.archived])
    if row is not None:
        await user.store.delete(row)
    return None
