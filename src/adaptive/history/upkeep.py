"""What is done for past conversation behind an answer: its chat, topics, chats of before."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from adaptive.conversation_ports import ChatHead, ChatNotesTable, HistoryTurn
from adaptive.errors import AdaptiveMemoryError, LeaseLost, TablesUnavailable
from adaptive.history.index import UserPast
from adaptive.history.indexing import IndexedChat, drop_deleted_chats, index_chat
from adaptive.history.messages import PAUSE_SECONDS, Topic
from adaptive.history.summaries import HistorySummariser
from adaptive.messages import has_words, message_text
from adaptive.table_ports import Leases

log_history_upkeep = logging.getLogger("adaptive_memory.history")

# A shorter topic is found by its messages themselves.
FEWEST_SUMMARISED = 4
_TRIES_PER_TOPIC = 3
_TOPIC_TOKENS = 140
_OTHER_CHATS_AGAIN_SECONDS = 300.0
# Chats of which the last topic may be finished, looked at behind one turn.
_RESTED_CHATS = 5
_CHATS_PER_PAGE = 50
_REST_BETWEEN_CHATS = 0.05
_BACKFILL_AGAIN_SECONDS = 60.0
# Longer than one chat takes; after a crash nobody goes on before it ends.
_BACKFILL_LEASE_SECONDS = 300.0
# Longer than a summary takes that others are not to ask for, too.
_TOPIC_LEASE_SECONDS = 90.0
# The host stores the whole answer before or soon after its outlet; 13 seconds in all.
_ANSWER_LOOKS = (0.2, 0.4, 0.8, 1.6, 3.0, 7.0)
_USERS_REMEMBERED = 5000

IndexAgain = Callable[..., Awaitable[IndexedChat]]
MakeSummariser = Callable[[], Awaitable[HistorySummariser | None]]


@dataclass(slots=True)
class _Seen:
    """What this process has done for a user; the index itself is the truth.

    ``looked`` tells when other chats were looked at and behind a turn of which one, ``rested`` how
    chats stood when all their topics were seen to, ``tried`` how often each topic was tried.
    """

    looked: tuple[float, str] = (float("-inf"), "")
    rested: dict[str, int] = field(default_factory=dict[str, int])
    tried: dict[str, int] = field(default_factory=dict[str, int])
    backfill_at: float = 0.0


class HistoryUpkeep:
    """Keeps users' indexes up; what this process has done for whom is remembered.

    Topics are summarised and chats of before are indexed under a lease: another worker, or a
    former load of the plug-in, may be at it. ``clock`` counts seconds, and never backwards.
    """

    def __init__(
        self,
        notes: ChatNotesTable,
        leases: Leases,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._notes, self._leases, self._owner = notes, leases, uuid.uuid4().hex
        self._clock, self._sleep = clock, sleep
        self._seen: OrderedDict[str, _Seen] = OrderedDict()
        self._one_backfill = asyncio.Semaphore(1)

    async def keep(
        self, past: UserPast, turn: HistoryTurn, now: float, summariser: MakeSummariser | None
    ) -> None:
        """Index a turn's chat, remove deleted chats, and summarise one finished topic at most.

        Other chats are looked at when a turn is in another chat than the one before it, and else
        once in some minutes. ``now`` is in epoch seconds.

        Raises:
            HostError: chats can't be read, or the index not be written.
            EmbeddingError: the embedder brings no vectors.
        """
        seen = self._seen_of(past.user_id)
        await self._stored(past, turn)
        looked_at, in_chat = seen.looked
        due = self._clock() - looked_at >= _OTHER_CHATS_AGAIN_SECONDS or turn.chat_id != in_chat
        if due:
            seen.looked = (self._clock(), turn.chat_id)
            await drop_deleted_chats(past)
        index = partial(index_chat, past, turn.chat_id, now, turn.answer_id)
        done = await index()
        if summariser is None or await self._summarised(past, index, done, summariser) or not due:
            return
        for head in await _rested_chats(past, seen, now):
            index = partial(index_chat, past, head.id, now)
            if await self._summarised(past, index, await index(), summariser):
                return
            seen.rested[head.id] = head.updated_at

    async def backfill(self, past: UserPast, turn: HistoryTurn, now: float) -> bool:
        """Index all of a user's chats, the newest first; whether that was done just now.

        It is due once, and again a minute later where it comes to nothing. What stands in the index
        is passed over, so one that was stopped goes on. The user is told in the end, unless there
        was nothing to do or somebody else is at it.
        """
        seen, lease = self._seen_of(past.user_id), f"backfill:{past.user_id}"
        if self._clock() < seen.backfill_at:
            return False
        seen.backfill_at, again = float("inf"), self._clock() + _BACKFILL_AGAIN_SECONDS
        chats = embedded = 0
        try:
            async with self._one_backfill:
                async for head in _all_chats(past):
                    wanted = await turn.wants_memory()
                    if not wanted or not await self._leased(lease, _BACKFILL_LEASE_SECONDS):
                        return False
                    embedded += (await index_chat(past, head.id, head.updated_at or now)).embedded
                    chats += 1
                    await self._sleep(_REST_BETWEEN_CHATS)
            again = float("inf")
            if embedded:
                await turn.tell(f"Past chats indexed: {chats}")
            return True
        except AdaptiveMemoryError as error:
            log_history_upkeep.warning("past chats are not indexed yet: %s", error)
            await turn.tell(f"Past chats are not all indexed yet: {error}")
            return False
        finally:
            seen.backfill_at = again
            with suppress(TablesUnavailable):  # it ends by itself
                await self._leases.release(lease, self._owner)

    def forget(self, user_id: str, chat_id: str = "") -> None:
        """Let go of what is known of a user; without a chat nothing is backfilled any more."""
        at = self._seen_of(user_id).backfill_at if chat_id else float("inf")
        self._seen[user_id] = _Seen(backfill_at=at)

    async def _stored(self, past: UserPast, turn: HistoryTurn) -> None:
        """Wait until the whole answer stands in the host's table; not for long."""
        key = (turn.chat_id, turn.answer_id)
        for seconds in _ANSWER_LOOKS if turn.answer_id else ():
            answer = (await past.chats.current(past.user_id, [key])).get(key, {})
            told = bool(answer.get("error")) or has_words(message_text(answer))
            if answer.get("done") is True and told:
                return
            await self._sleep(seconds)

    async def _summarised(
        self, past: UserPast, index: IndexAgain, done: IndexedChat, summariser: MakeSummariser
    ) -> bool:
        """Whether a finished topic of a chat was tried; after three failures none is again."""
        tried = self._seen_of(past.user_id).tried
        for topic in done.unsummarised:
            tries = tried.get(topic.digest, 0)
            if len(topic.messages) < FEWEST_SUMMARISED or tries >= _TRIES_PER_TOPIC:
                continue
            tried[topic.digest] = _TRIES_PER_TOPIC  # nobody else in this process asks meanwhile
            try:
                text = await self._summary(past, topic, summariser, alone=done.topics == 1)
            except AdaptiveMemoryError as error:
                log_history_upkeep.warning("a topic was not summarised: %s", error)
                tried[topic.digest] = tries + 1
                return True
            if has_words(text):
                await index(summaries={topic.id: text})
            return True
        return False

    async def _summary(
        self, past: UserPast, topic: Topic, summariser: MakeSummariser, *, alone: bool
    ) -> str:
        """What is noted of a chat that is one topic, else a model's summary.

        Empty where the model may not see it.

        Raises:
            LeaseLost: another worker summarises topics of the user.
            ModelError: there is no usable reply in time.
        """
        user_id, chat_id = past.user_id, topic.messages[0].chat_id
        if alone:
            with suppress(TablesUnavailable):
                if noted := (await self._notes.read(user_id, chat_id)).summary:
                    return noted
        # Not released: it ends behind the write of the summary.
        if not await self._leased(f"topics:{user_id}", _TOPIC_LEASE_SECONDS):
            raise LeaseLost("another worker summarises topics of the user")
        model = await summariser()
        return "" if model is None else await model.summary(topic.messages, _TOPIC_TOKENS)

    async def _leased(self, name: str, seconds: float) -> bool:
        """Take or prolong a lease; without a table everybody has it."""
        try:
            return await self._leases.acquire(name, self._owner, time.time(), seconds)
        except TablesUnavailable as error:
            log_history_upkeep.debug("work may be done twice: %s", error)
            return True

    def _seen_of(self, user_id: str) -> _Seen:
        seen = self._seen.setdefault(user_id, _Seen())
        self._seen.move_to_end(user_id)
        while len(self._seen) > _USERS_REMEMBERED:
            self._seen.popitem(last=False)
        return seen


async def _all_chats(past: UserPast) -> AsyncIterator[ChatHead]:
    """A user's chats, page by page; what moves to another page meanwhile comes once."""
    met: set[str] = set()
    skip = 0
    while page := await past.chats.chats(past.user_id, skip, _CHATS_PER_PAGE):
        for head in page:
            if head.id not in met:
                met.add(head.id)
                yield head
        skip += _CHATS_PER_PAGE


async def _rested_chats(past: UserPast, seen: _Seen, now: float) -> list[ChatHead]:
    """Indexed chats that have rested for a topic's pause, and were not seen to since."""
    indexed = await past.vectors.chats(past.user_id)
    rested = [
        head
        for head in await past.chats.chats(past.user_id, 0, _CHATS_PER_PAGE)
        if head.id in indexed
        and head.updated_at <= now - PAUSE_SECONDS
        and seen.rested.get(head.id) != head.updated_at
    ]
    return rested[:_RESTED_CHATS]
