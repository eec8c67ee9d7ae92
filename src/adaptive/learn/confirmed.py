"""Deleting what the user was asked about."""

from __future__ import annotations

from adaptive.learn.apply import apply_operations, audit_entries
from adaptive.learn.deletion import DeletionCause, answered_deletions, ask_deletions
from adaptive.learn.lesson import Classroom
from adaptive.learn.report import report_line
from adaptive.model import Memory, Turn
from adaptive.ports import Dialog
from adaptive.settings import Settings


async def delete_confirmed(
    room: Classroom,
    turn: Turn,
    settings: Settings,
    dialog: Dialog,
    memories: tuple[Memory, ...],
    cause: DeletionCause,
) -> str:
    """Ask whether memories shall go, delete those that the user names, and tell what was done.

    Raises:
        HostError: the memories can't be read.
    """
    question, answer = await ask_deletions(dialog, memories, cause)
    async with room.writing:
        index = await room.indexes.current(room.sources, settings.index_cache_bytes, patience=0)
        current = {memory.id: memory for memory in index.memories}
        answered = answered_deletions(question, answer, current)
        applied = await apply_operations(
            answered.operations, index.memories, room.sources.store, turn.source, _nobody_else
        )
        now = int(room.clock())
        entries = audit_entries(applied, turn.source, now)
        await room.storeroom.trail.record(turn.user_id, entries, now)
    return report_line([*applied, *answered.outcomes])


async def _nobody_else() -> bool:
    """The answer is given to this worker alone."""
    return True
