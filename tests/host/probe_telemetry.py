"""Run by a host's own interpreter: records measures with the OpenTelemetry SDK that it ships."""

from __future__ import annotations

import json
import sys
from typing import Any


def main(arguments: dict[str, Any]) -> dict[str, Any]:
    """Record a turn before and after a provider is set, by two loads of the plug-in."""
    sys.path.insert(0, arguments["source"])
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    from adaptive.host.telemetry import Telemetry
    from adaptive.measures import ModelUse, TurnMeasures

    measures = TurnMeasures("learning", lambda: 0.0, outcome="learned")
    measures.total = 0.5
    measures.add_seconds("queue", 0.25)
    measures.models["extraction"] = ModelUse(3, 1, 2, 700, 80)
    measures.entries["core"] += 2
    measures.operations["saved"] += 1
    measures.anomalies["retried"] += 1

    first, reader = Telemetry(), InMemoryMetricReader()
    told: dict[str, Any] = {"before": first.on}
    first.record(measures)
    metrics.set_meter_provider(MeterProvider(metric_readers=[reader]))
    told["after"] = first.on
    for load in (first, Telemetry()):
        load.record(measures)
    data: Any = reader.get_metrics_data()
    scopes = [scope for one in data.resource_metrics for scope in one.scope_metrics]
    told["scopes"] = [scope.scope.name for scope in scopes]
    told["points"] = [
        [metric.name, metric.unit, dict(point.attributes), _number_of(point)]
        for scope in scopes
        for metric in scope.metrics
        for point in metric.data.data_points
    ]
    return told


def _number_of(point: Any) -> float:
    """The sum of a histogram's values, or a counter's value."""
    return point.sum if hasattr(point, "sum") else point.value


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(json.loads(sys.argv[1]))) + "\n")
