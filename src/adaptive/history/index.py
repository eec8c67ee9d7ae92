"""What is searched by keywords: a user's past messages, prepared, as they stood at one moment.

Reading and cutting up 20,000 messages takes seconds, so it is done behind the answers: until an
index stands the vector database alone finds messages, and what it brings is compared by keywords.
Whatever is injected is read anew, so an old index shows nothing that was edited or deleted since.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from adaptive.conversation_ports import HistoryStamp, HistoryVectors, PastChats
from adaptive.history.messages import MessageKey, PastMessage, past_messages, topics_of
from adaptive.messages import Message, head_and_tail
from adaptive.ports import Embedder, Vectors
from adaptive.search.bm25 import KeywordIndex, keyword_index
from adaptive.search.calibration import NullLevel, Script, null_levels

MOST_INDEXED = 50_000
# Head and tail of a long answer; what is injected is read anew from the host's table.
LONGEST_INDEXED = 2000
# The text, its words as a list of references, and their places in two inverted lists.
_BYTES_PER_CHARACTER = 18
_BYTES_PER_MESSAGE = 600
# Making an index anew takes a core for a moment that grows with it, so a large one rests longer: a
# minute with 18,000 messages.
_REST_PER_MESSAGE = 1 / 300
# With more new messages than that, or fewer messages than before, all are read again.
_MOST_ADDED = 500
# A past that has grown by half has other nearest neighbours.
_PAST_GROWN = 1.5

_NO_STAMP = HistoryStamp(0, 0)

# Enough to tell which way an engine's measure goes.
_NULL_HITS = 5

HistoryLevels = Mapping[Script, NullLevel]
NullsOf = Callable[[Embedder], Awaitable[Vectors]]


@dataclass(frozen=True, slots=True)
class UserPast:
    """Where a user's past conversation comes from, and who makes its vectors."""

    user_id: str
    embedder: Embedder
    vectors: HistoryVectors
    chats: PastChats


@dataclass(frozen=True, slots=True)
class HistoryIndex:
    """Past messages in their order, chat by chat, known by their place.

    ``topics`` holds the number of each one's topic, ``chats`` the places of each chat. ``keywords``
    are those of each message, and ``pair_keywords`` those of it with the one before it in its
    topic, which a short answer needs to be found. ``levels`` are the null distribution of the past
    as it was for the embedder and with the number of messages that ``levels_of`` tells; ``nbytes``
    is about the memory that all of it takes.
    """

    messages: tuple[PastMessage, ...]
    places: Mapping[MessageKey, int]
    topics: NDArray[np.int64]
    chats: Mapping[str, slice]
    keywords: KeywordIndex
    pair_keywords: KeywordIndex
    nbytes: int
    stamp: HistoryStamp = _NO_STAMP
    levels: HistoryLevels = field(default_factory=dict[Script, NullLevel])
    levels_of: tuple[str, int] = ("", 0)


def history_index(
    messages: Sequence[PastMessage], previous: HistoryIndex | None = None
) -> HistoryIndex:
    """Prepare past messages, those of one chat oldest first; ``previous`` spares work."""
    chats: dict[str, list[PastMessage]] = {}
    for message in messages:
        chats.setdefault(message.chat_id, []).append(message)
    ordered: list[PastMessage] = []
    places: dict[str, slice] = {}
    topics: list[int] = []
    topic = 0
    for chat_id, said in chats.items():
        places[chat_id] = slice(len(ordered), len(ordered) + len(said))
        ordered += said
        for one in topics_of(said, said[-1].said_at):
            topics += [topic] * len(one.messages)
            topic += 1
    texts = [message.text for message in ordered]
    pairs = [
        f"{texts[at - 1]}\n{text}" if at and topics[at - 1] == topics[at] else text
        for at, text in enumerate(texts)
    ]
    return HistoryIndex(
        tuple(ordered),
        {one.key: at for at, one in enumerate(ordered)},
        np.array(topics, dtype=np.int64),
        places,
        keyword_index(texts, previous.keywords if previous else None),
        keyword_index(pairs, previous.pair_keywords if previous else None),
        sum(map(_message_bytes, ordered)),
    )


class HistoryIndexes:
    """The indexes of this process, one for each user; the least recent give way over a budget.

    ``nulls`` brings an embedder's vectors of the null prompts. ``clock`` counts seconds, and never
    backwards.
    """

    def __init__(self, nulls: NullsOf, clock: Callable[[], float] = time.monotonic) -> None:
        self._held: OrderedDict[str, HistoryIndex] = OrderedDict()
        self._made_at: dict[str, float] = {}
        self._nulls, self._clock = nulls, clock

    def at_hand(self, user_id: str, embedder: str) -> HistoryIndex | None:
        """The index as it stands, without levels of another embedder; ``None`` while none does."""
        held = self._held.get(user_id)
        if held is None:
            return None
        self._held.move_to_end(user_id)
        return held if held.levels_of[0] == embedder else replace(held, levels={})

    async def renew(self, past: UserPast, budget_bytes: int, newest_id: str = "") -> None:
        """Bring a user's index up to what is said by now, unless that was done a moment ago.

        ``newest_id`` names the message that ends the branch of its chat.

        Raises:
            HostError: messages can't be read, or the vector database not be searched.
            EmbeddingError: the embedder has no vectors of the null prompts.
        """
        user_id, now = past.user_id, self._clock()
        index = held = self._held.get(user_id)
        rest = len(held.messages) * _REST_PER_MESSAGE if held is not None else 0.0
        if now - self._made_at.get(user_id, float("-inf")) < rest:
            return
        self._made_at[user_id] = now
        stamp = await past.chats.stamp(user_id)
        if index is None or index.stamp != stamp:
            messages = await _messages_now(past, held, stamp, newest_id)
            messages = _newest_within(messages, budget_bytes)
            index = replace(await asyncio.to_thread(history_index, messages, held), stamp=stamp)
            if held is not None:
                index = replace(index, levels=held.levels, levels_of=held.levels_of)
            self._keep(user_id, index, budget_bytes)
        embedder = await past.embedder.name()
        if _is_outgrown(index, embedder):
            levels = await _calibrated(past, embedder, await self._nulls(past.embedder))
            index = replace(index, levels=levels, levels_of=(embedder, len(index.messages)))
            self._keep(user_id, index, budget_bytes)

    def forget(self, user_id: str) -> None:
        """Drop a user's index."""
        self._held.pop(user_id, None)
        self._made_at.pop(user_id, None)

    def _keep(self, user_id: str, index: HistoryIndex, budget_bytes: int) -> None:
        self._held[user_id] = index
        self._held.move_to_end(user_id)
        total = sum(one.nbytes for one in self._held.values())
        while len(self._held) > 1 and total > budget_bytes:
            total -= self._held.popitem(last=False)[1].nbytes


async def _messages_now(
    past: UserPast, held: HistoryIndex | None, stamp: HistoryStamp, newest_id: str
) -> list[PastMessage]:
    """A user's messages in indexed chats; where few are new, only their chats are read again.

    What was never indexed, or was erased from the index, is not recalled by its words either.
    """
    user_id = past.user_id
    indexed = await past.vectors.chats(user_id)
    added = stamp.count - held.stamp.count if held is not None else 0
    few = 0 < added <= _MOST_ADDED
    by_chat: dict[str, list[Message]] = {}
    for message in await past.chats.newest_messages(user_id, added if few else MOST_INDEXED):
        if (chat_id := str(message.get("chat_id") or "")) in indexed:
            by_chat.setdefault(chat_id, []).append(message)
    kept: list[PastMessage] = []
    if held is not None and few:
        heads = await past.chats.heads(user_id, list(held.chats))
        standing = (indexed & heads.keys()) - by_chat.keys()
        kept = [one for one in held.messages if one.chat_id in standing]
        for chat_id in by_chat:
            by_chat[chat_id] = list(await past.chats.messages(user_id, chat_id))
    return kept + await asyncio.to_thread(
        lambda: [
            one for id_, said in by_chat.items() for one in past_messages(id_, said, 0, newest_id)
        ]
    )


async def _calibrated(past: UserPast, embedder: str, nulls: Vectors) -> HistoryLevels:
    """The null distribution of a user's past, by the vectors of the null prompts.

    None of an empty past, and of an engine that gives everything the same score.
    """
    nearest: list[float] = []
    for row in nulls:
        hits = await past.vectors.search(past.user_id, embedder, row, _NULL_HITS)
        if not hits:
            return {}
        nearest.append(hits[0].score)
    if len(set(nearest)) < 2:
        return {}
    return null_levels(np.asarray(nearest, dtype=np.float32))


def _newest_within(messages: Sequence[PastMessage], budget_bytes: int) -> list[PastMessage]:
    """As many of the newest messages as the budget holds, in their order, long ones cut."""
    cut = [replace(one, text=head_and_tail(one.text, LONGEST_INDEXED)) for one in messages]
    newest = sorted(cut, key=lambda one: -one.said_at)
    sizes = accumulate(map(_message_bytes, newest))
    kept = {one.key for one, size in zip(newest, sizes, strict=True) if size <= budget_bytes}
    return [one for one in cut if one.key in kept]


def _message_bytes(message: PastMessage) -> int:
    return len(message.text) * _BYTES_PER_CHARACTER + _BYTES_PER_MESSAGE


def _is_outgrown(index: HistoryIndex, embedder: str) -> bool:
    name, size = index.levels_of
    alike = size / _PAST_GROWN <= len(index.messages) <= size * _PAST_GROWN
    return name != embedder or not index.levels or not alike
