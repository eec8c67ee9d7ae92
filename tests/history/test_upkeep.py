"""Behind an answer: chats are indexed and follow edits, topics are summarised, past ones come."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adaptive.core.errors import HostError, ModelBusy
from adaptive.history.upkeep import LONGEST_EMBEDDED, HistoryUpkeep, index_chat
from tests.fakes import ScriptedModel
from tests.history.world import DAY, KEY, START, Notes, World, chat_of
from tests.learn.storerooms import HeldLeases

LATER = START + 2 * DAY
SUMMARY = '{"summary": "They talk about a team."}'
LEASE = "history:ada"


class Worker(World):
    """A finished chat, a new one, and a clock."""

    def __init__(self, *script: str | Exception, **notes: str) -> None:
        super().__init__(
            Notes(**notes),
            old=chat_of("old", "Which team?", "The Wolves!", "Why?", "Home."),
            new=chat_of("new", "Hello", "Hi", start=LATER),
        )
        self.model = ScriptedModel(*script)
        self.leases = HeldLeases()
        self.seconds, self.slept = 0.0, list[float]()
        self.upkeep = self.load()

    def load(self) -> HistoryUpkeep:
        """Another worker, or another load of the plug-in."""
        return HistoryUpkeep(self.leases, lambda: self.seconds, self.sleep)

    async def sleep(self, seconds: float) -> None:
        """Note it."""
        self.slept.append(seconds)
        await asyncio.sleep(0)

    async def index(self, chat_id: str = "old", **told: Any) -> int:
        """How many units were embedded."""
        return (await index_chat(self.past(), chat_id, START, **told)).embedded

    async def keep(self, chat_id: str = "new", hook: Any = None, **valves: Any) -> None:
        """Behind a turn, two days later, with summaries."""
        hook = hook or self.hook(chat_id, **{"enable_history_summary": True, **valves})
        await self.upkeep.keep(self.past(hook), self.tell, LATER)

    async def backfill(self, upkeep: HistoryUpkeep | None = None, **valves: Any) -> None:
        """Behind a turn of somebody who wants all chats indexed."""
        hook = self.hook(**{"index_past_chats": True, **valves})
        await (upkeep or self.upkeep).keep(self.past(hook), self.tell, LATER)

    @property
    def messages(self) -> set[str]:
        """The messages that are indexed."""
        return {message for _, message in self.vectors.kinds}


async def test_only_what_changed_is_embedded() -> None:
    """A new message brings two units, an edit its own and a pair; what is gone goes."""
    here = Worker()
    rows = here.chats.rows
    assert [await here.index(), await here.index()] == [7, 0]
    rows["old"] += chat_of("old", *"xxxx", "Yes")[4:]
    assert await here.index() == 2
    rows["old"][0]["content"] = "Which club?"
    assert await here.index() == 2
    rows["old"] = rows["old"][:2]
    await here.index()
    assert here.vectors.kinds == [("exchange", "old1"), ("message", "old0"), ("message", "old1")]
    rows["old"].append({**rows["old"][1], "id": "other", "timestamp": START + 90})
    await here.index()
    assert here.messages == {"old0", "other"}
    await here.index(newest_id="old1")
    assert here.messages == {"old0", "old1"}


async def test_no_secrets() -> None:
    """Secrets are neither embedded nor stored, those at a cut too."""
    here, padding = Worker(), "word " * (LONGEST_EMBEDDED * 2 // 15)
    here.chats.rows["old"] = chat_of("old", f"{padding} key {KEY} {padding * 3}", "Thanks")
    await here.index()
    texts = [unit.text for unit, _ in here.vectors.rows.values()]
    assert not any("AKIA" in one or "PASDFGH" in one for one in [*texts, *here.embedder.embedded])


async def test_deleted_chats_go() -> None:
    """A chat that the user has deleted goes with the next turn."""
    here = Worker()
    await here.index()
    del here.chats.rows["old"]
    await here.keep()
    assert here.messages == {"new0", "new1"}
    here.chats.failing = True
    with pytest.raises(HostError):
        await here.keep()


async def test_finished_topic_of_another_chat() -> None:
    """It is summarised once, and found by that as long as its words stand."""
    here = Worker(SUMMARY, SUMMARY)
    await here.index()
    for upkeep in (here.upkeep, here.upkeep, here.load()):
        here.upkeep = upkeep
        await here.keep()
    assert len(here.model.requests) == 1
    assert ("topic", "old0") in here.vectors.kinds
    here.chats.rows["old"][1] |= {"content": "The Bulls!"}
    await here.index()
    assert ("topic", "old0") not in here.vectors.kinds
    await here.keep("old")
    assert len(here.model.requests) == 2


async def test_no_model_needed() -> None:
    """A chat of one topic has its own summary; a short one needs none; nor where it is off."""
    here = Worker(old="They spoke of a team.")
    await here.keep("old", enable_history_summary=False)
    assert ("topic", "old0") not in here.vectors.kinds
    await here.keep("old")
    assert ("topic", "old0") in here.vectors.kinds
    here.notes.summaries = {}
    here.chats.rows["old"] = here.chats.rows["old"][:2]
    await here.keep("old")
    assert here.model.requests == []


@pytest.mark.parametrize(("reply", "tries"), [('{"summary": ""}', 1), (ModelBusy("down"), 3)])
async def test_failing_and_empty_summaries(reply: str | Exception, tries: int) -> None:
    """A topic is tried three times, and one that is about nothing once."""
    here = Worker(*[reply] * 3)
    for _ in range(5):
        await here.keep("old")
    assert len(here.model.requests) == tries
    assert ("topic", "old0") not in here.vectors.kinds


async def test_past_chats() -> None:
    """All chats are indexed once and told; what stands already needs no word and no vector."""
    here = Worker()
    await here.backfill(history_recall_default="chat")
    assert here.messages == {"new0", "new1"}
    for upkeep in (here.upkeep, here.upkeep, here.load()):
        await here.backfill(upkeep)
    assert here.messages == {"new0", "new1", "old0", "old1", "old2", "old3"}
    assert here.lines == ["Past chats indexed: 2"]
    assert here.leases.rows == {}
    here.upkeep.forget("ada")
    here.vectors.rows.clear()
    await here.backfill()
    assert here.messages == {"new0", "new1"}


async def test_one_worker_at_a_time() -> None:
    """While another worker has the lease nobody else summarises or backfills; a turn is kept."""
    here = Worker(SUMMARY)
    await here.leases.acquire(LEASE, "other", 2e9, 90)
    await here.backfill(enable_history_summary=True)
    assert here.messages == {"new0", "new1"}
    assert (here.model.requests, here.lines) == ([], [])
    here.leases.rows.clear()
    here.seconds = 60
    here.chats.rows["more"] = chat_of("more", "A dog")

    async def away(_: float) -> None:
        here.leases.rows[LEASE] = ("other", 2e9)

    here.upkeep._sleep = away
    await here.backfill()
    assert here.messages == {"new0", "new1", "old0", "old1", "old2", "old3"}
    assert here.leases.rows[LEASE][0] == "other"
