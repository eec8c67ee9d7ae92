"""Marks in the code, and what the measures of a turn make of them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

import pytest

from adaptive.errors import ModelBusy, ModelRejected
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.measures import (
    ModelUse,
    TurnMeasures,
    count_anomaly,
    count_entries,
    count_operations,
    measured,
    model_call,
    short_hash,
    stage,
    stage_lasted,
    staged,
    tell_outcome,
)
from adaptive.model import Completion, CompletionRequest, Outcome, TokenUsage
from adaptive.retry import RetryPolicy
from adaptive.search.query import query_vectors
from tests.fakes import ScriptedModel, WordEmbedder

REQUEST = CompletionRequest("s" * 8, "u" * 9 + "é", "memory_operations", {})


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def started() -> tuple[Clock, TurnMeasures]:
    """Measures with a clock of their own."""
    clock = Clock()
    return clock, TurnMeasures("inlet", clock)


def test_stage_without_what_is_within_it() -> None:
    """A stage's time is its own: what runs within it is counted by its own name."""
    clock, measures = started()
    with measured(measures):
        with stage("ranking"):
            clock.time += 1
            with stage("judge"):
                clock.time += 4
            clock.time += 2
        with stage("ranking"):
            clock.time += 8
    clock.time += 16
    measures.end()
    assert measures.seconds == {"judge": 4, "ranking": 11}
    assert measures.total == 31


def test_stage_that_fails() -> None:
    """The time of a stage that raises is counted, and marks go on to count for the outer one."""
    clock, measures = started()
    with measured(measures):
        with pytest.raises(ModelBusy), stage("judge"):
            clock.time += 3
            raise ModelBusy("no")
        with stage("block"):
            clock.time += 1
    assert measures.seconds == {"judge": 3, "block": 1}


async def test_stages_at_the_same_time() -> None:
    """Tasks and threads inherit the measures, and each stage is counted as long as it ran."""
    clock, measures = started()

    @staged("embedding")
    async def embed() -> str:
        await asyncio.sleep(0)
        clock.time += 1
        await asyncio.sleep(0)
        return "done"

    @staged("reconcile")
    def reconcile(seconds: float) -> float:
        clock.time += seconds
        return seconds

    with measured(measures):
        assert await asyncio.gather(embed(), embed()) == ["done", "done"]
        assert await asyncio.to_thread(reconcile, 5) == 5
    assert measures.seconds == {"embedding": 4, "reconcile": 5}


async def test_nobody_measures() -> None:
    """Without measures marks do nothing, and what they stand at does what it does."""

    @staged("judge")
    async def judge(text: str) -> str:
        return text

    with stage("ranking") as one, stage("block") as other:
        assert one is other
    assert await judge("a") == "a"
    stage_lasted("queue", 1)
    count_entries(core=1)
    count_operations([Outcome("saved", "x")])
    tell_outcome("learned")
    count_anomaly("failed")
    with model_call(REQUEST) as call:
        answer = Completion("x")
        assert call.answered(answer) is answer


def test_marks_after_the_measures() -> None:
    """What is marked behind the measured work counts for nobody."""
    _, measures = started()
    with measured(measures):
        stage_lasted("queue", 2.5)
        stage_lasted("queue", -1)
    stage_lasted("queue", 1)
    assert measures.seconds == {"queue": 2.5}


@dataclass(frozen=True)
class Case:
    """A script of answers, and what is counted of the question."""

    id: str
    script: tuple[str | Completion | Exception, ...]
    use: ModelUse
    fails: bool = False


CASES = [
    Case("estimated", ("a" * 6,), ModelUse(1, 0, 0, 6, 2, estimated=True)),
    Case("told", (Completion("x", usage=TokenUsage(70, 8)),), ModelUse(1, 0, 0, 70, 8)),
    Case(
        "second try",
        (ModelBusy("no"), Completion("x", usage=TokenUsage(7, 1))),
        ModelUse(2, 1, 1, 7, 1),
    ),
    Case(
        "second format",
        (ModelRejected("no", 400), Completion("x", usage=TokenUsage(7, 1))),
        ModelUse(2, 1, 1, 7, 1),
    ),
    Case("refused", (ModelRejected("no", 401),), ModelUse(1, 0, 1), fails=True),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_calls_of_a_model(case: Case) -> None:
    """Calls, retries, failures and tokens are counted for the purpose of the question."""
    _, measures = started()
    asked = ask(ScriptedModel(*case.script), REQUEST, AnswerFormats(), RetryPolicy(1, 0), 30)
    with measured(measures):
        if case.fails:
            with pytest.raises(ModelRejected):
                await asked
        else:
            await asked
    assert measures.models == {"extraction": case.use}


async def test_call_that_takes_too_long() -> None:
    """A call that its deadline ends is a failed one."""
    _, measures = started()
    model = ScriptedModel("late")
    model.gate.clear()
    with measured(measures), pytest.raises(ModelBusy):
        await ask(model, REQUEST, AnswerFormats(), RetryPolicy(0), 0.01)
    assert measures.models["extraction"] == ModelUse(1, 0, 1)


async def test_embedder_that_fails() -> None:
    """A message that is searched by its keywords only is an anomaly that operators can count."""
    _, measures = started()
    embedder = WordEmbedder()
    embedder.failing = True
    with measured(measures):
        assert await query_vectors(embedder, ["Where do I live?"], 30) is None
    assert measures.seconds.keys() == {"embedding"}
    assert measures.anomalies == {"embedding_failed": 1}


def test_fields() -> None:
    """What is told fits JSON, in milliseconds, without empty parts, and names nobody."""
    clock, measures = started()
    with measured(measures):
        with stage("ranking"):
            clock.time += 0.01234
        count_entries(core=2, retrieved=0)
        count_operations([Outcome("saved", "secret words"), Outcome("rejected", "", "secret")])
        count_anomaly("empty_response")
    measures.model_use("relevance").calls = 1
    measures.end()
    told = measures.fields("user-4711", "message-1")
    assert json.loads(json.dumps(told)) == {
        "part": "inlet",
        "user": short_hash("user-4711"),
        "turn": short_hash("message-1"),
        "outcome": "recalled",
        "ms": {"total": 12.3, "ranking": 12.3},
        "entries": {"core": 2},
        "operations": {"saved": 1, "rejected": 1},
        "models": {
            "relevance": {
                "calls": 1,
                "retries": 0,
                "failed": 0,
                "tokens_in": 0,
                "tokens_out": 0,
            }
        },
        "anomalies": {"empty_response": 1},
    }
    assert "secret" not in str(told)
    assert "4711" not in str(told)


def test_nothing_fits() -> None:
    """A prompt that gets no entry is told as such; entries of a later kind change that."""
    _, measures = started()
    assert measures.idle
    with measured(measures):
        count_entries(core=0, retrieved=0)
        assert (measures.outcome, measures.idle) == ("nothing fits", False)
        count_entries(history=3)
    assert (measures.outcome, measures.entries) == ("recalled", {"history": 3})


def test_short_hash() -> None:
    """An id stands for ten digits, nothing for nothing, and broken text harms nobody."""
    assert len(short_hash("ada")) == 10
    assert short_hash("ada") != short_hash("bob")
    assert short_hash("") == ""
    assert short_hash("\ud800")
