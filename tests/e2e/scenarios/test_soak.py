"""Long runs: nothing lost, doubled or mixed by kills and workers, nothing of a user at another one.

Their lengths are multiplied by `--soak-times`; what came of them is written to
``benchmarks/results/``. A failure tells the seed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.figures import write_results
from demo.environment import NEWEST, host_environment, with_postgres_drivers
from tests.e2e.driver.isolation import IsolationPlan, isolation_run
from tests.e2e.driver.services import running_services, running_workers
from tests.e2e.driver.soak import SoakPlan, soak_run
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.test_growing_prompts import QUESTIONS, asks

SEED = 20261121
SETTLING_SECONDS = 2
PLANS = {
    "kill_sqlite": SoakPlan("sqlite", 5, turns=60, seed=SEED, kills=15),
    "kill_postgresql": SoakPlan(
        "postgresql", 5, turns=60, seed=SEED, kills=15
    ),
    # A message every five seconds of each user, which is all that two cores can take.
    "two_workers": SoakPlan(
        "postgresql", 20, 300, SEED, workers=2, pause_seconds=4
    ),
    "many_users": SoakPlan("sqlite", 10, turns=600, seed=SEED),
}

pytestmark = [pytest.mark.host, pytest.mark.soak, pytest.mark.timeout(10_800)]


@pytest.mark.parametrize("name", PLANS)
async def test_each_fact_is_there_once(
    name: str, tmp_path: Path, soaked: Callable[[int], int]
) -> None:
    """Whatever is killed and whoever learns, each fact is there once, in its last form."""
    environment = with_postgres_drivers(host_environment(NEWEST))
    usual = PLANS[name]
    kills = usual.kills and soaked(usual.kills)
    plan = replace(usual, turns=soaked(usual.turns), kills=kills)
    found = await soak_run(plan, environment, PLUGIN, tmp_path)
    write_results(name, found)
    assert not found["wrong"], found


async def test_nothing_crosses_between_users(
    tmp_path: Path, soaked: Callable[[int], int]
) -> None:
    """No prompt, status, source, memory or row of one user holds a fact of the other."""
    environment = with_postgres_drivers(host_environment(NEWEST))
    plan = IsolationPlan(soaked(1_500), chats=4, seed=SEED, most_memories=12)
    found = await isolation_run(plan, environment, PLUGIN, tmp_path)
    write_results("isolation", found)
    assert not found["wrong"], found


async def test_prompts_grow_on_two_workers(tmp_path: Path) -> None:
    """A chat whose turns are served by one worker and the other keeps its prompt as it was sent."""
    environment = with_postgres_drivers(host_environment(NEWEST))
    async with (
        running_services(redis=True) as services,
        running_workers(environment, services, tmp_path, {}) as (host, second),
    ):
        await host.install_filter(PLUGIN, valves={"save_mode": "off"})
        page = await host.user("ann")
        for fact in QUESTIONS.values():
            await page.add_memory(fact)
        chat = page.new_chat(system="Be kind.")
        former = ""
        for number, (question, fact) in enumerate(QUESTIONS.items()):
            page.url = (host.url, second.url)[number % 2]
            prompt = await asks(host, chat, question)
            assert prompt.startswith(former)
            assert prompt.count(fact) == 1
            former = prompt
            # What waits to be written is, once nobody waits for an answer.
            await asyncio.sleep(SETTLING_SECONDS)
