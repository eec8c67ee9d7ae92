"""Writing and forgetting through the memory API of real hosts, with database and vectors."""

from __future__ import annotations

from pathlib import Path

from demo.environment import HostEnvironment
from tests.conftest import SOURCE
from tests.hosts import run_in_host

PROBE = Path(__file__).with_name("probe_erasure.py")


def test_erasure(installed_host: HostEnvironment, tmp_path: Path) -> None:
    """One user's rows and vectors go, by chat and as a whole, another's stay; end dates change."""
    arguments = {"source": str(SOURCE)}
    told = run_in_host(installed_host, PROBE, arguments, tmp_path, soft_dependencies=False)
    provenance = told.pop("provenance")
    assert provenance is not installed_host.version.startswith("0.9")
    assert told == {
        "secret": True,
        "ends": ["2027-02-28", "2027-03-31", "User rents a boat.", "", "User rents a boat."],
        "noted chats": ["", "Tea."],
        "before": [2, 2],
        "chat": [1, True, int(not provenance)],
        "after chat": ["User likes tea in d."],
        "vectors after chat": 1,
        "all": [1, True, 0],
        "after all": [0, 2],
        "ghosts": 1,
        "ghosts erased": True,
        "after ghosts": 0,
        "bob": 2,
    }
