"""Which memories the model is shown beside the words that it is to learn from."""

from __future__ import annotations

import pytest

from adaptive.learn.shown import MOST_SHOWN, shown_memories, spoken_parts
from adaptive.model import Memory
from adaptive.privacy.local_only import NOTHING_HIDDEN, LocalOnlyBanks
from adaptive.search.indexes import MemoryIndexes, Sources
from adaptive.search.query import query_vectors
from tests.fakes import ListedMemories, ShelvedVectors, WordEmbedder, hook_settings, memory
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
    *memories: Memory,
    words: str,
    embedded: bool = True,
    hidden: LocalOnlyBanks = NOTHING_HIDDEN,
) -> list[str]:
    """The ids of what is shown, in order."""
    embedder = WordEmbedder()
    embedder.failing = not embedded
    sources = Sources("ada", ListedMemories(*memories), embedder, ShelvedVectors())
    index = await MemoryIndexes().current(sources, 2**30, 60)
    vectors = await query_vectors(embedder, [words], 1.0) if embedded else None
    return [one.id for one in await shown_memories(index, words, vectors, hidden)]


async def test_small_store_is_shown_whole() -> None:
    """Up to twenty memories all are shown, whatever the message says."""
    few = [KAYAK, *OTHERS[: MOST_SHOWN - 1]]
    assert set(await shown(*few, words="Good morning.")) == {one.id for one in few}


@pytest.mark.parametrize("embedded", [True, False], ids=["vectors", "words alone"])
@pytest.mark.parametrize(
    "words", [SAID[1], "\n\n".join(SAID), "Can you suggest a dessert?", "你好"]
)
async def test_what_matters_most_is_shown(words: str, embedded: bool) -> None:
    """The nut allergy of sixty memories is shown beside every message."""
    found = await shown(NUTS, *OTHERS, words=words, embedded=embedded)
    assert "nuts" in found
    assert len(found) == len(set(found)) == MOST_SHOWN


@pytest.mark.parametrize("embedded", [True, False], ids=["vectors", "words alone"])
async def test_shared_name(embedded: bool) -> None:
    """A memory that shares a rare name with the message is shown before what is only alike."""
    ana = memory("ana", "Ana, a cousin of User's, sells honey.", created_at=1)
    words = "My boat harbour was painted, the garden fence, the piano cellar too, says Ana."
    assert "ana" in (await shown(ana, *OTHERS, words=words, embedded=embedded))[:5]


@pytest.mark.parametrize("embedded", [True, False], ids=["vectors", "words alone"])
async def test_each_message_brings_its_own(embedded: bool) -> None:
    """What each of several messages may correct is shown, though others are nearer to all."""
    found = await shown(KAYAK, *OTHERS, words="\n\n".join(SAID), embedded=embedded)
    assert {one.split("-")[0] for one in found[:7]} == {"kayak", *TOPICS}
    assert len(found) == MOST_SHOWN


async def test_hidden_banks_make_no_gap() -> None:
    """Memories for local models alone are left out, and others are shown in their places."""
    hidden = LocalOnlyBanks.of(hook_settings(local_only_banks="health"))
    ill = [memory(f"ill-{n}", f"User had flu {n}.", bank="Health", importance=9) for n in range(9)]
    found = await shown(*ill, *OTHERS, words="I had flu again.", hidden=hidden)
    assert len(found) == MOST_SHOWN
    assert not any(one.startswith("ill") for one in found)


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


def test_long_parts() -> None:
    """A long paragraph is taken apart between its sentences, and no word of it is lost."""
    parts = spoken_parts(LONG)
    assert len(parts) == 3
    assert all(len(part) <= 400 for part in parts)
    assert " ".join(parts) == LONG
    endless = "no full stop " * 500
    assert spoken_parts(endless) == [endless.strip()]
