"""Taking changes of a user's store back, exactly."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from adaptive.core.model import Memory, WriteRefused
from adaptive.memory.audit import AuditEntry, ChangeKey
from adaptive.memory.gate import draft_of
from adaptive.memory.steps import Step
from adaptive.memory.user_store import UserStore


@dataclass(frozen=True, slots=True)
class _PlannedUndo:
    """A change that is to be taken back, and the row as it stands."""

    change: AuditEntry
    row: Memory | None

    @property
    def is_undone(self) -> bool:
        """Whether the row says what it said before the change; if the words stayed, all of it."""
        row = self.row
        before = self.change.before
        if (
            row is not None
            and before is not None
            and before.content == self.change.after
        ):
            return draft_of(row) == draft_of(before)
        return _content(row) == _content(before)

    @property
    def is_untouched(self) -> bool:
        """Whether the row says what the change has made of it."""
        return _content(self.row) == self.change.after

    @property
    def former(self) -> Memory | None:
        """The row that is to be put back, if any."""
        return None if self.is_undone else self.change.before


async def check_undo(
    user: UserStore, step: Step, keys: Sequence[ChangeKey]
) -> None:
    """Pass if these changes of a step can be taken back, else raise ``WriteRefused``."""
    await _planned(user, step, keys)


async def take_back(
    user: UserStore, step: Step, keys: Sequence[ChangeKey], together: str = ""
) -> list[AuditEntry]:
    """Take a portion of a step's changes back; the changes that this made, as one step by a name.

    What an undo that broke off has taken back, but not written down, counts as taken back now.

    Raises:
        WriteRefused: a memory was changed since, or what was there may stand no more; nothing is
            written.
        HostError: a write has failed; the same may be tried again.
    """
    planned = await _planned(user, step, keys)
    added = [one for one in planned if one.change.before is None]
    refiled = [
        one.change.archived for one in added if one.change.archived is not None
    ]
    if refiled:
        await user.archive.put(user.user_id, refiled)
    going = [one.row for one in added if one.row is not None]
    if going:
        await user.store.delete(*going)
    coming = [one.former for one in planned if one.former is not None]
    back = (
        {row.id: row for row in await user.store.put_back(*coming)}
        if coming
        else {}
    )
    unfiled = [
        one.change.archived.memory.id
        for one in planned
        if one.change.before is not None and one.change.archived is not None
    ]
    if unfiled:
        await user.archive.discard(user.user_id, unfiled)
    now = int(time.time())
    made: list[AuditEntry] = []
    for one in planned:
        change = one.change
        is_added = change.before is None
        standing = None if is_added else one.row
        entry = AuditEntry(
            kind="undone",
            memory_id=change.memory_id,
            changed_at=now,
            before=one.row if is_added or change.memory_id in back else None,
            after=_content(back.get(change.memory_id, standing)),
            archived=change.archived,
            step=together,
            undoes=change.key,
        )
        made.append(entry)
    await user.trail.record(user.user_id, made, now)
    return made


async def _planned(
    user: UserStore, step: Step, keys: Sequence[ChangeKey]
) -> list[_PlannedUndo]:
    """Changes with the rows that they are about, none of which is against taking them back.

    Raises:
        WriteRefused: another secret has sealed a change, its memory was changed since, or what was
            there before may not be written today.
    """
    changes = await user.changes(keys)
    if len(changes) < len(keys):
        raise WriteRefused(
            "it was written down under another secret key of Open WebUI"
        )
    rows = {
        row.id: row
        for row in await user.store.read([one.memory_id for one in changes])
    }
    put_away = [
        one.archived.memory.id
        for one in changes
        if one.before is not None and one.archived is not None
    ]
    archived = (
        await user.archive.read(user.user_id, put_away) if put_away else ()
    )
    still_archived = {one.memory.id for one in archived}
    planned = [
        _PlannedUndo(change, rows.get(change.memory_id)) for change in changes
    ]
    for one in planned:
        change = one.change
        if one.is_undone and change.key in step.latest:
            continue
        coming_back = change.archived if change.before is not None else None
        is_filed = (
            coming_back is None or coming_back.memory.id in still_archived
        )
        if not is_filed or not one.is_untouched:
            # Without its words: not every chat's model may see them.
            raise WriteRefused(
                "a memory of this change has been changed since"
            )
    coming = [one.former for one in planned if one.former is not None]
    await user.store.require_allowed(*coming)
    return planned


def _content(memory: Memory | None) -> str:
    return memory.content if memory is not None else ""
