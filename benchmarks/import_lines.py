"""Writing thousands of memories at once into a real host's tables and vector database.

A process of the host's own interpreter writes made-up lines through the plug-in's store, gate
included, in SQLite and Chroma with all-MiniLM-L6-v2: at once, and a few of them one by one.
"""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.figures import say, spread, write_results
from demo.environment import NEWEST, host_environment
from demo.server import server_variables

PROBE = Path(__file__).with_name("import_probe.py")
SOURCE = Path(__file__).parent.parent / "src"
SIZES = (1000, 5000)
SINGLY = 200
_LONGEST_RUN_SECONDS = 1800
_VERBS = (
    "likes",
    "owns",
    "visited",
    "has read about",
    "is learning about",
    "collects",
    "repairs",
)
_THINGS = (
    "boats",
    "old maps",
    "pianos",
    "orchids",
    "bicycles",
    "clocks",
    "tents",
    "kites",
)
_WITH = (
    "a sister",
    "a neighbour",
    "two friends",
    "the choir",
    "a colleague",
    "the hiking club",
)
_PLACES = (
    "Lisbon",
    "Turku",
    "Kyoto",
    "Graz",
    "Bergen",
    "Leeds",
    "Porto",
    "Ghent",
    "Riga",
    "Split",
)
_SINCE = (
    "since spring",
    "every weekend",
    "for many years",
    "on rainy days",
    "in summer",
)


def made_up_lines(number: int) -> list[str]:
    """Different sentences about a user, in an order that is always the same."""
    parts = list(itertools.product(_VERBS, _THINGS, _WITH, _PLACES, _SINCE))
    chosen = random.Random(7).sample(parts, number)
    return [
        f"User {verb} {things} with {friends} in {place} {since}."
        for verb, things, friends, place, since in chosen
    ]


def measure(version: str = NEWEST) -> dict[str, Any]:
    """What writing takes on a release."""
    host = host_environment(version)
    told = {
        "source": str(SOURCE),
        "lines": made_up_lines(max(SIZES)),
        "sizes": SIZES,
        "singly": SINGLY,
    }
    with tempfile.TemporaryDirectory() as name:
        variables = server_variables(
            host, Path(name), "http://127.0.0.1:9", soft_dependencies=False
        )
        done = subprocess.run(
            [str(host.python), str(PROBE)],
            input=json.dumps(told),
            env=variables | {"PYTHONWARNINGS": "ignore"},
            cwd=name,
            capture_output=True,
            text=True,
            timeout=_LONGEST_RUN_SECONDS,
        )
    if done.returncode:
        raise RuntimeError(done.stderr[-4000:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {
        "open_webui": version,
        "one_by_one": {
            "memories": SINGLY,
            "s": round(found["one_by_one_s"], 2),
        },
        "at_once_s": {
            size: round(taken, 2) for size, taken in found["at_once_s"].items()
        },
        **{
            name: spread(found[name])
            for name in ("loop_held_ms", "loop_worked_ms")
        },
        "longest_ms": {
            name: round(max(found[name]), 1)
            for name in ("loop_held_ms", "loop_worked_ms")
        },
    }


def main() -> None:
    """Measure and write ``results/import_lines.json``."""
    say("writing thousands of memories at once")
    figures = measure()
    say(f"{figures}")
    say(f"written: {write_results('import_lines', figures)}")


if __name__ == "__main__":
    main()
