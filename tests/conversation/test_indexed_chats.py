"""Chats as far as they are indexed."""

from __future__ import annotations

from adaptive.conversation.history_indexes import HistoryIndexes
from adaptive.conversation.history_indexing import HistoryLedger, IndexingSources, index_chat
from adaptive.conversation.indexed_chats import IndexedChats
from tests.conversation.history_world import START, NearestUnits, StoredChats, chat_of
from tests.fakes import WordEmbedder


async def test_others_are_not_there() -> None:
    """A chat without units is neither listed nor read, nor searched by keywords."""
    stored = StoredChats(c=chat_of("c", "Which team?"), d=chat_of("d", "A dog"))
    vectors = NearestUnits()
    sources = IndexingSources("ada", WordEmbedder(), vectors, stored)
    await index_chat(sources, HistoryLedger(), "c", START)
    chats = IndexedChats(stored, vectors)
    assert [one.id for one in await chats.chats("ada", 0, 9)] == ["c"]
    assert await chats.standing("ada", ["c", "d"]) == {"c"}
    assert await chats.messages("ada", "d") == ()
    assert len(await chats.messages("ada", "c")) == 1
    assert [one["id"] for one in await chats.newest_messages("ada", 9)] == ["c0"]
    assert list(await chats.current("ada", [("c", "c0")])) == [("c", "c0")]
    indexes = HistoryIndexes()
    await indexes.at_hand("ada", chats, 2**30)
    await indexes.made("ada")
    index = await indexes.at_hand("ada", chats, 2**30)
    assert index is not None
    assert [one.id for one in index.messages] == ["c0"]


async def test_erased_elsewhere() -> None:
    """What another worker has erased goes when the index is renewed."""
    stored = StoredChats(c=chat_of("c", "Which team?"), d=chat_of("d", "A dog"))
    vectors = NearestUnits()
    sources, ledger = IndexingSources("ada", WordEmbedder(), vectors, stored), HistoryLedger()
    for chat_id in "cd":
        await index_chat(sources, ledger, chat_id, START)
    chats, indexes = IndexedChats(stored, vectors), HistoryIndexes(rest=0)
    await indexes.at_hand("ada", chats, 2**30)
    await indexes.made("ada")
    await vectors.delete_chat("ada", "c")
    stored.rows["d"] += chat_of("d", "", "Rex")[1:]
    await indexes.at_hand("ada", chats, 2**30)
    await indexes.made("ada")
    index = await indexes.at_hand("ada", chats, 2**30)
    assert index is not None
    assert [one.id for one in index.messages] == ["d0", "d1"]
