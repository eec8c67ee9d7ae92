"""Restoring what was archived, where a user asks for it and confirms it in the page.

Nothing comes back that would say a fact twice: what the store says already, and what a summary
stands for. Nor does more than the store has room for: it would only be archived again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from adaptive.errors import AdaptiveMemoryError
from adaptive.host.dialog import PageDialog
from adaptive.host.hook import Hook
from adaptive.learn.archive import UserStore, restore_memory
from adaptive.learning import Learning
from adaptive.model import ConversationKind, Memory
from adaptive.plain_markdown import clipped_line
from adaptive.privacy.origin import made_of
from adaptive.search.tokens import comparable
from adaptive.table_ports import ArchivedMemory

# The host reads the whole store for each row that is written and read back.
MOST_RESTORED_AT_ONCE = 50
_MOST_NAMED = 10
_LONGEST_NAMED = 120


class Restoring:
    """Asks and restores; nothing in it belongs to one user.

    ``kind_of`` tells the kind of a hook's conversation, by the host unless a test says otherwise.
    """

    def __init__(
        self,
        learning: Learning,
        kind_of: Callable[[Hook], Awaitable[ConversationKind]] = Hook.kind,
    ) -> None:
        self._learning, self._kind_of = learning, kind_of

    async def restore(self, hook: Hook) -> str:
        """Bring back what is archived of a hook's user once it is confirmed; what to tell of it.

        That is nothing in a chat that somebody else owns: other people read it.

        Raises:
            HostError: the store or the archive can't be read; nothing is restored.
        """
        if hook.told_kind == "temporary":
            return "Nothing restored: ask for it in a chat that is not temporary"
        if hook.told_kind != "saved" or hook.caller is None:
            return "Nothing restored: you can be asked in a chat of the page only"
        if await self._kind_of(hook) != "saved":
            return ""
        room = await self._learning.storeroom(hook)
        archived = await room.archive.read(room.user_id)
        rows = await room.store.read() if archived else ()
        chosen, staying = plan_restoration(archived, rows, hook.settings.max_total_memories)
        if not chosen:
            return " ".join(["Nothing restored.", *staying]) if staying else "Nothing is archived"
        await self._learning.tell(hook, "You are asked before anything is restored")
        coming = f"This would come back from the archive: {_memories_counted(len(chosen))}."
        question = "\n\n".join([coming, named_memories(chosen), *staying])
        answer = await PageDialog(hook.caller).confirm("Restore archived memories?", question)
        if answer != "yes":
            why = "you did not confirm it" if answer == "no" else "the question was not answered"
            return f"Nothing restored: {why}"
        ids = [memory.id for memory in chosen]
        count, failed = await bring_back(room, ids, self._learning.writing)
        line = f"Restored: {_memories_counted(count)}." if count else "Nothing restored."
        told = [f"Not restored, still archived: {', '.join(failed)}."] if failed else []
        return " ".join([line, *told, *staying])


def plan_restoration(
    archived: Sequence[ArchivedMemory], rows: Sequence[Memory], limit: int
) -> tuple[list[Memory], list[str]]:
    """What would come back into a store of these rows, and a sentence for each reason why not all.

    The last archived come first, of the same time the most important. ``limit`` is
    ``max_total_memories``, 0 for none.
    """
    said = {comparable(row.content) for row in rows}
    absent: list[ArchivedMemory] = []
    for one in sorted(archived, key=lambda one: (-one.archived_at, -one.memory.importance)):
        if (words := comparable(one.memory.content)) not in said:
            said.add(words)
            absent.append(one)
    # A summary that was archived itself comes back in the place of its originals.
    everything = (*rows, *(one.memory for one in absent))
    stood_for = {id for memory in everything for id in made_of(memory)}
    single = [
        one.memory
        for one in absent
        if one.memory.id not in stood_for
        if not one.summary or comparable(one.summary) not in said
    ]
    fitting = single[: max(limit - len(rows), 0)] if limit else single
    chosen = fitting[:MOST_RESTORED_AT_ONCE]
    reasons = (
        (len(single) - len(fitting), f"the limit is {_memories_counted(limit)}"),
        (len(fitting) - len(chosen), f"at most {MOST_RESTORED_AT_ONCE} come back at once"),
        (len(absent) - len(single), "a summary says the same, as long as it is not deleted"),
    )
    return chosen, [f"Still archived: {number} ({why})." for number, why in reasons if number]


async def bring_back(
    room: UserStore, memory_ids: Sequence[str], writing: asyncio.Semaphore
) -> tuple[int, list[str]]:
    """Restore archived memories, ``writing`` held for each alone: how many, and what failed.

    Raises nothing of ours: what fails stays in the archive.
    """
    restored, failed = 0, dict[str, None]()
    for memory_id in memory_ids:
        try:
            async with writing:
                restored += await restore_memory(room, memory_id, int(time.time())) is not None
        except AdaptiveMemoryError as error:
            failed[str(error)] = None
    return restored, list(failed)


def named_memories(memories: Sequence[Memory]) -> str:
    """The first ten memories for a question, one line each, and how many more there are."""
    named = [f"- {clipped_line(one.content, _LONGEST_NAMED)}" for one in memories[:_MOST_NAMED]]
    more = len(memories) - _MOST_NAMED
    return "\n".join([*named, *([f"… and {more} more"] if more > 0 else [])])


def _memories_counted(number: int) -> str:
    return f"{number} {'memory' if number == 1 else 'memories'}"
