"""The bundle in each host's own loader, under each host's own interpreter."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from demo.environment import HostEnvironment
from tests.hosts import SOFT_MODULES, run_in_host

PROBE = Path(__file__).with_name("probe_loader.py")
# From 0.12 on each load has a name of its own.
UNIQUE_NAME = re.compile(r"function_adaptive_memory_[0-9a-f]{32}")


@pytest.fixture(scope="module", params=[True, False], ids=["soft", "without soft"])
def soft(request: pytest.FixtureRequest) -> bool:
    """Whether the three soft dependencies are on the host's path."""
    return request.param


@pytest.fixture(scope="module")
def told(
    installed_host: HostEnvironment,
    plugin_file: Path,
    soft: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Any]:
    """What the host's loader made of the plug-in."""
    arguments = {"plugin": str(plugin_file), "soft": SOFT_MODULES}
    folder = tmp_path_factory.mktemp("host")
    return run_in_host(installed_host, PROBE, arguments, folder, soft_dependencies=soft)


def test_is_a_filter(told: dict[str, Any]) -> None:
    """The host finds a filter in it and constructs that."""
    assert (told["kind"], told["class"]) == ("filter", "Filter")
    assert told["frontmatter"]["title"] == "Adaptive Memory"


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


def test_schemas(told: dict[str, Any]) -> None:
    """The host gets the forms of both valves classes out of the loaded plug-in."""
    assert told["schemas"]["Valves"]
    assert "priority" in told["schemas"]["Valves"]
    assert told["schemas"]["UserValves"]


def test_garbage_in_valves(told: dict[str, Any]) -> None:
    """With the host's own pydantic no saved value raises or ends up out of range."""
    assert told["broken"] == {"Valves": [], "UserValves": []}


def test_same_code_is_cached(told: dict[str, Any]) -> None:
    """As long as the code is the same, the same instance serves."""
    assert told["cached"]


def test_second_load(told: dict[str, Any]) -> None:
    """New code serves at once, while what the old instance has begun ends with the old code."""
    assert told["new_is_served"]
    assert told["generations"] == [1, 2]
    assert told["old_is_itself"]


def test_hooks(told: dict[str, Any], plugin_file: Path) -> None:
    """The real plug-in has the two hooks it needs and none that would run for every chunk."""
    if plugin_file.parent == PROBE.parents[2]:
        assert told["hooks"] == ["inlet", "outlet"]
