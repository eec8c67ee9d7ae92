"""A question in other words: searched with them where they come, and as it was where they don't."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from adaptive.llm.ask import AnswerFormats
from adaptive.recall.chat_states import ChatStates
from adaptive.recall.judge import JudgeRules, RelevanceCache, RelevanceJudge
from adaptive.recall.question import Question
from adaptive.recall.recollection import Library, recollect
from adaptive.recall.rewriting import Rewrite, Rewriter, rewritten
from adaptive.search.indexes import MemoryIndexes, Sources
from adaptive.search.query import query_vectors
from tests.fakes import (
    ListedMemories,
    ScriptedModel,
    ShelvedChats,
    ShelvedVectors,
    WordEmbedder,
    hook_settings,
    memory,
)

TEXT = "Remind me when that happened, please"
FULL = f"{TEXT}\nWhen did the user sail to the Azores?"
TRIP = memory("trip", "User sailed to the Azores in June 2019.")
TEA = memory("tea", "User likes green tea.", created_at=100_000)


def says(rewrite: Rewrite | None) -> Rewriter:
    """Somebody who says the question like this."""

    async def answered() -> Rewrite | None:
        return rewrite

    return answered


@dataclass(frozen=True)
class Case:
    """Whether the first texts have vectors, the rewrite, and what is embedded for it."""

    id: str
    rewrite: Rewrite | None
    embedded: bool = True
    failing: bool = False
    hanging: bool = False
    asked: tuple[str, ...] = ()
    fresh: bool = False


CASES = [
    Case("no rewrite", None),
    Case("the same words", Rewrite(TEXT)),
    Case("more words", Rewrite(FULL), asked=(FULL,), fresh=True),
    Case("no vector in time", Rewrite(FULL, patience=0), hanging=True, asked=(FULL,)),
    Case("the provider fails", Rewrite(FULL), failing=True, asked=(FULL,)),
    Case("no vectors at all", Rewrite(FULL), embedded=False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_rewritten(case: Case) -> None:
    """The new text is embedded once where it differs; failing, it serves by its words."""
    embedder = WordEmbedder()
    first = await query_vectors(embedder, [TEXT, "before"], 30) if case.embedded else None
    embedder.queries.clear()
    embedder.failing = case.failing
    if case.hanging:
        embedder.gate.clear()
    question = Question(TEXT, "before", "c")
    changed, vectors = await rewritten(question, first, embedder, says(case.rewrite))
    wanted = case.rewrite.text if case.rewrite else TEXT
    assert changed == replace(question, text=wanted)
    assert [text for call in embedder.queries for text in call] == list(case.asked)
    if first is None or not case.fresh:
        assert vectors is first
    else:
        assert vectors is not None
        assert np.array_equal(vectors[1], first[1])
        assert not np.array_equal(vectors[0], first[0])


async def test_another_dimension() -> None:
    """A provider that has changed its model meanwhile is not mixed in."""
    first = await query_vectors(WordEmbedder(), [TEXT], 30)
    other = WordEmbedder(dimension=8)
    changed, vectors = await rewritten(Question(TEXT), first, other, says(Rewrite(FULL)))
    assert (changed.text, vectors) == (FULL, first)


def library(rewriter: Rewriter | None, judge: RelevanceJudge | None = None) -> Library:
    """Two memories of Ada's."""
    sources = Sources("ada", ListedMemories(TRIP, TEA), WordEmbedder(), ShelvedVectors())
    states = ChatStates(write_after=0)
    return Library(sources, MemoryIndexes(), ShelvedChats(), states, judge, rewriter=rewriter)


@pytest.mark.parametrize(
    ("rewriter", "found"),
    [(None, []), (says(None), []), (says(Rewrite(FULL)), ["trip"])],
    ids=["off", "failed", "rewritten"],
)
async def test_recollected(rewriter: Rewriter | None, found: list[str]) -> None:
    """A rewrite finds what the words themselves do not; without one all is as it was."""
    settings = hook_settings(inlet_timeout_seconds=60)
    recollection = await recollect(library(rewriter), Question(TEXT), settings)
    assert [one.memory.id for one in recollection.fitting][:1] == found


async def test_judged_by_the_whole_question() -> None:
    """The judging model is asked about the question in its complete form."""
    model = ScriptedModel('{"scores": [{"id": "trip", "score": 0.9}]}')
    rules = JudgeRules(deadline=30)
    judge = RelevanceJudge(model, AnswerFormats(), RelevanceCache(), rules)
    settings = hook_settings(inlet_timeout_seconds=60)
    await recollect(library(says(Rewrite(FULL)), judge), Question(TEXT), settings)
    assert model.requests[0].user.endswith(FULL)
