"""Two users who say the same on two workers: nothing of the one ever turns up at the other.

With ``--soak`` 10,000 operations, else 500. What came of it is written to
``benchmarks/results/isolation.json`` by a long run. A failure tells the seed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.figures import write_results
from demo.environment import NEWEST, host_environment, with_postgres_drivers
from tests.e2e.driver.host import WatchLog
from tests.e2e.driver.isolation import IsolationPlan, isolation_run

PLUGIN = Path(__file__).parents[3] / "adaptive_memory.py"
SEED = 20261121
SHORT = IsolationPlan(operations=500, chats=3, seed=SEED, most_memories=10)
SOAK = IsolationPlan(operations=10_000, chats=4, seed=SEED, most_memories=30)


@pytest.mark.host
@pytest.mark.timeout(10_800)
async def test_nothing_crosses_between_users(
    watch_log: WatchLog, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """No prompt, status, source, memory or row of one user holds a value of the other."""
    soak = pytestconfig.getoption("--soak")
    environment = with_postgres_drivers(host_environment(NEWEST))
    plan = SOAK if soak else SHORT
    report = await isolation_run(plan, environment, PLUGIN, tmp_path, watch_log)
    if soak:
        write_results("isolation", report.figures())
    assert report.clean, str(report)
