"""Our part in the memory API of real hosts, as far as no scenario end to end shows it."""

from __future__ import annotations

from pathlib import Path

from demo.environment import HostEnvironment
from tests.conftest import SOURCE
from tests.hosts import run_in_host

NOT_DONE = "Open WebUI reported success, but not all is as it was written"
PROBE = Path(__file__).with_name("probe_memories.py")


def test_memory_api(installed_host: HostEnvironment, tmp_path: Path) -> None:
    """End dates come and go; false reports are errors; only vectors of the same text are read."""
    arguments = {"source": str(SOURCE)}
    told = run_in_host(
        installed_host, PROBE, arguments, tmp_path, soft_dependencies=False
    )
    old = installed_host.version.startswith("0.9")
    assert told.pop("at_once") == {
        "same": [True, True, True, True],
        "stopped": [1, 1, "writing memories: disk full"],
    }
    assert told == {
        "ends": [
            "2027-02-28",
            "2027-03-31",
            "User rents a boat.",
            "",
            "User rents a boat.",
        ],
        "erased_meanwhile": 0,
        "replaced_while_away": True,
        "held": [[18.0, 1.0, 2.0], []],
        "lies": [NOT_DONE] * 3,
        "vectors": [1, 1, 0],
        "provenance": not old,
        "secret": True,
        # It is tried until it helps.
        "swallowed": [0, 0],
    }
