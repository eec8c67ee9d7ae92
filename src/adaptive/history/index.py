"""What is searched by keywords: a user's past messages, prepared, as they stood at one moment.

Reading and cutting up 20,000 messages takes seconds, so it is done behind the answers: until an
index stands the vector database alone finds messages, and what it brings is compared by keywords.
Whatever is injected is read anew, so an old index shows nothing that was edited or deleted since.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from adaptive.core.errors import TablesUnavailable
from adaptive.core.kept import ChatNotesTable
from adaptive.core.messages import head_and_tail
from adaptive.core.ports import Embedder, Vectors
from adaptive.core.table_ports import HistoryVectors, PastChats
from adaptive.history.messages import MessageKey, PastMessage, past_messages, topics_of
from adaptive.llm.ask import AnswerFormats
from adaptive.search.bm25 import KeywordIndex, keyword_index
from adaptive.search.calibration import NULL_PROMPTS, NullLevel, Script, null_levels
from adaptive.settings.hook import Hook

# Messages of all users that a process holds, the newest of each; 20,000 take 57 MiB.
MOST_HELD = 40_000
# Head and tail of a long answer; what is injected is read anew from the host's table.
LONGEST_INDEXED = 2000
# Making an index anew takes a core for a moment that grows with it, so a large one rests longer: a
# minute with 18,000 messages.
_REST_PER_MESSAGE = 1 / 300
# The host's clock counts seconds: what changed just before it was read may change once more.
_CLOCK_SECONDS = 2
# A past that has grown by half has other nearest neighbours.
_PAST_GROWN = 1.5
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
        """Whose past it is."""
        return self.hook.user_id

    async def noted(self, chat_id: str) -> str:
        """The summary of a chat that is noted, empty where none is, or can't be read."""
        try:
            return (await self.notes.read(self.user_id, chat_id)).summary
        except TablesUnavailable:
            return ""


@dataclass(frozen=True, slots=True)
class HistoryIndex:
    """Past messages in their order, chat by chat, known by their place.

    ``topics`` holds the number of each one's topic, ``chats`` the places of each chat. ``keywords``
    are those of each message, and ``pair_keywords`` those of it with the one before it in its
    topic, which a short answer needs to be found. ``read`` tells how each chat stood when it was
    read, ``made_at`` when that was by the clock of the process. ``levels`` are the null
    distribution of the past as it was for the embedder and the number of messages of ``levels_of``.
    """

    messages: tuple[PastMessage, ...]
    places: Mapping[MessageKey, int]
    topics: NDArray[np.int64]
    chats: Mapping[str, slice]
    keywords: KeywordIndex
    pair_keywords: KeywordIndex
    read: Mapping[str, int] = field(default_factory=dict[str, int])
    made_at: float = float("-inf")
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
    places: dict[str, slice] = {}
    topics: list[int] = []
    for chat_id, said in chats.items():
        places[chat_id] = slice(len(ordered), len(ordered) + len(said))
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
        places,
        keyword_index(texts, previous.keywords if previous else None),
        keyword_index(pairs, previous.pair_keywords if previous else None),
    )


class HistoryIndexes:
    """The indexes of this process, one for each user; those served last stay where room is short.

    ``nulls`` brings an embedder's vectors of the null prompts. ``clock`` counts seconds, and never
    backwards.
    """

    def __init__(
        self,
        nulls: NullsOf,
        clock: Callable[[], float] = time.monotonic,
        most_held: int = MOST_HELD,
    ) -> None:
        self._held: OrderedDict[str, HistoryIndex] = OrderedDict()
        self._nulls, self._clock, self._most_held = nulls, clock, most_held

    def at_hand(self, user_id: str, embedder: str) -> HistoryIndex | None:
        """The index as it stands, without levels of another embedder; ``None`` while none does."""
        held = self._held.get(user_id)
        if held is None:
            return None
        self._held.move_to_end(user_id)
        return held if held.levels_of[0] == embedder else replace(held, levels={})

    async def renew(self, past: UserPast) -> None:
        """Bring a user's index up to what is said by now, unless that was done a moment ago.

        Raises:
            HostError: messages can't be read, or the vector database not be searched.
            EmbeddingError: the embedder has no vectors of the null prompts.
        """
        user_id, now = past.user_id, self._clock()
        held = self._held.get(user_id)
        if held is not None and now - held.made_at < len(held.messages) * _REST_PER_MESSAGE:
            return
        index = replace(await _index_now(past, held, self._most_held), made_at=now)
        self._held[user_id] = index
        embedder, size = await past.embedder.name(), len(index.messages)
        known, former = index.levels_of
        if known != embedder or size > former * _PAST_GROWN:
            searches = [
                await past.vectors.search(user_id, embedder, row, _NULL_HITS)
                for row in await self._nulls(past.embedder)
            ]
            nearest = np.array([hits[0].score for hits in searches if hits], dtype=np.float32)
            levels = null_levels(nearest) if len(nearest) == len(NULL_PROMPTS) else {}
            self._held[user_id] = replace(index, levels=levels, levels_of=(embedder, size))
        self._held.move_to_end(user_id)
        total = sum(len(one.messages) for one in self._held.values())
        while len(self._held) > 1 and total > self._most_held:
            total -= len(self._held.popitem(last=False)[1].messages)

    def forget(self, user_id: str) -> None:
        """Drop a user's index."""
        self._held.pop(user_id, None)


async def _index_now(past: UserPast, held: HistoryIndex | None, most: int) -> HistoryIndex:
    """The newest messages of the chats that are indexed; only chats that changed are read again.

    What was never indexed, or was erased from the index, is not recalled by its words either.
    """
    indexed = await past.vectors.chats(past.user_id)
    now = time.time()
    messages: list[PastMessage] = []
    read: dict[str, int] = {}
    for chat_id, head in (await past.chats.heads(past.user_id)).items():
        if chat_id not in indexed or len(messages) >= most:
            continue
        if held is not None and held.read.get(chat_id) == head.updated_at:
            messages += held.messages[held.chats.get(chat_id, slice(0))]
        else:
            stored = await past.chats.messages(past.user_id, chat_id)
            said = await asyncio.to_thread(past_messages, chat_id, stored, now)
            messages += [
                replace(one, text=head_and_tail(one.text, LONGEST_INDEXED)) for one in said
            ]
        read[chat_id] = head.updated_at if head.updated_at + _CLOCK_SECONDS <= now else 0
    made = await asyncio.to_thread(history_index, messages[:most], held)
    made = replace(made, read=read)
    return made if held is None else replace(made, levels=held.levels, levels_of=held.levels_of)
