"""Fixtures of the tests on real hosts: one server per release for all tests, and special ones."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from demo.environment import HostEnvironment
from tests.e2e.driver.host import RunningHost, StartHost, WatchLog

HERE = Path(__file__).parent
LOG_TAIL = 6000

# The servers that run right now, and how long each one's log was when the test began.
running = pytest.StashKey[dict[RunningHost, int]]()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let all these tests share one event loop, and those with servers of their own come first.

    A server of one's own is started while no other one runs: memory and cores are few.
    """
    ours = [index for index, item in enumerate(items) if item.path.is_relative_to(HERE)]
    for index in ours:
        if inspect.iscoroutinefunction(getattr(items[index], "obj", None)):
            items[index].add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
    in_order = sorted((items[index] for index in ours), key=_place(items))
    for index, item in zip(ours, in_order, strict=True):
        items[index] = item


def _place(items: list[pytest.Item]) -> Callable[[pytest.Item], tuple[int, bool]]:
    """Sort key: by release in the order in which they were asked for, shared servers later.

    First of all comes what names no release: it brings several servers of its own.
    """
    releases: dict[Any, int] = {None: 0}
    for item in items:
        releases.setdefault(_release(item), len(releases))
    return lambda item: (
        releases[_release(item)],
        "shared_host" in getattr(item, "fixturenames", ()),
    )


def _release(item: pytest.Item) -> Any:
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("installed_host") if callspec else None


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_host(
    installed_host: HostEnvironment,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> AsyncIterator[RunningHost]:
    """One server per release, for all tests that need nothing special of it."""
    data = tmp_path_factory.mktemp(f"open-webui-{installed_host.version}")
    host = await RunningHost.start(installed_host, data)
    servers = _servers(request.session)
    servers[host] = 0
    yield host
    del servers[host]
    await host.stop()


@pytest_asyncio.fixture(loop_scope="session")
async def host(shared_host: RunningHost) -> AsyncIterator[RunningHost]:
    """The shared server, lent to one test with a model that has forgotten the test before."""
    async with shared_host.borrowed():
        yield shared_host


@pytest_asyncio.fixture(loop_scope="session")
async def start_host(
    installed_host: HostEnvironment, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[StartHost]:
    """Start servers for one test alone.

    Keywords are environment variables on top of the usual ones, as ``ENABLE_MEMORIES="false"``;
    ``{model_url}`` in a value stands for the scripted model's address.
    """
    servers = _servers(request.session)
    started: list[RunningHost] = []

    async def start(*, soft_dependencies: bool = True, **variables: str) -> RunningHost:
        data = tmp_path / f"open-webui-{len(started)}"
        own = await RunningHost.start(
            installed_host, data, variables, soft_dependencies=soft_dependencies
        )
        started.append(own)
        servers[own] = 0
        return own

    yield start
    for own in started:
        del servers[own]
        await own.stop()


@pytest.fixture(scope="session")
def watch_log(request: pytest.FixtureRequest) -> WatchLog:
    """Have the log of a server that a test has started itself shown when a test fails."""

    @contextmanager
    def watched(own: RunningHost) -> Iterator[None]:
        servers = _servers(request.session)
        servers[own] = 0
        try:
            yield
        finally:
            del servers[own]

    return watched


def pytest_runtest_setup(item: pytest.Item) -> None:
    servers = _servers(item.session)
    for server in servers:
        servers[server] = server.log_length()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what the servers wrote to their logs during a test that failed."""
    report = yield
    if report.failed:
        for server, since in _servers(item.session).items():
            tail = server.log_text(since)[-LOG_TAIL:]
            report.sections.append((f"log of Open WebUI {server.version} during the test", tail))
    return report


def _servers(session: pytest.Session) -> dict[RunningHost, int]:
    return session.stash.setdefault(running, {})
