"""Options and fixtures of every test: which hosts, and a loop that nothing may block."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import ModuleType
from zoneinfo import ZoneInfo

import pytest
from blockbuster import blockbuster_ctx
from hypothesis import HealthCheck, settings
from pydantic import TypeAdapter

from demo.environment import HostEnvironment, host_environment
from tests.hosts import DEFAULT_RELEASES, chosen_releases, release_number
from tests.loopback import Loopback, serving
from tools.bundle_source import PACKAGE

PROJECT = Path(__file__).resolve().parent.parent
SOURCE = PROJECT / "src"
# The files of zones are read once, and no hook waits for one.
ZONES = ZoneInfo("UTC"), ZoneInfo("Asia/Tokyo")
# With its first type pydantic looks for plug-ins of its own among all packages.
FIRST_TYPE = TypeAdapter(int)

# No test fails because the machine is busy: pytest-timeout alone guards against what never ends.
# The gate tries the same examples each time; `--hypothesis-profile explore` looks for new ones.
settings.register_profile(
    "explore", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "gate", settings.get_profile("explore"), derandomize=True
)
settings.load_profile("gate")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare what a run can choose."""
    parser.addoption(
        "--hosts",
        default=DEFAULT_RELEASES,
        help="Open WebUI releases to test with, separated by commas, or `all`; "
        f"default {DEFAULT_RELEASES}",
    )
    parser.addoption(
        "--shuffle",
        type=int,
        metavar="SEED",
        help="run files, and the tests in each, in a random order, the same for the same seed",
    )
    parser.addoption(
        "--soak",
        action="store_true",
        help="run the long runs too, and the long form of tests that have one",
    )
    parser.addoption(
        "--soak-times",
        type=float,
        default=1.0,
        help="how many times as long as usual the long runs are; default 1, half an hour in all",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers, and refuse unknown releases."""
    for marker in (
        "every_release: a scenario that runs on every chosen release, not on the newest alone",
        "slow: a scenario that `make hosts` runs, and `make test` does not",
        "soak: a long run, left out without --soak",
    ):
        config.addinivalue_line("markers", marker)
    try:
        chosen_releases(config.getoption("--hosts"))
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what needs an installed host once for each chosen release.

    A scenario that is the same for every release runs on the newest of them alone.
    """
    if "installed_host" in metafunc.fixturenames:
        releases = chosen_releases(metafunc.config.getoption("--hosts"))
        definition = metafunc.definition
        is_scenario = definition.path.is_relative_to(PROJECT / "tests" / "e2e")
        if is_scenario and not definition.get_closest_marker("every_release"):
            releases = (max(releases, key=release_number),)
        metafunc.parametrize(
            "installed_host", releases, indirect=True, scope="session"
        )


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Mark what needs an installed host, leave long runs out, and put the rest into an order."""
    for item in items:
        if "installed_host" in getattr(item, "fixturenames", ()):
            item.add_marker("host")
    if not config.getoption("--soak"):
        long = [item for item in items if item.get_closest_marker("soak")]
        items[:] = [item for item in items if item not in long]
        config.hook.pytest_deselected(items=long)
    seed = config.getoption("--shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)
        files = {item.path: place for place, item in enumerate(items)}
        items.sort(key=lambda item: files[item.path])


@pytest.fixture(scope="session")
def soaked(pytestconfig: pytest.Config) -> Callable[[int], int]:
    """How many turns, kills or operations a long run has: the usual number, times the option."""
    times: float = pytestconfig.getoption("--soak-times")
    return lambda usual: max(1, round(usual * times))


@pytest.fixture(scope="session")
def installed_host(request: pytest.FixtureRequest) -> HostEnvironment:
    """Each of the chosen releases in turn, installed when it is absent."""
    return host_environment(request.param)


@pytest.fixture(autouse=True)
def _nothing_blocks_the_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail when product code blocks the event loop, which it shares with every chat of a host."""
    is_async = request.node.get_closest_marker("asyncio") is not None
    if not is_async or request.path.is_relative_to(PROJECT / "tests" / "e2e"):
        yield
        return
    product = ModuleType("product")
    product.__path__ = [str(SOURCE / PACKAGE)]
    with blockbuster_ctx([product]):
        yield


@pytest.fixture(autouse=True)
def _no_wait_for_tables(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a host's database a turn is given up at once, where time is not virtual."""
    if not request.path.is_relative_to(PROJECT / "tests" / "learn"):
        monkeypatch.setattr("adaptive.learn.queue._PUT_PAUSES_SECONDS", ())


@pytest.fixture
async def server() -> AsyncIterator[Loopback]:
    """A server on loopback whose answers the test chooses."""
    async with serving() as loopback:
        yield loopback


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is tried at once."""
    monkeypatch.setattr("adaptive.llm.ask._FIRST_PAUSE_SECONDS", 0)
