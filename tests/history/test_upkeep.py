"""Behind an answer: its chat is indexed, deleted ones go, topics are summarised, and backfills."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from adaptive.errors import HostError, ModelBusy, TablesUnavailable
from adaptive.history.summaries import HistorySummariser
from adaptive.history.upkeep import HistoryUpkeep
from adaptive.llm.ask import AnswerFormats
from tests.fakes import ScriptedModel
from tests.history.world import DAY, START, Notes, World, chat_of
from tests.learn.storerooms import HeldLeases

LATER = START + 2 * DAY
SUMMARY = '{"summary": "They talk about a team."}'
LEASE = "backfill:ada"


class Worker(World):
    """A finished chat, a new one, and a clock."""

    def __init__(self, *script: str | Exception, **notes: str) -> None:
        super().__init__(
            old=chat_of("old", "Which team?", "The Wolves!", "Why?", "Home."),
            new=chat_of("new", "Hello", "Hi", start=LATER),
        )
        self.model = ScriptedModel(*script)
        self.notes, self.leases = Notes(**notes), HeldLeases()
        self.seconds, self.slept = 0.0, list[float]()
        self.upkeep = self.load()

    @property
    def asked(self) -> int:
        """How often the model was asked."""
        assert isinstance(self.model, ScriptedModel)
        return len(self.model.requests)

    def load(self) -> HistoryUpkeep:
        """Another worker, or another load of the plug-in."""
        return HistoryUpkeep(self.notes, self.leases, lambda: self.seconds, self.sleep)

    async def sleep(self, seconds: float) -> None:
        """Note it."""
        self.slept.append(seconds)
        await asyncio.sleep(0)

    async def keep(
        self, chat_id: str, now: float = START, answer_id: str = "", *, topics: bool = False
    ) -> None:
        """Behind a turn."""
        self.seconds += 100
        turn = replace(self.turn(chat_id), answer_id=answer_id)
        model = partial(self.summariser) if topics else None
        await self.upkeep.keep(self.past, turn, now, model)

    async def summariser(self) -> HistorySummariser:
        """The model."""
        assert self.model is not None
        return HistorySummariser(self.model, AnswerFormats(), 5)

    async def backfill(self, upkeep: HistoryUpkeep | None = None) -> bool:
        """Once."""
        return await (upkeep or self.upkeep).backfill(self.past, self.turn(), START)


async def test_answer_is_waited_for() -> None:
    """The answer is looked for until it is whole, and no longer than some seconds."""
    here = Worker()
    rows = here.chats.rows["new"]
    rows[1] = {**rows[1], "done": False}

    async def stored(seconds: float) -> None:
        here.slept.append(seconds)
        if len(here.slept) == 2:
            rows[1] = {**rows[1], "done": True}

    here.upkeep._sleep = stored
    await here.keep("new", answer_id="new1")
    assert here.slept == [0.2, 0.4]
    assert ("message", "new1") in here.vectors.kinds()
    rows[1] = {**rows[1], "done": False}
    here.upkeep._sleep, here.slept = here.sleep, []
    await here.keep("new", answer_id="new1")
    assert sum(here.slept) == pytest.approx(13.0)
    assert ("message", "new1") not in here.vectors.kinds()


async def test_deleted_chats_go() -> None:
    """A deleted chat goes with the next turn in another chat, and in the same one after minutes."""
    here = Worker()
    await here.keep("old")
    here.chats.remove("old")
    await here.keep("new")
    assert {message for _, message in here.vectors.kinds()} == {"new0", "new1"}
    here.chats.add("gone", "x y")
    await here.keep("gone")
    await here.keep("new")
    here.chats.remove("gone")
    await here.keep("new")
    assert ("message", "gone0") in here.vectors.kinds()
    here.seconds += 300
    await here.keep("new")
    assert ("message", "gone0") not in here.vectors.kinds()


async def test_finished_topic_of_another_chat() -> None:
    """A finished topic is summarised behind a turn of another chat, once, and indexed."""
    here = Worker(SUMMARY)
    await here.keep("old", topics=True)
    assert here.asked == 0
    for _ in range(3):
        await here.keep("new", LATER, topics=True)
    assert here.asked == 1
    assert ("topic", "old0") in here.vectors.kinds()
    here.upkeep = here.load()
    await here.keep("new", LATER, topics=True)
    assert here.asked == 1


async def test_topic_within_the_chat() -> None:
    """Of a chat that goes on after a pause the former topic is summarised, the new one is not."""
    here = Worker(SUMMARY, old="Noted of the whole chat.")
    here.chats.rows["old"] += chat_of("old", *"xxxx", "And now?", "Now.", start=LATER)[4:]
    await here.keep("old", LATER, topics=True)
    assert here.asked == 1
    assert [one for one in here.vectors.kinds() if one[0] == "topic"] == [("topic", "old0")]


async def test_noted_chat() -> None:
    """A chat of one topic has its own summary, for which nobody needs a lease or a model."""
    here = Worker(old="They spoke of a team.")
    await here.keep("old", LATER, topics=True)
    assert ("topic", "old0") in here.vectors.kinds()
    assert (here.asked, here.leases.rows) == (0, {})


async def test_changed_topic() -> None:
    """A summary of words that were edited goes, and the topic is summarised anew."""
    here = Worker(SUMMARY, SUMMARY)
    await here.keep("old", LATER, topics=True)
    rows = here.chats.rows["old"]
    rows[1] = {**rows[1], "content": "The Bulls!"}
    await here.keep("old", LATER)
    assert ("topic", "old0") not in here.vectors.kinds()
    await here.keep("old", LATER, topics=True)
    assert here.asked == 2


@pytest.mark.parametrize(("reply", "tries"), [('{"summary": ""}', 1), (ModelBusy("down"), 3)])
async def test_failing_and_empty_summaries(reply: str | Exception, tries: int) -> None:
    """A topic is tried three times, and one that is about nothing once."""
    here = Worker(*[reply] * 3)
    for _ in range(5):
        await here.keep("old", LATER, topics=True)
    assert here.asked == tries
    assert ("topic", "old0") not in here.vectors.kinds()


async def test_short_topics() -> None:
    """A question and its answer need no summary."""
    here = Worker()
    here.chats.rows["old"] = here.chats.rows["old"][:2]
    await here.keep("old", LATER, topics=True)
    assert here.asked == 0


async def test_one_worker_asks() -> None:
    """While one load of the plug-in summarises a user's topics, another one asks no model."""
    here = Worker(SUMMARY)
    assert await here.leases.acquire("topics:ada", "other", 2e9, 90)
    await here.keep("old", LATER, topics=True)
    assert here.asked == 0
    here.leases.rows.clear()
    await here.keep("old", LATER, topics=True)
    assert here.asked == 1


async def test_forgotten_and_failing() -> None:
    """After an erasure a chat is indexed anew; what can't be read is told to the caller."""
    here = Worker()
    await here.keep("old")
    here.vectors.rows.clear()
    here.upkeep.forget("ada")
    await here.keep("old")
    assert len(here.vectors.rows["ada"]) == 7
    here.chats.failing = True
    with pytest.raises(HostError):
        await here.keep("old", answer_id="old1")


async def test_backfill() -> None:
    """All chats are indexed once and told; what stands already needs no word and no vector."""
    here = Worker()
    assert await here.backfill()
    assert here.lines == ["Past chats indexed: 2"]
    assert not await here.backfill()
    calls = len(here.embedder.calls)
    assert await here.backfill(here.load())
    assert (len(here.lines), len(here.embedder.calls)) == (1, calls)
    assert here.leases.rows == {}


async def test_failing_backfill() -> None:
    """A failure is told, and it is tried again a minute later; after an erasure it is not."""
    here = Worker()
    here.embedder.failing = True
    assert not await here.backfill()
    assert here.lines == ["Past chats are not all indexed yet: the provider is down"]
    here.embedder.failing = False
    assert not await here.backfill()
    here.seconds = 60
    assert await here.backfill()
    here.upkeep.forget("ada")
    assert not await here.backfill()


async def test_not_wanted_any_more() -> None:
    """Who switches memory off meanwhile is left alone, without a word; on again, it goes on."""
    here = Worker()
    here.wanted = [True, False, True]
    assert not await here.backfill()
    assert here.lines == []
    assert here.leases.rows == {}
    here.seconds = 60
    assert await here.backfill()
    assert here.lines[-1] == "Past chats indexed: 2"


async def test_two_workers() -> None:
    """While one is at a user's chats nobody else is; afterwards nothing is left to do."""
    here = Worker()
    second = here.load()
    running = asyncio.create_task(here.backfill())
    while not here.embedder.embedded:
        await asyncio.sleep(0)
    assert not await here.backfill(second)
    assert await running
    embedded = len(here.embedder.embedded)
    here.seconds = 60
    assert await here.backfill(second)
    assert len(here.embedder.embedded) == embedded


async def test_cut_off() -> None:
    """One that is cut off, as at a reload, frees its user at once."""
    here = Worker()
    here.upkeep._sleep = lambda _: asyncio.sleep(60)
    work = asyncio.create_task(here.backfill())
    while not here.embedder.embedded:
        await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert here.leases.rows == {}


async def test_taken_over() -> None:
    """A worker that was away for longer than its lease stops once somebody else has it."""
    here = Worker()

    async def away(_: float) -> None:
        here.leases.rows[LEASE] = ("other", 2e9)

    here.upkeep._sleep = away
    assert not await here.backfill()
    assert here.lines == []
    assert here.leases.rows[LEASE][0] == "other"


async def test_no_leases() -> None:
    """Where no table can be had, topics are summarised and chats indexed all the same."""
    here = Worker(SUMMARY)

    async def unavailable(*_: object) -> Any:
        raise TablesUnavailable("no table can be created")

    here.leases.acquire = here.leases.release = unavailable  # type: ignore[method-assign]
    await here.keep("old", LATER, topics=True)
    assert here.asked == 1
    assert await here.backfill()
