"""Medians, percentiles and the machine they were taken on."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and 95th percentile of a sample, in the sample's unit."""

    median: float
    p95: float
    count: int


def spread(sample: Sequence[float]) -> Spread:
    """Summarise at least two values."""
    ranks = statistics.quantiles(sample, n=20, method="inclusive")
    return Spread(
        round(statistics.median(sample), 2), round(ranks[18], 2), len(sample)
    )


def machine() -> dict[str, Any]:
    """What the figures depend on besides the code."""
    return {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "system": platform.system(),
    }


def write_results(name: str, figures: dict[str, Any]) -> Path:
    """Write a result file; spreads become objects."""
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    content = {"machine": machine(), **figures}
    path.write_text(
        json.dumps(content, indent=2, default=asdict) + "\n", encoding="utf-8"
    )
    return path


def say(text: str) -> None:
    """Show progress at once."""
    print(text, flush=True)
