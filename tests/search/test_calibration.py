"""Knowing when nothing fits."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from adaptive.core.embedding import Pace
from adaptive.core.model import EmbeddingError, Vectors
from adaptive.search.calibration import (
    NULL_PROMPTS,
    NullLevel,
    Script,
    SharedVectors,
    null_levels,
    script_of,
    speaks_of_self,
)
from tests.fakes import ShelvedVectors, WordEmbedder
from tests.rates import over


def directions(count: int, seed: int, dimension: int = 48) -> Vectors:
    """Unit vectors of chance."""
    rows = np.random.default_rng(seed).normal(size=(count, dimension))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(
        np.float32
    )


NULLS = directions(len(NULL_PROMPTS), 1)


def levels_of(memories: Vectors, nulls: Vectors) -> dict[Script, NullLevel]:
    """The null distribution of a store of these vectors."""
    return null_levels((nulls @ memories.T).max(axis=1))


def test_null_prompts() -> None:
    """The table is not empty, has no doubles, and says nothing of a person's own life."""
    assert 60 <= len(NULL_PROMPTS) <= 150
    assert len(set(NULL_PROMPTS)) == len(NULL_PROMPTS)
    assert not [prompt for prompt in NULL_PROMPTS if speaks_of_self(prompt)]


async def test_shared_texts_are_made_once() -> None:
    """Two who want the same text of nobody's at the same time have it embedded once."""
    embedder, table = WordEmbedder(), ShelvedVectors()
    embedder.gate.clear()
    both = [SharedVectors("tea", "boat"), SharedVectors("dog", "boat", "tea")]
    making = [
        asyncio.create_task(shared.make_more(embedder, table))
        for shared in both
    ]
    for _ in range(20):
        await asyncio.sleep(0)
    embedder.gate.set()
    await asyncio.gather(*making)
    asked = [text for call in embedder.queries for text in call]
    assert sorted(asked) == ["boat", "dog", "tea"]
    made = [shared.rows("words", ["tea", "boat"]) for shared in both]
    assert np.array_equal(*made)


async def test_what_came_of_shared_texts_is_kept() -> None:
    """Where the embedder fails, the next try asks for what is missing alone."""

    class Failing(WordEmbedder):
        """Fails with the third request."""

        async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
            self.failing = len(self.queries) == 2
            return await super().embed(texts, query=query)

    embedder, table = Failing(), ShelvedVectors()
    embedder.pace = Pace(most_texts=10)
    texts = NULL_PROMPTS[:35]
    shared = SharedVectors(*texts)
    with pytest.raises(EmbeddingError):
        await shared.make_more(embedder, table, 35)
    assert 0 < shared.missing("words") <= 15
    later = SharedVectors(*texts)
    await later.make_more(embedder, table, 35)
    assert not later.missing("words")
    del embedder.queries[2]  # the one that failed
    asked = [text for call in embedder.queries for text in call]
    assert sorted(asked) == sorted(texts)
    known = await SharedVectors(*texts).known(table, "words")
    assert known is not None
    assert len(known) == 35


async def test_first_null_prompts_serve() -> None:
    """A dozen null prompts of all scripts make levels, and recall begins with them."""
    nulls = SharedVectors(*NULL_PROMPTS)
    first = await nulls.first(WordEmbedder(), ShelvedVectors())
    assert len(first) == 12
    levels = levels_of(directions(9, 2), directions(12, 3))
    assert levels.keys() == levels_of(directions(9, 2), NULLS).keys()


def test_shift_of_the_scale() -> None:
    """A model whose unrelated texts lie at 0.7 gives a query the same standing."""
    memories, query = directions(50, 4), directions(50, 4)[7]

    def shifted(cosine: Vectors) -> Vectors:
        return np.float32(0.3) * cosine + np.float32(0.7)

    plain = levels_of(memories, NULLS)["latin"]
    nearest = (NULLS @ memories.T).max(axis=1)
    # One dimension more carries a constant to all vectors.
    wide = np.hstack([memories * 0.3**0.5, np.full((50, 1), 0.7**0.5)]).astype(
        np.float32
    )
    wide_nulls = np.hstack(
        [NULLS * 0.3**0.5, np.full((len(NULLS), 1), 0.7**0.5)]
    )
    moved = levels_of(wide, wide_nulls.astype(np.float32))["latin"]
    assert moved.mean == pytest.approx(
        float(shifted(nearest).mean()), abs=0.02
    )
    assert moved.standing(shifted(memories @ query)) == pytest.approx(
        plain.standing(memories @ query), abs=0.01
    )


@over(
    "text, script",
    [
        ("What is my dog called?", "latin"),
        ("Über Größe", "latin"),
        ("Как зовут мою собаку?", "cyrillic"),
        ("ما اسم كلبي؟", "arabic"),
        ("我的狗叫什么名字？", "han"),
        ("東京はどこですか", "kana"),
        ("고양이는 어디", "korean"),
        ("用Python写一个计算器程序", "han"),
        ("מה שם הכלב שלי", "other"),
        ("แมวของฉันชื่ออะไร", "other"),
        ("17 × 23 = ?", "latin"),
        ("", "latin"),
    ],
)
def test_script(text: str, script: str) -> None:
    """The script that most of a text is written in."""
    assert script_of(text) == script


@over(
    "text, expected",
    [
        ("What is my dog called?", True),
        ("Can I eat satay sauce?", True),
        ("what should i cook tonight", True),
        ("recommend a restaurant near me", True),
        ("Wie heißt mein Hund?", True),
        ("На что у меня аллергия?", True),
        ("我的狗叫什么名字？", True),
        ("How do I reach my goal?", True),
        ("Tell me a joke", False),
        ("How do I undo a commit?", False),
        ("I want you to act as a judge.", False),
        ("Wie kann ich Pilze bestimmen?", False),
        ("Erkläre mir die Fotosynthese", False),
        ("Объясни мне теорию струн", False),
        ("给我写一首诗", False),
        ("Compare the laws of the US and China", False),
        ("for i in range(10): print(a[i])", False),
        ("When did World War I end?", False),
        ("Wie entsteht Wasser im Boden?", False),
        ("my " + "document " * 100, False),
    ],
    at_least=0.95,
)
def test_speaks_of_self(text: str, expected: bool) -> None:
    """Short messages about the person who writes are told from requests and documents."""
    assert speaks_of_self(text) is expected
