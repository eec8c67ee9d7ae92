"""Measures of each turn for the admin: a line in the log, and metrics where the host collects any.

The host sets a provider of OpenTelemetry meters for its whole process when ``ENABLE_OTEL`` and
``ENABLE_OTEL_METRICS`` are on, before it loads any function (host: utils/telemetry/metrics.py,
0.9.6 and 0.12.4). Nothing is imported here: who has set a provider has imported the package.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from adaptive.core.runtime import MEASURES, TurnMeasures, stage
from adaptive.settings.hook import Hook

log_measures = logging.getLogger("adaptive_memory.measures")


@asynccontextmanager
async def measured_part(hook: Hook, part: str) -> AsyncGenerator[None]:
    """Around an inlet, or one work behind an answer; what finds nothing to do is not told of."""
    measures = TurnMeasures(part, "skipped" if part == "inlet" else "")
    token = MEASURES.set(measures)
    try:
        with stage("total"):
            yield
    finally:
        MEASURES.reset(token)
        error = sys.exception()
        if error is not None:  # whose text may quote somebody
            measures.outcome = "failed"
            measures.reason = type(error).__name__
        elif "entries" in measures.counts:
            measures.outcome = "recalled"
        if part != "inlet":
            measures.counts["anomalies"].update(
                hook.state.pop("anomalies", [])
            )
        has_counted = any(measures.counts.values())
        if measures.outcome or has_counted or len(measures.seconds) > 1:
            _tell(hook.answer_id, measures)


def _tell(turn: str, measures: TurnMeasures) -> None:
    """Write the line, and add to the metrics; neither names anybody or quotes a text."""
    part = {"part": measures.part}
    ended = {**part, "outcome": measures.outcome, "reason": measures.reason}
    milliseconds = {
        name: round(1000 * seconds, 1)
        for name, seconds in measures.seconds.items()
    }
    counts = {kind: names for kind, names in measures.counts.items() if names}
    log_measures.debug(
        "%s", json.dumps({**ended, "turn": turn, "ms": milliseconds, **counts})
    )
    metrics = sys.modules.get("opentelemetry.metrics")
    if metrics is None:
        return
    for name, duration in milliseconds.items():
        attributes = ended if name == "total" else part
        _instrument(metrics, "duration").record(
            duration, {**attributes, "stage": name}
        )
    for kind, names in counts.items():
        for name, count in names.items():
            _instrument(metrics, kind).add(count, {**part, "name": name})


@cache
def _instrument(metrics: Any, kind: str) -> Any:
    """An instrument of the API's; where nobody has set a provider it leads nowhere."""
    meter = metrics.get_meter("adaptive_memory")
    name = f"adaptive_memory.{kind}"
    if kind == "duration":
        return meter.create_histogram(name, unit="ms")
    return meter.create_counter(name, unit="1")
