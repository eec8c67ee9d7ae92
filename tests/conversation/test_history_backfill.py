"""Backfills that users ask for."""

from __future__ import annotations

from dataclasses import dataclass, field

from adaptive.conversation.history_backfill import Backfills
from adaptive.conversation.history_indexing import BackfillRules, HistoryLedger, IndexingSources
from tests.conversation.history_world import START, NearestUnits, StoredChats, chat_of
from tests.fakes import WordEmbedder


@dataclass
class Asked:
    """A user with three chats who asks for a backfill, by a clock that stands."""

    rules: BackfillRules = field(default_factory=lambda: BackfillRules(rest=0))
    lines: list[str] = field(default_factory=list[str])
    seconds: float = 0

    def __post_init__(self) -> None:
        chats = StoredChats(**{id: chat_of(id, f"{id} team?", "Yes!") for id in "abc"})
        self.embedder = WordEmbedder()
        self.sources = IndexingSources("ada", self.embedder, NearestUnits(), chats)
        self.backfills = Backfills(lambda: self.seconds, self.rules)

    async def tell(self, line: str) -> None:
        """Show a line."""
        self.lines.append(line)

    async def run(self) -> bool:
        """Once."""
        return await self.backfills.run(self.sources, HistoryLedger(), START, self.tell)


async def test_once() -> None:
    """Everything is indexed and told, and nothing is due afterwards."""
    asked = Asked()
    assert asked.backfills.due("ada")
    assert await asked.run()
    assert asked.lines == ["Indexing past chats: 1 so far", "Past chats indexed: 3"]
    assert not asked.backfills.due("ada")
    assert asked.backfills.due("bob")


async def test_nothing_to_do() -> None:
    """After a restart what stands already is passed over without a word or a vector."""
    asked = Asked()
    await asked.run()
    asked.lines.clear()
    asked.backfills = Backfills()
    calls = len(asked.embedder.calls)
    assert await asked.run()
    assert asked.lines == []
    assert len(asked.embedder.calls) == calls


async def test_goes_on() -> None:
    """One that was bounded goes on after a minute where it was, until all is indexed."""
    asked = Asked(BackfillRules(chats=1, rest=0))
    for _ in range(2):
        assert not await asked.run()
        assert not asked.backfills.due("ada")
        asked.seconds += 60
        assert asked.backfills.due("ada")
    assert await asked.run()
    assert len(asked.embedder.embedded) == 9


async def test_failure() -> None:
    """A failure is told, and it is tried again later."""
    asked = Asked()
    asked.embedder.failing = True
    assert not await asked.run()
    assert asked.lines == ["Past chats are not all indexed yet: the provider is down"]
    asked.seconds, asked.embedder.failing = 60, False
    assert asked.backfills.due("ada")
    assert await asked.run()


def test_stopped() -> None:
    """After an erasure none begins by itself."""
    asked = Asked()
    asked.backfills.stop("ada")
    assert not asked.backfills.due("ada")
