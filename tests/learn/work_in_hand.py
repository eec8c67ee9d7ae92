"""A lesson's world in memory: what it works with, and the work, which may be lost."""

from __future__ import annotations

import time
from typing import Any

from adaptive.answer.suggestions import Suggestions
from adaptive.core.ports import Completer, Embedder, MemoryStore, Vectors
from adaptive.core.table_ports import PendingTurn, Sources, TurnLease, VectorTable
from adaptive.learn.archive import UserStore
from adaptive.learn.lesson import LessonResources
from adaptive.learn.prefilter import Prefilter
from adaptive.learn.queue import TurnWork
from adaptive.llm.ask import AnswerFormats
from adaptive.privacy.gate import AuditTrail
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.indexes import MemoryIndexes
from adaptive.search.vectors import SharedVectors
from tests.answer.listed_suggestions import ListedSuggestions
from tests.fakes import ShelvedVectors, WordEmbedder, hook_settings
from tests.learn.listed_turns import ListedTurns
from tests.learn.storerooms import ArchivedRows, CountedRecalls, WrittenAudit


class Work(TurnWork):
    """Work in hand that is lost after ``losing`` questions."""

    def __init__(self, journal: str = "", losing: int = 1000, calls_before: int = 0) -> None:
        turn = PendingTurn("ada", "m", "chat-1", "", 0, 0, journal=journal)
        lease = TurnLease("ada", "worker", ("m",))
        super().__init__((turn,), lease, ListedTurns(), time.time, 0, calls_before)
        self.losing = losing

    async def held(self) -> bool:
        """Whether it is not lost yet."""
        self.losing -= 1
        return self.losing >= 0

    async def keep(self, journal: str) -> bool:
        """Keep it, if it is not lost yet."""
        self.journal = journal
        return await self.held()


class NoPrefilter(Prefilter):
    """A prefilter that lets everything be sent."""

    def __init__(self) -> None:
        super().__init__(SharedVectors(NULL_PROMPTS))

    async def may_hold_fact(
        self, words: str, embedder: Embedder, table: VectorTable, known: Vectors | None = None
    ) -> bool:
        """Always."""
        return True


def lesson_room(store: MemoryStore, model: Completer, **parts: Any) -> LessonResources:
    """What learning of ada needs: this store and model, and new parts but for the named ones.

    Beside the fields of ``LessonResources`` parts are ``embedder`` and ``audit``.
    """
    sources = Sources("ada", store, parts.pop("embedder", WordEmbedder()), ShelvedVectors())
    trail = AuditTrail(parts.pop("audit", WrittenAudit()))
    fresh = {
        "settings": hook_settings(),
        "indexes": MemoryIndexes(),
        "formats": AnswerFormats(),
        "user_store": UserStore("ada", store, ArchivedRows(), CountedRecalls(), trail),
        "prefilter": NoPrefilter(),
        "proposer": Suggestions(ListedSuggestions(), lambda: 7.0),
    }
    return LessonResources(sources=sources, completer=model, **{**fresh, **parts})
