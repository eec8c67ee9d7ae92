"""What the model is shown beside the words that it is to learn from."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from adaptive.learn.offered import offered_memories, spoken_parts
from adaptive.model import Memory
from adaptive.privacy.local_only import NOTHING_HIDDEN
from adaptive.search.indexes import MemoryIndexes, Sources
from tests.fakes import ListedMemories, ShelvedVectors, WordEmbedder, memory

KAYAK = memory("kayak", "User keeps a kayak in Patras.", created_at=1)
# Each of them shares more words with what is said than the kayak does.
TOPICS = ("boat harbour", "garden fence", "piano cellar", "camera lens", "bicycle saddle")
OTHERS = [
    memory(f"{topic}-{n}", f"User's {topic} {n} was painted.", created_at=10 + n)
    for topic in TOPICS
    for n in range(9)
]
SAID = ("The kayak is in Cork now.", *(f"My {topic} was painted again." for topic in TOPICS))


class World:
    """A user's store, and the memories that the model is shown of it."""

    def __init__(self, *memories: Memory, failing: bool = False) -> None:
        self.embedder = WordEmbedder()
        self.embedder.failing = failing
        self.indexes = MemoryIndexes()
        store = ListedMemories(*memories)
        self.sources = Sources("ada", store, self.embedder, ShelvedVectors())

    async def offered(self, words: str) -> list[str]:
        """Their ids, in order."""
        index = await self.indexes.current(self.sources, 2**30, 60)
        shown = await offered_memories(self.sources, self.indexes, index, words, NOTHING_HIDDEN)
        return [one.id for one in shown]


@pytest.mark.parametrize("failing", [False, True], ids=["vectors", "words alone"])
async def test_each_message_brings_its_own(failing: bool) -> None:
    """What each of several messages may correct is shown, though others are nearer to all."""
    world = World(KAYAK, *OTHERS, failing=failing)
    shown = await world.offered("\n\n".join(SAID))
    assert "kayak" in shown[:6]
    assert len(shown) == len(set(shown)) == len(OTHERS) + 1
    assert {one.split("-")[0] for one in shown[:6]} == {"kayak", *TOPICS}
    assert len(await world.offered(SAID[1])) == 20


async def test_small_store_is_shown_whole() -> None:
    """Up to twenty memories nothing is searched, and nothing embedded for it."""
    world = World(KAYAK, OTHERS[0])
    before = len(world.embedder.queries)
    assert await world.offered("Hello.\n\nGood morning.") == ["kayak", OTHERS[0].id]
    assert [one for one in world.embedder.queries[before:] if "Hello." in one] == []


async def test_known_message_is_not_embedded_again() -> None:
    """The vector that a message was searched with serves when it is learned from."""
    world = World(KAYAK, *OTHERS)
    said = SAID[0]
    vector = (await world.embedder.embed([said], query=True))[0]
    name = await world.embedder.name()
    world.indexes.remember_query("ada", name, said, vector / (vector @ vector) ** 0.5)
    asked = world.embedder.queries.count([said])
    assert (await world.offered(said))[0] == "kayak"
    assert world.embedder.queries.count([said]) == asked


@dataclass(frozen=True)
class Case:
    """A text, and its parts."""

    text: str
    parts: list[str]


LONG = " ".join(f"This is sentence number {n} of a long story." for n in range(20))


@pytest.mark.parametrize(
    "case",
    [
        Case("I like tea.", ["I like tea."]),
        Case("I like tea. I have a dog.", ["I like tea. I have a dog."]),
        Case("I like tea.\n\n  \nI have a dog.", ["I like tea.", "I have a dog."]),
        Case("I like tea.\n\n...\n\n", ["I like tea."]),
        Case("", []),
        Case("\n\n".join("abcdefghi"), ["a\nb", "c\nd", "e\nf", "g\nh", "i"]),
    ],
    ids=["one", "two sentences", "two paragraphs", "no words", "nothing", "many"],
)
def test_parts(case: Case) -> None:
    """Paragraphs are parts, at most eight of them."""
    assert spoken_parts(case.text) == case.parts


def test_long_parts() -> None:
    """A long paragraph is taken apart between its sentences, and no word of it is lost."""
    parts = spoken_parts(LONG)
    assert len(parts) == 3
    assert all(len(part) <= 400 for part in parts)
    assert " ".join(parts) == LONG
    endless = "no full stop " * 500
    assert spoken_parts(endless) == [endless.strip()]
