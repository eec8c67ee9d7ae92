"""What is searched by keywords: a user's past messages, prepared, as they stood at one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adaptive.conversation.topics import topics_of
from adaptive.conversation_ports import HistoryStamp, PastMessage
from adaptive.messages import head_and_tail
from adaptive.search.bm25 import KeywordIndex, keyword_index

# Head and tail of a long answer; what is injected is read anew from the host's table.
LONGEST_INDEXED = 2000
# The text, its words as a list of references, and their places in two inverted lists.
_BYTES_PER_INDEXED_CHARACTER = 6
_BYTES_PER_INDEXED_MESSAGE = 600

MessageKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class HistoryIndex:
    """Past messages in their order, chat by chat, known by their place.

    ``topics`` holds the number of each one's topic, ``chats`` that of its chat, whose numbers stand
    in ``chat_numbers``. ``keywords`` are those of each message, and ``pair_keywords`` those of it
    with the one before it in its topic, which a short answer needs to be found.
    """

    messages: tuple[PastMessage, ...]
    places: Mapping[MessageKey, int]
    topics: NDArray[np.int64]
    chats: NDArray[np.int64]
    chat_numbers: Mapping[str, int]
    keywords: KeywordIndex
    pair_keywords: KeywordIndex
    stamp: HistoryStamp
    nbytes: int


EMPTY_STAMP = HistoryStamp(0, 0)


def history_index(
    messages: Sequence[PastMessage],
    stamp: HistoryStamp = EMPTY_STAMP,
    previous: HistoryIndex | None = None,
) -> HistoryIndex:
    """Prepare past messages, those of one chat oldest first; ``previous`` spares work."""
    chats: dict[str, list[PastMessage]] = {}
    for message in messages:
        cut = head_and_tail(message.text, LONGEST_INDEXED)
        kept = message if cut is message.text else replace(message, text=cut)
        chats.setdefault(message.chat_id, []).append(kept)
    ordered: list[PastMessage] = []
    numbers: list[int] = []
    topic = 0
    for said in chats.values():
        for one in topics_of(said, said[-1].said_at):
            ordered += one.messages
            numbers += [topic] * len(one.messages)
            topic += 1
    texts = [message.text for message in ordered]
    pairs = [
        f"{texts[at - 1]}\n{text}" if at and numbers[at - 1] == numbers[at] else text
        for at, text in enumerate(texts)
    ]
    chat_numbers = {chat_id: number for number, chat_id in enumerate(chats)}
    size = sum(map(len, texts))
    return HistoryIndex(
        tuple(ordered),
        {(one.chat_id, one.id): at for at, one in enumerate(ordered)},
        np.array(numbers, dtype=np.int64),
        np.fromiter((chat_numbers[one.chat_id] for one in ordered), np.int64, len(ordered)),
        chat_numbers,
        keyword_index(texts, previous.keywords if previous else None),
        keyword_index(pairs, previous.pair_keywords if previous else None),
        stamp,
        size * _BYTES_PER_INDEXED_CHARACTER * 3 + len(ordered) * _BYTES_PER_INDEXED_MESSAGE,
    )
