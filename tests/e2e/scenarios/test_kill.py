"""kill -9 of the server at random moments: every fact that was learned is there exactly once.

15 kills during 60 turns on each database, `--soak-times` as many, both databases at the same time.
What came of it is written to ``benchmarks/results/kill_*.json``. `test_killed_server` is the short
form.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from benchmarks.figures import write_results
from demo.environment import NEWEST, host_environment, with_postgres_drivers
from tests.e2e.driver.host import WatchLog
from tests.e2e.driver.kill_run import DATABASES, Database, KillPlan, KillReport, kill_run

PLUGIN = Path(__file__).parents[3] / "adaptive_memory.py"
SEED = 20261121

pytestmark = [pytest.mark.host, pytest.mark.soak, pytest.mark.timeout(7200)]

Reports = dict[Database, KillReport | BaseException]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def reports(
    watch_log: WatchLog, tmp_path_factory: pytest.TempPathFactory, soaked: Callable[[int], int]
) -> AsyncIterator[Reports]:
    """The runs on all databases, or what ended them, by the database."""
    environment = with_postgres_drivers(host_environment(NEWEST))
    runs = [
        kill_run(
            KillPlan(database, turns=soaked(60), kills=soaked(15), seed=SEED),
            environment,
            PLUGIN,
            tmp_path_factory.mktemp(f"kill-{database}"),
            watch_log,
        )
        for database in DATABASES
    ]
    ended = dict(zip(DATABASES, await asyncio.gather(*runs, return_exceptions=True), strict=True))
    for database, report in ended.items():
        if isinstance(report, KillReport):
            write_results(f"kill_{database}", report.figures())
    yield ended


@pytest.mark.parametrize("database", DATABASES)
async def test_kill_loses_and_doubles_nothing(reports: Reports, database: Database) -> None:
    """Whenever the server is killed, each fact is in its user's memory once, in its last form."""
    report = reports[database]
    if isinstance(report, BaseException):
        raise report
    assert report.clean, str(report)
