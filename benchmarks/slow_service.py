"""An embedding service of 100 texts a minute, 3 s for each: when memory recalls, and what it costs.

A user with 30 memories chats; the host embeds a document's text by the same service now and then.
The service stands on loopback, and its clock runs twenty times as fast as a real one.
"""

import asyncio
import time
from collections import Counter
from typing import Any

from adaptive.core.embedding import Pace, Sources
from adaptive.core.model import EmbeddingError
from adaptive.search.calibration import EXAMPLE_TEXTS
from adaptive.search.embedders import EndpointModel
from adaptive.search.fingerprints import Fingerprints, ProvenEmbedder
from adaptive.search.indexes import MemoryIndexes
from adaptive.search.vectors import EmbedderRests, query_vectors
from benchmarks.figures import say, write_results
from benchmarks.personal import PEOPLE
from tests.embedding_service import EmbeddingService, serving
from tests.fakes import ListedMemories, ShelvedVectors, memory

_SPEED = 20
_MEMORIES = 30
_PATIENCE_SECONDS = 2.0
_TURN_EVERY_SECONDS = 15.0
_DOCUMENT_EVERY_SECONDS = 7.0
_LONGEST_SECONDS = 1200.0


def _now() -> float:
    return time.monotonic() * _SPEED


async def _sleep(seconds: float) -> None:
    await asyncio.sleep(seconds / _SPEED)


class _Server:
    """A process that has just started, with one user, at a service."""

    def __init__(self, service: EmbeddingService, url: str) -> None:
        examples = {*EXAMPLE_TEXTS}
        contents = [
            content
            for person in PEOPLE
            for content in person.memories
            if content.isascii() and content not in examples
        ]
        contents = [*dict.fromkeys(contents)][:_MEMORIES]
        self.service = service
        self.began = _now()
        self.table = ShelvedVectors()
        store = ListedMemories(
            *(
                memory(str(place), content, created_at=place)
                for place, content in enumerate(contents)
            )
        )
        self.table.memories["ada"] = store.rows
        model = EndpointModel(url, "words")
        embedder = ProvenEmbedder(
            model, self.table, Fingerprints(_now), Pace(32, 4, 5, _now, _sleep)
        )
        self.sources = Sources("ada", store, embedder, self.table)
        self.indexes = MemoryIndexes(rests=EmbedderRests(_sleep))
        self.model = model
        self.reached: dict[str, float] = {}
        self.host = Counter[str]()

    def note(self, name: str) -> None:
        """Note when something was first so."""
        if name not in self.reached:
            self.reached[name] = round(_now() - self.began, 1)
            say(f"{self.reached[name]:7.1f} s  {name}")

    async def chat(self) -> None:
        """One message after the other, and what each finds ready."""
        while True:
            index = await self.indexes.current(
                self.sources, _PATIENCE_SECONDS / _SPEED
            )
            turn = self.indexes.turn_embedder(self.sources)
            asked = [f"Where do I live, said at {_now():.0f}?"]
            vectors = await query_vectors(turn, asked, 10 / _SPEED)
            can_rank = vectors is not None and bool(index.ranking.levels)
            if can_rank and index.embedded.any():
                self.note("first recall by meaning")
            if can_rank and index.embedded.all():
                self.note("all memories recalled by meaning")
            if not self.indexes.shared.missing(index.embedder):
                self.note("recall calibrated")
            await _sleep(_TURN_EVERY_SECONDS)

    async def embed_documents(self) -> None:
        """What the host asks of the service itself."""
        while True:
            await _sleep(_DOCUMENT_EVERY_SECONDS)
            try:
                await self.model.embed([f"A page, {_now():.0f}"], query=False)
                self.host["answered"] += 1
            except EmbeddingError:
                self.host["refused"] += 1


async def _measured(**service_options: Any) -> dict[str, Any]:
    service = EmbeddingService(_now, _sleep, **service_options)
    async with serving(service) as url:
        server = _Server(service, url)
        others = [
            asyncio.create_task(work())
            for work in (server.chat, server.embed_documents)
        ]
        async with asyncio.timeout(_LONGEST_SECONDS / _SPEED):
            while "recall calibrated" not in server.reached:
                await _sleep(1)
        name = await server.sources.embedder.name()
        wanted = len(server.indexes.shared.texts)
        made = wanted - server.indexes.shared.missing(name)
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
    ours = [
        text for text in service.asked_twice if not text.startswith("A page")
    ]
    return {
        "reached_after_seconds": server.reached,
        "texts_of_nobody": f"{made} of {wanted}",
        "texts_asked_for_twice": len(ours),
        "requests": service.requests,
        "statuses": {
            str(status): count
            for status, count in sorted(service.statuses.items())
        },
        "host": dict(server.host),
    }


def main() -> None:
    """Measure and write ``results/slow_service.json``."""
    figures = {
        "3 s a text": asyncio.run(_measured(seconds=3.0)),
        "0.05 s a text": asyncio.run(_measured(seconds=0.05)),
    }
    for name, measured in figures.items():
        say(f"{name}: {measured}")
    say(f"written: {write_results('slow_service', figures)}")


if __name__ == "__main__":
    main()
