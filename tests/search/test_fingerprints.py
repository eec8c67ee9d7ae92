"""What answers to an embedder's identity is told before its name is used."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from adaptive.core.embedding import Sources
from adaptive.core.model import EmbeddingError, Vectors
from adaptive.search.fingerprints import Fingerprints, ProvenEmbedder
from adaptive.search.vectors import EmbedderRests, normalised
from tests.fakes import ShelvedVectors, WordEmbedder, memory
from tests.search.test_indexes import DOG, TEA, World, settled


class OtherModel(WordEmbedder):
    """A model of the same identity and dimension that finds other texts alike."""

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """The words backwards."""
        backwards = [
            " ".join(word[::-1] for word in text.split()) for text in texts
        ]
        return await super().embed(backwards, query=query)


class Worker(World):
    """A process with fingerprints of its own, answered by one model after another."""

    def __init__(self, model: WordEmbedder, table: ShelvedVectors) -> None:
        super().__init__(TEA, DOG, table=table)
        self.fingerprints = Fingerprints(self.clock)
        self.swap(model)

    def swap(self, model: WordEmbedder) -> None:
        """Have another model answer, as the host does when an admin saves another one."""
        model.source = model
        self.model = model

    @property
    def proven(self) -> ProvenEmbedder:
        """The embedder of a turn."""
        return ProvenEmbedder(
            self.model, self.table, self.fingerprints, self.model.pace
        )

    @property
    def sources(self) -> Sources:
        """Where the user's index comes from in a turn."""
        return replace(super().sources, embedder=self.proven)

    async def similarity(self) -> float:
        """How alike the vectors that serve are to those that the model makes now."""
        await self.current()
        await settled()
        index = await self.current()
        assert index.ready
        contents = [one.content for one in index.memories]
        own = normalised(await self.model.embed(contents, query=False))
        return float((index.ranking.vectors * own).sum(axis=1).min())


async def test_model_swapped_in_one_worker() -> None:
    """Two workers with two models of one name use and keep vectors of their own."""
    table = ShelvedVectors()
    old, new = Worker(WordEmbedder(), table), Worker(WordEmbedder(), table)
    assert await old.similarity() == pytest.approx(1)
    new.swap(OtherModel())
    assert await new.similarity() == pytest.approx(1)
    boat = memory("boat", "User has a boat.", created_at=int(old.clock.now))
    for worker in (old, new):
        worker.store.rows[boat.id] = boat
        assert await worker.similarity() == pytest.approx(1)
    # Started anew, a worker is answered by the new model, and finds its vectors made.
    later = Worker(OtherModel(), table)
    later.store.rows[boat.id] = boat
    assert await later.similarity() == pytest.approx(1)
    assert len(later.model.calls) == 1  # those that they are compared with
    names = {await worker.proven.name() for worker in (old, new, later)}
    assert len(names) == 2


async def test_model_exchanged_behind_a_service() -> None:
    """A service that is answered by another model is noticed with time, or by the length."""
    worker = Worker(WordEmbedder(), ShelvedVectors())
    first = await worker.proven.name()
    worker.model.dimension = 96
    with pytest.raises(EmbeddingError, match="the embedding model failed"):
        await worker.proven.embed(["tea"], query=True)
    second = await worker.proven.name()
    assert (await worker.proven.embed(["tea"], query=True)).shape == (1, 96)
    worker.model.dimension = 64
    worker.clock.now += 3600
    assert await worker.proven.name() == second
    await settled()
    assert await worker.proven.name() == first


async def test_same_model_in_less_precision() -> None:
    """What one model makes in another batch, or in half precision, is the same model's."""

    class Half(WordEmbedder):
        """Rounds its numbers."""

        async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
            rows = normalised(await super().embed(texts, query=query))
            return rows.astype(np.float16).astype(np.float32)

    table = ShelvedVectors()
    names = [
        await Worker(model, table).embedder.name()
        for model in (WordEmbedder(), Half(), WordEmbedder())
    ]
    assert len({*names}) == 1


async def test_proven_once() -> None:
    """Turns that come together ask for one vector, and one that gives up takes it from nobody."""
    worker = Worker(WordEmbedder(), ShelvedVectors())
    worker.model.gate.clear()
    asking = [asyncio.create_task(worker.proven.name()) for _ in range(3)]
    await asyncio.sleep(0)
    asking[0].cancel()
    await asyncio.sleep(0)
    worker.model.gate.set()
    names = await asyncio.gather(*asking[1:])
    assert len({*names}) == 1
    assert len(worker.model.queries) == 1


async def test_without_an_answer_keywords_serve() -> None:
    """A model that fails before it is proven has no name; the next turn finds it well again."""
    worker = Worker(WordEmbedder(), ShelvedVectors())
    worker.indexes.rests = EmbedderRests(lambda _: asyncio.sleep(0))
    worker.model.failing = True
    index = await worker.current()
    assert (len(index.memories), index.embedder) == (2, "")
    worker.model.failing = False
    while worker.indexes.rests.is_open(worker.proven.service):
        await asyncio.sleep(0)
    assert await worker.similarity() == pytest.approx(1)
