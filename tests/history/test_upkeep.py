"""Behind an answer: chats are indexed and follow edits, topics are summarised, past ones come."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adaptive.core.providers import ModelBusy
from adaptive.history.upkeep import LONGEST_EMBEDDED, HistoryUpkeep, index_chat
from tests.fakes import ScriptedModel
from tests.history.world import DAY, KEY, START, World, chat_of

LATER = START + 2 * DAY
SUMMARY = '{"summary": "They talk about a team."}'


class Worker(World):
    """A finished chat, a new one, and a clock."""

    def __init__(self, *script: str | Exception, **notes: str) -> None:
        super().__init__(
            old=chat_of("old", "Which team?", "The Wolves!", "Why?", "Home."),
            new=chat_of("new", "Hello", "Hi", start=LATER),
        )
        self.note(**notes)
        self.model = ScriptedModel(*script)
        self.upkeep = self.load()

    def load(self) -> HistoryUpkeep:
        """Another worker, or another load of the plug-in."""
        return HistoryUpkeep(lambda _: asyncio.sleep(0))

    async def index(self, chat_id: str = "old", **told: Any) -> int:
        return (await index_chat(self.past(), chat_id, START, **told)).embedded

    async def keep(
        self, chat_id: str = "new", hook: Any = None, **valves: Any
    ) -> None:
        """Behind a turn, two days later, with summaries."""
        hook = hook or self.hook(
            chat_id, **{"enable_history_summary": True, **valves}
        )
        await self.upkeep.keep(self.past(hook), self.tell, LATER)

    async def backfill(
        self, upkeep: HistoryUpkeep | None = None, **valves: Any
    ) -> None:
        """Behind a turn of somebody who wants all chats indexed."""
        hook = self.hook(**{"index_past_chats": True, **valves})
        await (upkeep or self.upkeep).keep(self.past(hook), self.tell, LATER)

    @property
    def messages(self) -> set[str]:
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
    assert here.vectors.kinds == [
        ("exchange", "old1"),
        ("message", "old0"),
        ("message", "old1"),
    ]
    rows["old"].append(
        {**rows["old"][1], "id": "other", "timestamp": START + 90}
    )
    await here.index()
    assert here.messages == {"old0", "other"}
    await here.index(newest_id="old1")
    assert here.messages == {"old0", "old1"}


async def test_no_secrets() -> None:
    """Secrets are neither embedded nor stored, those at a cut too."""
    here, padding = Worker(), "word " * (LONGEST_EMBEDDED * 2 // 15)
    here.chats.rows["old"] = chat_of(
        "old", f"{padding} key {KEY} {padding * 3}", "Thanks"
    )
    await here.index()
    texts = [unit.text for unit, _ in here.vectors.rows.values()]
    assert not any(
        "AKIA" in one or "PASDFGH" in one
        for one in [*texts, *here.embedder.embedded]
    )


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
    here.entries.rows.clear()
    here.chats.rows["old"] = here.chats.rows["old"][:2]
    await here.keep("old")
    assert here.model.requests == []


@pytest.mark.parametrize(
    "reply", ['{"summary": ""}', ModelBusy("down")], ids=str
)
async def test_failing_and_empty_summaries(reply: str | Exception) -> None:
    """For a topic that was not summed up, a model is not asked again by this process."""
    here = Worker(*[reply] * 3)
    for _ in range(3):
        await here.keep("old")
    assert len(here.model.requests) == 1
    assert ("topic", "old0") not in here.vectors.kinds


async def test_past_chats() -> None:
    """All chats are indexed once and told; what fails or is stopped goes on with a later turn."""
    here = Worker()
    await here.backfill(history_recall_default="chat")
    off = here.hook(index_past_chats=True)
    off.wanted = False
    await here.keep(hook=off)
    assert here.messages == {"new0", "new1"}
    here.embedder.failing = True
    await here.backfill()
    here.embedder.failing = False
    for upkeep in (here.upkeep, here.upkeep, here.load()):
        await here.backfill(upkeep)
    assert here.messages == {"new0", "new1", "old0", "old1", "old2", "old3"}
    failed = "Past chats are not all indexed yet: the provider is down"
    assert here.lines == [failed, "Past chats indexed: 2"]
    here.upkeep.forget("ada")
    here.vectors.rows.clear()
    await here.backfill()
    assert here.messages == {"new0", "new1"}


async def test_whole_answer_is_waited_for() -> None:
    """A turn's chat is indexed once its answer stands there whole; not for longer than a while."""
    here = Worker()
    hook = here.hook()
    hook.answer_id = "new1"
    answer = here.chats.rows["new"][1]
    answer |= {"done": False, "content": "H"}
    slept: list[float] = []

    async def writing(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            answer.update(done=True, content="Hi, whole")

    here.upkeep._sleep = writing
    await here.keep(hook=hook)
    assert len(slept) == 3
    assert "Hi, whole" in here.embedder.embedded
    answer["done"] = False
    await here.keep(hook=hook)
    assert 10 < sum(slept[3:]) < 20
