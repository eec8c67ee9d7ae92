"""The keyword index of a user's past: made, calibrated and renewed behind the answers, bounded."""

from __future__ import annotations

import time

import numpy as np
import pytest

from adaptive.core.model import Embedder, Vectors
from adaptive.history.index import HistoryIndex, HistoryIndexes
from adaptive.history.upkeep import index_chat
from adaptive.search.calibration import NULL_PROMPTS
from tests.history.world import START, World, chat_of


async def nulls(embedder: Embedder) -> Vectors:
    """Vectors of null prompts, about as far from a team."""
    (team,) = await embedder.embed(["team"], query=False)
    return np.stack(
        [team * (0.3 + 0.01 * (at % 2)) for at in range(len(NULL_PROMPTS))]
    )


async def test_renewed() -> None:
    """Only chats that changed are read again; erased and deleted ones go.

    The null distribution is made once, and again for a much larger past.
    """
    here, indexes = World(c=chat_of("c", "team")), HistoryIndexes(nulls)

    async def renewed(*chat_ids: str) -> HistoryIndex:
        for chat_id in chat_ids:
            await index_chat(here.past(), chat_id, START)
        here.chats.read.clear()
        await indexes.renew(here.past())
        return indexes.at_hand("ada")

    index = await renewed("c")
    assert index.calibration.levels["latin"].mean == pytest.approx(
        0.305, abs=0.01
    )
    here.chats.rows["d"] = chat_of("d", "dog")
    for texts, read, times in (
        (["dog"], ["d"], 2),
        (["dog", "cat"], ["d"], 2),
        ([], [], 2),
    ):
        here.chats.rows["d"] = (
            chat_of("d", *texts) if texts else here.chats.rows["d"]
        )
        index = await renewed("d")
        assert here.chats.read == read
        assert here.vectors.searches == times * len(NULL_PROMPTS)
    assert [one.id for one in index.messages] == ["c0", "d0", "d1"]
    await here.vectors.delete("ada", "c")
    assert [one.id for one in (await renewed()).messages] == ["d0", "d1"]
    indexes.forget("ada")
    assert indexes.at_hand("ada").messages == ()
    del here.chats.rows["d"]
    assert (await renewed()).messages == ()


async def test_changed_within_the_second() -> None:
    """What changes in the second in which it was read, by which the host dates it, is read anew."""
    here, indexes = (
        World(c=chat_of("c", "Freya", start=int(time.time()))),
        HistoryIndexes(nulls),
    )
    await index_chat(here.past(), "c", START)
    await indexes.renew(here.past())
    here.chats.rows["c"][0]["content"] = "Odin"
    await indexes.renew(here.past())
    assert [one.text for one in indexes.at_hand("ada").messages] == ["Odin"]
