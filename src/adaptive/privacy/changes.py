"""What was changed in a user's store, step by step, and taking it back exactly."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from adaptive.core.errors import WriteRefused
from adaptive.core.model import Memory
from adaptive.core.ports import MemoryStore
from adaptive.privacy.gate import AuditTrail
from adaptive.privacy.kept import ArchiveTable, AuditEntry, ChangeKey, UsageTable


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
    """Changes that were made together, by their keys, the newest first.

    ``standing`` are those in effect. Its ``number`` is the place of its first change in the log, so
    that it stays while others come. ``latest`` are the keys of changes after which their memories
    were not changed again, as far as it was written down.
    """

    number: int
    changes: tuple[ChangeKey, ...]
    standing: tuple[ChangeKey, ...]
    latest: frozenset[str] = frozenset()

    @property
    def is_undo(self) -> bool:
        """Whether it took another one back."""
        return bool(self.changes[0].undoes)


@dataclass(frozen=True, slots=True)
class _PlannedUndo:
    """A change that is to be taken back, and the row as it stands."""

    change: AuditEntry
    row: Memory | None

    @property
    def is_undone(self) -> bool:
        """Whether the row says what it said before the change."""
        return _content(self.row) == _content(self.change.before)

    @property
    def is_untouched(self) -> bool:
        """Whether the row says what the change has made of it."""
        return _content(self.row) == self.change.after


async def read_steps(user: UserStore) -> list[Step]:
    """A user's steps, the newest first; no change is opened; may raise ``TablesUnavailable``."""
    # In a thread: a full log takes longer than others may wait.
    return await asyncio.to_thread(steps_of, await user.trail.keys(user.user_id))


def steps_of(keys: Sequence[ChangeKey]) -> list[Step]:
    """The steps of a log whose keys these are, the newest first."""
    undone: set[str] = set()
    changed: set[str] = set()
    latest: set[str] = set()
    changes: dict[str, list[ChangeKey]] = {}
    numbers: dict[str, int] = {}
    for number, key in zip(range(len(keys), 0, -1), keys, strict=True):
        # What undoes it is newer, and so was seen before.
        if key.undoes and key.place not in undone:
            undone.add(key.undoes)
        if not key.memory_id:
            continue
        if key.memory_id not in changed:
            changed.add(key.memory_id)
            latest.add(key.text)
        name = key.step or key.place
        changes.setdefault(name, []).append(key)
        numbers[name] = number
    return [
        Step(
            number=numbers[name],
            changes=tuple(together),
            standing=tuple(one for one in together if one.place not in undone),
            latest=frozenset(one.text for one in together if one.text in latest),
        )
        for name, together in changes.items()
    ]


async def read_changes(user: UserStore, keys: Sequence[ChangeKey]) -> tuple[AuditEntry, ...]:
    """Changes of a log, the newest first; may raise ``TablesUnavailable``."""
    return await user.trail.read(user.user_id, [one.text for one in keys])


async def _opened(user: UserStore, keys: Sequence[ChangeKey]) -> tuple[AuditEntry, ...]:
    """All of these changes; ``WriteRefused`` where another secret has sealed one."""
    changes = await read_changes(user, keys)
    if len(changes) < len(keys):
        raise WriteRefused("it was written down under another secret key of Open WebUI")
    return changes


async def check_unchanged(user: UserStore, step: Step, keys: Sequence[ChangeKey]) -> None:
    """Pass if these changes of a step can be taken back, else raise ``WriteRefused``."""
    await _planned(user, step, await _opened(user, keys))


async def take_back(
    user: UserStore, step: Step, keys: Sequence[ChangeKey], together: str = ""
) -> list[AuditEntry]:
    """Take up to 100 changes of a step back; the changes that this made, as one step by a name.

    What an undo that broke off has taken back, but not written down, counts as taken back now.

    Raises:
        WriteRefused: a memory was changed since, and nothing is written; or it may stand no more.
        HostError: a write has failed; the same may be tried again.
    """
    planned = await _planned(user, step, await _opened(user, keys))
    new = [one for one in planned if one.change.before is None]
    former = [one for one in planned if one.change.before is not None]
    filed = [one.change.archived for one in new if one.change.archived is not None]
    if filed:
        await user.archive.put(user.user_id, filed)
    going = [one.row for one in new if one.row is not None]
    if going:
        await user.store.delete(*going)
    coming = [
        one.change.before for one in former if one.change.before is not None and not one.is_undone
    ]
    back = {row.id: row for row in await user.store.put_back(*coming)} if coming else {}
    unfiled = [one.change.archived.memory.id for one in former if one.change.archived is not None]
    if unfiled:
        await user.archive.discard(user.user_id, unfiled)
    now = int(time.time())
    made: list[AuditEntry] = []
    for one in planned:
        change = one.change
        row = back.get(change.memory_id) or (one.row if change.before is not None else None)
        made.append(
            AuditEntry(
                kind="undone",
                memory_id=change.memory_id,
                changed_at=now,
                before=one.row if change.memory_id in back or change.before is None else None,
                after=_content(row),
                archived=change.archived,
                step=together,
                undoes=change.key,
            )
        )
    await user.trail.record(user.user_id, made, now)
    return made


async def _planned(
    user: UserStore, step: Step, changes: Sequence[AuditEntry]
) -> list[_PlannedUndo]:
    """Changes with the rows that they are about; ``WriteRefused`` where one was changed since."""
    rows = {row.id: row for row in await user.store.read([one.memory_id for one in changes])}
    put_away = [
        one.archived.memory.id
        for one in changes
        if one.before is not None and one.archived is not None
    ]
    archived = await user.archive.read(user.user_id, put_away) if put_away else ()
    still_archived = {one.memory.id for one in archived}
    planned = [_PlannedUndo(change, rows.get(change.memory_id)) for change in changes]
    for one in planned:
        change = one.change
        if one.is_undone and change.key in step.latest:
            continue
        coming_back = change.archived if change.before is not None else None
        is_filed = coming_back is None or coming_back.memory.id in still_archived
        if not is_filed or not one.is_untouched:
            # Without its words: not every chat's model may see them.
            raise WriteRefused("a memory of this change has been changed since")
    return planned


def _content(memory: Memory | None) -> str:
    return memory.content if memory is not None else ""
