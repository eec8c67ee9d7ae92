"""The keyword indexes of this process: one of each user's past messages, kept up behind the turns.

Reading and cutting up 20,000 messages takes seconds, so no turn waits for it: until an index stands
the vector database alone finds messages, and what it brings is compared by keywords. What was said
since an index was made is added in the background; whatever is injected is read anew anyway, so an
index that is a minute old shows nothing that was edited or deleted since.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adaptive.conversation.history_gate import HistoryCalibrations
from adaptive.conversation.history_index import HistoryIndex, history_index
from adaptive.conversation.past_messages import past_messages
from adaptive.conversation_ports import HistoryStamp, PastChats, PastMessage
from adaptive.errors import AdaptiveMemoryError

log_history_indexes = logging.getLogger("adaptive_memory.conversation")

MOST_INDEXED = 50_000
# Making an index anew takes a core for a moment; the newest messages are in the chat anyway.
_REST_SECONDS = 60.0
# With more new messages than that, or fewer messages than before, all are read again.
_MOST_ADDED = 500


class HistoryIndexes:
    """Least recently used indexes are evicted over a byte budget; each call may lower it.

    ``clock`` counts seconds, and never backwards.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, rest: float = _REST_SECONDS
    ) -> None:
        self._held: OrderedDict[str, HistoryIndex] = OrderedDict()
        self._refreshing: dict[str, asyncio.Task[None]] = {}
        self._made_at: dict[str, float] = {}
        self._clock = clock
        self._rest = rest
        self.calibrations = HistoryCalibrations(clock)

    async def at_hand(
        self, user_id: str, chats: PastChats, budget_bytes: int
    ) -> HistoryIndex | None:
        """The index as it stands, ``None`` while there is none; a stale one is renewed behind.

        Raises:
            HostError: the host could not tell how the messages stand.
        """
        held = self._held.get(user_id)
        stamp = await chats.stamp(user_id)
        if held is not None:
            self._held.move_to_end(user_id)
        if held is None or held.stamp != stamp:
            self._refresh_behind(user_id, chats, stamp, budget_bytes)
        return held

    async def made(self, user_id: str) -> None:
        """Wait for the refresh of a user that runs, if one does."""
        if (task := self._refreshing.get(user_id)) is not None:
            await asyncio.wait({task})

    def forget(self, user_id: str) -> None:
        """Drop a user's index, and what is being made of it."""
        if (task := self._refreshing.pop(user_id, None)) is not None:
            task.cancel()
        self._held.pop(user_id, None)
        self._made_at.pop(user_id, None)
        self.calibrations.forget(user_id)

    def _refresh_behind(
        self, user_id: str, chats: PastChats, stamp: HistoryStamp, budget_bytes: int
    ) -> None:
        made_at = self._made_at.get(user_id)
        rested = made_at is None or self._clock() - made_at >= self._rest
        if user_id in self._refreshing or not rested:
            return
        self._made_at[user_id] = self._clock()
        task = asyncio.create_task(self._refresh(user_id, chats, stamp, budget_bytes))
        self._refreshing[user_id] = task
        task.add_done_callback(lambda done: self._refreshed(user_id, done))

    def _refreshed(self, user_id: str, task: asyncio.Task[None]) -> None:
        if self._refreshing.get(user_id) is task:
            del self._refreshing[user_id]
        error = None if task.cancelled() else task.exception()
        if isinstance(error, AdaptiveMemoryError):
            log_history_indexes.warning("past messages are found by vectors only: %s", error)
        elif error is not None:
            log_history_indexes.error("past messages can't be prepared", exc_info=error)

    async def _refresh(
        self, user_id: str, chats: PastChats, stamp: HistoryStamp, budget_bytes: int
    ) -> None:
        held = self._held.get(user_id)
        added = stamp.count - held.stamp.count if held else 0
        if held is not None and 0 < added <= _MOST_ADDED:
            messages = await _with_changed_chats(user_id, chats, held, added)
        else:
            stored = await chats.newest_messages(user_id, MOST_INDEXED)
            messages = await asyncio.to_thread(_recalled_of_chats, stored)
        index = await asyncio.to_thread(_index_within, messages, stamp, held, budget_bytes)
        self._held[user_id] = index
        self._held.move_to_end(user_id)
        total = sum(one.nbytes for one in self._held.values())
        for other in list(self._held):
            if total <= budget_bytes or other == user_id:
                break
            total -= self._held.pop(other).nbytes


async def _with_changed_chats(
    user_id: str, chats: PastChats, held: HistoryIndex, added: int
) -> list[PastMessage]:
    """The messages of an index, with the chats read again that have new ones."""
    newest = await chats.newest_messages(user_id, added)
    changed: dict[str, tuple[PastMessage, ...]] = {}
    for chat_id in dict.fromkeys(str(one.get("chat_id") or "") for one in newest):
        stored = await chats.messages(user_id, chat_id)
        changed[chat_id] = past_messages(chat_id, stored, 0)
    standing = await chats.standing(user_id, tuple({one.chat_id for one in held.messages}))
    kept = [one for one in held.messages if one.chat_id not in changed and one.chat_id in standing]
    return [*kept, *(one for said in changed.values() for one in said)]


def _recalled_of_chats(stored: Sequence[Mapping[str, Any]]) -> list[PastMessage]:
    by_chat: dict[str, list[Mapping[str, Any]]] = {}
    for message in stored:
        by_chat.setdefault(str(message.get("chat_id") or ""), []).append(message)
    return [one for chat_id, said in by_chat.items() for one in past_messages(chat_id, said, 0)]


def _index_within(
    messages: Sequence[PastMessage],
    stamp: HistoryStamp,
    previous: HistoryIndex | None,
    budget_bytes: int,
) -> HistoryIndex:
    """The index of as many of the newest messages as the budget holds."""
    index = history_index(messages, stamp, previous)
    while index.nbytes > budget_bytes and len(index.messages) > 1:
        share = min(budget_bytes / index.nbytes, 0.9)
        newest = sorted(index.messages, key=lambda one: -one.said_at)
        kept = {id(one) for one in newest[: max(int(len(newest) * share), 1)]}
        index = history_index([one for one in index.messages if id(one) in kept], stamp)
    return index
