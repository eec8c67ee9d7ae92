"""Fixtures of the tests on real hosts: one server per release for all tests, and special ones."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from demo.environment import HostEnvironment
from tests.e2e.driver.host import RunningHost, StartHost, WatchLog
from tests.hosts import release_number

HERE = Path(__file__).parent
LOG_TAIL = 6000

# The servers that run right now, and how long each one's log was when the test began.
running = pytest.StashKey[dict[RunningHost, int]]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let these tests share one event loop, and group them for ``-n 2 --dist loadgroup``.

    Of the newest release each file is a group, of any other one all files are: so one process
    works through the other release while the next one begins with the newest, and both share what
    is left. What starts servers of its own takes longest, so it does not come last.
    """
    ours = [index for index, item in enumerate(items) if item.path.is_relative_to(HERE)]
    releases = {release for index in ours if (release := _release(items[index]))}
    newest = max(releases, key=release_number, default="")
    for index in ours:
        item = items[index]
        if inspect.iscoroutinefunction(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
        release = _release(item)
        group = release if release and release != newest else item.path.stem
        item.add_marker(pytest.mark.xdist_group(group))
    in_order = sorted((items[index] for index in ours), key=_place)
    for index, item in zip(ours, in_order, strict=True):
        items[index] = item


def _place(item: pytest.Item) -> tuple[int, ...]:
    """Sort key: by release, the newest one last."""
    return release_number(_release(item) or "0")


def _release(item: pytest.Item) -> str:
    """The release that a test runs on; nothing where it needs no host, or brings its own."""
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("installed_host", "") if callspec else ""


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
async def host(
    shared_host: RunningHost, request: pytest.FixtureRequest
) -> AsyncIterator[RunningHost]:
    """The shared server, lent to one test with a model that has forgotten the test before."""
    async with shared_host.borrowed():
        if "plugin" not in request.fixturenames:
            await shared_host.switch_kept_filter_off()
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
