"""Which messages may hold something to remember, judged by the vectors of the local model."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.learn.judges import may_hold_fact, may_tell
from adaptive.search.indexes import MemoryIndexes
from adaptive.search.vectors import normalised
from tests.fakes import ShelvedVectors, WordEmbedder
from tests.minilm import MINILM, judges_of_minilm
from tests.rates import labelled_set

# Written for the patterns that judged this before, none of them seen when the examples were made.
MESSAGES: Any = labelled_set("prefilter")
TELLING, IDLE = MESSAGES["telling"], MESSAGES["idle"]


async def test_rates() -> None:
    """At least 97 % of what tells something is sent, and half of the rest costs no call."""
    examples = (await judges_of_minilm()).messages
    told, idle = [
        normalised(await MINILM.embed(some, query=True))
        for some in (TELLING, IDLE)
    ]
    missed = [
        one
        for one, row in zip(TELLING, told, strict=True)
        if not may_tell(one, row[np.newaxis], examples)
    ]
    assert len(missed) <= 0.03 * len(TELLING), missed
    sent = [
        one
        for one, row in zip(IDLE, idle, strict=True)
        if may_tell(one, row[np.newaxis], examples)
    ]
    assert len(sent) <= 0.5 * len(IDLE), sent


async def test_fact_in_a_long_request() -> None:
    """A fact behind a long task is found, where the vector of the whole shows the task alone."""
    indexes = MemoryIndexes()
    await indexes.warm_up(MINILM, ShelvedVectors())
    task = (
        "Explain how quicksort works. It is a sorting algorithm with a pivot. "
        * 12
    )
    told = f"{task}\n\nI have been a nurse in Porto for nine years.\n\n{task}"
    idle, telling = normalised(await MINILM.embed([task, told], query=True))
    for words, row, is_sent in ((task, idle, False), (told, telling, True)):
        known = row[np.newaxis]
        assert await may_hold_fact(words, MINILM, indexes, known) == is_sent


async def test_without_vectors() -> None:
    """While the embedding provider is down everything is sent that has words."""
    indexes, down = MemoryIndexes(), WordEmbedder()
    down.failing = True
    assert await may_hold_fact("What is 2 + 2?", down, indexes, None)
    assert not await may_hold_fact("\U0001f44d :-)", down, indexes, None)
    assert not down.queries
    known = np.ones((1, 3), np.float32)
    assert await may_hold_fact("And 3 + 3?", down, indexes, known)
