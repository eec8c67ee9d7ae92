"""What is done for past conversation behind an answer: its chat is indexed, then what else is due.

What stands in the index is compared with the chat as it is now: new and changed messages are
embedded, those that were deleted or left behind on another branch are removed. So no message is
embedded twice, whichever worker did it first, and work that was broken off goes on where it was.

Embedded are each message, each message with the one before it, and summaries of topics. A short
answer ("The Minnesota Wolves!") says what it is about only together with the question; the pair
ends with the message, so that one that is added changes no vector but its own.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from adaptive.core.errors import AdaptiveMemoryError, TablesUnavailable
from adaptive.core.messages import has_words, head_and_tail, message_text
from adaptive.core.table_ports import ChatHead, HistoryUnit, Leases
from adaptive.history.index import UserPast
from adaptive.history.messages import (
    PAUSE_SECONDS,
    PastMessage,
    Topic,
    digest_of,
    past_messages,
    topics_of,
)
from adaptive.history.section import history_summary
from adaptive.search.vectors import normalised

log_history_upkeep = logging.getLogger("adaptive_memory.history")

# A batch takes a model on a slow CPU about a second, in which no memory is embedded beside it.
_UNITS_EMBEDDED_AT_ONCE = 32
# Embedding models read a few hundred tokens; head and tail of a long message tell its subject.
LONGEST_EMBEDDED = 1500
# A shorter topic is found by its messages themselves.
FEWEST_SUMMARISED = 4
_TRIES_PER_TOPIC = 3
_TOPIC_TOKENS = 140
_TOPIC_SECONDS = 60.0
# Chats of which the last topic may be finished, looked at behind one turn.
_RESTED_CHATS = 5
_REST_BETWEEN_CHATS = 0.05
_BACKFILL_AGAIN_SECONDS = 60.0
# Longer than one chat or one summary takes; after a crash nobody goes on before it ends.
_LEASE_SECONDS = 300.0
# The host stores the whole answer before or soon after its outlet; 13 seconds in all.
_ANSWER_LOOKS = (0.2, 0.4, 0.8, 1.6, 3.0, 7.0)

TellUser = Callable[[str], Awaitable[None]]


@dataclass(slots=True)
class _Seen:
    """What this process has done for a user; the index itself is the truth.

    ``rested`` tells how chats stood when all their topics were seen to, ``tried`` how often each
    topic was tried, and ``backfill_at`` when past chats are due.
    """

    rested: dict[str, int] = field(default_factory=dict[str, int])
    tried: Counter[str] = field(default_factory=Counter[str])
    backfill_at: float = 0.0


class HistoryUpkeep:
    """Keeps users' indexes up. ``clock`` counts seconds, and never backwards.

    Whatever goes beyond the turn's own chat is done under a lease: another worker, or a former load
    of the plug-in, may be at it.
    """

    def __init__(
        self,
        leases: Leases,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._leases, self._clock, self._sleep = leases, clock, sleep
        self._seen: defaultdict[str, _Seen] = defaultdict(_Seen)

    async def keep(self, past: UserPast, tell: TellUser, now: float) -> None:
        """Index a turn's chat, remove deleted chats, then what else is due; ``now`` is epoch time.

        A filter hears nothing of a chat's deletion (host: events.py, CHAT_DELETED goes to Event
        functions and webhooks only).

        Raises:
            HostError: chats can't be read, or the index not be written.
            EmbeddingError: the embedder brings no vectors.
        """
        hook, user_id, owner = past.hook, past.user_id, uuid.uuid4().hex
        seen, settings = self._seen[user_id], hook.settings
        await self._stored(past)
        indexed, heads = await past.vectors.chats(user_id), await past.chats.heads(user_id)
        for chat_id in indexed - heads.keys():
            await past.vectors.delete(user_id, chat_id)
        await index_chat(past, hook.chat_id, now, hook.answer_id)
        others = [head for head in heads.values() if head.id != hook.chat_id]
        wanted = settings.index_past_chats and settings.history_recall == "all"
        try:
            if wanted and self._clock() >= seen.backfill_at:
                await self._backfill(past, others, tell, owner, now)
            if settings.enable_history_summary and await self._leased(user_id, owner):
                paused = [one for one in others if one.updated_at <= now - PAUSE_SECONDS]
                left = [one for one in paused if one.updated_at != seen.rested.get(one.id)]
                rested = [one for one in left if one.id in indexed][:_RESTED_CHATS]
                await self._summarise(past, rested, now)
        except AdaptiveMemoryError as error:
            log_history_upkeep.warning("a topic was not summarised: %s", error)
        finally:
            with suppress(TablesUnavailable):  # it ends by itself
                await self._leases.release(f"history:{user_id}", owner)

    def forget(self, user_id: str, chat_id: str = "") -> None:
        """Let go of what is known of a user; without a chat nothing is backfilled any more."""
        at = self._seen[user_id].backfill_at if chat_id else float("inf")
        self._seen[user_id] = _Seen(backfill_at=at)

    async def _stored(self, past: UserPast) -> None:
        """Wait until the whole answer stands in the host's table; not for long."""
        key = (past.hook.chat_id, past.hook.answer_id)
        for seconds in _ANSWER_LOOKS if past.hook.answer_id else ():
            answer = (await past.chats.current(past.user_id, [key])).get(key, {})
            told = bool(answer.get("error")) or has_words(message_text(answer))
            if answer.get("done") is True and told:
                return
            await self._sleep(seconds)

    async def _summarise(self, past: UserPast, rested: Sequence[ChatHead], now: float) -> None:
        """Summarise one finished topic, of the turn's chat or of one that has rested.

        A chat that is one topic is noted already, perhaps; else a model is asked, three times at
        most.
        """
        seen, current = self._seen[past.user_id], (past.hook.chat_id, 0, past.hook.answer_id)
        others = ((head.id, head.updated_at, "") for head in rested)
        for chat_id, updated_at, newest_id in (current, *others):
            done = await index_chat(past, chat_id, now, newest_id)
            long = (one for one in done.unsummarised if len(one.messages) >= FEWEST_SUMMARISED)
            topic = next((one for one in long if seen.tried[one.digest] < _TRIES_PER_TOPIC), None)
            if topic is None:
                seen.rested[chat_id] = updated_at
                continue
            seen.tried[topic.digest] += 1
            text = await past.noted(chat_id) if done.topics == 1 else ""
            asked = (topic.messages, _TOPIC_TOKENS, _TOPIC_SECONDS)
            text = text or await history_summary(past, *asked)
            if has_words(text):
                await index_chat(past, chat_id, now, newest_id, {topic.id: text})
            else:
                seen.tried[topic.digest] = _TRIES_PER_TOPIC
            return

    async def _backfill(
        self, past: UserPast, chats: Sequence[ChatHead], tell: TellUser, owner: str, now: float
    ) -> None:
        """Index all other chats of a user, the newest first.

        It is due once, and again a minute later where it comes to nothing. What stands in the index
        is passed over, so one that was stopped goes on. The user is told in the end, unless there
        was nothing to do or somebody else is at it.
        """
        seen, user_id = self._seen[past.user_id], past.user_id
        seen.backfill_at = self._clock() + _BACKFILL_AGAIN_SECONDS
        embedded = 0
        try:
            for head in chats:
                if not await past.hook.wants_memory() or not await self._leased(user_id, owner):
                    return
                embedded += (await index_chat(past, head.id, now)).embedded
                await self._sleep(_REST_BETWEEN_CHATS)
        except AdaptiveMemoryError as error:
            log_history_upkeep.warning("past chats are not indexed yet: %s", error)
            await tell(f"Past chats are not all indexed yet: {error}")
            return
        seen.backfill_at = float("inf")
        if embedded:
            await tell(f"Past chats indexed: {len(chats) + 1}")

    async def _leased(self, user_id: str, owner: str) -> bool:
        """Take or prolong the lease on a user; without a table everybody has it."""
        try:
            name = f"history:{user_id}"
            return await self._leases.acquire(name, owner, time.time(), _LEASE_SECONDS)
        except TablesUnavailable as error:
            log_history_upkeep.debug("work may be done twice: %s", error)
            return True


@dataclass(frozen=True, slots=True)
class IndexedChat:
    """What indexing a chat did: the number of units embedded, and of its topics.

    ``unsummarised`` are closed topics of which no summary of their present words is indexed.
    """

    embedded: int = 0
    topics: int = 0
    unsummarised: tuple[Topic, ...] = ()


async def index_chat(
    past: UserPast,
    chat_id: str,
    now: float,
    newest_id: str = "",
    summaries: Mapping[str, str] | None = None,
) -> IndexedChat:
    """Bring the index up to a chat as it stands; a chat that is gone is removed from it.

    ``newest_id`` names the message that ends the branch, ``summaries`` are those of topics, by the
    topic's id, without secrets. Units of topics without one here stay as long as the topic does,
    word for word.

    Raises:
        HostError: the chat can't be read, or the index not be written.
        EmbeddingError: the embedder brings no vectors; what was embedded before stands.
    """
    embedder, summaries = await past.embedder.name(), summaries or {}
    # Read first: what another turn adds meanwhile is not taken for something that has gone.
    known = await past.vectors.known(past.user_id, embedder, chat_id)
    stored = await past.chats.messages(past.user_id, chat_id)
    messages = past_messages(chat_id, stored, now, newest_id)
    topics = topics_of(messages, now)
    summed = [topic_unit(one, summaries.get(one.id, "")) for one in topics]
    units = {unit.key: unit for unit in (*message_units(messages), *summed) if unit.text}
    changed = [unit for unit in units.values() if known.get(unit.key) != unit.digest]
    standing = {unit.key for unit in summed if known.get(unit.key) == unit.digest} | units.keys()
    # What goes is gone at once, and what comes is written batch by batch.
    if gone := sorted(known.keys() - standing):
        await past.vectors.delete(past.user_id, chat_id, gone)
    # In a thread, as looking for secrets takes a moment.
    changed = await asyncio.to_thread(_secretless, changed, messages)
    for start in range(0, len(changed), _UNITS_EMBEDDED_AT_ONCE):
        some = changed[start : start + _UNITS_EMBEDDED_AT_ONCE]
        made = await past.embedder.embed([unit.text for unit in some], query=False)
        await past.vectors.upsert(past.user_id, embedder, some, normalised(made))
    left = [one for one in topics if one.closed and ("topic", one.id) not in standing]
    return IndexedChat(len(changed), len(topics), tuple(left))


def message_units(messages: Sequence[PastMessage]) -> list[HistoryUnit]:
    """The units of a chat's messages, oldest first: one of each, and one of each pair."""
    units: list[HistoryUnit] = []
    for at, one in enumerate(messages):
        text = _unit_text(one.text)
        digest = digest_of(f"{not at}\n{text}")
        units.append(HistoryUnit("message", *one.key, text, digest, first=not at))
        if at:
            pair = _unit_text(one.text, messages[at - 1].text)
            units.append(HistoryUnit("exchange", *one.key, pair, digest_of(pair)))
    return units


def _unit_text(text: str, before: str = "") -> str:
    """What is embedded of a message, alone or with the one before it."""
    if not before:
        return head_and_tail(text, LONGEST_EMBEDDED)
    half = LONGEST_EMBEDDED // 2
    return f"{head_and_tail(before, half)}\n{head_and_tail(text, half)}"


def topic_unit(topic: Topic, summary: str = "") -> HistoryUnit:
    """The unit of a topic, by its summary; it is found as the topic's first message.

    Its digest is that of the messages: a summary of words that are gone is no summary of it.
    """
    text = head_and_tail(summary, LONGEST_EMBEDDED)
    return HistoryUnit("topic", *topic.messages[0].key, text, topic.digest)


def _secretless(units: Sequence[HistoryUnit], messages: Sequence[PastMessage]) -> list[HistoryUnit]:
    """Units of a chat's messages without the secrets in those; they keep their digests."""
    places = {one.id: at for at, one in enumerate(messages)}
    bare: list[HistoryUnit] = []
    for unit in units:
        at, text = places[unit.message_id], unit.text
        if unit.kind != "topic":
            before = messages[at - 1].secretless if unit.kind == "exchange" else ""
            text = _unit_text(messages[at].secretless, before)
        bare.append(replace(unit, text=text))
    return bare
