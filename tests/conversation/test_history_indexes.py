"""Keyword indexes of a process: made behind the turns, renewed, bounded."""

from __future__ import annotations

import pytest

from adaptive.conversation.history_indexes import HistoryIndexes
from adaptive.errors import HostError
from tests.conversation.history_world import START, StoredChats, chat_of

PLENTY = 2**30


class Seconds:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def chats() -> StoredChats:
    """Two chats."""
    return StoredChats(c=chat_of("c", "Which team?", "The Wolves!"), d=chat_of("d", "A dog"))


async def test_made_behind() -> None:
    """No turn waits: the first finds no index, the next one does, without reading again."""
    stored, indexes = chats(), HistoryIndexes()
    assert await indexes.at_hand("ada", stored, PLENTY) is None
    await indexes.made("ada")
    index = await indexes.at_hand("ada", stored, PLENTY)
    assert index is not None
    assert sorted(one.id for one in index.messages) == ["c0", "c1", "d0"]
    assert stored.full_reads == 1
    assert await indexes.at_hand("bob", stored, PLENTY) is None
    await indexes.made("bob")
    other = await indexes.at_hand("bob", stored, PLENTY)
    assert other is not None
    assert other.messages == ()


async def test_only_changed_chats_are_read() -> None:
    """What was added is read chat by chat, after a rest; meanwhile the old index serves."""
    clock = Seconds()
    stored, indexes = chats(), HistoryIndexes(clock, rest=60)
    await indexes.at_hand("ada", stored, PLENTY)
    await indexes.made("ada")
    stored.rows["d"] += chat_of("d", "A dog", "Its name?", start=START + 500)[1:]
    clock.now = 59
    old = await indexes.at_hand("ada", stored, PLENTY)
    await indexes.made("ada")
    assert stored.partial_reads == []
    clock.now = 60
    assert await indexes.at_hand("ada", stored, PLENTY) is old
    await indexes.made("ada")
    new = await indexes.at_hand("ada", stored, PLENTY)
    assert new is not None
    assert ("d", "d1") in new.places
    assert stored.partial_reads == ["d"]


async def test_deletions_are_read_anew() -> None:
    """When there are fewer messages, all are read again."""
    clock = Seconds()
    stored, indexes = chats(), HistoryIndexes(clock)
    await indexes.at_hand("ada", stored, PLENTY)
    await indexes.made("ada")
    stored.remove("c")
    clock.now = 100
    await indexes.at_hand("ada", stored, PLENTY)
    await indexes.made("ada")
    index = await indexes.at_hand("ada", stored, PLENTY)
    assert index is not None
    assert set(index.places) == {("d", "d0")}


async def test_byte_budget() -> None:
    """An index holds the newest messages that its budget takes, and others are evicted for it."""
    texts = [f"message number {number} " + "word " * 50 for number in range(40)]
    stored, indexes = StoredChats(c=chat_of("c", *texts)), HistoryIndexes()
    await indexes.at_hand("ada", stored, 60_000)
    await indexes.made("ada")
    index = await indexes.at_hand("ada", stored, 60_000)
    assert index is not None
    assert 0 < len(index.messages) < 40
    assert index.nbytes <= 60_000
    assert ("c", "c39") in index.places
    stored.owner["c"] = "bob"
    await indexes.at_hand("bob", stored, 60_000)
    await indexes.made("bob")
    stored.owner["c"] = "ada"
    assert await indexes.at_hand("ada", stored, 60_000) is None
    await indexes.made("ada")


async def test_forgotten() -> None:
    """A user's index can be dropped, also while it is made."""
    stored, indexes = chats(), HistoryIndexes()
    await indexes.at_hand("ada", stored, PLENTY)
    indexes.forget("ada")
    assert await indexes.at_hand("ada", stored, PLENTY) is None
    await indexes.made("ada")
    assert await indexes.at_hand("ada", stored, PLENTY) is not None


async def test_failures(caplog: pytest.LogCaptureFixture) -> None:
    """A database that is away is said to the caller; behind the turn, to the log."""
    stored, indexes = chats(), HistoryIndexes()
    stored.failing = True
    with pytest.raises(HostError):
        await indexes.at_hand("ada", stored, PLENTY)
    stored.failing = False
    await indexes.at_hand("ada", stored, PLENTY)
    stored.failing = True
    await indexes.made("ada")
    assert "found by vectors only" in caplog.text
