"""Size of the bundle, and what loading it costs the host.

The clock covers compiling and executing the file in a host's own interpreter, once with the host's
packages already imported (as in a running server, which has the dialects of both databases and
cryptography, too) and once from nothing.
"""

from __future__ import annotations

import statistics
import subprocess
from pathlib import Path
from typing import Any

from benchmarks.figures import say, write_results
from demo.environment import NEWEST, host_environment

PLUGIN = Path(__file__).parent.parent / "adaptive_memory.py"
TRIES = 7
PROBE = """
import sys, time, types
source = open(sys.argv[1], encoding="utf-8").read()
if sys.argv[2] == "warm":
    import aiohttp, cryptography.fernet, fastapi, numpy, pydantic, sqlalchemy
    import sqlalchemy.dialects.postgresql, sqlalchemy.dialects.sqlite
module = types.ModuleType("function_adaptive_memory")
sys.modules[module.__name__] = module
start = time.perf_counter()
exec(compile(source, "<string>", "exec"), module.__dict__)
print((time.perf_counter() - start) * 1000)
"""


def load_milliseconds(state: str) -> float:
    """Median over fresh processes."""
    python = host_environment(NEWEST).python
    taken = [
        float(
            subprocess.run(
                [python, "-c", PROBE, str(PLUGIN), state],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for _ in range(TRIES)
    ]
    return round(statistics.median(taken), 1)


def measure() -> dict[str, Any]:
    """Size in bytes and lines, load times in milliseconds."""
    source = PLUGIN.read_text(encoding="utf-8")
    return {
        "open_webui": NEWEST,
        "bytes": len(source.encode()),
        "lines": source.count("\n"),
        "load_ms_packages_imported": load_milliseconds("warm"),
        "load_ms_from_nothing": load_milliseconds("cold"),
    }


def main() -> None:
    """Measure and write ``results/loading.json``."""
    say("loading the bundle")
    say(f"written: {write_results('loading', measure())}")


if __name__ == "__main__":
    main()
