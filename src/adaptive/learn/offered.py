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
from adaptive.search.fusion import rank
from adaptive.search.index import MemoryIndex
from adaptive.search.indexes import MemoryIndexes, Sources
from adaptive.search.query import asked_for, query_vectors

# With more memories than this only the nearest are shown to the model.
_OFFERED_MEMORIES = 20
_OFFERED_FOR_EACH_PART = 8
_MOST_PARTS = 8
# What is longer may be about several things.
_LONG_PART = 400
# Nobody waits for learning, so the embedding provider may take its time.
_QUERY_PATIENCE_SECONDS = 10.0

_BLANK_LINES = re.compile(r"\n\s*\n")
_SPOKEN_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])")


async def offered_memories(
    sources: Sources, indexes: MemoryIndexes, index: MemoryIndex, words: str, hidden: LocalOnlyBanks
) -> Sequence[Memory]:
    """All memories of a small store; of another those nearest to the words and to their parts.

    What several messages say that are learned together is near to none of what it corrects: the
    nearest of each part stand first, in turns.
    """
    if len(index.memories) <= _OFFERED_MEMORIES:
        return hidden.without(index.memories)
    parts = spoken_parts(words)
    known = indexes.known_query(sources.user_id, index.embedder, words)
    if len(parts) < 2 and known is not None:
        vectors: Vectors | None = known[None]
    else:
        vectors = await query_vectors(sources.embedder, parts, _QUERY_PATIENCE_SECONDS)
    places = await asyncio.to_thread(_nearest, index, parts or [words], vectors)
    near = hidden.without(index.memories[place] for place in places)
    return near[: max(_OFFERED_MEMORIES, _OFFERED_FOR_EACH_PART * len(parts))]


def spoken_parts(words: str) -> list[str]:
    """At most eight parts of a text: its paragraphs, long ones in groups of sentences."""
    parts = [part for one in _BLANK_LINES.split(words) for part in _groups(one) if has_words(part)]
    size = -(-len(parts) // _MOST_PARTS) or 1
    return ["\n".join(parts[at : at + size]) for at in range(0, len(parts), size)]


def _groups(paragraph: str) -> Iterator[str]:
    """Sentences in a row, as many together as are short enough."""
    group = ""
    for sentence in _SPOKEN_SENTENCE_END.split(paragraph):
        if group and len(group) + len(sentence) > _LONG_PART:
            yield group
            group = ""
        group = f"{group} {sentence}".strip()
    yield group


def _nearest(index: MemoryIndex, parts: Sequence[str], vectors: Vectors | None) -> list[int]:
    """Places in the index: the nearest of each part, then the second of each, and so on."""
    rankings: list[list[int]] = []
    for number, part in enumerate(parts):
        vector = None if vectors is None else vectors[number : number + 1]
        ranked = rank(index.shelf, asked_for(part, "", vector, index.dimension))
        rankings.append([one.place for one in ranked])
    rows = itertools.zip_longest(*rankings)
    return list(dict.fromkeys(place for row in rows for place in row if place is not None))
