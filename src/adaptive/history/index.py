"""What is searched by keywords: a user's past messages, prepared, as they stood at one moment.

Reading and cutting up 20,000 messages takes seconds, so it is done behind the answers: until an
index stands the vector database alone finds messages, and what it brings is compared by keywords.
Whatever is injected is read anew, so an old index shows nothing that was edited or deleted since.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from adaptive.core.messages import head_and_tail
from adaptive.core.model import Embedder, TablesUnavailable, Vectors
from adaptive.core.runtime import UserCache
from adaptive.history.messages import (
    MessageFilter,
    MessageKey,
    PastMessage,
    past_messages,
    topics_of,
)
from adaptive.llm.ask import AnswerFormats
from adaptive.memory.tables import ChatNotesTable
from adaptive.search.bm25 import KeywordIndex, keyword_index
from adaptive.search.calibration import (
    NULL_PROMPTS,
    NullLevel,
    Script,
    null_levels,
)
from adaptive.search.history_ports import ChatHead, HistoryVectors, PastChats
from adaptive.settings.hook import Hook

# Messages of all users that a process holds, the newest of each; 20,000 take 57 MiB.
MOST_HELD = 40_000
# Head and tail of a long answer; what is injected is read anew from the host's table.
LONGEST_INDEXED = 2000
# A past that has grown by half has other nearest neighbours.
_PAST_GROWN = 1.5
_CLOCK_SECONDS = 2
# Enough to tell which way an engine's measure goes.
_NULL_HITS = 5

HistoryLevels = Mapping[Script, NullLevel]
NullsOf = Callable[[Embedder], Awaitable[Vectors]]


@dataclass(frozen=True, slots=True)
class UserPast:
    """A hook of a user's, and where the user's past conversation comes from."""

    hook: Hook
    embedder: Embedder
    vectors: HistoryVectors
    chats: PastChats
    notes: ChatNotesTable
    formats: AnswerFormats
    rememberable: MessageFilter

    @property
    def user_id(self) -> str:
        return self.hook.user_id

    async def noted(self, chat_id: str) -> str:
        """The summary of a chat that is noted, empty where none is, or can't be read."""
        try:
            return (await self.notes.read(self.user_id, chat_id)).summary
        except TablesUnavailable:
            return ""


@dataclass(frozen=True, slots=True)
class HistoryCalibration:
    """The null distribution of a past for an embedder, and of how many messages that was."""

    levels: HistoryLevels = field(default_factory=dict[Script, NullLevel])
    embedder: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class IndexedMessages:
    """The messages of a chat as they were when it was last changed; 0 if it may change again."""

    messages: tuple[PastMessage, ...]
    updated_at: int


@dataclass(frozen=True, slots=True)
class HistoryIndex:
    """Past messages in their order, chat by chat, known by their place."""

    messages: tuple[PastMessage, ...]
    places: Mapping[MessageKey, int]
    topics: NDArray[np.int64]  # the number of each one's topic
    keywords: KeywordIndex
    # With the one before it in its topic, which a short answer needs to be found.
    pair_keywords: KeywordIndex
    chats: Mapping[str, IndexedMessages] = field(
        default_factory=dict[str, IndexedMessages]
    )
    calibration: HistoryCalibration = HistoryCalibration()


def history_index(
    messages: Iterable[PastMessage], previous: HistoryIndex | None = None
) -> HistoryIndex:
    """Prepare past messages, those of one chat oldest first; ``previous`` spares work."""
    chats: defaultdict[str, list[PastMessage]] = defaultdict(list)
    for message in messages:
        chats[message.chat_id].append(message)
    topics = [
        topic.messages
        for chat in chats.values()
        for topic in topics_of(chat, now=0)
    ]
    ordered = [message for topic in topics for message in topic]
    pairs: list[str] = []
    for topic in topics:
        pairs.append(topic[0].text)
        pairs += [
            f"{before.text}\n{message.text}"
            for before, message in pairwise(topic)
        ]
    numbers = [number for number, topic in enumerate(topics) for _ in topic]
    texts = [message.text for message in ordered]
    return HistoryIndex(
        messages=tuple(ordered),
        places={message.key: place for place, message in enumerate(ordered)},
        topics=np.array(numbers, dtype=np.int64),
        keywords=keyword_index(texts, previous.keywords if previous else None),
        pair_keywords=keyword_index(
            pairs, previous.pair_keywords if previous else None
        ),
    )


class HistoryIndexes:
    """The indexes of this process, one for each user; those served last stay where room is short.

    ``nulls`` brings an embedder's vectors of the null prompts.
    """

    def __init__(self, nulls: NullsOf) -> None:
        self._indexes = UserCache[HistoryIndex](
            MOST_HELD, lambda index: len(index.messages)
        )
        self._nulls = nulls

    def at_hand(self, user_id: str) -> HistoryIndex:
        """The index as it stands, an empty one while none does."""
        return self._indexes.get((user_id,)) or history_index(())

    async def renew(self, past: UserPast) -> None:
        """Bring a user's index up to what is said by now; raises what its sources raise."""
        index = await _renewed(past, self.at_hand(past.user_id))
        size = len(index.messages)
        embedder = await past.embedder.name()
        known = index.calibration
        if known.embedder != embedder or size > known.size * _PAST_GROWN:
            levels = await self._levels(past, embedder)
            index = replace(
                index, calibration=HistoryCalibration(levels, embedder, size)
            )
        self._indexes.put((past.user_id,), index)

    async def _levels(self, past: UserPast, embedder: str) -> HistoryLevels:
        """How near the user's past comes to each null prompt; nothing while it is too short."""
        nearest: list[float] = []
        for vector in await self._nulls(past.embedder):
            hits = await past.vectors.search(
                past.user_id, embedder, vector, _NULL_HITS
            )
            nearest += [hit.score for hit in hits[:1]]
        complete = len(nearest) == len(NULL_PROMPTS)
        return (
            null_levels(np.array(nearest, dtype=np.float32))
            if complete
            else {}
        )

    def forget(self, user_id: str) -> None:
        """Drop a user's index."""
        self._indexes.forget(user_id)


async def _renewed(past: UserPast, index: HistoryIndex) -> HistoryIndex:
    """The newest messages of the chats that are indexed; only chats that changed are read again.

    What was never indexed, or was erased from the index, is not recalled by its words either.
    """
    indexed = await past.vectors.chats(past.user_id)
    chats: dict[str, IndexedMessages] = {}
    messages: list[PastMessage] = []
    for chat_id, head in (await past.chats.heads(past.user_id)).items():
        if chat_id not in indexed or len(messages) >= MOST_HELD:
            continue
        chat = index.chats.get(chat_id)
        if chat is None or chat.updated_at != head.updated_at:
            chat = await _read_chat(past, head)
        chats[chat_id] = chat
        messages += chat.messages
    renewed = await asyncio.to_thread(history_index, messages, index)
    return replace(renewed, chats=chats, calibration=index.calibration)


async def _read_chat(past: UserPast, head: ChatHead) -> IndexedMessages:
    """A chat's messages, of long ones head and tail."""
    begun = time.time()
    stored = await past.chats.messages(past.user_id, head.id)
    said = await asyncio.to_thread(
        past_messages, head.id, stored, begun, rememberable=past.rememberable
    )
    # The host's clock counts seconds: what changed just now may change within this second.
    has_settled = head.updated_at < begun - _CLOCK_SECONDS
    return IndexedMessages(
        tuple(
            replace(one, text=head_and_tail(one.text, LONGEST_INDEXED))
            for one in said
        ),
        head.updated_at if has_settled else 0,
    )
