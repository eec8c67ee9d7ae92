"""Many users at once on two workers: no doubled, lost or mixed fact.

With ``--soak`` 1,000 turns of 20 users, else 60 of 6. How long turns take with the filter and
without it is never asserted; a long run writes it to ``benchmarks/results/two_workers.json``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.figures import write_results
from demo.environment import NEWEST, host_environment, with_postgres_drivers
from tests.e2e.driver.host import WatchLog
from tests.e2e.driver.two_workers import WorkersPlan, two_workers_run

PLUGIN = Path(__file__).parents[3] / "adaptive_memory.py"
SEED = 20261121
SHORT = WorkersPlan(users=6, turns=60, turns_without_filter=24, pause_seconds=0.5, seed=SEED)
SOAK = WorkersPlan(users=20, turns=1000, turns_without_filter=600, pause_seconds=4.0, seed=SEED)


@pytest.mark.host
@pytest.mark.timeout(7200)
async def test_users_on_two_workers(
    watch_log: WatchLog, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Whichever worker learns from a user, each fact is in that user's memory exactly once."""
    soak = pytestconfig.getoption("--soak")
    environment = with_postgres_drivers(host_environment(NEWEST))
    plan = SOAK if soak else SHORT
    report = await two_workers_run(plan, environment, PLUGIN, tmp_path, watch_log)
    if soak:
        write_results("two_workers", report.figures())
    assert report.clean, str(report)
