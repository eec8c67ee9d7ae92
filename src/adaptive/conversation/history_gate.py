"""Knowing when no past message fits, whatever embedding model and vector database.

As for memories (see ``search.calibration``), a question's nearest unit is held against the nearest
units of prompts that have nothing to do with anybody: how many spreads does it lie above their
mean? Both come out of the same vector database in its own measure, which cancels out. With it goes
the share of the question's words that stand in one past message, rare words counting more:

    evidence = null spreads above the null mean + COVERAGE * share of the words

A section is written if that reaches the gate. While there is no null distribution the words decide.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from adaptive.conversation_ports import HistoryHit, HistoryVectors
from adaptive.errors import AdaptiveMemoryError
from adaptive.ports import Embedder, Vectors
from adaptive.search.calibration import (
    NULL_PROMPTS,
    NullLevel,
    Script,
    null_levels,
    script_of,
)
from adaptive.search.tokens import tokens
from adaptive.search.vectors import normalised

log_history_gate = logging.getLogger("adaptive_memory.conversation")

# Evidence that a question needs: measured on LoCoMo (see ``benchmarks.history``), where it costs
# 0.003 of the evidence and shuts out 95 of 100 unrelated prompts.
HISTORY_GATE = 3.5
# Evidence of a question whose words all stand in one past message; the same without vectors.
_HISTORY_COVERAGE = 6.0
_HISTORY_COVERAGE_ALONE = 16.0
# Enough to tell which way an engine's measure goes.
_NULL_HITS = 5
# A past that has grown by half has other nearest neighbours.
_PAST_GROWN = 1.5
_REST_BETWEEN_CALIBRATIONS = 60.0
_CALIBRATED_USERS = 2000
# Greetings and thanks, whose words stand in every chat.
_SMALL_TALK_TEXT = """
    hi hello hey hiya howdy there good morning afternoon evening night day bye goodbye thanks thank
    thx ty cheers ok okay okey yes yeah yep no nope sure great nice cool fine perfect awesome
    lovely wow haha lol sounds welcome please sorry well oh ah lot much
    hallo servus moin guten morgen tag abend nacht danke bitte ja nein gut super tschuss prima
    bonjour salut bonsoir merci oui non bien parfait hola buenos buenas dias tardes noches gracias
    si vale perfecto adios ola oi bom boa dia tarde noite obrigado obrigada sim nao otimo tchau
    ciao buongiorno buonasera grazie perfetto привет здравствуйте спасибо да нет хорошо отлично
    пока 你好 您好 谢谢 謝謝 再见 好的 مرحبا شكرا نعم لا
    こんにちは ありがとう はい 안녕하세요 감사합니다 네
"""

HistoryLevels = Mapping[Script, NullLevel]
NullVectors = Callable[[], Awaitable[Vectors]]


def history_evidence(
    text: str, nearest: float | None, coverage: float, levels: HistoryLevels
) -> float:
    """How much speaks for past messages that fit a question; none for a greeting.

    ``nearest`` is the score of the nearest unit that may be recalled, ``None`` without vectors;
    ``coverage`` is the share of the question's words in the message that holds most of them.
    """
    if is_small_talk(text):
        return 0.0
    level = levels.get(script_of(text))
    if level is None or nearest is None:
        return _HISTORY_COVERAGE_ALONE * coverage
    return max((nearest - level.mean) / level.spread, 0.0) + _HISTORY_COVERAGE * coverage


def is_small_talk(text: str) -> bool:
    """Whether a message is a greeting, thanks or assent and nothing more."""
    return not set(tokens(text)) - _small_talk()


@dataclass(frozen=True, slots=True)
class HistorySpace:
    """The space in which a user's nearest units are looked for.

    ``nulls`` brings the vectors of ``NULL_PROMPTS`` where somebody has made them already.
    """

    user_id: str
    embedder: Embedder
    vectors: HistoryVectors
    nulls: NullVectors | None = None


@dataclass(frozen=True, slots=True)
class _HistoryCalibration:
    embedder: str
    size: int
    made_at: float
    levels: HistoryLevels


class HistoryCalibrations:
    """Null distributions of users' past conversation, made behind the turns, kept in this process.

    ``clock`` counts seconds, and never backwards.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        rest: float = _REST_BETWEEN_CALIBRATIONS,
    ) -> None:
        self._held: OrderedDict[str, _HistoryCalibration] = OrderedDict()
        self._making: dict[str, asyncio.Task[None]] = {}
        self._nulls: dict[str, Vectors] = {}
        self._clock = clock
        self._rest = rest

    def at_hand(self, space: HistorySpace, embedder: str, size: int) -> HistoryLevels:
        """The levels of a past of ``size`` messages, none while there are none for this embedder.

        They are made behind the turn where they are missing, or of a much smaller past.
        """
        user_id = space.user_id
        held = self._held.get(user_id)
        same = held is not None and held.embedder == embedder
        if held is not None:
            self._held.move_to_end(user_id)
        stale = held is None or not same or self._outgrown(held, size)
        if stale and user_id not in self._making:
            task = asyncio.create_task(self._make(space, embedder, size))
            self._making[user_id] = task
            task.add_done_callback(lambda done: self._made(user_id, done))
        return held.levels if held is not None and same else {}

    async def made(self, user_id: str) -> None:
        """Wait for the calibration of a user that runs, if one does."""
        if (task := self._making.get(user_id)) is not None:
            await asyncio.wait({task})

    def forget(self, user_id: str) -> None:
        """Drop what is known of a user, and what is being made of it."""
        if (task := self._making.pop(user_id, None)) is not None:
            task.cancel()
        self._held.pop(user_id, None)

    def _outgrown(self, held: _HistoryCalibration, size: int) -> bool:
        changed = size > held.size * _PAST_GROWN or size * _PAST_GROWN < held.size
        # A past that was empty is looked at again with every message.
        return (changed or not held.levels) and self._clock() - held.made_at >= self._rest

    def _made(self, user_id: str, task: asyncio.Task[None]) -> None:
        if self._making.get(user_id) is task:
            del self._making[user_id]
        error = None if task.cancelled() else task.exception()
        if isinstance(error, AdaptiveMemoryError):
            log_history_gate.warning("past conversation is judged by its words: %s", error)
        elif error is not None:
            log_history_gate.error("past conversation can't be calibrated", exc_info=error)

    async def _make(self, space: HistorySpace, embedder: str, size: int) -> None:
        levels: HistoryLevels = {}
        try:
            nulls = await self._null_vectors(space, embedder)
            nearest: list[float] = []
            for row in nulls:
                hits = await space.vectors.search(space.user_id, embedder, row, _NULL_HITS)
                if not hits:
                    break
                nearest.append(hits[0].score)
            # An engine that answers no distances gives everything the same score.
            if len(nearest) == len(NULL_PROMPTS) and len(set(nearest)) > 1:
                levels = null_levels(np.asarray(nearest, dtype=np.float32))
        finally:
            # After a failure it is tried again when some time has passed.
            self._held[space.user_id] = _HistoryCalibration(embedder, size, self._clock(), levels)
            while len(self._held) > _CALIBRATED_USERS:
                self._held.popitem(last=False)

    async def _null_vectors(self, space: HistorySpace, embedder: str) -> Vectors:
        """Vectors of the null prompts, made once for each embedder."""
        if embedder not in self._nulls:
            if space.nulls is not None:
                made = await space.nulls()
            else:
                made = normalised(await space.embedder.embed(NULL_PROMPTS, query=True))
            self._nulls[embedder] = made
        return self._nulls[embedder]


def nearest_score(hits: Sequence[HistoryHit]) -> float | None:
    """The best score of some hits, ``None`` of none."""
    return max((hit.score for hit in hits), default=None)


@cache
def _small_talk() -> frozenset[str]:
    return frozenset(tokens(_SMALL_TALK_TEXT))
