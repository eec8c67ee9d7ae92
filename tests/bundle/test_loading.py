"""The bundle in each host's own loader, under each host's own interpreter, and a turn with it."""

from __future__ import annotations

import fcntl
import json
import re
from pathlib import Path
from typing import Any

import pytest

from demo.environment import HostEnvironment
from tests.hosts import SOFT_MODULES, run_in_host

PROBE = Path(__file__).with_name("probe_loader.py")
# From 0.12 on each load has a name of its own.
UNIQUE_NAME = re.compile(r"function_adaptive_memory_[0-9a-f]{32}")
TURN = {
    "roles": ["system", "user"],
    "recalled": True,
    "question": True,
    "answer": True,
    "kept": 1,
}


@pytest.fixture(scope="module", params=[True, False], ids=["soft", "without soft"])
def soft(request: pytest.FixtureRequest) -> bool:
    """Whether the two soft dependencies are on the host's path."""
    return request.param


@pytest.fixture(scope="module")
def told(
    installed_host: HostEnvironment,
    committed: Path,
    soft: bool,
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> dict[str, Any]:
    """What one process of the host tells of the plug-in, whichever worker asks for it first."""
    folder = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):  # each worker of pytest-xdist has a folder in it
        folder = folder.parent
    # Both runs of a release have one folder: the host makes its tables once.
    data = folder / f"loaded-{installed_host.version}"
    data.mkdir(exist_ok=True)
    answer = data / ("soft.json" if soft else "without-soft.json")
    with (data / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not answer.exists():
            arguments = {"plugin": str(committed), "soft": SOFT_MODULES}
            found = run_in_host(installed_host, PROBE, arguments, data, soft_dependencies=soft)
            answer.write_text(json.dumps(found))
    return json.loads(answer.read_text())


def test_is_a_filter(told: dict[str, Any]) -> None:
    """The host finds a filter in it and constructs that."""
    assert (told["kind"], told["class"]) == ("filter", "Filter")
    assert told["frontmatter"]["title"] == "Adaptive Memory"


def test_asks_for_no_packages(told: dict[str, Any]) -> None:
    """The host reads of nothing that it would have to install with pip."""
    assert "requirements" not in told["frontmatter"]


def test_module_name(told: dict[str, Any], installed_host: HostEnvironment) -> None:
    """It loads under the name that the release gives, which may be another one each time."""
    first, second = told["names"]
    if installed_host.version.startswith("0.12."):
        assert UNIQUE_NAME.fullmatch(first)
        assert UNIQUE_NAME.fullmatch(second)
        assert first != second
    else:
        assert first == second == "function_adaptive_memory"


def test_soft_dependencies(
    told: dict[str, Any], installed_host: HostEnvironment, soft: bool
) -> None:
    """The soft dependencies are there when they should be, else only what the host itself ships."""
    shipped = {name for name in SOFT_MODULES if (installed_host.site_packages / name).exists()}
    assert set(told["soft"]) == (set(SOFT_MODULES) if soft else shipped)


def test_hooks(told: dict[str, Any]) -> None:
    """It has the two hooks it needs and none that would run for every chunk of an answer."""
    assert told["hooks"] == ["inlet", "outlet"]


def test_schemas(told: dict[str, Any]) -> None:
    """The host gets the forms of both valves classes out of the loaded plug-in."""
    assert "priority" in told["schemas"]["Valves"]
    assert "enabled" in told["schemas"]["UserValves"]


def test_defaults(told: dict[str, Any]) -> None:
    """With the host's own pydantic the defaults come back from a save of all of them."""
    assert told["defaults"] == {"Valves": True, "UserValves": True}


def test_garbage_in_valves(told: dict[str, Any]) -> None:
    """With the host's own pydantic no saved value raises or ends up out of range."""
    assert told["broken"] == {"Valves": [], "UserValves": []}


def test_turn(told: dict[str, Any]) -> None:
    """A memory of the host's table reaches the prompt; what the user says waits to be learned."""
    assert told["turn"] == TURN
    assert told["turn warnings"] == []


def test_garbage_bodies(told: dict[str, Any]) -> None:
    """No body makes a hook raise, and the messages that were in it go on to the model."""
    assert told["failed bodies"] == []


def test_nobody_asks(told: dict[str, Any]) -> None:
    """Without a user, a request or metadata the chat goes on as it is."""
    assert told["failed callers"] == []


def test_same_code_is_cached(told: dict[str, Any]) -> None:
    """As long as the code is the same, the same instance serves."""
    assert told["cached"]


def test_second_load(told: dict[str, Any]) -> None:
    """New code serves at once, while what the old instance has begun ends with the old code."""
    assert told["new is served"]
    assert told["generations"] == [1, 2]
    assert told["old is itself"]


def test_name_is_gone(told: dict[str, Any]) -> None:
    """Once its name is gone from `sys.modules`, it draws its forms and serves a turn as before."""
    assert told["without name"] == {"schemas": True, "turn": TURN}
