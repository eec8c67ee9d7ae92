"""What is done for past conversation behind an answer: its chat, deleted chats, finished topics."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from adaptive.conversation.history_indexing import (
    HistoryLedger,
    IndexedChat,
    IndexingSources,
    index_chat,
    sweep_deleted_chats,
)
from adaptive.conversation.topic_summary import FEWEST_SUMMARISED
from adaptive.conversation.topics import PAUSE_SECONDS, Topic
from adaptive.conversation_ports import ChatHead, PastChats
from adaptive.errors import AdaptiveMemoryError
from adaptive.messages import has_words, message_text

log_history_keeping = logging.getLogger("adaptive_memory.conversation")

_OTHER_CHATS_AGAIN_SECONDS = 300.0
# Chats of which the last topic may be finished, looked at behind one turn.
_RESTED_CHATS = 5
_NEWEST_CHATS = 50
_CHATS_SEEN_TO = 5000
_TRIES_PER_TOPIC = 3
# The host stores the whole answer before or soon after its outlet; 13 seconds in all.
_ANSWER_LOOKS = (0.2, 0.4, 0.8, 1.6, 3.0, 7.0)

KeptKey = TypeVar("KeptKey")
KeptValue = TypeVar("KeptValue")
Sleep = Callable[[float], Awaitable[object]]


class Summaries(Protocol):
    """Where summaries of topics come from."""

    async def of_topic(self, topic: Topic, alone: bool) -> str:
        """A summary, empty where there is nothing to tell; ``alone``: it is the whole chat.

        Raises:
            AdaptiveMemoryError: there is none now.
        """
        ...


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """The turn behind which chats are kept: its chat, its answer, and when that was, in seconds."""

    chat_id: str
    answer_id: str
    now: float


class HistoryKeeper:
    """Knows what this process has done for whom; the index itself is the truth."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Sleep = asyncio.sleep
    ) -> None:
        self.ledger = HistoryLedger()
        self._clock, self._sleep = clock, sleep
        # When a user's other chats were looked at, and behind a turn of which chat.
        self._looked: OrderedDict[str, tuple[float, str]] = OrderedDict()
        # Chats as they stood when all their topics were seen to, and topics that were tried.
        self._seen_to: OrderedDict[tuple[str, str, int], None] = OrderedDict()
        self._tried: OrderedDict[tuple[str, str, str], int] = OrderedDict()
        self._summing: set[str] = set()

    async def keep(
        self, sources: IndexingSources, turn: KeptTurn, summaries: Summaries | None
    ) -> None:
        """Index a turn's chat, remove deleted chats, and summarise one finished topic at most.

        Other chats are looked at when a turn is in another chat than the one before it, and else
        once in some minutes.

        Raises:
            HostError: chats can't be read, or the index not be written.
            EmbeddingError: the embedder brings no vectors.
        """
        await self._stored(sources.chats, sources.user_id, turn)
        if others := self._others_due(sources.user_id, turn.chat_id):
            await sweep_deleted_chats(sources, self.ledger)
        done = await self._indexed(sources, turn)
        if summaries is None or sources.user_id in self._summing:
            return
        self._summing.add(sources.user_id)
        try:
            if not await self._summarised(sources, turn, done, summaries) and others:
                await self._summarise_rested(sources, turn, summaries)
        finally:
            self._summing.discard(sources.user_id)

    def forget(self, user_id: str, chat_id: str = "") -> None:
        """Let go of what is known of a user's index, or of one chat in it."""
        self.ledger.forget(user_id, chat_id)
        self._looked.pop(user_id, None)
        for seen in [one for one in self._seen_to if one[0] == user_id]:
            if chat_id in ("", seen[1]):
                del self._seen_to[seen]
        for tried in [one for one in self._tried if one[0] == user_id]:
            if chat_id in ("", tried[1]):
                del self._tried[tried]

    async def _stored(self, chats: PastChats, user_id: str, turn: KeptTurn) -> None:
        """Wait until the whole answer stands in the host's table; not for long."""
        if not turn.answer_id:
            return
        key = (turn.chat_id, turn.answer_id)
        for seconds in _ANSWER_LOOKS:
            answer = (await chats.current(user_id, [key])).get(key)
            if answer is not None and _answer_is_whole(answer):
                return
            await self._sleep(seconds)

    async def _indexed(self, sources: IndexingSources, turn: KeptTurn) -> IndexedChat:
        return await index_chat(sources, self.ledger, turn.chat_id, turn.now, turn.answer_id)

    def _others_due(self, user_id: str, chat_id: str) -> bool:
        now, last = self._clock(), self._looked.get(user_id)
        if last is not None and last[1] == chat_id and now - last[0] < _OTHER_CHATS_AGAIN_SECONDS:
            return False
        _remember_one(self._looked, user_id, (now, chat_id))
        return True

    async def _summarise_rested(
        self, sources: IndexingSources, turn: KeptTurn, summaries: Summaries
    ) -> None:
        """Summarise a finished topic of another chat, if there is one."""
        for head in await self._rested_chats(sources, turn):
            rested = KeptTurn(head.id, "", turn.now)
            done = await self._indexed(sources, rested)
            if await self._summarised(sources, rested, done, summaries):
                return
            seen_to = (sources.user_id, head.id, head.updated_at)
            _remember_one(self._seen_to, seen_to, None)

    async def _rested_chats(self, sources: IndexingSources, turn: KeptTurn) -> list[ChatHead]:
        """Indexed chats that have rested for a topic's pause, and were not seen to since."""
        user_id = sources.user_id
        indexed = await sources.vectors.chats(user_id)
        heads = await sources.chats.chats(user_id, 0, _NEWEST_CHATS)
        waiting = [
            head
            for head in heads
            if head.id in indexed
            and head.updated_at <= turn.now - PAUSE_SECONDS
            and (user_id, head.id, head.updated_at) not in self._seen_to
        ]
        return waiting[:_RESTED_CHATS]

    async def _summarised(
        self,
        sources: IndexingSources,
        turn: KeptTurn,
        done: IndexedChat,
        summaries: Summaries,
    ) -> bool:
        """Whether a finished topic of a chat was tried; after three failures none is again."""
        for topic in done.unsummarised:
            key = (sources.user_id, turn.chat_id, topic.digest)
            tries = self._tried.get(key, 0)
            if len(topic.messages) < FEWEST_SUMMARISED or tries >= _TRIES_PER_TOPIC:
                continue
            _remember_one(self._tried, key, tries + 1)
            try:
                text = await summaries.of_topic(topic, alone=len(done.topics) == 1)
            except AdaptiveMemoryError as error:
                log_history_keeping.warning("a topic was not summarised: %s", error)
                return True
            _remember_one(self._tried, key, _TRIES_PER_TOPIC)
            if has_words(text):
                told: Mapping[str, str] = {topic.id: text}
                await index_chat(sources, self.ledger, turn.chat_id, turn.now, turn.answer_id, told)
            return True
        return False


def _answer_is_whole(answer: Mapping[str, object]) -> bool:
    return answer.get("done") is True and (
        bool(answer.get("error")) or has_words(message_text(answer))
    )


def _remember_one(held: OrderedDict[KeptKey, KeptValue], key: KeptKey, value: KeptValue) -> None:
    """Remember one more, the least recent one of too many no longer."""
    held[key] = value
    held.move_to_end(key)
    while len(held) > _CHATS_SEEN_TO:
        held.popitem(last=False)
