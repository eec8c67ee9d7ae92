"""Erasing what a user asks to be erased, once the user has typed so in the page."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, tzinfo

from adaptive.clock import local_time
from adaptive.control.restoring import bring_back, named_memories
from adaptive.control.spoken_requests import ErasureRequest, confirms_erasure
from adaptive.host.dialog import PageDialog
from adaptive.host.erasable_memories import HostMemories
from adaptive.host.erasure import (
    ErasureReport,
    Forget,
    HeldHistory,
    Holdings,
    erase_held,
    find_held,
)
from adaptive.host.hook import Hook
from adaptive.host.requests import account, isolated_request
from adaptive.host.user_rows import UserRows
from adaptive.learning import Learning
from adaptive.privacy.origin import Origin
from adaptive.table_ports import ArchiveTable

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


class Erasing:
    """Asks and erases; nothing in it belongs to one user.

    ``caches`` are those of this process that may forget a user at any time. ``holdings_of`` opens
    what is held of a hook's user, in the host unless a test says otherwise.
    """

    def __init__(
        self,
        learning: Learning,
        caches: tuple[Forget, ...],
        holdings_of: Callable[[Hook, ArchiveTable], Awaitable[Holdings]] | None = None,
        history: HeldHistory | None = None,
    ) -> None:
        self._learning, self._caches = learning, caches
        self._holdings_of, self._history = holdings_of or host_holdings, history

    async def erase(self, hook: Hook, request: ErasureRequest) -> str:
        """Do what a request asks for once it is confirmed, and return what to tell.

        Raises:
            HostError: the host does not know the user; nothing is erased.
        """
        if hook.caller is None or hook.told_kind == "api":
            return NO_PAGE
        room, origin = await self._learning.storeroom(hook), _origin_of(hook, request)
        held = await self._holdings_of(hook, room.archive)
        # Turns that wait in this process only go with the rest; of others' nothing is known.
        caches = self._caches if origin else (*self._caches, self._learning.forget)
        holdings = replace(held, caches=caches, history=self._history)
        found = await find_held(holdings, origin)
        if found.empty:
            return "There is nothing to erase"
        await self._learning.tell(hook, "You are asked before anything is erased")
        answer = await PageDialog(hook.caller).ask(*erasure_question(request, found))
        if answer is None:
            return "Nothing erased: the question was not answered"
        if not confirms_erasure(answer):
            typed = "something else" if answer else "nothing"
            return f"Nothing erased: {_expected(request)} was expected, but {typed} was typed"
        async with self._learning.writing:
            report = await erase_held(holdings, origin)
        # What a summary stood for comes back when it went, as far as it stays.
        count, failed = await bring_back(room, report.bereft, self._learning.writing)
        told = [f"Restored, as they came from elsewhere: {count}."] if count else []
        if failed:
            told.append(f"What a summary stood for is still archived: {', '.join(failed)}.")
        return " ".join([report.line, *told])


def erasure_question(request: ErasureRequest, found: ErasureReport) -> tuple[str, str, str]:
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


async def host_holdings(hook: Hook, archive: ArchiveTable) -> Holdings:
    """What the host and our tables hold of a hook's user.

    Raises:
        HostError: the host does not know the user.
    """
    memories = HostMemories(isolated_request(hook.request), await account(hook.user))
    return Holdings(hook.user_id, memories, UserRows(hook.user_id), archive)


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
