"""Asking before memories are deleted, and reading what the user answers.

Words have to be typed: in the page the Enter key confirms a plain question, and whoever is typing
the next message when it opens would delete by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adaptive.learn.apply import apply_operations, audit_entries
from adaptive.learn.lesson import LessonResources
from adaptive.learn.queue import always
from adaptive.learn.report import report_line
from adaptive.model import Memory, Operation, Outcome, Turn
from adaptive.plain_markdown import clipped_line
from adaptive.ports import Dialog
from adaptive.settings import Settings

_MOST_ASKED_ABOUT = 10
_LONGEST_SHOWN = 120

UNANSWERED = "the question was not answered"
DECLINED = "you did not confirm it"
CHANGED_MEANWHILE = "it changed while you were asked"


def deletion_question(memories: Sequence[Memory]) -> tuple[str, str, str]:
    """Title, message and hint of a question about deletions, as plain text.

    At most ten memories are shown, each shortened to one line.
    """
    shown = [
        f"{number}. {clipped_line(memory.content, _LONGEST_SHOWN)}"
        for number, memory in enumerate(memories[:_MOST_ASKED_ABOUT], 1)
    ]
    if len(memories) > _MOST_ASKED_ABOUT:
        shown.append(f"… and {len(memories) - _MOST_ASKED_ABOUT} more")
    how = 'Type "all" to delete all of it, or the numbers of what to delete, as "1 3". '
    parts = ["Your message would delete:", "\n".join(shown), how + "Anything else deletes nothing."]
    return "Delete memories?", "\n\n".join(parts), "all, or 1 3"


def answered_deletions(
    memories: Sequence[Memory], answer: str | None, current: Mapping[str, str]
) -> tuple[list[Operation], list[Outcome]]:
    """The deletions that an answer allows, and the outcomes of the others; ``None`` is no answer.

    ``current`` is what the memories say now, by id: only what still says what was asked about may
    go. Nothing is deleted on an answer that is not wholly understood.
    """
    chosen = _chosen(memories, answer or "")
    declined = UNANSWERED if answer is None else DECLINED
    kept = [Outcome("kept", one.content, declined) for one in memories if one not in chosen]
    allowed = [one for one in chosen if current.get(one.id) == one.content]
    changed = [current[one.id] for one in chosen if one not in allowed and one.id in current]
    kept += [Outcome("kept", content, CHANGED_MEANWHILE) for content in changed]
    return [Operation("DELETE", one.id) for one in allowed], kept


def _chosen(memories: Sequence[Memory], answer: str) -> list[Memory]:
    """What an answer chooses; nothing where any of it is not understood."""
    words = set(answer.casefold().replace(",", " ").split())
    if words == {"all"}:
        return list(memories)
    numbered = {str(n): one for n, one in enumerate(memories[:_MOST_ASKED_ABOUT], 1)}
    chosen = [one for number, one in numbered.items() if number in words]
    return chosen if numbered.keys() >= words else []


async def delete_confirmed(
    room: LessonResources,
    turn: Turn,
    settings: Settings,
    dialog: Dialog,
    memories: Sequence[Memory],
) -> str:
    """Ask whether memories shall go, delete those that the user names, and tell what was done.

    Nothing is locked while the user thinks, so the memories are read again after it.

    Raises:
        HostError: the memories can't be read.
    """
    answer = await dialog.ask(*deletion_question(memories))
    async with room.writing:
        index = await room.indexes.current(room.sources, settings.index_cache_bytes, patience=0)
        current = {memory.id: memory.content for memory in index.memories}
        allowed, kept = answered_deletions(memories, answer, current)
        now = int(room.clock())
        applied = await apply_operations(
            allowed, index.memories, room.storeroom, turn.source, always, now
        )
        entries = audit_entries(applied, turn.source, now)
        await room.storeroom.trail.record(turn.user_id, entries, now)
    return report_line([*applied, *kept])
