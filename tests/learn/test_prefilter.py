"""Which messages may hold something to remember, judged by the vectors of the local model."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.learn.prefilter import (
    Prefilter,
    may_tell,
    weighted_messages,
)
from adaptive.search.vectors import normalised
from tests.fakes import ShelvedVectors, WordEmbedder
from tests.minilm import MINILM
from tests.rates import labelled_set

# Written for the patterns that judged this before, none of them seen when the examples were made.
MESSAGES: Any = labelled_set("prefilter")
TELLING, IDLE = MESSAGES["telling"], MESSAGES["idle"]


async def test_rates() -> None:
    """At least 97 % of what tells something is sent, and half of the rest costs no call."""
    examples = await weighted_messages().made(MINILM, ShelvedVectors(), 384)
    told, idle = [
        normalised(await MINILM.embed(some, query=True))
        for some in (TELLING, IDLE)
    ]
    missed = [
        one
        for one, row in zip(TELLING, told, strict=True)
        if not may_tell(one, row, examples)
    ]
    assert len(missed) <= 0.03 * len(TELLING), missed
    sent = [
        one
        for one, row in zip(IDLE, idle, strict=True)
        if may_tell(one, row, examples)
    ]
    assert len(sent) <= 0.5 * len(IDLE), sent


async def test_fact_in_a_long_request() -> None:
    """A fact behind a long task is found, where the vector of the whole shows the task alone."""
    prefilter = Prefilter()
    task = (
        "Explain how quicksort works. It is a sorting algorithm with a pivot. "
        * 12
    )
    told = f"{task}\n\nI have been a nurse in Porto for nine years.\n\n{task}"
    idle, telling = normalised(await MINILM.embed([task, told], query=True))
    assert not await prefilter.may_hold_fact(
        task, MINILM, ShelvedVectors(), idle
    )
    assert await prefilter.may_hold_fact(
        told, MINILM, ShelvedVectors(), telling
    )


async def test_without_vectors() -> None:
    """While the embedding provider is down everything is sent that has words."""
    prefilter, down = Prefilter(), WordEmbedder()
    down.failing = True
    assert await prefilter.may_hold_fact(
        "What is 2 + 2?", down, ShelvedVectors(), None
    )
    assert not await prefilter.may_hold_fact(
        "👍 :-)", down, ShelvedVectors(), None
    )
    assert not down.queries
    known = np.ones((1, 3), np.float32)
    assert await prefilter.may_hold_fact(
        "And 3 + 3?", down, ShelvedVectors(), known
    )
