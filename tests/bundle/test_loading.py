"""The bundle in each host's own loader, under each host's own interpreter, and a turn with it."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

import pytest

from demo.environment import NEWEST, HostEnvironment, host_environment
from tests.bundle.small_project import COMMITTED
from tests.hosts import SOFT_MODULES, run_in_host

PROBE = Path(__file__).with_name("probe_loader.py")
TURN = {
    "roles": ["user"],
    "recalled": True,
    "question": True,
    "answer": True,
    "kept": 1,
}


def told_by(
    host: HostEnvironment,
    factory: pytest.TempPathFactory,
    config: pytest.Config,
    *,
    soft: bool,
) -> dict[str, Any]:
    """What one process of the host tells of the plug-in, whichever worker asks for it first."""
    folder = factory.getbasetemp()
    if hasattr(
        config, "workerinput"
    ):  # each worker of pytest-xdist has a folder in it
        folder = folder.parent
    # Both runs of a release have one folder: the host makes its tables once.
    data = folder / f"loaded-{host.folder.name}"
    data.mkdir(exist_ok=True)
    answer = data / ("soft.json" if soft else "without-soft.json")
    with (data / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not answer.exists():
            arguments = {"plugin": str(COMMITTED), "soft": SOFT_MODULES}
            found = run_in_host(
                host, PROBE, arguments, data, soft_dependencies=soft
            )
            answer.write_text(json.dumps(found))
    return json.loads(answer.read_text())


@pytest.fixture(scope="module")
def told(
    installed_host: HostEnvironment,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> dict[str, Any]:
    """What a process with the two soft dependencies on the host's path tells."""
    return told_by(installed_host, tmp_path_factory, request.config, soft=True)


def test_used(told: dict[str, Any]) -> None:
    """The host makes a filter of it with both forms, and a turn recalls and keeps what is said.

    It asks for no packages, has no hook that would run for every chunk of an answer, and takes any
    saved value with the host's own pydantic.
    """
    assert set(told["soft"]) == set(SOFT_MODULES)
    check_use(told)


def test_loaded_again(told: dict[str, Any]) -> None:
    """The same code is the same instance; new code serves at once while the old ends as itself."""
    check_loading_again(told)


def test_without_soft_dependencies(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> None:
    """All that is so where only those are there that the newest host itself ships.

    On each release a scenario has a server without them.
    """
    host = host_environment(NEWEST)
    told = told_by(host, tmp_path_factory, request.config, soft=False)
    shipped = {
        name for name in SOFT_MODULES if (host.site_packages / name).exists()
    }
    assert set(told["soft"]) == shipped
    check_use(told)
    check_loading_again(told)


def check_use(told: dict[str, Any]) -> None:
    """Compare what was told of forms, hooks, values and a turn."""
    hooks = ["inlet", "outlet", "request"]
    assert (told["kind"], told["class"], told["hooks"]) == (
        "filter",
        "Filter",
        hooks,
    )
    assert told["frontmatter"]["title"] == "Adaptive Memory"
    assert "requirements" not in told["frontmatter"]
    assert "priority" in told["schemas"]["Valves"]
    assert "enabled" in told["schemas"]["UserValves"]
    assert told["defaults"] == {"Valves": True, "UserValves": True}
    assert told["broken"] == {"Valves": [], "UserValves": []}
    assert (told["turn"], told["turn warnings"]) == (TURN, [])


def check_loading_again(told: dict[str, Any]) -> None:
    """Compare what was told of the second load of the same code, and of new code."""
    assert told["cached"]
    assert told["new is served"]
    assert told["generations"] == [1, 2]
    assert told["old is itself"]
    # Once its name is gone from `sys.modules`, it draws its forms and serves a turn as before.
    assert told["without name"] == {"schemas": True, "turn": TURN}
