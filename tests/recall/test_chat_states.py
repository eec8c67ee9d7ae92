"""How long it is kept what stands in a chat's prompt, in the database and in this process."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from adaptive.recall.chat_states import ChatRetention, ChatStates
from adaptive.recall.judge import RelevanceCache
from tests.fakes import ShelvedChats

HOUR = 3600
USUAL = ChatRetention(3, 24 * HOUR)


class LettingChats(ShelvedChats):
    """A ``RetainedChats`` that writes down what it was asked to let go of."""

    def __init__(self, *, unavailable: bool = False) -> None:
        super().__init__(unavailable=unavailable)
        self.asked: list[tuple[str, int, int]] = []
        self.currents: list[str] = []

    async def keep_newest(self, user_id: str, chats: int, since: int) -> int:
        """Write it down."""
        self._check()
        self.asked.append((user_id, chats, since))
        return 0

    async def drop_deleted(self, user_id: str, current: str = "") -> int:
        """Write it down."""
        self._check()
        self.currents.append(current)
        return 0


def chat_states() -> ChatStates:
    """States that are written at once."""
    return ChatStates(write_after=0)


async def test_let_go_of_after_a_new_chat() -> None:
    """A chat that is new lets others go at once, a known one only once in five minutes."""
    states, table = chat_states(), LettingChats()
    for chat, now in (("c", 1000), ("c", 1010), ("d", 1020), ("d", 1319), ("d", 1320)):
        await states.keep(table, "ada", chat, "s", now, USUAL)
    assert table.asked == [("ada", 3, now - 24 * HOUR) for now in (1000, 1020, 1320)]
    assert table.currents == ["c", "d", "d"]


async def test_each_user_has_a_time_of_their_own() -> None:
    """That one user's chats were looked at says nothing about another's."""
    states, table = chat_states(), LettingChats()
    for user_id in ("ada", "bob"):
        await states.keep(table, user_id, "c", "s", 1000, USUAL)
    assert [one[0] for one in table.asked] == ["ada", "bob"]


async def test_it_is_written_first() -> None:
    """A state is let go of by the rules that its own writing has just met."""
    states, table = chat_states(), LettingChats()
    await states.keep(table, "ada", "c", "state", 1000, USUAL)
    assert table.rows == {("ada", "c"): "state"}


async def test_nothing_is_kept_outside() -> None:
    """With no chats, or no hours, nothing is written, what stands goes, and the block stays."""
    for retention in (ChatRetention(0, 24 * HOUR), ChatRetention(3, 0)):
        states, table = chat_states(), LettingChats()
        await states.keep(table, "ada", "c", "state", 1000, retention)
        assert table.rows == {}
        assert [one[1] for one in table.asked] == [0]
        assert await states.read(table, "ada", "c") == "state"
        await states.keep(table, "ada", "c", "newer", 1001, retention)
        assert await states.read(table, "ada", "c") == "newer"


async def test_without_chats_the_newest_one_stays_here() -> None:
    """Where nothing is kept outside, this process holds one chat of each user."""
    states, table = chat_states(), LettingChats()
    for chat in "cd":
        await states.keep(table, "ada", chat, chat, 1000, ChatRetention(0))
    assert await states.read(table, "ada", "c") == ""
    assert await states.read(table, "ada", "d") == "d"


async def test_newest_chats_stay_in_the_process() -> None:
    """Within the process as many chats of a user are held as outside, for as long."""
    states, table = chat_states(), LettingChats(unavailable=True)
    for number in range(5):
        await states.keep(table, "ada", f"c{number}", "s", 1000 + number, USUAL)
    await states.keep(table, "bob", "b", "s", 1010, USUAL)
    held = [await states.read(table, "ada", f"c{number}") for number in range(5)]
    assert held == ["", "", "s", "s", "s"]
    assert await states.read(table, "bob", "b") == "s"
    await states.keep(table, "bob", "b", "s", 1005 + 24 * HOUR, USUAL)
    assert [await states.read(table, "ada", f"c{number}") for number in range(5)] == [""] * 5


async def test_table_that_refuses() -> None:
    """A table that refuses breaks nothing."""
    states, table = chat_states(), LettingChats(unavailable=True)
    await states.keep(table, "ada", "c", "s", 1000, USUAL)
    assert table.asked == []


async def test_forgotten_user() -> None:
    """A forgotten user's states are gone, what was about to be written is not; others' stay."""
    states, table = ChatStates(write_after=0.02), LettingChats()
    tasks = [
        asyncio.create_task(states.keep(table, user_id, "c", "s", 1000, USUAL))
        for user_id in ("ada", "bob")
    ]
    await asyncio.sleep(0)
    states.forget("ada")
    assert await states.read(table, "ada", "c") == ""
    assert await states.read(table, "bob", "c") == "s"
    await asyncio.gather(*tasks)
    assert table.rows == {("bob", "c"): "s"}
    table.unavailable = True
    assert await states.read(table, "ada", "c") == ""
    assert await states.read(table, "bob", "c") == "s"


def test_forgotten_scores() -> None:
    """Scores of a forgotten user's memories are gone, with and without cachetools."""
    for plain in (False, True):
        cache = RelevanceCache()
        kind: Any = type(cache._scores)
        scores = kind(10, 60.0, time.monotonic) if plain else cache.lasting(60)
        cache._scores = scores
        for user_id in ("ada", "bob"):
            scores[user_id, "q", "id", "content", "model"] = 0.5
        cache.forget("ada")
        cache.forget("ada")
        assert [key[0] for key in scores] == ["bob"]


def test_nothing_else_is_needed() -> None:
    """The retention says whether anything is kept outside."""
    assert USUAL.outside
    assert not ChatRetention(0).outside
    assert not ChatRetention(3, 0).outside
