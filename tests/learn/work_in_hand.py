"""Work on a turn, as a lesson sees it, and what decides whether a model is asked."""

from __future__ import annotations

from dataclasses import dataclass

from adaptive.learn.prefilter import Prefilter
from adaptive.ports import Embedder, Vectors
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.shared_vectors import SharedVectors
from adaptive.table_ports import VectorTable


@dataclass
class Work:
    """Work in hand that is lost after ``losing`` questions."""

    journal: str = ""
    calls: int = 0
    losing: int = 1000

    async def held(self) -> bool:
        """Whether it is not lost yet."""
        self.losing -= 1
        return self.losing >= 0

    async def keep(self, journal: str) -> bool:
        """Keep it, if it is not lost yet."""
        self.journal = journal
        return await self.held()


async def always(_: int = 0) -> bool:
    """There is a model call left."""
    return True


class NoPrefilter(Prefilter):
    """A prefilter that lets everything be sent."""

    def __init__(self) -> None:
        super().__init__(SharedVectors(NULL_PROMPTS))

    async def may_hold_fact(
        self, words: str, embedder: Embedder, table: VectorTable, known: Vectors | None = None
    ) -> bool:
        """Always."""
        return True
