"""Doing what the user was asked about: deleting memories, and saving proposed ones."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from adaptive.learn.admission import admitted
from adaptive.learn.apply import apply_operations, audit_entries
from adaptive.learn.deletion import DeletionCause, answered_deletions, ask_deletions
from adaptive.learn.lesson import Classroom, sift_operations, write_extraction
from adaptive.learn.operations import Extraction
from adaptive.learn.report import report_line
from adaptive.model import Draft, Memory, Operation, Outcome, Turn
from adaptive.ports import Dialog
from adaptive.privacy.policy import gate_policy
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


async def proposed_draft(
    room: Classroom, turn: Turn, draft: Draft, settings: Settings
) -> tuple[Draft | None, tuple[Outcome, ...]]:
    """A draft as it may be proposed to the user: what is known or refused is told with its reason.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        HostError: the memories can't be read.
    """
    found = await _admitted_draft(draft, turn.words, settings)
    if not found.operations:
        return None, found.refused
    sifted = await sift_operations(room, turn, found.operations, settings)
    kept = found.operations[0].draft if sifted.operations else None
    return kept, (*sifted.known, *sifted.refused)


async def save_confirmed(
    room: Classroom,
    turn: Turn,
    settings: Settings,
    draft: Draft,
    still_wanted: Callable[[], Awaitable[bool]],
) -> tuple[Outcome, ...]:
    """Save what the user has said yes to, through every check that a lesson makes.

    ``still_wanted`` is asked right before it is written.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        LeaseLost: it is wanted no more.
        HostError: the memories can't be read.
    """
    found = await _admitted_draft(draft, turn.words, settings)
    outcomes, _ = await write_extraction(room, turn, found, settings, still_wanted)
    return (*outcomes, *found.refused)


async def _admitted_draft(draft: Draft, words: str, settings: Settings) -> Extraction:
    found = Extraction((Operation("NEW", draft=draft),), ())
    return await asyncio.to_thread(admitted, found, (), words, gate_policy(settings))


async def _nobody_else() -> bool:
    """The answer is given to this worker alone."""
    return True
