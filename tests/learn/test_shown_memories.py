"""Which memories the model is shown beside the words that it is to learn from."""

from __future__ import annotations

import pytest

from adaptive.core.model import Memory
from adaptive.core.table_ports import Sources
from adaptive.learn.extraction import MOST_SHOWN, shown_memories
from adaptive.learn.prefilter import spoken_parts
from adaptive.search.indexes import MemoryIndexes
from adaptive.search.query import query_vectors
from adaptive.settings.local_only import NOTHING_HIDDEN, LocalOnlyBanks
from tests.fakes import ListedMemories, ShelvedVectors, WordEmbedder, memory
from tests.rates import over

KAYAK = memory("kayak", "User keeps a kayak in Patras.", created_at=1)
NUTS = memory("nuts", "User is allergic to nuts.", created_at=1, importance=9)
# Each of them shares more words with what is said than the kayak does.
TOPICS = ("boat harbour", "garden fence", "piano cellar", "camera lens", "bicycle saddle")
OTHERS = [
    memory(f"{topic}-{n}", f"User's {topic} {n} was painted.", created_at=10 + n)
    for topic in TOPICS
    for n in range(12)
]
SAID = ("The kayak is in Cork now.", *(f"My {topic} was painted again." for topic in TOPICS))


async def shown(
    *memories: Memory, words: str, hidden: LocalOnlyBanks = NOTHING_HIDDEN
) -> list[str]:
    """The ids of what is shown, in order."""
    embedder = WordEmbedder()
    sources = Sources("ada", ListedMemories(*memories), embedder, ShelvedVectors())
    index = await MemoryIndexes().current(sources, 60)
    vectors = await query_vectors(embedder, [words], 1.0)
    return [one.id for one in await shown_memories(index, words, vectors, hidden)]


async def test_small_store_is_shown_whole() -> None:
    """Up to twenty memories all are shown, whatever the message says."""
    few = [KAYAK, *OTHERS[: MOST_SHOWN - 1]]
    assert set(await shown(*few, words="Good morning.")) == {one.id for one in few}


@pytest.mark.parametrize(
    "words", [SAID[1], "\n\n".join(SAID), "Can you suggest a dessert?", "你好"]
)
async def test_what_matters_most_is_shown(words: str) -> None:
    """The nut allergy of sixty memories is shown beside every message."""
    found = await shown(NUTS, *OTHERS, words=words)
    assert "nuts" in found
    assert len(found) == len(set(found)) == MOST_SHOWN


async def test_shared_name() -> None:
    """A memory that shares a rare name with the message is shown before what is only alike."""
    ana = memory("ana", "Ana, a cousin of User's, sells honey.", created_at=1)
    words = "My boat harbour was painted, the garden fence, the piano cellar too, says Ana."
    assert "ana" in (await shown(ana, *OTHERS, words=words))[:5]


LONG = " ".join(f"This is sentence number {n} of a long story." for n in range(20))
PARTS = {
    "I like tea.": ["I like tea."],
    "I like tea. I have a dog.": ["I like tea. I have a dog."],
    "I like tea.\n\n  \nI have a dog.": ["I like tea.", "I have a dog."],
    "I like tea.\n\n...\n\n": ["I like tea."],
    "": [],
    "\n\n".join("abcdefghi"): ["a\nb", "c\nd", "e\nf", "g\nh", "i"],
}


@over("text, parts", PARTS.items())
def test_parts(text: str, parts: list[str]) -> None:
    """Paragraphs are parts, at most eight of them."""
    assert spoken_parts(text) == parts
