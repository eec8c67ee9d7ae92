"""The bundle in each host's own loader, under each host's own interpreter, and a turn with it."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import Any

import pytest

from demo.environment import HostEnvironment
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


@pytest.fixture(
    scope="module", params=[True, False], ids=["soft", "without soft"]
)
def soft(request: pytest.FixtureRequest) -> bool:
    """Whether the two soft dependencies are on the host's path."""
    return request.param


@pytest.fixture(scope="module")
def told(
    installed_host: HostEnvironment,
    soft: bool,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> dict[str, Any]:
    """What one process of the host tells of the plug-in, whichever worker asks for it first."""
    folder = tmp_path_factory.getbasetemp()
    if hasattr(
        request.config, "workerinput"
    ):  # each worker of pytest-xdist has a folder in it
        folder = folder.parent
    # Both runs of a release have one folder: the host makes its tables once.
    data = folder / f"loaded-{installed_host.version}"
    data.mkdir(exist_ok=True)
    answer = data / ("soft.json" if soft else "without-soft.json")
    with (data / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not answer.exists():
            arguments = {"plugin": str(COMMITTED), "soft": SOFT_MODULES}
            found = run_in_host(
                installed_host, PROBE, arguments, data, soft_dependencies=soft
            )
            answer.write_text(json.dumps(found))
    return json.loads(answer.read_text())


def test_soft_dependencies(
    told: dict[str, Any], installed_host: HostEnvironment, soft: bool
) -> None:
    """The soft dependencies are there when they should be, else only what the host itself ships."""
    shipped = {
        name
        for name in SOFT_MODULES
        if (installed_host.site_packages / name).exists()
    }
    assert set(told["soft"]) == (set(SOFT_MODULES) if soft else shipped)


def test_used(told: dict[str, Any]) -> None:
    """The host makes a filter of it with both forms, and a turn recalls and keeps what is said.

    It asks for no packages, has no hook that would run for every chunk of an answer, and takes any
    saved value with the host's own pydantic.
    """
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


def test_loaded_again(told: dict[str, Any]) -> None:
    """The same code is the same instance; new code serves at once while the old ends as itself."""
    assert told["cached"]
    assert told["new is served"]
    assert told["generations"] == [1, 2]
    assert told["old is itself"]
    # Once its name is gone from `sys.modules`, it draws its forms and serves a turn as before.
    assert told["without name"] == {"schemas": True, "turn": TURN}
