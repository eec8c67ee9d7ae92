"""Two processes of the host with one database, one Redis and one model, as two replicas have."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from demo.environment import HostEnvironment
from demo.server import HostServer, server_variables
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.scripted_model import ScriptedModel
from tests.e2e.driver.services import Services
from tests.e2e.driver.waiting import until

_MIGRATION_SECONDS = 240
_MIGRATED = "SELECT to_regclass('alembic_version') IS NOT NULL AS is_there"


@asynccontextmanager
async def running_workers(
    environment: HostEnvironment, services: Services, folder: Path, more: Mapping[str, str]
) -> AsyncIterator[tuple[RunningHost, HostServer]]:
    """Two servers; the second one starts when the first has made the tables.

    ``more`` are environment variables of both. All logs are in ``folder``.
    """
    variables = {**services.variables(environment), **more}
    model = ScriptedModel()
    await model.start()
    data = folder / "second"
    usual = server_variables(environment, data, model.url)
    second = HostServer(environment, data, {**usual, **variables})
    first = asyncio.create_task(
        RunningHost.start(environment, folder / "first", variables, model=model)
    )
    try:
        await until(
            lambda: first.done() or services.rows(_MIGRATED)[0]["is_there"],
            _MIGRATION_SECONDS,
            "the tables of the host",
            poll_seconds=0.5,
        )
        second.spawn()
        await asyncio.gather(first, second.wait_until_healthy())
        yield first.result(), second
    finally:
        await asyncio.to_thread(second.stop)
        await (await first).stop()
