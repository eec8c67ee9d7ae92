"""Putting chats into the index of past conversation, behind the answer and on request.

What stands in the index is compared with the chat as it is now: new and changed messages are
embedded, those that were deleted or left behind on another branch are removed. So no message is
embedded twice, whichever worker did it first, and work that was broken off goes on where it was.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from adaptive.conversation.history_units import (
    message_units,
    secretless_units,
    topic_unit,
    unit_changes,
)
from adaptive.conversation.past_messages import past_messages
from adaptive.conversation.topics import Topic, topics_of
from adaptive.conversation_ports import HistoryUnit, HistoryVectors, PastChats, PastMessage
from adaptive.ports import Embedder
from adaptive.search.vectors import normalised

# A batch takes a model on a slow CPU about a second, in which no memory is embedded beside it.
_UNITS_EMBEDDED_AT_ONCE = 32
_CHATS_PER_PAGE = 50
_LEDGER_CHATS = 500


@dataclass(frozen=True, slots=True)
class IndexingSources:
    """Whose chats are indexed, where they stand, and who makes their vectors."""

    user_id: str
    embedder: Embedder
    vectors: HistoryVectors
    chats: PastChats


@dataclass(frozen=True, slots=True)
class IndexedChat:
    """What indexing a chat did: units embedded, units removed, and the chat's topics.

    ``unsummarised`` are closed topics of which no summary of their present words is indexed.
    """

    embedded: int = 0
    removed: int = 0
    topics: tuple[Topic, ...] = ()
    unsummarised: tuple[Topic, ...] = ()


@dataclass(frozen=True, slots=True)
class BackfillProgress:
    """How far a backfill is; ``finished`` says that no chat was left for want of room."""

    chats: int = 0
    embedded: int = 0
    finished: bool = False


@dataclass(frozen=True, slots=True)
class BackfillRules:
    """At most so many chats and embedded units in one go, and seconds of rest between chats.

    Chats of which everything is indexed already count for neither.
    """

    chats: int = 2000
    units: int = 50_000
    rest: float = 0.05


Progress = Callable[[BackfillProgress], Awaitable[None]]


class HistoryLedger:
    """What this process knows to stand in the index, and who is at work on which user's chats."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str, str], dict[str, str]] = OrderedDict()
        self._locks: dict[str, asyncio.Lock] = {}

    def lock(self, user_id: str) -> asyncio.Lock:
        """Held while a chat of the user is compared and embedded."""
        return self._locks.setdefault(user_id, asyncio.Lock())

    async def known(self, sources: IndexingSources, embedder: str, chat_id: str) -> dict[str, str]:
        """Digests of a chat's units by id, asked for once as long as they are remembered."""
        key = (sources.user_id, embedder, chat_id)
        if key not in self._known:
            self._known[key] = await sources.vectors.known(sources.user_id, embedder, chat_id)
        self._known.move_to_end(key)
        while len(self._known) > _LEDGER_CHATS:
            self._known.popitem(last=False)
        return self._known[key]

    def forget(self, user_id: str, chat_id: str = "") -> None:
        """Ask the index anew for a user's chat, for all without one."""
        for key in [key for key in self._known if key[0] == user_id]:
            if not chat_id or key[2] == chat_id:
                del self._known[key]

    def keep_only(self, user_id: str, chat_ids: Collection[str]) -> None:
        """Ask anew for a user's other chats: another worker may have removed them."""
        for key in [key for key in self._known if key[0] == user_id and key[2] not in chat_ids]:
            del self._known[key]


async def index_chat(
    sources: IndexingSources,
    ledger: HistoryLedger,
    chat_id: str,
    now: float,
    newest_id: str = "",
    summaries: Mapping[str, str] | None = None,
) -> IndexedChat:
    """Bring the index up to a chat as it stands; a chat that is gone is removed from it.

    ``newest_id`` names the message that ends the branch, ``summaries`` are those of topics, by the
    topic's id. Units of topics without one here stay as long as the topic does, word for word.

    Raises:
        HostError: the chat can't be read, or the index not be written.
        EmbeddingError: the embedder brings no vectors; what was embedded before stands.
    """
    async with ledger.lock(sources.user_id):
        stored = await sources.chats.messages(sources.user_id, chat_id)
        messages = past_messages(chat_id, stored, now, newest_id)
        topics = topics_of(messages, now)
        told = summaries or {}
        wanted: list[HistoryUnit] = [
            *message_units(sources.user_id, messages),
            *(
                topic_unit(sources.user_id, topic, told[topic.id])
                for topic in topics
                if told.get(topic.id, "").strip()
            ),
        ]
        name = await sources.embedder.name()
        known = await ledger.known(sources, name, chat_id)
        summed = [(topic, topic_unit(sources.user_id, topic, "")) for topic in topics]
        kept = frozenset(one.id for _, one in summed if known.get(one.id) == one.digest)
        changes = unit_changes(wanted, known, kept)
        # What goes is gone at once, and what comes is written batch by batch.
        if changes.deleted:
            await sources.vectors.delete(sources.user_id, changes.deleted)
            for unit_id in changes.deleted:
                known.pop(unit_id, None)
        await _embed_units(sources, name, changes.upserted, known, messages)
        left = tuple(
            topic for topic, unit in summed if topic.closed and known.get(unit.id) != unit.digest
        )
        return IndexedChat(len(changes.upserted), len(changes.deleted), topics, left)


async def backfill(
    sources: IndexingSources,
    ledger: HistoryLedger,
    now: float,
    rules: BackfillRules,
    progress: Progress,
) -> BackfillProgress:
    """Index a user's existing chats, the newest first, each message with its real date.

    What stands in the index already is passed over without a vector, so a backfill that was
    stopped or cut short is resumed by the next one. ``progress`` is told after each chat.

    Raises:
        HostError: chats can't be read, or the index not be written.
        EmbeddingError: the embedder brings no vectors.
    """
    done = BackfillProgress()
    worked = skip = 0
    seen: set[str] = set()
    while page := await sources.chats.chats(sources.user_id, skip, _CHATS_PER_PAGE):
        for head in page:
            if head.id in seen:
                continue
            if worked >= rules.chats or done.embedded >= rules.units:
                return done
            seen.add(head.id)
            indexed = await index_chat(sources, ledger, head.id, head.updated_at or now)
            worked += bool(indexed.embedded)
            done = BackfillProgress(done.chats + 1, done.embedded + indexed.embedded)
            await progress(done)
            await asyncio.sleep(rules.rest)
        skip += _CHATS_PER_PAGE
    done = BackfillProgress(done.chats, done.embedded, finished=True)
    await progress(done)
    return done


async def sweep_deleted_chats(sources: IndexingSources, ledger: HistoryLedger) -> int:
    """Remove from the index chats that the user has no more; the number of them.

    A filter hears nothing of a chat's deletion (host: events.py, CHAT_DELETED goes to Event
    functions and webhooks only).

    Raises:
        HostError: chats can't be read, or the index not be written.
    """
    indexed = await sources.vectors.chats(sources.user_id)
    ledger.keep_only(sources.user_id, indexed)
    if not indexed:
        return 0
    standing = await sources.chats.standing(sources.user_id, tuple(sorted(indexed)))
    for chat_id in sorted(indexed - standing):
        async with ledger.lock(sources.user_id):
            await sources.vectors.delete_chat(sources.user_id, chat_id)
            ledger.forget(sources.user_id, chat_id)
    return len(indexed - standing)


async def _embed_units(
    sources: IndexingSources,
    name: str,
    units: Sequence[HistoryUnit],
    known: dict[str, str],
    messages: Sequence[PastMessage],
) -> None:
    """Embed and store units, without the secrets in them: neither needs those."""
    for start in range(0, len(units), _UNITS_EMBEDDED_AT_ONCE):
        changed = units[start : start + _UNITS_EMBEDDED_AT_ONCE]
        # In a thread, as it takes a millisecond for each message.
        some = await asyncio.to_thread(secretless_units, changed, sources.user_id, messages)
        made = await sources.embedder.embed([unit.text for unit in some], query=False)
        await sources.vectors.upsert(sources.user_id, name, some, normalised(made))
        known.update({unit.id: unit.digest for unit in some})
