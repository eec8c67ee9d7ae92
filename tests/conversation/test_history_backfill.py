"""Backfills that users ask for."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from adaptive.conversation.history_backfill import Backfills
from adaptive.conversation.history_indexing import BackfillRules, HistoryLedger, IndexingSources
from adaptive.errors import TablesUnavailable
from tests.conversation.history_world import START, NearestUnits, StoredChats, chat_of
from tests.fakes import WordEmbedder
from tests.learn.storerooms import HeldLeases


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
        self.leases = HeldLeases()
        self.backfills = self.worker()

    def worker(self) -> Backfills:
        """Those of a process, or of a load of the plug-in."""
        return Backfills(self.leases, lambda: self.seconds, self.rules, lambda: self.seconds)

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
    asked.backfills = asked.worker()
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


async def test_not_wanted_any_more() -> None:
    """Who switches memory off meanwhile is left alone, without a word; on again, it goes on."""
    asked = Asked()
    wanted = [True, False]

    async def still_wanted(user_id: str) -> bool:
        return user_id == "ada" and (wanted.pop(0) if wanted else True)

    asked.backfills = Backfills(
        asked.leases, lambda: asked.seconds, asked.rules, lambda: asked.seconds, still_wanted
    )
    assert not await asked.run()
    assert asked.lines == ["Indexing past chats: 1 so far"]
    assert asked.leases.rows == {}
    asked.seconds = 60
    assert asked.backfills.due("ada")
    assert await asked.run()
    assert asked.lines[-1] == "Past chats indexed: 3"


async def test_two_workers() -> None:
    """While one is at a user's chats nobody else is; afterwards nothing is left to do."""
    asked = Asked(BackfillRules(rest=0.01))
    first, second = asked.worker(), asked.worker()
    arguments = (asked.sources, HistoryLedger(), START, asked.tell)
    running = asyncio.create_task(first.run(*arguments))
    while not asked.embedder.embedded:
        await asyncio.sleep(0)
    assert not await second.run(*arguments)
    assert not second.due("ada")
    assert await running
    assert len(asked.embedder.embedded) == 9
    asked.seconds += 60
    assert second.due("ada")
    assert await second.run(*arguments)
    assert len(asked.embedder.embedded) == 9
    assert asked.leases.rows == {}


async def test_cut_off() -> None:
    """One that is cut off, as at a reload, frees its user at once."""
    asked = Asked(BackfillRules(rest=60))
    work = asyncio.create_task(asked.run())
    while not asked.embedder.embedded:
        await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert asked.leases.rows == {}


async def test_taken_over() -> None:
    """A worker that was away for longer than its lease stops once somebody else has it."""
    asked = Asked()
    tell = asked.tell

    async def away(line: str) -> None:
        await tell(line)
        asked.seconds += 301
        name = "backfill:ada"
        assert await asked.leases.acquire(name, "other", asked.seconds, 300)

    assert not await asked.backfills.run(asked.sources, HistoryLedger(), START, away)
    assert asked.lines == ["Indexing past chats: 1 so far"]
    assert asked.leases.rows["backfill:ada"][0] == "other"


async def test_no_leases() -> None:
    """Where no table can be had, past chats are indexed all the same."""
    asked = Asked()

    async def unavailable(*_: object) -> bool:
        raise TablesUnavailable("no table can be created")

    asked.leases.acquire = asked.leases.release = unavailable  # type: ignore[assignment,method-assign]
    assert await asked.run()
