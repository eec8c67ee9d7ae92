"""Which of a user's memories the model is shown beside the words that it is to learn from."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from adaptive.messages import has_words
from adaptive.model import Memory
from adaptive.ports import Vectors
from adaptive.privacy.local_only import LocalOnlyBanks
from adaptive.search.fusion import rank
from adaptive.search.index import MemoryIndex
from adaptive.search.query import asked_for

# With more memories than this only some are shown to the model.
MOST_SHOWN = 20
# Of these so many are the most important ones, whatever the message says: an allergy is near to
# few messages that it matters for.
_BY_IMPORTANCE = 5
_MOST_PARTS = 8
# What is longer may be about several things.
_LONG_PART = 400
_BLANK_LINES = re.compile(r"\n\s*\n")
_END_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])")


async def shown_memories(
    index: MemoryIndex, words: str, vectors: Vectors | None, hidden: LocalOnlyBanks
) -> Sequence[Memory]:
    """All memories of a small store; of another those that may matter for a message.

    They are the nearest, the weightiest, and those that share a name or another rare word with it.
    ``vectors`` are the normalised ones of the message, ``None`` where it has none.
    """
    if len(index.memories) <= MOST_SHOWN:
        return hidden.without(index.memories)
    return hidden.without(await asyncio.to_thread(_nearest_and_weightiest, index, words, vectors))[
        :MOST_SHOWN
    ]


def in_turns(rankings: Iterable[Sequence[int]]) -> list[int]:
    """The first of each ranking, then the second of each, and so on; nothing twice."""
    rows = itertools.zip_longest(*rankings)
    return list(dict.fromkeys(place for row in rows for place in row if place is not None))


def _nearest_and_weightiest(
    index: MemoryIndex, words: str, vectors: Vectors | None
) -> list[Memory]:
    memories = index.memories
    nearest = rank(index.shelf, asked_for(words, "", vectors, index.dimension))
    # What several turns say that are learned together is near to none of what it corrects: each
    # part is looked for by its own words, rare ones first.
    by_words = [rank(index.shelf, asked_for(one, "", None, 0)) for one in spoken_parts(words)]
    rankings = [[one.place for one in ranking] for ranking in (nearest, *by_words)]
    weighty = sorted(range(len(memories)), key=lambda at: -memories[at].importance)[:_BY_IMPORTANCE]
    near = in_turns(rankings)
    chosen = dict.fromkeys([*near[: MOST_SHOWN - len(weighty)], *weighty, *near])
    return [memories[place] for place in chosen]


def spoken_parts(words: str) -> list[str]:
    """At most eight parts of a text: its paragraphs, long ones in groups of sentences."""
    parts = [part for one in _BLANK_LINES.split(words) for part in _groups(one) if has_words(part)]
    size = -(-len(parts) // _MOST_PARTS) or 1
    return ["\n".join(parts[at : at + size]) for at in range(0, len(parts), size)]


def _groups(paragraph: str) -> Iterator[str]:
    """Sentences in a row, as many together as are short enough."""
    group = ""
    for sentence in _END_OF_SENTENCE.split(paragraph):
        if group and len(group) + len(sentence) > _LONG_PART:
            yield group
            group = ""
        group = f"{group} {sentence}".strip()
    yield group
