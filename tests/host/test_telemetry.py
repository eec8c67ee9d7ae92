"""Measures of a turn in the log; metrics are proved on a host that collects some."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from adaptive.core.errors import ModelBusy
from adaptive.core.http import RetryPolicy
from adaptive.core.measures import (
    count_anomaly,
    count_entries,
    count_operations,
    staged,
    tell_outcome,
)
from adaptive.core.model import Completion, CompletionRequest, Outcome, TokenUsage
from adaptive.host.hook import HostHook
from adaptive.host.telemetry import measured_part
from adaptive.llm.ask import AnswerFormats, ask
from tests.fakes import ScriptedModel, hook_settings
from tests.host.test_requests import running_request

LOGGER = "adaptive_memory.measures"


def a_hook() -> HostHook:
    """A hook of a turn."""
    metadata = {"chat_id": "c", "message_id": "m-1"}
    return HostHook(hook_settings(), {"id": "ada"}, metadata, running_request(), None, None)


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The lines in the log."""
    return [json.loads(one.getMessage()) for one in caplog.records if one.name == LOGGER]


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """The log at the level of the lines."""
    caplog.set_level(logging.DEBUG, LOGGER)
    return caplog


@staged("judge")
async def judge() -> None:
    """A coroutine function that is a stage."""
    await asyncio.sleep(0.01)


@staged("reconcile")
def reconcile() -> str:
    """A function that is one."""
    raise ModelBusy("no")


async def test_lines(told: pytest.LogCaptureFixture) -> None:
    """A part has a line, unless it found nothing to do; tasks and threads count to it."""
    hook = a_hook()
    async with measured_part(hook, "inlet"):
        await asyncio.gather(judge(), judge())
        with pytest.raises(ModelBusy):
            await asyncio.to_thread(reconcile)
        count_entries(core=2, retrieved=0)
    async with measured_part(hook, "inlet"):
        pass
    async with measured_part(hook, "learning"):
        pass
    hook.state["anomalies"] = ["sanitised"]
    async with measured_part(hook, "learning"):
        count_operations([Outcome("saved", "secret words"), Outcome("rejected", "", "secret")])
        count_anomaly("limit_reached")
        tell_outcome("learned")
    recalled, skipped, learned = lines(told)
    assert [one["outcome"] for one in lines(told)] == ["recalled", "skipped", "learned"]
    assert recalled["ms"].keys() == {"judge", "reconcile", "total"}
    assert 19 < recalled["ms"]["judge"] < 2000
    assert (recalled["entries"], skipped["turn"]) == ({"core": 2}, "m-1")
    assert learned["operations"] == {"saved": 1, "rejected": 1}
    assert learned["anomalies"] == {"limit_reached": 1, "sanitised": 1}
    assert not {"ada", "secret"} & {*str(lines(told)).replace("'", " ").split()}


async def test_failures(told: pytest.LogCaptureFixture) -> None:
    """A failure passes and is told by its class alone."""
    with pytest.raises(ValueError, match="secret"):
        async with measured_part(a_hook(), "inlet"):
            raise ValueError("secret")
    with pytest.raises(TimeoutError):
        async with measured_part(a_hook(), "inlet"), asyncio.timeout(0):
            await asyncio.sleep(60)
    found = [(one["outcome"], one["reason"]) for one in lines(told)]
    assert found == [("failed", "ValueError"), ("failed", "TimeoutError")]


async def test_calls_of_a_model(told: pytest.LogCaptureFixture) -> None:
    """Calls, failures and tokens are counted for a question."""
    request = CompletionRequest("s", "u", "memory_operations", {})
    model = ScriptedModel(ModelBusy("no"), Completion("x", usage=TokenUsage(70, 8)))
    async with measured_part(a_hook(), "learning"):
        await ask(model, request, AnswerFormats(), RetryPolicy(1, 0), 30)
    [line] = lines(told)
    numbers = {"model_calls": 2, "model_failures": 1, "tokens_in": 70, "tokens_out": 8}
    assert {kind: line[kind] for kind in numbers} == {
        kind: {"memory_operations": number} for kind, number in numbers.items()
    }
