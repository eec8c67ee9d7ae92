"""Behind an answer: it is waited for, deleted chats go, topics are summarised once."""

from __future__ import annotations

import pytest

from adaptive.conversation.history_indexing import IndexingSources
from adaptive.conversation.history_keeping import HistoryKeeper, KeptTurn
from adaptive.conversation.topics import Topic
from adaptive.errors import HostError, ModelBusy
from tests.conversation.history_world import DAY, START, NearestUnits, StoredChats, chat_of
from tests.fakes import WordEmbedder

LATER = START + 2 * DAY


class Told:
    """``Summaries`` that answers one text, or fails."""

    def __init__(self, text: str = "They talk about a team.") -> None:
        self.text = text
        self.failing = False
        self.asked: list[tuple[str, bool]] = []

    async def of_topic(self, topic: Topic, alone: bool) -> str:
        """The text."""
        self.asked.append((topic.id, alone))
        if self.failing:
            raise ModelBusy("no answer")
        return self.text


class World:
    """A finished chat, a new one, and a clock."""

    def __init__(self) -> None:
        self.chats = StoredChats(
            old=chat_of("old", "Which team?", "The Wolves!", "Why?", "Home."),
            new=chat_of("new", "Hello", "Hi", start=LATER),
        )
        self.vectors, self.embedder = NearestUnits(), WordEmbedder()
        self.sources = IndexingSources("ada", self.embedder, self.vectors, self.chats)
        self.seconds = 0.0
        self.slept: list[float] = []
        self.keeper = HistoryKeeper(lambda: self.seconds, self.sleep)

    async def sleep(self, seconds: float) -> None:
        """Note it."""
        self.slept.append(seconds)

    async def keep(
        self, chat_id: str, answer_id: str = "", now: float = START, told: Told | None = None
    ) -> None:
        """Behind a turn."""
        self.seconds += 100
        await self.keeper.keep(self.sources, KeptTurn(chat_id, answer_id, now), told)


async def test_answer_is_waited_for() -> None:
    """The answer is looked for until it is whole, and no longer than some seconds."""
    world = World()
    rows = world.chats.rows["new"]
    rows[1] = {**rows[1], "done": False}

    async def stored(seconds: float) -> None:
        world.slept.append(seconds)
        if len(world.slept) == 2:
            rows[1] = {**rows[1], "done": True}

    world.keeper._sleep = stored
    await world.keep("new", "new1")
    assert world.slept == [0.2, 0.4]
    assert ("message", "new1") in world.vectors.kinds()
    rows[1] = {**rows[1], "done": False}
    world.slept = [0.0, 0.0]
    await world.keep("new", "new1")
    assert sum(world.slept) == pytest.approx(13.0)
    assert ("message", "new1") not in world.vectors.kinds()


async def test_deleted_chats_go() -> None:
    """A deleted chat goes with the next turn in another chat, and in the same one after minutes."""
    world = World()
    await world.keep("old")
    world.chats.remove("old")
    await world.keep("new")
    assert {message for _, message in world.vectors.kinds()} == {"new0", "new1"}
    world.chats.rows["gone"] = [*chat_of("gone", "x y")]
    world.chats.owner["gone"] = "ada"
    await world.keep("gone")
    await world.keep("new")
    world.chats.remove("gone")
    await world.keep("new")
    assert ("message", "gone0") in world.vectors.kinds()
    world.seconds += 300
    await world.keep("new")
    assert ("message", "gone0") not in world.vectors.kinds()


async def test_finished_topic_of_another_chat() -> None:
    """A finished topic is summarised behind a turn of another chat, once, and indexed."""
    world, told = World(), Told()
    await world.keep("old", told=told)
    assert told.asked == []
    for _ in range(3):
        await world.keep("new", now=LATER, told=told)
    assert told.asked == [("old0", True)]
    assert ("topic", "old0") in world.vectors.kinds()
    again = HistoryKeeper(lambda: world.seconds, world.sleep)
    await again.keep(world.sources, KeptTurn("new", "", LATER), told)
    assert told.asked == [("old0", True)]


async def test_topic_within_the_chat() -> None:
    """Of a chat that goes on after a pause the former topic is summarised, the new one is not."""
    world, told = World(), Told()
    more = chat_of("old", "", "", "", "", "And now?", "Now.", start=LATER)[4:]
    world.chats.rows["old"] += more
    await world.keep("old", now=LATER, told=told)
    assert told.asked == [("old0", False)]


async def test_changed_topic() -> None:
    """A summary of words that were edited goes, and the topic is summarised anew."""
    world, told = World(), Told()
    await world.keep("old", now=LATER, told=told)
    assert ("topic", "old0") in world.vectors.kinds()
    rows = world.chats.rows["old"]
    rows[1] = {**rows[1], "content": "The Bulls!"}
    await world.keep("old", now=LATER)
    assert ("topic", "old0") not in world.vectors.kinds()
    await world.keep("old", now=LATER, told=told)
    assert len(told.asked) == 2


async def test_failing_and_empty_summaries() -> None:
    """A topic is tried three times, and one that is about nothing once."""
    for told, tries in ((Told(""), 1), (Told(), 3)):
        world = World()
        told.failing = bool(told.text)
        for _ in range(5):
            await world.keep("old", now=LATER, told=told)
        assert len(told.asked) == tries
        assert ("topic", "old0") not in world.vectors.kinds()


async def test_short_topics() -> None:
    """A question and its answer need no summary."""
    world, told = World(), Told()
    world.chats.rows["old"] = world.chats.rows["old"][:2]
    await world.keep("old", now=LATER, told=told)
    assert told.asked == []


async def test_forgotten() -> None:
    """After an erasure a chat is indexed anew, as the index is empty."""
    world = World()
    await world.keep("old")
    world.vectors.rows.clear()
    world.keeper.forget("ada")
    await world.keep("old")
    assert len(world.vectors.rows["ada"]) == 7


async def test_database_is_away() -> None:
    """What can't be read is told to whoever started it."""
    world = World()
    world.chats.failing = True
    with pytest.raises(HostError):
        await world.keep("old", "old1")
