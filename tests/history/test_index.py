"""The keyword index of a user's past: made, calibrated and renewed behind the answers, bounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adaptive.core.ports import Embedder, Vectors
from adaptive.history.index import HistoryIndex, HistoryIndexes
from adaptive.history.upkeep import index_chat
from adaptive.search.calibration import NULL_PROMPTS
from tests.history.world import START, World, chat_of, no_nulls


class Process(World):
    """A world with the indexes of a process."""

    def __init__(self, nulls: Any = no_nulls, most_held: int = 1000, **chats: Any) -> None:
        super().__init__(**(chats or {"c": chat_of("c", "Which team?", "The Wolves!")}))
        self.now = 0.0
        self.indexes = HistoryIndexes(nulls, lambda: self.now, most_held)

    async def index(self, *chat_ids: str, user_id: str = "ada") -> HistoryIndex:
        """The keyword index behind a turn, with these chats indexed before."""
        self.now += 60
        hook = self.hook()
        hook.user_id = user_id
        for chat_id in chat_ids:
            await index_chat(self.past(), chat_id, START)
        await self.indexes.renew(self.past(hook))
        found = self.indexes.at_hand(user_id, "words")
        assert found is not None
        return found


async def test_renewed() -> None:
    """Only chats that changed are read again, after a rest; erased and deleted ones go."""
    here = Process()
    here.chats.rows["d"] = chat_of("d", "A dog")
    assert len((await here.index("c")).messages) == 2
    assert len((await here.index("d")).messages) == 3
    here.chats.read.clear()
    here.chats.rows["d"] = chat_of("d", "A dog", "Its name?")
    here.now -= 60
    assert len((await here.index()).messages) == 3
    assert len((await here.index()).messages) == 4
    assert here.chats.read == ["d"]
    await here.vectors.delete("ada", "c")
    assert [one.id for one in (await here.index()).messages] == ["d0", "d1"]
    del here.chats.rows["d"]
    assert (await here.index()).messages == ()
    here.indexes.forget("ada")
    assert here.indexes.at_hand("ada", "words") is None


async def test_calibrated() -> None:
    """The null distribution is made once, again for a much larger past and for another embedder."""

    async def nulls(embedder: Embedder) -> Vectors:
        (team,) = await embedder.embed(["team"], query=False)
        return np.stack([team * (0.3 + 0.01 * (at % 2)) for at in range(len(NULL_PROMPTS))])

    here = Process(nulls, c=chat_of("c", "team"))
    assert (await here.index("c")).levels["latin"].mean == pytest.approx(0.305, abs=0.01)
    other = here.indexes.at_hand("ada", "other")
    assert other is not None
    assert other.levels == {}
    for texts, times in ((["team"], 1), (["team", "dog"], 2), (["team", "dog", "cat"], 2)):
        here.chats.rows["c"] = chat_of("c", *texts)
        await here.index("c")
        assert here.vectors.searches == times * len(NULL_PROMPTS)
