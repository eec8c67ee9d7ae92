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
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from adaptive.core.messages import has_words, head_and_tail, message_text
from adaptive.core.model import AdaptiveMemoryError, with_detail
from adaptive.history.index import UserPast
from adaptive.history.messages import (
    PAUSE_SECONDS,
    PastMessage,
    Topic,
    past_messages,
    topics_of,
)
from adaptive.history.section import history_summary
from adaptive.search.history_ports import (
    ChatHead,
    HistoryUnit,
    UnitKey,
    UnitKind,
)
from adaptive.search.vectors import content_hash, normalised

log_history_upkeep = logging.getLogger("adaptive_memory.history")

# A batch takes a model on a slow CPU about a second, in which no memory is embedded beside it.
_UNITS_EMBEDDED_AT_ONCE = 32
# Embedding models read a few hundred tokens; head and tail of a long message tell its subject.
LONGEST_EMBEDDED = 1500
# A shorter topic is found by its messages themselves.
FEWEST_SUMMARISED = 4
_TOPIC_TOKENS = 140
_TOPIC_SECONDS = 60.0
# Chats of which the last topic may be finished, looked at behind one turn.
_RESTED_CHATS = 5
_REST_BETWEEN_CHATS = 0.05
# The host stores the whole answer before or soon after its outlet; 13 seconds in all.
_ANSWER_LOOKS = (0.3, 0.4, 0.8, 1.6, 3.0, 7.0)
_PAST_CHATS = "past chats"

TellUser = Callable[[str], Awaitable[None]]


class HistoryUpkeep:
    """Keeps users' indexes up. The index itself is the truth, so two workers do no harm."""

    def __init__(
        self, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> None:
        self._sleep = sleep
        # What this process does once for a user: past chats, topics, and chats that have rested.
        self._done: defaultdict[str, set[str]] = defaultdict(set)

    async def keep(self, past: UserPast, tell: TellUser, now: float) -> None:
        """Index a turn's chat, remove deleted chats, then what else is due; ``now`` is epoch time.

        A filter hears nothing of a chat's deletion (host: events.py, CHAT_DELETED goes to Event
        functions and webhooks only). May raise ``HostError`` and ``EmbeddingError``.
        """
        hook = past.hook
        await self._until_answer_is_stored(past)
        indexed = await past.vectors.chats(past.user_id)
        heads = await past.chats.heads(past.user_id)
        for chat_id in indexed - heads.keys():
            await past.vectors.delete(past.user_id, chat_id)
        await index_chat(past, hook.chat_id, now, hook.answer_id)
        others = [head for head in heads.values() if head.id != hook.chat_id]
        done = self._done[past.user_id]
        settings = hook.settings
        wants_past_chats = (
            settings.index_past_chats and settings.history_recall == "all"
        )
        if wants_past_chats and _PAST_CHATS not in done:
            await self._backfill(past, others, tell, now)
        if settings.enable_history_summary:
            rested = [
                head
                for head in others
                if head.id in indexed
                and head.updated_at <= now - PAUSE_SECONDS
                and _rested(head) not in done
            ]
            try:
                await self._summarise(past, rested[:_RESTED_CHATS], now)
            except AdaptiveMemoryError as error:
                log_history_upkeep.warning(
                    "a topic was not summarised: %s", with_detail(error)
                )

    def forget(self, user_id: str, chat_id: str = "") -> None:
        """Let go of what is known of a user; without a chat nothing is backfilled any more."""
        done = self._done[user_id]
        self._done[user_id] = (
            done & {_PAST_CHATS} if chat_id else {_PAST_CHATS}
        )

    async def _until_answer_is_stored(self, past: UserPast) -> None:
        """Wait until the turn is over and its whole answer stands in the host's table."""
        key = (past.hook.chat_id, past.hook.answer_id)
        for seconds in _ANSWER_LOOKS if past.hook.answer_id else ():
            await self._sleep(seconds)
            answer = (await past.chats.current(past.user_id, [key])).get(
                key, {}
            )
            says_something = answer.get("error") or has_words(
                message_text(answer)
            )
            if answer.get("done") is True and says_something:
                return

    async def _summarise(
        self, past: UserPast, rested: Sequence[ChatHead], now: float
    ) -> None:
        """Summarise one finished topic, of the turn's chat or of one that has rested.

        A chat that is one topic is noted already, perhaps; else a model is asked, once.
        """
        done = self._done[past.user_id]
        branches = {past.hook.chat_id: past.hook.answer_id}
        for chat_id in (past.hook.chat_id, *(head.id for head in rested)):
            newest_id = branches.get(chat_id, "")
            chat = await index_chat(past, chat_id, now, newest_id)
            topic = next(
                (one for one in chat.unsummarised if one.digest not in done),
                None,
            )
            if topic is None:
                done.update(
                    _rested(head) for head in rested if head.id == chat_id
                )
                continue
            done.add(topic.digest)
            summary = await past.noted(chat_id) if chat.topics == 1 else ""
            summary = summary or await history_summary(
                past, topic.messages, _TOPIC_TOKENS, _TOPIC_SECONDS
            )
            if has_words(summary):
                await index_chat(
                    past, chat_id, now, newest_id, {topic.id: summary}
                )
            return

    async def _backfill(
        self,
        past: UserPast,
        chats: Sequence[ChatHead],
        tell: TellUser,
        now: float,
    ) -> None:
        """Index all other chats of a user, the newest first, and tell unless none was left.

        It is done once, and tried again with a later turn where it comes to nothing. What stands in
        the index is passed over, so one that was stopped goes on.
        """
        done = self._done[past.user_id]
        done.add(_PAST_CHATS)
        embedded = 0
        is_complete = False
        try:
            for head in chats:
                if not await past.hook.wants_memory():
                    return
                embedded += (await index_chat(past, head.id, now)).embedded
                await self._sleep(_REST_BETWEEN_CHATS)
            is_complete = True
        except AdaptiveMemoryError as error:
            log_history_upkeep.warning(
                "past chats are not indexed yet: %s", with_detail(error)
            )
            await tell(f"Past chats are not all indexed yet: {error}")
        finally:
            if not is_complete:
                done.discard(_PAST_CHATS)
        if embedded and is_complete:
            await tell(f"Past chats indexed: {len(chats) + 1}")


def _rested(chat: ChatHead) -> str:
    """A chat as it stands, all topics of which were seen to."""
    return f"{chat.id} {chat.updated_at}"


@dataclass(frozen=True, slots=True)
class IndexedChat:
    """What indexing a chat did: the number of units embedded, and of its topics."""

    embedded: int
    topics: int
    # Closed ones, not too short, of whose present words no summary is indexed.
    unsummarised: Sequence[Topic]


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
    word for word. May raise ``HostError`` and ``EmbeddingError``; what was embedded before stands.
    """
    embedder = await past.embedder.name()
    # Read first: what another turn adds meanwhile is not taken for something that has gone.
    known = await past.vectors.known(past.user_id, embedder, chat_id)
    stored = await past.chats.messages(past.user_id, chat_id)
    messages = past_messages(
        chat_id,
        stored,
        now,
        rememberable=past.rememberable,
        newest_id=newest_id,
    )
    topics = topics_of(messages, now)
    # In a thread, as looking for secrets takes a moment.
    units = await asyncio.to_thread(message_units, messages, known)
    for topic in topics:
        if summary := (summaries or {}).get(topic.id):
            units.append(topic_unit(topic, summary))
    standing: set[UnitKey] = {("message", message.id) for message in messages}
    standing |= {("exchange", message.id) for message in messages[1:]}
    standing |= {
        key for topic in topics if known.get(key := topic.key) == topic.digest
    }
    standing |= {unit.key for unit in units}
    # What goes is gone at once, and what comes is written batch by batch.
    if gone := sorted(known.keys() - standing):
        await past.vectors.delete(past.user_id, chat_id, gone)
    for start in range(0, len(units), _UNITS_EMBEDDED_AT_ONCE):
        batch = units[start : start + _UNITS_EMBEDDED_AT_ONCE]
        vectors = await past.embedder.embed(
            [unit.text for unit in batch], query=False
        )
        await past.vectors.upsert(
            past.user_id, embedder, batch, normalised(vectors)
        )
    return IndexedChat(
        embedded=len(units),
        topics=len(topics),
        unsummarised=[
            topic
            for topic in topics
            if topic.closed
            and len(topic.messages) >= FEWEST_SUMMARISED
            and topic.key not in standing
        ],
    )


def message_units(
    messages: Sequence[PastMessage], known: Mapping[UnitKey, str] | None = None
) -> list[HistoryUnit]:
    """The units of a chat's messages, oldest first, without secrets: one of each, and of each pair.

    Those that are ``known`` by their digests are left out.
    """
    units: list[HistoryUnit] = []
    for place, message in enumerate(messages):
        parts: dict[UnitKind, Sequence[PastMessage]] = {"message": (message,)}
        if place:
            parts["exchange"] = messages[place - 1 : place + 1]
        for kind, said in parts.items():
            digest = content_hash(
                "\n".join([str(not place), *(part.text for part in said)])
            )
            if known and known.get((kind, message.id)) == digest:
                continue
            longest = LONGEST_EMBEDDED // len(said)
            text = "\n".join(
                head_and_tail(part.secretless, longest) for part in said
            )
            units.append(
                HistoryUnit(kind, *message.key, text, digest, first=not place)
            )
    return units


def topic_unit(topic: Topic, summary: str) -> HistoryUnit:
    """The unit of a topic, by its summary; it is found as the topic's first message.

    Its digest is that of the messages: a summary of words that are gone is no summary of it.
    """
    text = head_and_tail(summary, LONGEST_EMBEDDED)
    return HistoryUnit("topic", *topic.messages[0].key, text, topic.digest)
