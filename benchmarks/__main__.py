"""Run all benchmarks, or those named: ``python -m benchmarks [NAME ...] [--data FOLDER]``."""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from pathlib import Path

# The bundle's source, for the benchmarks that need no host.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from benchmarks.locomo import DEFAULT_DATA

NAMES = (
    "loading",
    "recall",
    "precision",
    "identity",
    "paragraphs",
    "languages",
    "prefilter",
    "grounding",
    "deduplication",
    "privacy",
    "host_recall",
    "stability",
    "latency",
    "everything_off",
    "learned_turn",
    "busy_server",
    "cold_start",
    "first_contact",
    "large_store",
    "scale",
    "extraction_cost",
    "guard",
    "guard_read_path",
    "history",
    "history_host",
    "past_recalled",
    "import_lines",
    "commands",
    "neighbours",
    "giving_way",
    "beside_learning",
    "placement",
    "slow_service",
    "embedders",
    "plots",
)


def main() -> None:
    """Run the named benchmarks in order."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=", ".join(NAMES)
    )
    parser.add_argument(
        "--data", type=Path, default=DEFAULT_DATA, help="folder of LoCoMo"
    )
    wanted = parser.parse_args()
    unknown = sorted(set(wanted.names) - set(NAMES))
    if unknown:
        parser.error(
            f"no benchmark {', '.join(map(repr, unknown))}; there are {', '.join(NAMES)}"
        )
    for name in wanted.names or NAMES:
        run = importlib.import_module(f"benchmarks.{name}").main
        if inspect.signature(run).parameters:
            run(wanted.data)
        else:
            run()


if __name__ == "__main__":
    main()
