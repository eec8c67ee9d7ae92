"""Erasing and restoring, which a user asks of the memory itself and confirms in the page.

Nothing comes back that would say a fact twice: what the store says already, and what a summary
stands for. Nor does more than the store has room for: it would only be archived again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from adaptive.core.errors import AdaptiveMemoryError, with_detail
from adaptive.core.markdown import clipped_line
from adaptive.core.model import Draft, Memory
from adaptive.privacy.erasure import ErasureReport, ErasureRequest, Origin, made_of, origin_of
from adaptive.privacy.kept import ArchivedMemory
from adaptive.privacy.sealing import UNDER_FORMER_KEY
from adaptive.search.tokens import comparable
from adaptive.settings.hook import Hook

log_requests = logging.getLogger("adaptive_memory.control")

NO_PAGE = (
    "Nothing erased: you have to confirm it in a chat on the web page; "
    "Settings > Personalization > Memory deletes memories, too"
)
NO_CHAT_OF_ONES_OWN = (
    "Nothing restored: you have to confirm it in a saved chat of your own on the web page"
)
_SCOPES = {
    "everything": "everything that is remembered about you",
    "chat": "what was learned from this chat",
    "imported": "what was imported",
    "tools": "what tools have saved",
}
_MOST_NAMED = 10
_LONGEST_NAMED = 120


class Eraser(Protocol):
    """All that is held of one user: everything, or what came from an origin; it raises nothing."""

    async def find(self, origin: Origin | None) -> ErasureReport:
        """What there is."""
        ...

    async def erase(self, origin: Origin | None) -> ErasureReport:
        """Remove it."""
        ...


@dataclass(frozen=True, slots=True)
class MemoryRequests:
    """Asks, erases and restores; nothing in it belongs to one user.

    ``learner`` writes memories, one at a time, and its ``status`` shows replies with the answer.
    ``restore_memory`` writes the archived memory of an id back at a time, if there is one.
    """

    learner: Any
    restore_memory: Callable[[Any, str, int, str], Awaitable[Memory | None]]
    eraser_of: Callable[[Hook], Awaitable[Eraser]]

    async def erase(self, hook: Hook, request: ErasureRequest) -> str:
        """Do what a request asks for once it is confirmed, and return what to tell."""
        if not hook.can_ask or hook.told_kind == "api":
            return NO_PAGE
        eraser, origin = await self.eraser_of(hook), origin_of(hook, request)
        found = await eraser.find(origin)
        if found.empty:
            return "There is nothing to erase"
        await self.learner.status.reply(hook, "You are asked before anything is erased")
        answer = await hook.dialog.ask(*_question(request, found))
        if answer is None:
            return "Nothing erased: the question was not answered"
        if answer.strip(" \t\r\n\"'“”„«».!").casefold() != "erase":
            return 'Nothing erased: you did not type "erase"'
        async with self.learner.locks.of(hook.user_id):
            report = await eraser.erase(origin)
        # What a summary stood for comes back when it went, as far as it stays.
        count, failed = await self._bring_back(hook, report.bereft)
        what, told = "an erased summary stood for", [report.line]
        told += [f"Restored: {memories_counted(count)} that {what}."] if count else []
        told += [f"Still archived: what {what} ({', '.join(failed)})."] if failed else []
        return " ".join(told)

    async def restore(self, hook: Hook, words: str = "") -> str:
        """Bring back what is archived, and holds all words, once it is confirmed; what to tell.

        In a chat that somebody else owns nothing does: other people read it.
        """
        if not hook.settings.enabled:
            return "Nothing restored: memory is off in your settings"
        if hook.told_kind != "saved" or not hook.can_ask or await hook.kind() != "saved":
            return NO_CHAT_OF_ONES_OWN
        room = await self.learner.user_store(hook)
        meant = set(comparable(words).split())
        archived = [
            one
            for one in await room.archive.read(hook.user_id)
            if meant <= set(comparable(one.memory.content).split())
        ]
        rows = await room.store.read() if archived else ()
        chosen, staying = plan_restoration(archived, rows, hook.settings.max_total_memories)
        if sealed := await room.archive.unopened(hook.user_id):
            staying.append(f"{memories_counted(sealed)} in the archive {UNDER_FORMER_KEY}")
        if not chosen:
            return " ".join(["Nothing restored.", *staying]) if staying else "Nothing is archived"
        await self.learner.status.reply(hook, "You are asked before anything is restored")
        coming = f"This would come back from the archive: {memories_counted(len(chosen))}."
        question = "\n\n".join([coming, named_memories(chosen), *staying])
        answer = await hook.dialog.confirm("Restore archived memories?", question)
        if not answer:
            why = "the question was not answered" if answer is None else "you did not confirm it"
            return f"Nothing restored: {why}"
        count, failed = await self._bring_back(hook, [memory.id for memory in chosen])
        line = f"Restored: {memories_counted(count)}." if count else "Nothing restored."
        told = [f"Not restored, still archived: {', '.join(failed)}."] if failed else []
        return " ".join([line, *told, *staying])

    async def _bring_back(self, hook: Hook, memory_ids: Sequence[str]) -> tuple[int, list[str]]:
        """Restore memories, others writing in between: how many, and why others stay archived."""
        restored, failed, step = 0, dict[str, None](), f"restored-{time.time_ns()}"
        room = await self.learner.user_store(hook) if memory_ids else None
        for memory_id in memory_ids:
            try:
                async with self.learner.locks.of(hook.user_id):
                    row = await self.restore_memory(room, memory_id, int(time.time()), step)
                restored += row is not None
            except AdaptiveMemoryError as error:
                log_requests.warning("a memory stays archived: %s", with_detail(error))
                failed[str(error)] = None
        return restored, list(failed)


def _question(request: ErasureRequest, found: ErasureReport) -> tuple[str, str, str]:
    """Title, text and hint of the question: how much would go, and the first ten memories of it."""
    day = request.day
    what = f"what was learned on {day.day} {day:%B %Y}" if day else _SCOPES[request.scope]
    parts = [
        f"This would be erased for good: {found.phrase or 'what there is'}.",
        named_memories(found.memories),
        'Type "erase" to go ahead. Anything else leaves all as it is. Your chats themselves stay.',
    ]
    return f"Erase {what}?", "\n\n".join(filter(None, parts)), 'Type "erase" here'


def plan_restoration(
    archived: Sequence[ArchivedMemory], rows: Sequence[Memory], limit: int
) -> tuple[list[Memory], list[str]]:
    """What would come back into a store of these rows, and a sentence for each reason why not all.

    The last archived come first, of the same time the most important; a ``limit`` of 0 is none.
    """
    said = {comparable(row.content) for row in rows}
    by_words: dict[str, ArchivedMemory] = {}
    for one in sorted(archived, key=lambda one: (-one.archived_at, -one.memory.importance)):
        by_words.setdefault(comparable(one.memory.content), one)
    absent = [one for words, one in by_words.items() if words not in said]
    said |= by_words.keys()
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


def named_memories(memories: Sequence[Memory | Draft]) -> str:
    """The first ten memories for a question, one line each, and how many more there are."""
    lines = [f"- {clipped_line(one.content, _LONGEST_NAMED)}" for one in memories[:_MOST_NAMED]]
    more = len(memories) - len(lines)
    return "\n".join([*lines, f"… and {more} more"] if more else lines)


def memories_counted(number: int) -> str:
    """A number of memories in words."""
    return f"{number} {'memory' if number == 1 else 'memories'}"
