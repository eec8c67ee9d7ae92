"""Size of the bundle, and what loading it costs a running Open WebUI.

The clock covers compiling and executing the file within the server's own process, where its
packages are imported: by a function that does so while the server loads it. Each start of a server
gives one first load; a load after that finds some of its patterns compiled.
"""

from __future__ import annotations

import asyncio
import re
import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.figures import say, write_results
from demo.environment import NEWEST, host_environment
from tests.e2e.driver.host import RunningHost

PLUGIN = Path(__file__).resolve().parent.parent / "adaptive_memory.py"
STARTS = 5
PROBE = '''"""
title: Probe
"""
import sys, time, types

source = open({path!r}, encoding="utf-8").read()
for load in ("first", "later"):
    module = types.ModuleType("function_loaded_" + load)
    sys.modules[module.__name__] = module
    start = time.perf_counter()
    exec(compile(source, "<string>", "exec"), module.__dict__)
    print("LOADED", load, (time.perf_counter() - start) * 1000, flush=True)


class Filter:
    pass
'''


async def load_milliseconds() -> dict[str, float]:
    """Of a first load in a server and of the next one."""
    with tempfile.TemporaryDirectory() as data:
        environment = host_environment(NEWEST)
        async with RunningHost.running_on(environment, Path(data)) as host:
            probe = PROBE.format(path=str(PLUGIN))
            await host.install_filter(probe, function_id="probe")
            told = re.findall(r"LOADED (\w+) ([\d.]+)", host.log_text())
    return {load: float(taken) for load, taken in told}


def measure() -> dict[str, Any]:
    """Size in bytes and lines, medians of load times in milliseconds."""
    source = PLUGIN.read_text(encoding="utf-8")
    taken = [asyncio.run(load_milliseconds()) for _ in range(STARTS)]
    medians = {
        f"{load}_load_ms": round(
            statistics.median(one[load] for one in taken), 1
        )
        for load in ("first", "later")
    }
    size = {"bytes": len(source.encode()), "lines": source.count("\n")}
    return {"open_webui": NEWEST, "starts": STARTS, **size, **medians}


def main() -> None:
    """Measure and write ``results/loading.json``."""
    say("loading the bundle")
    say(f"written: {write_results('loading', measure())}")


if __name__ == "__main__":
    main()
