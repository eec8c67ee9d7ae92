"""Forgetting through the memory API of real hosts, with their database and their vectors."""

from __future__ import annotations

from pathlib import Path

from demo.environment import HostEnvironment
from tests.conftest import SOURCE
from tests.hosts import run_in_host

PROBE = Path(__file__).with_name("probe_erasure.py")


def test_erasure(installed_host: HostEnvironment, tmp_path: Path) -> None:
    """Rows and the host's vectors of one user go, by chat and as a whole; another user's stay."""
    arguments = {"source": str(SOURCE)}
    told = run_in_host(installed_host, PROBE, arguments, tmp_path, soft_dependencies=False)
    provenance = told.pop("provenance")
    assert provenance is not installed_host.version.startswith("0.9")
    assert told == {
        "secret": True,
        "deleted chats": 1,
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
