"""Measures for operators on a real host: one line per part of a turn, and metrics where collected.

The tests' hosts are installed without the exporters that Open WebUI's own telemetry set-up imports,
so a small function sets the process's provider of meters, as that set-up does.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.e2e.driver.host import HASTY, InstalledFilter, RunningHost, StartHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.extraction import learns, learns_nothing_else, new, operations

CAT = "User has a cat called Miso."
PORTO = "User lives in Porto."
WORDS = "I live in Porto. What shall my cat Miso eat?"
RELEVANCE = "# Score relevance"
METRICS = "METRICS "
# Nothing here is about time limits.
PATIENT = {"inlet_timeout_seconds": 15}

COLLECTOR = f"""
from opentelemetry import metrics
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import ConsoleMetricExporter, PeriodicExportingMetricReader


def line(data):
    return {METRICS!r} + data.to_json(indent=None) + chr(10)


reader = PeriodicExportingMetricReader(ConsoleMetricExporter(formatter=line), 500)
metrics.set_meter_provider(MeterProvider([reader]))


class Filter:
    pass
"""


def lines(host: RunningHost, since: int) -> list[dict[str, Any]]:
    """What the log tells of turns since then."""
    found = re.findall(r'\{"part":"\w+","user":.*\}', host.log_text(since))
    return [json.loads(one) for one in found]


async def a_turn(host: RunningHost, page: Page) -> None:
    """A turn that recalls a memory and teaches another one."""
    learns(host.model, "Porto", operations(new(PORTO)))
    turn = await page.new_chat().send(WORDS)
    await page.wait_for_status(turn, f"Memory saved: {PORTO}")


async def test_lines_of_a_turn(host: RunningHost, plugin: InstalledFilter) -> None:
    """A turn has one line for its inlet and one for its learning, and nobody's words in them."""
    valves = {"use_llm_for_relevance": True, "relevance_timeout_seconds": 10}
    await plugin.set_valves({**valves, **PATIENT})
    page = await host.user("ann")
    await page.add_memory(CAT)
    [memory] = await page.memories()
    host.model.when_title(RELEVANCE, {"scores": [{"id": memory.id, "score": 0.9}]})
    since = host.log_length()
    await a_turn(host, page)
    await until(lambda: len(lines(host, since)) > 1, 10, "two lines")
    inlet, learning = sorted(lines(host, since), key=lambda line: line["part"])
    assert (inlet["part"], inlet["outcome"], inlet["entries"]) == (
        "inlet",
        "recalled",
        {"retrieved": 1},
    )
    stages = {"total", "freshness", "embedding", "ranking", "judge", "block"}
    assert inlet["ms"].keys() == stages
    assert inlet["models"].keys() <= {"relevance"}
    assert sum(inlet["ms"].values()) <= 2 * inlet["ms"]["total"] + 0.1 * len(stages)
    assert (learning["part"], learning["outcome"]) == ("learning", "learned")
    assert learning["operations"] == {"saved": 1}
    assert learning["ms"].keys() >= {"queue", "extraction", "reconcile", "apply", "freshness"}
    extraction = learning["models"]["extraction"]
    assert (extraction["calls"], extraction["retries"], extraction["failed"]) == (1, 0, 0)
    assert extraction["tokens_in"] > 0 < extraction["tokens_out"]
    assert inlet["user"] == learning["user"]
    assert inlet["turn"] == learning["turn"]
    told = json.dumps([inlet, learning])
    assert not [one for one in ("Porto", "Miso", "ann", page.user_id) if one in told]


async def test_metrics(start_host: StartHost) -> None:
    """Where the host's process collects metrics, ours are among them; lines can be switched off."""
    host = await start_host()
    await host.install_filter(COLLECTOR, function_id="collector")
    await host.install_filter(PLUGIN, valves={**HASTY, **PATIENT, "log_measures": False})
    learns_nothing_else(host.model)
    page = await host.user("ann")
    await page.add_memory(CAT)
    await a_turn(host, page)

    def points() -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for one in re.findall(f"{METRICS}(.*)", host.log_text()):
            for resource in json.loads(one)["resource_metrics"]:
                for scope in resource["scope_metrics"]:
                    for metric in scope["metrics"]:
                        found[metric["name"]] = metric["data"]["data_points"]
        return found

    await until(lambda: "adaptive_memory.operations" in points(), 10, "metrics of the learning")
    found = points()
    [saved] = found["adaptive_memory.operations"]
    assert (saved["attributes"], saved["value"]) == ({"status": "saved"}, 1)
    stages = {one["attributes"]["stage"] for one in found["adaptive_memory.stage.duration"]}
    assert stages >= {"freshness", "embedding", "ranking", "block", "queue", "extraction", "apply"}
    [call] = found["adaptive_memory.model.calls"]
    assert call["attributes"] == {"part": "learning", "purpose": "extraction", "result": "answered"}
    turns = {
        one["attributes"]["part"]: one["count"] for one in found["adaptive_memory.turn.duration"]
    }
    assert turns == {"inlet": 1, "learning": 1}
    assert lines(host, 0) == []
