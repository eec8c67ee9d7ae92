"""What is searched by keywords: a user's past messages, prepared, as they stood at one moment.

Reading and cutting up 20,000 messages takes seconds, so it is done behind the answers: until an
index stands the vector database alone finds messages, and what it brings is compared by keywords.
Whatever is injected is read anew, so an old index shows nothing that was edited or deleted since.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from adaptive.core.cache import UserCache
from adaptive.core.errors import TablesUnavailable
from adaptive.core.messages import head_and_tail
from adaptive.core.ports import Embedder, Vectors
from adaptive.history.messages import MessageKey, PastMessage, past_messages, topics_of
from adaptive.llm.ask import AnswerFormats
from adaptive.memory.tables import ChatNotesTable
from adaptive.search.bm25 import KeywordIndex, keyword_index
from adaptive.search.calibration import NULL_PROMPTS, NullLevel, Script, null_levels
from adaptive.search.history_ports import HistoryVectors, PastChats
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
class HistoryIndex:
    """Past messages in their order, chat by chat, known by their place."""

    messages: tuple[PastMessage, ...]
    places: Mapping[MessageKey, int]
    topics: NDArray[np.int64]  # the number of each one's topic
    keywords: KeywordIndex
    # With the one before it in its topic, which a short answer needs to be found.
    pair_keywords: KeywordIndex
    read: Mapping[str, int] = field(default_factory=dict[str, int])  # how each chat stood then
    # The null distribution, as it was for that embedder and number of messages.
    levels: HistoryLevels = field(default_factory=dict[Script, NullLevel])
    levels_of: tuple[str, int] = ("", 0)


def history_index(
    messages: Iterable[PastMessage], previous: HistoryIndex | None = None
) -> HistoryIndex:
    """Prepare past messages, those of one chat oldest first; ``previous`` spares work."""
    chats: dict[str, list[PastMessage]] = {}
    for message in messages:
        chats.setdefault(message.chat_id, []).append(message)
    ordered: list[PastMessage] = []
    topics: list[int] = []
    for said in chats.values():
        ordered += said
        for topic in topics_of(said, said[-1].said_at):
            topics += [topics[-1] + 1 if topics else 0] * len(topic.messages)
    texts = [message.text for message in ordered]
    pairs = [
        f"{texts[at - 1]}\n{text}" if at and topics[at - 1] == topics[at] else text
        for at, text in enumerate(texts)
    ]
    return HistoryIndex(
        tuple(ordered),
        {one.key: at for at, one in enumerate(ordered)},
        np.array(topics, dtype=np.int64),
        keyword_index(texts, previous.keywords if previous else None),
        keyword_index(pairs, previous.pair_keywords if previous else None),
    )


class HistoryIndexes:
    """The indexes of this process, one for each user; those served last stay where room is short.

    ``nulls`` brings an embedder's vectors of the null prompts.
    """

    def __init__(self, nulls: NullsOf) -> None:
        self._held = UserCache[HistoryIndex](MOST_HELD, lambda one: len(one.messages))
        self._nulls = nulls

    def at_hand(self, user_id: str) -> HistoryIndex:
        """The index as it stands, an empty one while none does."""
        return self._held.get((user_id,)) or history_index(())

    async def renew(self, past: UserPast) -> None:
        """Bring a user's index up to what is said by now; raises what its sources raise."""
        user_id, embedder = past.user_id, await past.embedder.name()
        index = await _index_now(past, self.at_hand(user_id))
        known, former = index.levels_of
        if known != embedder or len(index.messages) > former * _PAST_GROWN:
            searches = [
                await past.vectors.search(user_id, embedder, row, _NULL_HITS)
                for row in await self._nulls(past.embedder)
            ]
            nearest = np.array([hits[0].score for hits in searches if hits], dtype=np.float32)
            levels = null_levels(nearest) if len(nearest) == len(NULL_PROMPTS) else {}
            index = replace(index, levels=levels, levels_of=(embedder, len(index.messages)))
        self._held.put((user_id,), index)

    def forget(self, user_id: str) -> None:
        """Drop a user's index."""
        self._held.forget(user_id)


async def _index_now(past: UserPast, held: HistoryIndex) -> HistoryIndex:
    """The newest messages of the chats that are indexed; only chats that changed are read again.

    What was never indexed, or was erased from the index, is not recalled by its words either.
    """
    indexed = await past.vectors.chats(past.user_id)
    former: dict[str, list[PastMessage]] = {}
    for one in held.messages:
        former.setdefault(one.chat_id, []).append(one)
    messages: list[PastMessage] = []
    read: dict[str, int] = {}
    begun = time.time()
    for chat_id, head in (await past.chats.heads(past.user_id)).items():
        if chat_id not in indexed or len(messages) >= MOST_HELD:
            continue
        if held.read.get(chat_id) == head.updated_at:
            messages += former.get(chat_id, ())
        else:
            stored = await past.chats.messages(past.user_id, chat_id)
            said = await asyncio.to_thread(past_messages, chat_id, stored, time.time())
            messages += [
                replace(one, text=head_and_tail(one.text, LONGEST_INDEXED)) for one in said
            ]
        # The host's clock counts seconds: what changed just now may change within this second.
        read[chat_id] = head.updated_at if head.updated_at < begun - _CLOCK_SECONDS else 0
    made = await asyncio.to_thread(history_index, messages, held)
    return replace(made, read=read, levels=held.levels, levels_of=held.levels_of)
