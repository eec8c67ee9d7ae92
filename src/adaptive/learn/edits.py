"""What a message taught before its user edited it, and says no more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set

from adaptive.core.markdown import clipped_line
from adaptive.core.model import Memory, Turn
from adaptive.learn.grounding import says_no_more
from adaptive.learn.lesson import LessonResources
from adaptive.memory.audit import ChangeKey
from adaptive.search.index import MemoryIndex
from adaptive.settings.hook import Hook

CHANGED_MESSAGE = "You changed that message. Only its former words said:"
_HOW_TO_TAKE_BACK = "You changed that message; /forget with a few words takes back what it said: "
_LONGEST_SHOWN = 120


def how_to_take_back(memories: Sequence[Memory]) -> str:
    """The line for a user who can't be asked about memories of a former version."""
    shown = clipped_line(memories[0].content, _LONGEST_SHOWN)
    more = f" and {len(memories) - 1} more" if len(memories) > 1 else ""
    return f"{_HOW_TO_TAKE_BACK}{shown}{more}"


async def said_before_edit(room: LessonResources, turn: Turn, hook: Hook) -> tuple[Memory, ...]:
    """Memories that only former versions of a message bear out, once it has been learned.

    Whoever edits a message makes another one of the same parent. The host is asked for those only
    where something was learned in this chat from a message that is not of this branch.

    Raises:
        HostError: our tables or the chat can't be read.
    """
    # The hook may be of another turn, which has found this one waiting.
    if turn.kind != "saved" or hook.question_id != turn.source.message_id:
        return ()
    index = await room.index()
    taught = await _taught_by(room, index, turn.source.chat_id)
    elsewhere = taught.keys() - {turn.source.message_id, *hook.state.get("branch", [])}
    if not elsewhere:
        return ()
    former = await hook.former_versions()
    ids = {memory_id for message_id in elsewhere & former for memory_id in taught[message_id]}
    # What the new words say as well is true, though the lesson had nothing to add to it.
    return tuple(
        memory
        for memory in index.memories
        if memory.id in ids and not says_no_more(memory.content, [turn.words])
    )


async def _taught_by(
    room: LessonResources, index: MemoryIndex, chat_id: str
) -> Mapping[str, Set[str]]:
    """The memories of a chat by the message that each rests on; up to 0.9 the audit alone tells."""
    taught = defaultdict[str, set[str]](set)
    for memory in index.memories:
        if memory.meta.get("chat_id") == chat_id:
            taught[str(memory.meta.get("message_id") or "")].add(memory.id)
    if not index.memories or any(memory.meta for memory in index.memories):
        return taught
    newest: dict[str, ChangeKey] = {}
    for key in await room.memory.trail.keys(room.memory.user_id):
        if key.memory_id in index.places and key.kind in ("saved", "updated"):
            newest.setdefault(key.memory_id, key)
    for change in await room.memory.changes([*newest.values()]):
        if change.chat_id == chat_id:
            taught[change.message_id].add(change.memory_id)
    return taught
