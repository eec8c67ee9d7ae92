"""Erasing what a user asks to be erased, once the user has typed so in the page."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Protocol

from adaptive.control.restoring import Learner, Restoring, named_memories
from adaptive.control.spoken_requests import ErasureRequest, confirms_erasure
from adaptive.core.messages import local_time
from adaptive.core.model import Memory
from adaptive.privacy.origin import Origin
from adaptive.settings.hook import Hook

NO_PAGE = (
    "Nothing erased: you can be asked in a chat of the page only; "
    "Settings > Personalization > Memory deletes memories, too"
)
_SCOPES = {
    "everything": "everything that is remembered about you",
    "chat": "what was learned from this chat",
    "imported": "what was imported",
    "tools": "what tools have saved",
}


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


class Erasing:
    """Asks and erases; nothing in it belongs to one user."""

    def __init__(
        self,
        learner: Learner,
        restoring: Restoring,
        eraser_of: Callable[[Hook], Awaitable[Eraser]],
    ) -> None:
        self._learner, self._restoring, self._eraser_of = learner, restoring, eraser_of

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
        if not confirms_erasure(answer):
            typed = "something else" if answer else "nothing"
            return f"Nothing erased: {_expected(request)} was expected, but {typed} was typed"
        async with self._learner.writing:
            report = await eraser.erase(origin)
        # What a summary stood for comes back when it went, as far as it stays.
        count, failed = await self._restoring.bring_back(hook, report.bereft)
        told = [f"Restored, as they came from elsewhere: {count}."] if count else []
        if failed:
            told.append(f"What a summary stood for is still archived: {', '.join(failed)}.")
        return " ".join([report.line, *told])


def _question(request: ErasureRequest, found: Erasure) -> tuple[str, str, str]:
    """Title, text and hint of the question: how much would go, and the first ten memories of it."""
    day = request.day
    what = f"what was learned on {day.day} {day:%B %Y}" if day else _SCOPES[request.scope]
    parts = [
        f"This would be erased for good: {found.phrase or 'what there is'}.",
        named_memories(found.memories),
        f"Type {_expected(request)} to erase it. Anything else erases nothing. Your chats"
        " themselves stay.",
    ]
    return f"Erase {what}?", "\n\n".join(filter(None, parts)), f'Type "{request.word}" here'


def _expected(request: ErasureRequest) -> str:
    """What is to be typed, in quotation marks."""
    return '"erase"' if request.word == "erase" else f'"erase" or "{request.word}"'


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
