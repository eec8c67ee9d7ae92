"""Restoring what was archived, where a user asks for it and confirms it in the page.

Nothing comes back that would say a fact twice: what the store says already, and what a summary
stands for. Nor does more than the store has room for: it would only be archived again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from adaptive.core.errors import AdaptiveMemoryError
from adaptive.core.markdown import clipped_line
from adaptive.core.model import Memory
from adaptive.core.table_ports import ArchivedMemory
from adaptive.privacy.origin import made_of
from adaptive.search.tokens import comparable
from adaptive.settings.hook import Hook

# The host reads the whole store for each row that is written and read back.
MOST_RESTORED_AT_ONCE = 50
_MOST_NAMED = 10
_LONGEST_NAMED = 120


class Learner(Protocol):
    """Who writes memories, as far as a user's own requests need it."""

    @property
    def writing(self) -> asyncio.Semaphore:
        """Held by whoever writes: one at a time in this process."""
        ...

    async def tell(self, hook: Any, line: str) -> None:
        """Show a line with the answer."""
        ...

    async def storeroom(self, hook: Any) -> Any:
        """The user's ``store``, and the ``archive`` beside it."""
        ...


class Restoring:
    """Asks and restores; nothing in it belongs to one user.

    ``restore_memory`` writes the archived memory of an id back at a time, if there is one.
    """

    def __init__(
        self, learner: Learner, restore_memory: Callable[[Any, str, int], Awaitable[Memory | None]]
    ) -> None:
        self._learner, self._restore_memory = learner, restore_memory

    async def restore(self, hook: Hook) -> str:
        """Bring back what is archived of a hook's user once it is confirmed; what to tell of it.

        That is nothing in a chat that somebody else owns: other people read it.

        Raises:
            HostError: the store or the archive can't be read; nothing is restored.
        """
        if hook.told_kind == "temporary":
            return "Nothing restored: ask for it in a chat that is not temporary"
        if hook.told_kind != "saved" or not hook.can_ask:
            return "Nothing restored: you can be asked in a chat of the page only"
        if await hook.kind() != "saved":
            return ""
        room = await self._learner.storeroom(hook)
        archived = await room.archive.read(hook.user_id)
        rows = await room.store.read() if archived else ()
        chosen, staying = plan_restoration(archived, rows, hook.settings.max_total_memories)
        if not chosen:
            return " ".join(["Nothing restored.", *staying]) if staying else "Nothing is archived"
        await self._learner.tell(hook, "You are asked before anything is restored")
        coming = f"This would come back from the archive: {_memories_counted(len(chosen))}."
        question = "\n\n".join([coming, named_memories(chosen), *staying])
        answer = await hook.dialog.confirm("Restore archived memories?", question)
        if answer != "yes":
            why = "you did not confirm it" if answer == "no" else "the question was not answered"
            return f"Nothing restored: {why}"
        count, failed = await self.bring_back(hook, [memory.id for memory in chosen])
        line = f"Restored: {_memories_counted(count)}." if count else "Nothing restored."
        told = [f"Not restored, still archived: {', '.join(failed)}."] if failed else []
        return " ".join([line, *told, *staying])

    async def bring_back(self, hook: Hook, memory_ids: Sequence[str]) -> tuple[int, list[str]]:
        """Restore archived memories, others writing in between: how many, and what failed.

        What fails stays in the archive.
        """
        restored, failed = 0, dict[str, None]()
        room = await self._learner.storeroom(hook) if memory_ids else None
        for memory_id in memory_ids:
            try:
                async with self._learner.writing:
                    row = await self._restore_memory(room, memory_id, int(time.time()))
                    restored += row is not None
            except AdaptiveMemoryError as error:
                failed[str(error)] = None
        return restored, list(failed)


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
    why = f"the limit is {_memories_counted(limit)}"
    if len(chosen) < len(fitting):
        why = f"at most {MOST_RESTORED_AT_ONCE} come back at once"
    reasons = (
        (len(single) - len(chosen), why),
        (len(absent) - len(single), "a summary says the same, as long as it is not deleted"),
    )
    return chosen, [f"Still archived: {number} ({why})." for number, why in reasons if number]


def named_memories(memories: Sequence[Memory]) -> str:
    """The first ten memories for a question, one line each, and how many more there are."""
    named = [f"- {clipped_line(one.content, _LONGEST_NAMED)}" for one in memories[:_MOST_NAMED]]
    more = len(memories) - _MOST_NAMED
    return "\n".join([*named, *([f"… and {more} more"] if more > 0 else [])])


def _memories_counted(number: int) -> str:
    return f"{number} {'memory' if number == 1 else 'memories'}"
