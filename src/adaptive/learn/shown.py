"""Which of a user's memories the model is shown beside the words that it is to learn from."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Iterator, Sequence

from adaptive.messages import has_words
from adaptive.model import Memory
from adaptive.ports import Vectors
from adaptive.privacy.local_only import LocalOnlyBanks
from adaptive.search.fusion import Asked, rank
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
    # What several turns say that are learned together is near to none of what it corrects: each
    # part is looked for by its own words, rare ones first.
    parts = [Asked(one, None) for one in spoken_parts(words)]
    asked = [asked_for(words, "", vectors, index.dimension), *parts]
    near = await asyncio.to_thread(nearest_memories, index, asked)
    weighty = sorted(index.memories, key=lambda one: -one.importance)[:_BY_IMPORTANCE]
    chosen = [*near[: MOST_SHOWN - len(weighty)], *weighty, *near]
    return hidden.without({one.id: one for one in chosen}.values())[:MOST_SHOWN]


def nearest_memories(index: MemoryIndex, asked: Sequence[Asked]) -> Sequence[Memory]:
    """The nearest to each of several questions, then the second of each; of a small store all."""
    rankings = [[one.place for one in rank(index.shelf, each)] for each in asked]
    places = itertools.chain.from_iterable(itertools.zip_longest(*rankings))
    return [index.memories[place] for place in dict.fromkeys(places) if place is not None]


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
