"""Measures of a turn, in the log and in the metrics of a host that collects some."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from adaptive.core.providers import Completion, CompletionRequest, ModelBusy
from adaptive.core.runtime import (
    measured_part,
    stage,
    staged,
    tally,
    tell_outcome,
)
from adaptive.llm.ask import AnswerFormats, ask
from tests.fakes import ScriptedModel

LOGGER = "adaptive_memory.measures"


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The lines in the log."""
    return [
        json.loads(one.getMessage())
        for one in caplog.records
        if one.name == LOGGER
    ]


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """The log at the level of the lines."""
    caplog.set_level(logging.DEBUG, LOGGER)
    return caplog


@staged("judge")
async def judge() -> None:
    """A coroutine function that is a stage."""
    await asyncio.sleep(0.01)


@stage("reconcile")
def reconcile() -> str:
    """A function that is one."""
    raise ModelBusy("no")


async def test_lines(told: pytest.LogCaptureFixture) -> None:
    """A part has a line, unless it found nothing to do; tasks and threads count to it."""
    async with measured_part("inlet", "m-1"):
        await asyncio.gather(judge(), judge())
        with pytest.raises(ModelBusy):
            await asyncio.to_thread(reconcile)
        tell_outcome("nothing fits")
        tally("entries", "core", 2)
        tally("entries", "retrieved", 0)
    async with measured_part("inlet", "m-1"):
        pass
    async with measured_part("learning", "m-1"):
        pass
    async with measured_part("learning", "m-1"):
        tally("operations", "saved")
        tally("anomalies", "limit_reached")
        tell_outcome("learned")
    recalled, skipped, learned = lines(told)
    assert [one["outcome"] for one in lines(told)] == [
        "recalled",
        "skipped",
        "learned",
    ]
    assert recalled["ms"].keys() == {"judge", "reconcile", "total"}
    assert 19 < recalled["ms"]["judge"] < 2000
    assert (recalled["entries"], skipped["turn"]) == ({"core": 2}, "m-1")
    assert learned["operations"] == {"saved": 1}
    assert learned["anomalies"] == {"limit_reached": 1}
    assert not {"ada", "secret"} & {
        *str(lines(told)).replace("'", " ").split()
    }


@pytest.mark.usefixtures("no_pauses")
async def test_calls_of_a_model(told: pytest.LogCaptureFixture) -> None:
    """Calls, failures and tokens are counted for a question."""
    request = CompletionRequest("s", "u", "memory_operations", {})
    model = ScriptedModel(ModelBusy("no"), Completion("x", tokens=(70, 8)))
    async with measured_part("learning", "m-1"):
        await ask(
            model, request, AnswerFormats(), 30, lambda one: one, retries=1
        )
    [line] = lines(told)
    numbers = {
        "model_calls": 2,
        "model_failures": 1,
        "model_tokens_in": 70,
        "model_tokens_out": 8,
    }
    assert {kind: line[kind] for kind in numbers} == {
        kind: {"memory_operations": number} for kind, number in numbers.items()
    }
