"""Measures around the inlet and behind the answer: a line each, metrics, and nothing when off."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from fastapi import FastAPI, Request

from adaptive.errors import HostError
from adaptive.filter import Filter
from adaptive.host.hook import Hook
from adaptive.host.telemetry import Telemetry
from adaptive.measures import TurnMeasures, count_entries, stage, tell_outcome
from adaptive.measuring import Measuring
from adaptive.turn_state import turn_state
from tests.fakes import hook_settings

LOGGER = "adaptive_memory.measures"


class Collector(Telemetry):
    """Telemetry that keeps what it is to record."""

    def __init__(self, *, on: bool = True) -> None:
        super().__init__({})
        self.recorded: list[TurnMeasures] = []
        self._switched_on = on

    @property
    def on(self) -> bool:
        """As the test wants it."""
        return self._switched_on

    def record(self, measures: TurnMeasures) -> None:
        """Keep the measures."""
        self.recorded.append(measures)


def a_hook(message_id: str = "m-1", **valves: Any) -> Hook:
    """A hook of a turn."""
    metadata = {"chat_id": "c", "message_id": message_id}
    request = Request({"type": "http", "headers": [], "app": FastAPI()})
    return Hook(
        hook_settings(**valves), {"id": "ada", "name": "Ada L."}, metadata, request, None, None
    )


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The lines in the log."""
    return [json.loads(one.getMessage()) for one in caplog.records if one.name == LOGGER]


async def told_later() -> None:
    """Let the loop come to what was put off."""
    for _ in range(3):
        await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def _told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, LOGGER)


async def test_inlet(caplog: pytest.LogCaptureFixture) -> None:
    """The inlet has one line, with what was marked in it."""
    async with Measuring(tell_after=0).inlet(a_hook()):
        with stage("ranking"):
            count_entries(core=1)
    assert lines(caplog) == []  # the model's request comes first
    await told_later()
    [line] = lines(caplog)
    assert (line["part"], line["outcome"], line["entries"]) == ("inlet", "recalled", {"core": 1})
    assert line["ms"].keys() == {"total", "ranking"}
    assert not [name for name in ("ada", "Ada", "m-1") if name in str(line)]


async def test_inlet_that_recalls_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """A conversation that is given no memories is told as skipped."""
    async with Measuring(tell_after=0).inlet(a_hook()):
        pass
    await told_later()
    assert [line["outcome"] for line in lines(caplog)] == ["skipped"]


@pytest.mark.parametrize("failure", [HostError("secret"), ValueError("secret")])
async def test_failure(caplog: pytest.LogCaptureFixture, failure: Exception) -> None:
    """A failure passes, is told by its class alone, and counts as an anomaly."""
    with pytest.raises(type(failure)):
        async with Measuring(tell_after=0).inlet(a_hook()):
            raise failure
    await told_later()
    [line] = lines(caplog)
    assert (line["outcome"], line["reason"]) == ("failed", type(failure).__name__)
    assert line["anomalies"] == {"failed": 1}
    assert "secret" not in str(line)


async def test_time_limit(caplog: pytest.LogCaptureFixture) -> None:
    """An inlet that takes too long has failed; one that the user stops is cancelled."""
    measuring = Measuring(tell_after=0)
    with pytest.raises(TimeoutError):
        async with measuring.inlet(a_hook()), asyncio.timeout(0):
            await asyncio.sleep(60)

    async def stopped() -> None:
        async with measuring.inlet(a_hook()):
            await asyncio.sleep(60)

    task = asyncio.create_task(stopped())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    await told_later()
    told = [(line["outcome"], line.get("reason"), "anomalies" in line) for line in lines(caplog)]
    assert told == [("failed", "TimeoutError", True), ("cancelled", None, False)]


async def test_background_of_one_turn(caplog: pytest.LogCaptureFixture) -> None:
    """Works behind one answer have one line together, when the last of them ends."""
    measuring, hook = Measuring(), a_hook()
    turn_state(hook.metadata)["anomalies"] = ["empty_response", "sanitised"]
    learned = asyncio.Event()

    async def learn() -> None:
        async with measuring.background(hook):
            with stage("extraction"):
                await asyncio.sleep(0)
            tell_outcome("learned")
            learned.set()

    async def sum_up() -> None:
        async with measuring.background(hook):
            with stage("postprocess"):
                await learned.wait()
                await asyncio.sleep(0)

    await asyncio.gather(sum_up(), learn())
    [line] = lines(caplog)
    assert (line["part"], line["outcome"]) == ("learning", "learned")
    assert line["ms"].keys() == {"total", "extraction", "postprocess"}
    assert line["anomalies"] == {"empty_response": 1, "sanitised": 1}
    assert measuring._background == {}
    assert turn_state(hook.metadata) == {}


async def test_background_of_two_turns(caplog: pytest.LogCaptureFixture) -> None:
    """Turns do not share measures; plain API calls, whose answers have no id, do not either."""
    measuring = Measuring()

    async def learn(message_id: str, name: str) -> None:
        async with measuring.background(a_hook(message_id)):
            with stage(name):
                await asyncio.sleep(0)

    names = ["a", "b", "c", "d"]
    ids = ["m-1", "m-2", "", ""]
    await asyncio.gather(*map(learn, ids, names))
    assert sorted([*line["ms"]][-1] for line in lines(caplog)) == names
    assert measuring._background == {}


async def test_nothing_happened(caplog: pytest.LogCaptureFixture) -> None:
    """A turn that nothing was done for behind its answer has no line."""
    collector = Collector()
    async with Measuring(collector).background(a_hook()):
        pass
    assert (lines(caplog), collector.recorded) == ([], [])


async def test_switched_off(caplog: pytest.LogCaptureFixture) -> None:
    """Without the valve nothing is measured, but for metrics where somebody collects them."""
    hook = a_hook(log_measures=False)
    for collector in (Collector(on=False), Collector()):
        measuring = Measuring(collector, 0)
        async with measuring.inlet(hook):
            count_entries(core=1)
        async with measuring.background(hook):
            tell_outcome("learned")
        await told_later()
        assert sorted([one.outcome for one in collector.recorded]) == (
            ["learned", "recalled"] if collector.on else []
        )
    assert lines(caplog) == []


async def test_inlet_of_the_filter(caplog: pytest.LogCaptureFixture) -> None:
    """The filter's inlet is measured: here the host's modules are not where they were."""
    plugin = Filter()
    plugin._supported = True
    plugin._measuring = Measuring(tell_after=0)
    body = {"messages": [{"role": "user", "content": "I live in Porto."}]}
    metadata = {"chat_id": "c", "session_id": "s", "message_id": "a"}
    user = {"id": "ada"}
    request = a_hook().request
    assert await plugin.inlet(body, __user__=user, __metadata__=metadata, __request__=request)
    await told_later()
    [line] = lines(caplog)
    assert (line["part"], line["outcome"]) == ("inlet", "failed")
    assert "Porto" not in caplog.text
