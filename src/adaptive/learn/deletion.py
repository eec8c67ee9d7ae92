"""Asking before memories are deleted, and reading what the user answers.

Words have to be typed: in the page the Enter key confirms a plain question, and whoever is typing
the next message when it opens would delete by it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from adaptive.learn.apply import apply_operations, audit_entries
from adaptive.learn.lesson import LessonResources
from adaptive.learn.report import report_line
from adaptive.model import Memory, Operation, Outcome, Turn
from adaptive.plain_markdown import clipped_line
from adaptive.ports import Dialog
from adaptive.settings import Settings

_MOST_ASKED_ABOUT = 10
_LONGEST_SHOWN = 120
_LONGEST_ANSWER = 200
# What is asked for, and what people type for it in other languages.
_ALL_TEXT = "all alle alles tout tous todo todos tudo tutto tutti все 全部 すべて"
_ALL_WORDS = frozenset(_ALL_TEXT.split())
_BETWEEN_PLACES = re.compile(r"[\s,;、，&+]+")  # noqa: RUF001 - commas of several scripts
_PLACES = re.compile(r"(\d{1,2})(?:[-–](\d{1,2}))?")  # noqa: RUF001 - either dash

UNANSWERED = "the question was not answered"
DECLINED = "you did not confirm it"
NOT_UNDERSTOOD = "the answer was not understood"
NOT_CHOSEN = "as you chose"
CHANGED_MEANWHILE = "it changed while you were asked"


def deletion_question(memories: Sequence[Memory]) -> tuple[str, str, str]:
    """Title, message and hint of a question about deletions, as plain text.

    At most ten memories are shown, each shortened to one line.
    """
    count = len(memories)
    some, everything = "this memory", "it"
    if count > 1:
        some, everything = f"these {count} memories", f"all {count}"
    why = f"Your message would delete {some}:"
    shown = [
        f"{number}. {clipped_line(memory.content, _LONGEST_SHOWN)}"
        for number, memory in enumerate(memories[:_MOST_ASKED_ABOUT], 1)
    ]
    if count > _MOST_ASKED_ABOUT:
        shown.append(f"… and {count - _MOST_ASKED_ABOUT} more")
    or_some = ', or the numbers of those to delete, as "1 3"' if count > 1 else ""
    how = f'Type "all" to delete {everything}{or_some}. Anything else deletes nothing.'
    title = f"Delete {count} memories?" if count > 1 else "Delete this memory?"
    hint = "all, or 1 3" if count > 1 else "all"
    return title, "\n\n".join([why, "\n".join(shown), how]), hint


def answered_deletions(
    memories: Sequence[Memory], answer: str | None, current: Mapping[str, Memory]
) -> tuple[list[Operation], list[Outcome]]:
    """The deletions that an answer allows, and the outcomes of the others; ``None`` is no answer.

    ``memories`` are those asked about, and ``current`` are the memories as they stand now, by id:
    only what still says what was asked about may go. Nothing is deleted on an answer that is not
    wholly understood.
    """
    chosen = _chosen_places(len(memories), answer)
    reason = chosen if isinstance(chosen, str) else NOT_CHOSEN
    allowed: list[Operation] = []
    kept: list[Outcome] = []
    for place, memory in enumerate(memories):
        now = current.get(memory.id)
        if isinstance(chosen, str) or place not in chosen:
            kept.append(Outcome("kept", memory.content, reason))
        elif now is not None and now.content == memory.content:
            allowed.append(Operation("DELETE", memory.id))
        elif now is not None:
            kept.append(Outcome("kept", now.content, CHANGED_MEANWHILE))
    if (more := len(kept) - _MOST_ASKED_ABOUT) > 0:
        kept[_MOST_ASKED_ABOUT:] = [Outcome("kept", "", f"{more} more: {reason}")]
    return allowed, kept


def _chosen_places(count: int, answer: str | None) -> set[int] | str:
    """Places of the chosen memories, or the reason why none is."""
    if answer is None:
        return UNANSWERED
    said = answer[:_LONGEST_ANSWER].casefold().strip(" \n\"'“”.!。")
    if not said:
        return DECLINED
    if said in _ALL_WORDS or (count == 1 and said == "yes"):
        return set(range(count))
    chosen: set[int] = set()
    for word in _BETWEEN_PLACES.split(said):
        if word == "and":
            continue
        found = _PLACES.fullmatch(word)
        places = range(int(found[1]) - 1, int(found[2] or found[1])) if found else range(0)
        if not places or places[0] < 0 or places[-1] >= min(count, _MOST_ASKED_ABOUT):
            return NOT_UNDERSTOOD
        chosen.update(places)
    return chosen or NOT_UNDERSTOOD


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
        current = {memory.id: memory for memory in index.memories}
        allowed, kept = answered_deletions(memories, answer, current)
        now = int(room.clock())
        applied = await apply_operations(
            allowed, index.memories, room.storeroom, turn.source, _nobody_else, now
        )
        entries = audit_entries(applied, turn.source, now)
        await room.storeroom.trail.record(turn.user_id, entries, now)
    return report_line([*applied, *kept])


async def _nobody_else() -> bool:
    """The answer is given to this worker alone."""
    return True
