"""Erasing what a user asks to be erased, once the user has typed so in the page."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from adaptive.clock import local_time
from adaptive.errors import AdaptiveMemoryError
from adaptive.host.dialog import PageDialog
from adaptive.host.erasable_memories import HostMemories
from adaptive.host.erasable_tables import ErasableTables
from adaptive.host.erasure import (
    ErasureForecast,
    ErasureReport,
    Forget,
    Holdings,
    erase_everything,
    forecast_everything,
    joined_reports,
)
from adaptive.host.history_erasure import HeldHistory, HistoryErasure
from adaptive.host.hook import Hook
from adaptive.host.memories import HostMemoryStore
from adaptive.host.origin_erasure import erase_where, forecast_where
from adaptive.host.requests import account, isolated_request
from adaptive.learning import Learning
from adaptive.messages import Message, said_at
from adaptive.model import ConversationKind
from adaptive.plain_markdown import clipped_line
from adaptive.privacy.erasure_requests import (
    ErasureRequest,
    erasure_words,
    read_erasure_request,
)
from adaptive.privacy.retention import FromChat, FromPeriod, FromSource, Origin
from adaptive.table_ports import ArchiveTable
from adaptive.typed_turns import typed_message

log_erasing = logging.getLogger("adaptive_memory")

# In the others nobody types, or other people do.
_ERASING_KINDS: frozenset[ConversationKind] = frozenset({"saved", "temporary", "api"})
_MOST_NAMED = 10
_LONGEST_NAMED = 120
_IMPORTED = ("import",)
# Names that the host gives to what its own tools have written (host: routers/memories.py).
_WRITTEN_BY_TOOLS = ("tool", "background_review")

ASKED_FIRST = "You are asked before anything is erased"
NOTHING_TO_ERASE = "There is nothing to erase"
NOT_ANSWERED = "Nothing erased: the question was not answered"
NOT_TYPED = "Nothing erased: you did not confirm it"
NO_PAGE = (
    "Nothing erased: you can be asked in a chat of the page only; "
    "Settings > Personalization > Memory deletes memories, too"
)


@dataclass(frozen=True, slots=True)
class ErasureQuestion:
    """What to ask, in plain text; ``hint`` stands in the empty field."""

    title: str
    message: str
    hint: str


class Erasing:
    """Asks, erases and tells; nothing in it belongs to one user.

    ``caches`` are those of this process that may forget a user at any time. ``holdings_of`` opens
    what is held of a hook's user, in the host unless a test says otherwise.
    """

    def __init__(
        self,
        learning: Learning,
        archive: ArchiveTable,
        caches: tuple[Forget, ...],
        holdings_of: Callable[[Hook, ArchiveTable], Awaitable[Holdings]] | None = None,
        history: HeldHistory | None = None,
    ) -> None:
        self._learning, self._archive, self._caches = learning, archive, caches
        self._holdings_of, self._history = holdings_of or host_holdings, history

    async def erase(self, hook: Hook, request: ErasureRequest) -> None:
        """Do what a request asks for once it is confirmed, and tell what became of it."""
        if hook.caller is None or hook.told_kind == "api":
            log_erasing.info("somebody who can't be asked wants memories erased: none is")
            await self._learning.tell(hook, NO_PAGE)
            return
        try:
            line = await self._outcome(hook, request)
        except AdaptiveMemoryError as error:
            log_erasing.warning("an erasure failed: %s", error)
            line = f"Not erased: {error}"
        await self._learning.tell(hook, line)

    async def _outcome(self, hook: Hook, request: ErasureRequest) -> str:
        """Ask, erase if it is confirmed, and return what to tell."""
        holdings = replace(await self._holdings_of(hook, self._archive), caches=self._caches)
        origins = _origins_of(hook, request)
        if request.scope == "everything":
            # Turns that wait in this process only go with the rest; of others' nothing is known.
            holdings = replace(holdings, caches=(*self._caches, self._learning.forget))
            forecast = await forecast_everything(holdings)
        else:
            forecast = _joined_forecasts([await forecast_where(holdings, one) for one in origins])
        past = _past_of(hook, request, self._history)
        if past is not None:
            forecast = _joined_forecasts([forecast, await past.forecast()])
        if forecast.empty:
            return NOTHING_TO_ERASE
        await self._learning.tell(hook, ASKED_FIRST)
        question = erasure_question(request, forecast)
        answer = await PageDialog(hook.caller).ask(question.title, question.message, question.hint)
        if answer is None:
            return NOT_ANSWERED
        if not confirms_erasure(answer):
            return NOT_TYPED
        async with self._learning.writing:
            if request.scope == "everything":
                report = await erase_everything(holdings)
            else:
                now = time.time()
                reports = [await erase_where(holdings, one, now) for one in origins]
                report = joined_reports(reports)
        if past is not None:
            report = joined_reports([report, await past.erase()])
        return await self._told(hook, report)

    async def _told(self, hook: Hook, report: ErasureReport) -> str:
        """What was erased; memories that an erased summary stood for come back first."""
        told = [report.line, *report.notes]
        if report.bereft:
            async with self._learning.writing:
                restored = await self._learning.restore(hook, report.bereft)
            told.append(f"Restored, as they came from elsewhere: {restored}.")
        return " ".join(told)


def asked_erasure(hook: Hook, messages: Sequence[Message]) -> ErasureRequest | None:
    """What the user's newest message asks to erase, if it does; other people's ask nothing."""
    if hook.told_kind not in _ERASING_KINDS:
        return None
    found = typed_message(hook, messages)
    if found is None:
        return None
    message, words = found
    # Hardly any message does; what day it is for the user, a file tells, read for those alone.
    if read_erasure_request(words, (datetime.now(UTC) + timedelta(days=1)).date()) is None:
        return None
    today = local_time(said_at(message, time.time()), *hook.time_zones).date()
    return read_erasure_request(words, today)


def erasure_question(request: ErasureRequest, forecast: ErasureForecast) -> ErasureQuestion:
    """What to ask before an erasure: how much would go, and the first ten memories of it."""
    memories = forecast.memories
    counts = [_number_of_them(len(memories), "memory", "memories")]
    for kind, one, many in (
        ("archive", "archived memory", "archived memories"),
        (
            "history",
            "chat in the index of past conversation",
            "chats in the index of past conversation",
        ),
        # What was learned leaves its id for a while.
        ("pending", "message noted as learned or waiting", "messages noted as learned or waiting"),
        ("suggestion", "suggestion", "suggestions"),
    ):
        if number := forecast.counts.get(kind, 0):
            counts.append(_number_of_them(number, one, many))
    named = [f"- {clipped_line(one.content, _LONGEST_NAMED)}" for one in memories[:_MOST_NAMED]]
    if len(memories) > _MOST_NAMED:
        named.append(f"… and {len(memories) - _MOST_NAMED} more")
    word = '"erase"' if request.word == "erase" else f'"erase" or "{request.word}"'
    parts = [
        f"This would be erased for good: {', '.join(counts)}, and what is kept about them.",
        "\n".join(named),
        f"Type {word} to erase it. Anything else erases nothing. Your chats themselves stay.",
    ]
    message = "\n\n".join(part for part in parts if part)
    return ErasureQuestion(_title_of(request), message, request.word)


def confirms_erasure(answer: str) -> bool:
    """Whether an answer is the word that was asked for, in any of the languages."""
    return answer.strip(" \t\r\n\"'“”„«».!。").casefold() in erasure_words()


async def host_holdings(hook: Hook, archive: ArchiveTable) -> Holdings:
    """What the host and our tables hold of a hook's user.

    Raises:
        HostError: the host does not know the user.
    """
    store = HostMemoryStore(isolated_request(hook.request), await account(hook.user))
    return Holdings(hook.user_id, HostMemories(store), ErasableTables(), archive)


def _origins_of(hook: Hook, request: ErasureRequest) -> tuple[Origin, ...]:
    """Where what is to go came from; none for everything."""
    if request.scope == "chat":
        return (FromChat(hook.chat_id),)
    if request.scope == "imported":
        return tuple(map(FromSource, _IMPORTED))
    if request.scope == "tools":
        return tuple(map(FromSource, _WRITTEN_BY_TOOLS))
    if request.day is not None:
        zone = local_time(time.time(), *hook.time_zones).tzinfo
        return (FromPeriod.of_day(request.day, zone),) if zone else ()
    return ()


def _past_of(
    hook: Hook, request: ErasureRequest, history: HeldHistory | None
) -> HistoryErasure | None:
    """What of past conversation an erasure takes along; of a day or a source nothing."""
    if history is None or request.scope not in ("everything", "chat"):
        return None
    chat_id = hook.chat_id if request.scope == "chat" else ""
    return HistoryErasure(history, hook.user_id, chat_id, hook.settings.history_recall != "off")


def _joined_forecasts(forecasts: Sequence[ErasureForecast]) -> ErasureForecast:
    memories = {memory.id: memory for one in forecasts for memory in one.memories}
    counts: dict[str, int] = {}
    failed: dict[str, str] = {}
    for forecast in forecasts:
        failed.update(forecast.failed)
        for kind, number in forecast.counts.items():
            counts[kind] = counts.get(kind, 0) + number
    return ErasureForecast(tuple(memories.values()), counts, failed)


def _title_of(request: ErasureRequest) -> str:
    of = {
        "everything": "everything that is remembered about you",
        "chat": "what was learned from this chat",
        "imported": "what was imported",
        "tools": "what tools have saved",
    }
    if request.day is not None:
        return f"Erase what was learned on {request.day.day} {request.day:%B %Y}?"
    return f"Erase {of[request.scope]}?"


def _number_of_them(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
