"""Fixtures of the tests on real hosts: one server per release for all tests, and special ones."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import AsyncIterator, Generator
from pathlib import Path

import pytest
import pytest_asyncio
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from demo.environment import NEWEST, HostEnvironment
from tests.e2e.driver.host import RunningHost
from tests.hosts import release_number

HERE = Path(__file__).parent
LOG_TAIL = 6000
# Texts are embedded by the scripted model, and the packages that no host ships are absent. For its
# functions the host runs pip, which is told of no index but one on a port where nobody listens.
SECOND_HOST = {
    "RAG_EMBEDDING_ENGINE": "openai",
    "RAG_OPENAI_API_BASE_URL": "{model_url}",
    "RAG_OPENAI_API_KEY": "none",
    "RAG_EMBEDDING_MODEL": "words",
    "PYTHONPATH": "",
    "OFFLINE_MODE": "false",
    **{name: "" for name in os.environ if name.startswith("PIP_")},
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "PIP_RETRIES": "0",
    "PIP_CONFIG_FILE": os.devnull,
}

# These come first on the newest release, which two processes share: what comes last is short, and
# both are done at about the same time.
LONGEST_FILES = (
    "test_past_chats.py",
    "test_second_server.py",
    "test_leaks.py",
    "test_memory_leaks.py",
    "test_commands.py",
)


def pytest_xdist_make_scheduler(
    config: pytest.Config, log: Producer
) -> LoadScopeScheduling | None:
    """With ``-n 2`` let each process have whole releases and files, so that servers are few."""
    config.option.loadscopereorder = (
        False  # what takes long comes first, not what is much
    )
    return ByServer(config, log)


class ByServer(LoadScopeScheduling):
    """Gives out what runs on an older release in one piece, and each file of the rest.

    So one process works through the older release while the other one begins with the newest,
    and both share what is left.
    """

    def _split_scope(self, nodeid: str) -> str:
        release = re.search(r"\[(\d+\.\d+\.\d+(?:-py[\d.]+)?)", nodeid)
        return (
            release[1]
            if release and release[1] != NEWEST
            else nodeid.partition("::")[0]
        )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let all these tests share one event loop, and stand together by release, the newest last.

    On the newest release the files that take long come first.
    """
    ours = [
        index
        for index, item in enumerate(items)
        if item.path.is_relative_to(HERE)
    ]
    for index in ours:
        if inspect.iscoroutinefunction(getattr(items[index], "obj", None)):
            items[index].add_marker(
                pytest.mark.asyncio(loop_scope="session"), append=False
            )
    in_order = sorted((items[index] for index in ours), key=_place)
    for index, item in zip(ours, in_order, strict=True):
        items[index] = item


def _place(item: pytest.Item) -> tuple[tuple[int, ...], bool, int]:
    """Where a test stands; what brings a server of its own stands with the newest release."""
    callspec = getattr(item, "callspec", None)
    chosen = callspec.params.get("installed_host") if callspec else None
    release = chosen or NEWEST
    is_newest = release == NEWEST
    is_long = is_newest and item.path.name in LONGEST_FILES
    place = (
        LONGEST_FILES.index(item.path.name) if is_long else len(LONGEST_FILES)
    )
    return release_number(release), is_newest, place


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_host(
    installed_host: HostEnvironment, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RunningHost]:
    """One server per release, for all tests that need nothing special of it."""
    data = tmp_path_factory.mktemp(f"open-webui-{installed_host.version}")
    async with RunningHost.running_on(installed_host, data) as host:
        yield host


@pytest_asyncio.fixture(loop_scope="session")
async def host(
    shared_host: RunningHost, request: pytest.FixtureRequest
) -> AsyncIterator[RunningHost]:
    """The shared server, lent to one test with a model that has forgotten the test before."""
    async with shared_host.borrowed():
        if "plugin" not in request.fixturenames:
            await shared_host.switch_kept_filter_off()
        yield shared_host


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_second_host(
    installed_host: HostEnvironment, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RunningHost]:
    """One more server per release, of another kind."""
    data = tmp_path_factory.mktemp(f"second-{installed_host.version}")
    async with RunningHost.running_on(
        installed_host, data, SECOND_HOST
    ) as host:
        yield host


@pytest_asyncio.fixture(loop_scope="session")
async def second_host(
    shared_second_host: RunningHost,
) -> AsyncIterator[RunningHost]:
    """That server, lent to one test, which may stop it and start it again.

    Tests that use it stand in one file, so that one process of ``-n 2`` runs them all.
    """
    async with shared_second_host.borrowed():
        yield shared_second_host


def pytest_runtest_setup(item: pytest.Item) -> None:
    for server in RunningHost.running:
        RunningHost.running[server] = server.log_length()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what the servers wrote to their logs during a test that failed."""
    report = yield
    if report.failed:
        for server, since in RunningHost.running.items():
            tail = server.log_text(since)[-LOG_TAIL:]
            report.sections.append(
                (f"log of Open WebUI {server.version} during the test", tail)
            )
    return report
