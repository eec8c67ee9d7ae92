"""The keyword index of a user's past: made, calibrated and renewed behind the answers, bounded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adaptive.errors import HostError
from adaptive.history.index import HistoryIndex, HistoryIndexes, history_index
from adaptive.history.indexing import index_chat
from adaptive.ports import Embedder, Vectors
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.tokens import tokens
from tests.history.world import DAY, START, World, chat_of, no_nulls, said

PLENTY = 2**30


class Process(World):
    """A world with the indexes of a process, and a clock that a test sets."""

    def __init__(self, nulls: Any = no_nulls, **chats: Any) -> None:
        super().__init__(**chats)
        self.now = 0.0
        self.indexes = HistoryIndexes(nulls, lambda: self.now)

    async def filled(self) -> Process:
        """The same with every chat indexed."""
        for chat_id in self.chats.rows:
            await index_chat(self.past, chat_id, START)
        return self

    async def renewed(self, budget: int = PLENTY, seconds: float = 60) -> HistoryIndex:
        """The index behind a turn so many seconds later."""
        self.now += seconds
        await self.indexes.renew(self.past, budget)
        found = self.indexes.at_hand("ada", await self.embedder.name())
        assert found is not None
        return found

    async def ids(self, seconds: float = 60) -> list[str]:
        """The messages that are indexed behind a turn so many seconds later."""
        return sorted(one.id for one in (await self.renewed(seconds=seconds)).messages)


def two_chats() -> Process:
    """Two chats."""
    return Process(c=chat_of("c", "Which team?", "The Wolves!"), d=chat_of("d", "A dog"))


def test_prepared() -> None:
    """Messages stand chat by chat, each with its topic; a pair's words find the short answer."""
    index = history_index(
        [
            said("a", "Which team?", chat_id="one"),
            said("x", "A dog", chat_id="two"),
            said("b", "The Wolves!", "assistant", "one", START + 1),
            said("c", "And rain?", chat_id="one", said_at=START + DAY),
        ]
    )
    assert [one.id for one in index.messages] == ["a", "b", "c", "x"]
    assert index.topics.tolist() == [0, 0, 1, 2]
    assert index.chats == {"one": slice(0, 3), "two": slice(3, 4)}
    assert np.flatnonzero(index.keywords.scores(tokens("team"))).tolist() == [0]
    assert np.flatnonzero(index.pair_keywords.scores(tokens("team"))).tolist() == [0, 1]
    assert history_index([]).messages == ()


async def test_only_changed_chats_are_read() -> None:
    """What was added is read chat by chat, after a rest that grows with the past."""
    here = await two_chats().filled()
    assert here.indexes.at_hand("ada", "words") is None
    assert await here.ids() == ["c0", "c1", "d0"]
    here.chats.partial_reads.clear()
    here.chats.add("d", "A dog", "Its name?", start=START + 500)
    assert await here.ids(seconds=0.001) == ["c0", "c1", "d0"]
    assert await here.ids(seconds=1) == ["c0", "c1", "d0", "d1"]
    assert (here.chats.full_reads, here.chats.partial_reads) == (2, ["d"])


async def test_only_indexed_chats() -> None:
    """What was never indexed, or was erased or deleted since, is not found by its words."""
    here = two_chats()
    await index_chat(here.past, "c", START)
    assert await here.ids() == ["c0", "c1"]
    await index_chat(here.past, "d", START)
    await here.vectors.delete_chat("ada", "c")
    here.chats.add("d", "A dog", "Rex", start=START + 500)
    assert await here.ids() == ["d0", "d1"]
    here.chats.remove("d")
    assert await here.ids() == []


async def test_branch_of_the_turn() -> None:
    """Of two answers in the same second the one counts that the turn ends with."""
    here = await two_chats().filled()
    here.chats.rows["c"].append({**here.chats.rows["c"][1], "id": "other"})
    for newest, other in (("other", "c1"), ("c1", "other")):
        here.indexes.forget("ada")
        await here.indexes.renew(here.past, PLENTY, newest)
        found = here.indexes.at_hand("ada", "words")
        assert found is not None
        assert ("c", newest) in found.places
        assert ("c", other) not in found.places


async def test_budget() -> None:
    """Of one user's past the newest messages are kept, of users the newest served."""
    texts = ["one two three " * 20 for _ in range(20)]
    here = await Process(c=chat_of("c", *texts)).filled()
    found = await here.renewed(60_000)
    newest = [f"c{at}" for at in range(20)][-len(found.messages) :]
    assert [one.id for one in found.messages] == newest
    assert 0 < found.nbytes <= 60_000
    here.chats.owner["d"], here.chats.rows["d"] = "bob", [*chat_of("d", *texts)]
    bob = replace(here.past, user_id="bob")
    await index_chat(bob, "d", START)
    await here.indexes.renew(bob, 60_000)
    assert here.indexes.at_hand("bob", "words") is not None
    assert here.indexes.at_hand("ada", "words") is None


async def test_failure_and_forgetting() -> None:
    """What can't be read is told to the caller; of a forgotten user nothing is kept."""
    here = await two_chats().filled()
    await here.ids()
    here.indexes.forget("ada")
    assert here.indexes.at_hand("ada", "words") is None
    here.chats.failing = True
    with pytest.raises(HostError):
        await here.ids(seconds=0)


def nulls_of(scores: Callable[[int], float]) -> Callable[[Embedder], Any]:
    """Null prompts with those cosines to the word "team"."""

    async def nulls(embedder: Embedder) -> Vectors:
        (team,) = await embedder.embed(["team"], query=False)
        return np.stack([team * scores(at) for at in range(len(NULL_PROMPTS))])

    return nulls


async def test_calibrated() -> None:
    """The null distribution is made once, again for a much larger past and for another embedder."""
    here = await Process(
        nulls_of(lambda at: 0.3 + 0.01 * (at % 2)), c=chat_of("c", "team")
    ).filled()
    found = await here.renewed()
    assert found.levels["latin"].mean == pytest.approx(0.305, abs=0.01)
    other = here.indexes.at_hand("ada", "other")
    assert other is not None
    assert other.levels == {}
    for texts, times in ((["team"], 1), (["team", "dog"], 2), (["team", "dog", "cat"], 2)):
        here.chats.add("c", *texts)
        await index_chat(here.past, "c", START)
        await here.renewed()
        assert here.vectors.searches == times * len(NULL_PROMPTS)


async def test_nothing_to_calibrate_by() -> None:
    """An engine that gives everything the same score, or nothing, brings no levels."""
    flat = await Process(nulls_of(lambda _: 0.0), c=chat_of("c", "team")).filled()
    for here in (flat, Process(nulls_of(lambda at: 0.1 * at))):
        assert (await here.renewed()).levels == {}
