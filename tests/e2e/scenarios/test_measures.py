"""Measures for operators on a real host: one line per part of a turn, and metrics where collected.

The tests' hosts are installed without the exporters that Open WebUI's own telemetry set-up imports,
so a small function sets the process's provider of meters, as that set-up does.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.extraction import learns, new, operations

CAT = "User has a cat called Miso."
PORTO = "User lives in Porto."
WORDS = "I live in Porto. What shall my cat Miso eat?"
RELEVANCE = "# Score relevance"


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
    await plugin.set_valves(valves)
    page = await host.user("ann")
    await page.add_memory(CAT)
    [memory] = await page.memories()
    host.model.when_title(RELEVANCE, {"scores": [{"id": memory.id, "score": 0.9}]})
    since = host.log_length()
    await a_turn(host, page)
    await until(lambda: len(lines(host, since)) > 1, 30, "two lines")
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
