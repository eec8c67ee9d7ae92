"""Many users at once on two workers: no doubled, lost or mixed fact.

300 turns of 20 users, and 100 in less of a hurry, `--soak-times` as many. How long turns take with
the filter and without it is never asserted; it is written to
``benchmarks/results/two_workers*.json``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.figures import write_results
from demo.environment import NEWEST, host_environment, with_postgres_drivers
from tests.e2e.driver.host import WatchLog
from tests.e2e.driver.two_workers import WorkersPlan, two_workers_run

PLUGIN = Path(__file__).parents[3] / "adaptive_memory.py"
SEED = 20261121
PLANS = {
    # A message every five seconds of each user, which is all that two cores can take.
    "two_workers": WorkersPlan(
        20,
        turns=300,
        turns_without_filter=120,
        turns_with_idle_filter=120,
        pause_seconds=4.0,
        seed=SEED,
    ),
    # Users who read what they are answered.
    "two_workers_unhurried": WorkersPlan(
        20,
        turns=100,
        turns_without_filter=60,
        turns_with_idle_filter=60,
        pause_seconds=12.0,
        seed=SEED,
    ),
}


@pytest.mark.host
@pytest.mark.soak
@pytest.mark.timeout(7200)
async def test_users_on_two_workers(
    watch_log: WatchLog, tmp_path: Path, soaked: Callable[[int], int]
) -> None:
    """Whichever worker learns from a user, each fact is in that user's memory exactly once."""
    environment = with_postgres_drivers(host_environment(NEWEST))
    for name, usual in PLANS.items():
        plan = replace(
            usual,
            turns=soaked(usual.turns),
            turns_without_filter=soaked(usual.turns_without_filter),
            turns_with_idle_filter=soaked(usual.turns_with_idle_filter),
        )
        folder = tmp_path / name
        folder.mkdir()
        report = await two_workers_run(plan, environment, PLUGIN, folder, watch_log)
        write_results(name, report.figures())
        assert report.clean, str(report)
