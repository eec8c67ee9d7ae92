"""Users at once: no failed turn, no fact with the wrong user, none lost, none twice."""

from __future__ import annotations

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.soak import SoakPlan, SoakRun


async def test_users_at_once(host: RunningHost, plugin: InstalledFilter) -> None:
    """Turns of four users at once leave each exactly his own facts; `make soak` has more."""
    plan = SoakPlan("sqlite", users=4, turns=12, seed=20261121)
    run = SoakRun(plan, host, [host.url], host.query)
    await run.prepare()
    found = await run.live_on()
    assert found["facts_owed"] > 8
    assert not found["wrong"], found
