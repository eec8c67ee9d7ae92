"""Erasing and restoring, which a user asks of the memory itself and confirms in the page.

Nothing comes back that would say a fact twice: what the store says already, and what a summary
stands for. Nor does more than the store has room for: it would only be archived again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, Literal, Protocol

from adaptive.core.errors import AdaptiveMemoryError
from adaptive.core.markdown import clipped_line
from adaptive.core.messages import local_time
from adaptive.core.model import Memory
from adaptive.privacy.kept import ArchivedMemory
from adaptive.privacy.origin import Origin, made_of
from adaptive.search.tokens import comparable
from adaptive.settings.hook import Hook

NO_PAGE = (
    "Nothing erased: you have to confirm it in a chat on the web page; "
    "Settings > Personalization > Memory deletes memories, too"
)
ErasureScope = Literal["everything", "chat", "day", "imported", "tools"]
_SCOPES = {
    "everything": "everything that is remembered about you",
    "chat": "what was learned from this chat",
    "imported": "what was imported",
    "tools": "what tools have saved",
}
_MOST_NAMED = 10
_LONGEST_NAMED = 120


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """What to erase; ``day`` is one where the user lives."""

    scope: ErasureScope
    day: date | None = None


class Erasure(Protocol):
    """What was found or removed: counted, or told, for people.

    ``bereft`` are ids of archived memories that stay although their summary is gone.
    """

    memories: tuple[Memory, ...]
    bereft: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Whether there surely is nothing."""
        ...

    @property
    def phrase(self) -> str:
        """What it is: "4 memories and everything noted about them"."""
        ...

    @property
    def line(self) -> str:
        """The report of an erasure in sentences, without a word of what was erased."""
        ...


class Eraser(Protocol):
    """All that is held of one user: everything, or what came from an origin; it raises nothing."""

    async def find(self, origin: Origin | None) -> Erasure:
        """What there is."""
        ...

    async def erase(self, origin: Origin | None) -> Erasure:
        """Remove it."""
        ...


class Learner(Protocol):
    """Who writes memories, as far as a user's own requests need it."""

    # Held by whoever writes: one at a time in this process.
    writing: asyncio.Semaphore

    async def tell(self, hook: Any, line: str) -> None:
        """Show a line with the answer."""
        ...

    async def storeroom(self, hook: Any) -> Any:
        """The user's ``store``, and the ``archive`` beside it."""
        ...


class MemoryRequests:
    """Asks, erases and restores; nothing in it belongs to one user.

    ``restore_memory`` writes the archived memory of an id back at a time, if there is one.
    """

    def __init__(
        self,
        learner: Learner,
        restore_memory: Callable[[Any, str, int], Awaitable[Memory | None]],
        eraser_of: Callable[[Hook], Awaitable[Eraser]],
    ) -> None:
        self._learner, self._restore_memory = learner, restore_memory
        self._eraser_of = eraser_of

    async def erase(self, hook: Hook, request: ErasureRequest) -> str:
        """Do what a request asks for once it is confirmed, and return what to tell.

        Raises:
            HostError: the host does not know the user; nothing is erased.
        """
        if not hook.can_ask or hook.told_kind == "api":
            return NO_PAGE
        eraser, origin = await self._eraser_of(hook), _origin_of(hook, request)
        found = await eraser.find(origin)
        if found.empty:
            return "There is nothing to erase"
        await self._learner.tell(hook, "You are asked before anything is erased")
        answer = await hook.dialog.ask(*_question(request, found))
        if answer is None:
            return "Nothing erased: the question was not answered"
        if answer.strip(" \t\r\n\"'“”„«».!").casefold() != "erase":
            return 'Nothing erased: you did not type "erase"'
        async with self._learner.writing:
            report = await eraser.erase(origin)
        # What a summary stood for comes back when it went, as far as it stays.
        count, failed = await self.bring_back(hook, report.bereft)
        stood_for = "that an erased summary stood for"
        told = [f"Restored: {memories_counted(count)} {stood_for}."] if count else []
        if failed:
            told.append(f"Still archived: what an erased summary stood for ({', '.join(failed)}).")
        return " ".join([report.line, *told])

    async def restore(self, hook: Hook) -> str:
        """Bring back what is archived of a hook's user once it is confirmed; what to tell of it.

        That is nothing in a chat that somebody else owns: other people read it.

        Raises:
            HostError: the store or the archive can't be read; nothing is restored.
        """
        if hook.told_kind != "saved" or not hook.can_ask:
            return "Nothing restored: you have to confirm it in a saved chat on the web page"
        if await hook.kind() != "saved":
            return ""
        room = await self._learner.storeroom(hook)
        archived = await room.archive.read(hook.user_id)
        rows = await room.store.read() if archived else ()
        chosen, staying = plan_restoration(archived, rows, hook.settings.max_total_memories)
        if not chosen:
            return " ".join(["Nothing restored.", *staying]) if staying else "Nothing is archived"
        await self._learner.tell(hook, "You are asked before anything is restored")
        coming = f"This would come back from the archive: {memories_counted(len(chosen))}."
        question = "\n\n".join([coming, named_memories(chosen), *staying])
        answer = await hook.dialog.confirm("Restore archived memories?", question)
        if answer != "yes":
            why = "you did not confirm it" if answer == "no" else "the question was not answered"
            return f"Nothing restored: {why}"
        count, failed = await self.bring_back(hook, [memory.id for memory in chosen])
        line = f"Restored: {memories_counted(count)}." if count else "Nothing restored."
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


def _question(request: ErasureRequest, found: Erasure) -> tuple[str, str, str]:
    """Title, text and hint of the question: how much would go, and the first ten memories of it."""
    day = request.day
    what = f"what was learned on {day.day} {day:%B %Y}" if day else _SCOPES[request.scope]
    parts = [
        f"This would be erased for good: {found.phrase or 'what there is'}.",
        named_memories(found.memories),
        'Type "erase" to go ahead. Anything else leaves all as it is. Your chats themselves stay.',
    ]
    return f"Erase {what}?", "\n\n".join(filter(None, parts)), 'Type "erase" here'


def _origin_of(hook: Hook, request: ErasureRequest) -> Origin | None:
    """Where what is to go came from; ``None`` for everything."""
    if request.day is not None:
        zone = local_time(time.time(), *hook.time_zones).tzinfo or UTC
        return Origin(period=period_of_day(request.day, zone))
    # The last are the host's names for what its own tools have written (routers/memories.py).
    return {
        "everything": None,
        "chat": Origin(hook.chat_id),
        "imported": Origin(sources=("import",)),
        "tools": Origin(sources=("tool", "background_review")),
    }[request.scope]


def period_of_day(day: date, zone: tzinfo) -> tuple[float, float]:
    """A day where the user lives, which may have 23 or 25 hours, in epoch seconds."""
    next_day = day + timedelta(days=1)
    begin, end = (datetime.combine(one, datetime.min.time(), zone) for one in (day, next_day))
    return begin.timestamp(), end.timestamp()


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
    chosen = single[: max(limit - len(rows), 0)] if limit else single
    reasons = (
        (len(single) - len(chosen), f"the limit is {memories_counted(limit)}"),
        (len(absent) - len(single), "a summary says the same"),
    )
    return chosen, [f"Still archived: {number} ({why})." for number, why in reasons if number]


def named_memories(memories: Sequence[Memory]) -> str:
    """The first ten memories for a question, one line each, and how many more there are."""
    named = [f"- {clipped_line(one.content, _LONGEST_NAMED)}" for one in memories[:_MOST_NAMED]]
    more = len(memories) - _MOST_NAMED
    return "\n".join([*named, *([f"… and {more} more"] if more > 0 else [])])


def memories_counted(number: int) -> str:
    """A number of memories in words."""
    return f"{number} {'memory' if number == 1 else 'memories'}"
