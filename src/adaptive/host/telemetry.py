"""Measures of turns as OpenTelemetry metrics, through the pipeline that the host has set up."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adaptive.measures import ModelUse, TurnMeasures

_METRICS = "opentelemetry.metrics"
_METER_NAME = "adaptive_memory"


@dataclass(frozen=True, slots=True)
class _Instruments:
    """Counters and histograms of one meter; times in milliseconds, as the host's own are."""

    provider: Any
    turns: Any
    stages: Any
    calls: Any
    tokens: Any
    entries: Any
    operations: Any
    anomalies: Any


class Telemetry:
    """The metrics of the plug-in; off, at the cost of a look-up, where the host has no pipeline.

    The host sets a provider of meters for its whole process when ``ENABLE_OTEL`` and
    ``ENABLE_OTEL_METRICS`` are on, before it loads any function (host: utils/telemetry/metrics.py,
    0.9.6 and 0.12.4). Nothing is imported here: who has set a provider has imported the package.
    """

    def __init__(self, modules: Mapping[str, Any] | None = None) -> None:
        self._modules = sys.modules if modules is None else modules
        self._known: _Instruments | None = None

    @property
    def on(self) -> bool:
        """Whether somebody collects metrics."""
        return self._provider() is not None

    def record(self, measures: TurnMeasures) -> None:
        """Add what was measured of a turn; its attributes are few, and none is anybody's."""
        provider = self._provider()
        if provider is None:
            return
        if self._known is None or self._known.provider is not provider:
            self._known = _instruments(provider)
        known, part = self._known, {"part": measures.part}
        ended = {**part, "outcome": measures.outcome, "reason": measures.reason}
        known.turns.record(1000 * measures.total, ended)
        for name, seconds in measures.seconds.items():
            known.stages.record(1000 * seconds, {**part, "stage": name})
        for purpose, use in measures.models.items():
            _record_use(known, {**part, "purpose": purpose}, use)
        for counter, counts, attribute in (
            (known.entries, measures.entries, "kind"),
            (known.operations, measures.operations, "status"),
            (known.anomalies, measures.anomalies, "anomaly"),
        ):
            for name, count in counts.items():
                counter.add(count, {attribute: name})

    def _provider(self) -> Any:
        """The provider that somebody has set; the API's own stand-ins lead nowhere."""
        metrics = self._modules.get(_METRICS)
        if metrics is None:
            return None
        provider = metrics.get_meter_provider()
        return None if type(provider).__module__.startswith(_METRICS) else provider


def _instruments(provider: Any) -> _Instruments:
    """The instruments; a second load of the plug-in gets those of the first."""
    meter = provider.get_meter(_METER_NAME)

    def counter(name: str, unit: str, description: str) -> Any:
        return meter.create_counter(f"{_METER_NAME}.{name}", unit=unit, description=description)

    def histogram(name: str, description: str) -> Any:
        return meter.create_histogram(f"{_METER_NAME}.{name}", unit="ms", description=description)

    return _Instruments(
        provider,
        turns=histogram("turn.duration", "Time of a turn's inlet, or of its learning."),
        stages=histogram("stage.duration", "Time of one stage of a turn."),
        calls=counter("model.calls", "{call}", "Calls of a model, by purpose and result."),
        tokens=counter("model.tokens", "{token}", "Tokens to and from a model, by purpose."),
        entries=counter("entries", "{entry}", "Entries that were put into prompts."),
        operations=counter("operations", "{operation}", "What became of learned changes."),
        anomalies=counter("anomalies", "{anomaly}", "What should not be, by name."),
    )


def _record_use(known: _Instruments, attributes: dict[str, str], use: ModelUse) -> None:
    for result, count in (("answered", use.calls - use.failed), ("failed", use.failed)):
        if count:
            known.calls.add(count, {**attributes, "result": result})
    for direction, count in (("in", use.sent), ("out", use.received)):
        if count:
            known.tokens.add(count, {**attributes, "direction": direction})
