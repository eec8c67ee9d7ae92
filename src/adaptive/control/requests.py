"""Erasing and restoring, which a user asks of the memory itself and confirms in the page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from adaptive.core.messages import clipped_line
from adaptive.core.model import Draft, Memory, Proposal
from adaptive.memory.archive import memories_counted
from adaptive.memory.erasure import ErasureReport, origin_of
from adaptive.memory.user_memory import Eraser, Memories
from adaptive.privacy.spoken_requests import ErasureRequest
from adaptive.settings.hook import Hook

NO_PAGE = (
    "Nothing erased: you have to confirm it in a chat on the web page; "
    "Settings > Personalization > Memory deletes memories, too"
)
NO_CHAT_OF_ONES_OWN = "Nothing restored: you have to confirm it in a saved chat of your own on the web page"
_SCOPES = {
    "everything": "everything that is remembered about you",
    "chat": "what was learned from this chat",
    "imported": "what was imported",
    "tools": "what tools have saved",
}
_MOST_NAMED = 10
_LONGEST_NAMED = 120


class Learner(Protocol):
    """Does at once what a user has asked for in so many words."""

    async def waiting(self, hook: Hook) -> list[str]:
        """What waits of a user, in a few words each."""
        ...

    async def examine(self, hook: Hook) -> tuple[str, str]:
        """Whether the model for learning is good enough, and what was found of it."""
        ...

    async def do(self, hook: Hook, proposals: Sequence[Proposal]) -> str:
        """Carry out operations; what to tell of it."""
        ...

    async def ask_deletion(
        self, hook: Hook, memories: Sequence[Memory]
    ) -> str:
        """Ask a user which memories go, and delete these; what to tell of it."""
        ...


@dataclass(frozen=True, slots=True)
class MemoryRequests:
    """Asks, erases and restores; nothing in it belongs to one user."""

    memories: Memories
    learner: Learner
    eraser_of: Callable[[Hook], Awaitable[Eraser]]

    async def erase(self, hook: Hook, request: ErasureRequest) -> str:
        """Do what a request asks for once it is confirmed, and return what to tell."""
        if not hook.can_ask or hook.told_kind == "api":
            return NO_PAGE
        eraser = await self.eraser_of(hook)
        origin = origin_of(hook, request)
        report = await eraser.find(origin)
        if report.empty:
            return "There is nothing to erase"
        answer = await hook.dialog.ask(
            f"Erase {_what_goes(request)}?",
            _erasure_question(report),
            'Type "erase" here',
        )
        typed = (answer or "").strip(" \t\r\n\"'“”„«».!")
        if typed.casefold() != "erase":
            return 'Nothing erased: you did not type "erase"'
        memory = await self.memories.of(hook)
        report = await memory.erase(eraser, origin)
        # What a summary stood for comes back when it went, as far as it stays.
        restored = await memory.restore(
            report.bereft, " that an erased summary stood for"
        )
        return " ".join([report.line, *restored])

    async def restore(self, hook: Hook, words: str = "") -> str:
        """Bring back what is archived, and holds all words, once it is confirmed; what to tell.

        In a chat that somebody else owns nothing does: other people read it.
        """
        if not hook.settings.enabled:
            return "Nothing restored: memory is off in your settings"
        if not hook.can_ask or await hook.kind() != "saved":
            return NO_CHAT_OF_ONES_OWN
        memory = await self.memories.of(hook)
        chosen, staying = await memory.restorable(words)
        if not chosen:
            told = f"Nothing restored. {staying}"
            return told if staying else "Nothing is archived"
        coming = f"This would come back from the archive: {memories_counted(len(chosen))}."
        question = "\n\n".join([coming, named_memories(chosen), staying])
        if not await hook.dialog.confirm(
            "Restore archived memories?", question
        ):
            return "Nothing restored: you did not confirm it"
        restored = await memory.restore([memory.id for memory in chosen])
        # Another tab may have brought them back meanwhile.
        lines = restored or ["Nothing restored."]
        return " ".join([*lines, staying]).strip()


def _what_goes(request: ErasureRequest) -> str:
    """What a request asks to erase, in words."""
    day = request.day
    if day is not None:
        return f"what was learned on {day.day} {day:%B %Y}"
    return _SCOPES[request.scope]


def _erasure_question(report: ErasureReport) -> str:
    """The question before an erasure: how much would go, and the first ten memories of it."""
    parts = [
        f"This would be erased for good: {report.phrase or 'what there is'}.",
        named_memories(report.memories),
        'Type "erase" to go ahead. Anything else leaves all as it is. Your chats themselves stay.',
    ]
    return "\n\n".join(filter(None, parts))


def named_memories(memories: Sequence[Memory | Draft]) -> str:
    """The first ten memories for a question, one line each, and how many more there are."""
    named = memories[:_MOST_NAMED]
    lines = [
        f"- {clipped_line(memory.content, _LONGEST_NAMED)}" for memory in named
    ]
    more = len(memories) - len(named)
    if more:
        lines.append(f"… and {more} more")
    return "\n".join(lines)
