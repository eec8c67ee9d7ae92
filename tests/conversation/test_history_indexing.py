"""Chats in the index: each message once, edits and deletions followed, backfill resumed."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from adaptive.conversation.history_indexing import (
    BackfillProgress,
    BackfillRules,
    HistoryLedger,
    IndexingSources,
    backfill,
    index_chat,
    sweep_deleted_chats,
)
from adaptive.errors import EmbeddingError
from tests.conversation.history_world import START, NearestUnits, StoredChats, chat_of
from tests.fakes import WordEmbedder

RULES = BackfillRules(rest=0)


class Heard:
    """Collects progress."""

    def __init__(self) -> None:
        self.said: list[BackfillProgress] = []

    async def __call__(self, progress: BackfillProgress) -> None:
        self.said.append(progress)


def world() -> IndexingSources:
    """Two chats of a user, and an empty index."""
    chats = StoredChats(
        c=chat_of("c", "Which team?", "The Wolves!"),
        d=chat_of("d", "A dog", "Rex", start=START - 9),
    )
    return IndexingSources("ada", WordEmbedder(), NearestUnits(), chats)


def parts(sources: IndexingSources) -> tuple[WordEmbedder, NearestUnits, StoredChats]:
    """What a test looks into."""
    embedder, vectors, chats = sources.embedder, sources.vectors, sources.chats
    assert isinstance(embedder, WordEmbedder)
    assert isinstance(vectors, NearestUnits)
    assert isinstance(chats, StoredChats)
    return embedder, vectors, chats


async def test_no_turn_twice() -> None:
    """A chat is embedded once, whichever worker comes again."""
    sources = world()
    embedder, vectors, chats = parts(sources)
    done = await index_chat(sources, HistoryLedger(), "c", START)
    assert (done.embedded, done.removed, len(done.topics)) == (3, 0, 1)
    assert vectors.kinds() == [("exchange", "c1"), ("message", "c0"), ("message", "c1")]
    ledger = HistoryLedger()
    assert (await index_chat(sources, ledger, "c", START)).embedded == 0
    chats.rows["c"] += chat_of("c", "", "", "Great")[2:]
    assert (await index_chat(sources, ledger, "c", START)).embedded == 2
    assert embedder.embedded.count("Which team?") == 1


async def test_at_once() -> None:
    """Two turns at the same time embed nothing twice."""
    sources, ledger = world(), HistoryLedger()
    await asyncio.gather(*(index_chat(sources, ledger, "c", START) for _ in range(3)))
    embedder, _, _ = parts(sources)
    assert len(embedder.embedded) == 3


async def test_edits_and_deletions() -> None:
    """An edited message is embedded anew, a deleted one and a deleted chat are removed."""
    sources, ledger = world(), HistoryLedger()
    _, vectors, chats = parts(sources)
    await index_chat(sources, ledger, "c", START)
    chats.rows["c"][1] = {**chats.rows["c"][1], "content": "The Bulls!"}
    assert (await index_chat(sources, ledger, "c", START)).embedded == 2
    texts = [unit.text for unit, _ in vectors.rows["ada"].values()]
    assert "The Bulls!" in texts
    assert "The Wolves!" not in texts
    del chats.rows["c"][1]
    assert (await index_chat(sources, ledger, "c", START)).removed == 2
    assert vectors.kinds() == [("message", "c0")]
    chats.remove("c")
    await index_chat(sources, ledger, "c", START)
    assert vectors.kinds() == []


async def test_topics() -> None:
    """A topic's summary is a unit of its own, which stays while the topic does."""
    sources, ledger = world(), HistoryLedger()
    _, vectors, chats = parts(sources)
    await index_chat(sources, ledger, "c", START, summaries={"c0": "A team.", "x": "Gone."})
    assert ("topic", "c0") in vectors.kinds()
    await index_chat(sources, ledger, "c", START)
    assert ("topic", "c0") in vectors.kinds()
    chats.rows["c"] = []
    await index_chat(sources, ledger, "c", START)
    assert vectors.kinds() == []


async def test_broken_off() -> None:
    """Where the embedder fails, the next one goes on."""
    sources, ledger = world(), HistoryLedger()
    embedder, vectors, _ = parts(sources)
    embedder.failing = True
    with pytest.raises(EmbeddingError):
        await index_chat(sources, ledger, "c", START)
    assert vectors.kinds() == []
    embedder.failing = False
    assert (await index_chat(sources, ledger, "c", START)).embedded == 3


async def test_backfill() -> None:
    """All chats are indexed with their real dates, and progress is told."""
    sources, heard = world(), Heard()
    done = await backfill(sources, HistoryLedger(), START, RULES, heard)
    assert done == BackfillProgress(2, 6, finished=True)
    assert heard.said == [BackfillProgress(1, 3), BackfillProgress(2, 6), done]
    _, vectors, _ = parts(sources)
    times = {unit.message_id: unit.said_at for unit, _ in vectors.rows["ada"].values()}
    assert times["d0"] == START - 9


async def test_backfill_is_bounded_and_resumed() -> None:
    """A backfill that was cut short embeds on the next time only what is missing."""
    sources = world()
    embedder, _, _ = parts(sources)
    first = await backfill(sources, HistoryLedger(), START, replace(RULES, chats=1), Heard())
    assert first == BackfillProgress(1, 3)
    few = replace(RULES, units=1)
    second = await backfill(world(), HistoryLedger(), START, few, Heard())
    assert second == first
    rest = await backfill(sources, HistoryLedger(), START, RULES, Heard())
    assert rest.finished
    assert len(embedder.embedded) == len(set(embedder.embedded)) == 6


async def test_others_chats_stay_away() -> None:
    """Nobody's index gets a chat of somebody else."""
    sources = replace(world(), user_id="bob")
    assert (await index_chat(sources, HistoryLedger(), "c", START)).embedded == 0
    assert (await backfill(sources, HistoryLedger(), START, RULES, Heard())).chats == 0


async def test_deleted_chats_are_swept() -> None:
    """Chats that were deleted go from the index, the others stay."""
    sources, ledger = world(), HistoryLedger()
    _, vectors, chats = parts(sources)
    assert await sweep_deleted_chats(sources, ledger) == 0
    await backfill(sources, ledger, START, RULES, Heard())
    chats.remove("c")
    assert await sweep_deleted_chats(sources, ledger) == 1
    assert {message for _, message in vectors.kinds()} == {"d0", "d1"}
