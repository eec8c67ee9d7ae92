"""Two users who say the same on two workers: nothing of the one ever turns up at the other.

1,500 operations, `--soak-times` as many; what came of them is written to
``benchmarks/results/isolation.json``. A failure tells the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.figures import write_results
from demo.environment import NEWEST, host_environment, with_postgres_drivers
from tests.e2e.driver.host import WatchLog
from tests.e2e.driver.isolation import IsolationPlan, isolation_run

PLUGIN = Path(__file__).parents[3] / "adaptive_memory.py"
SEED = 20261121
PLAN = IsolationPlan(operations=1_500, chats=4, seed=SEED, most_memories=12)


@pytest.mark.host
@pytest.mark.soak
@pytest.mark.timeout(10_800)
async def test_nothing_crosses_between_users(
    watch_log: WatchLog, tmp_path: Path, soaked: Callable[[int], int]
) -> None:
    """No prompt, status, source, memory or row of one user holds a value of the other."""
    environment = with_postgres_drivers(host_environment(NEWEST))
    plan = replace(PLAN, operations=soaked(PLAN.operations))
    report = await isolation_run(plan, environment, PLUGIN, tmp_path, watch_log)
    write_results("isolation", report.figures())
    assert report.clean, str(report)
