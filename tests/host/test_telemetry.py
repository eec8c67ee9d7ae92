"""Measures as OpenTelemetry metrics, with a provider of meters that stands in for the host's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from adaptive.host.telemetry import Telemetry
from adaptive.measures import ModelUse, TurnMeasures


class Instrument:
    """A counter or histogram that keeps what it is given."""

    def __init__(self, points: list[tuple[str, float, dict[str, str]]], name: str) -> None:
        self._points, self._name = points, name

    def add(self, value: float, attributes: dict[str, str]) -> None:
        """Keep a count."""
        self._points.append((self._name, value, attributes))

    record = add


class Provider:
    """A provider of meters that is its only meter."""

    def __init__(self) -> None:
        self.points: list[tuple[str, float, dict[str, str]]] = []
        self.meters: list[str] = []

    def get_meter(self, name: str) -> Provider:
        """The meter."""
        self.meters.append(name)
        return self

    def create_counter(self, name: str, **_: Any) -> Instrument:
        """A counter."""
        return Instrument(self.points, name)

    create_histogram = create_counter


class StandIn:
    """What the API brings while nobody has set a provider."""


StandIn.__module__ = "opentelemetry.metrics._internal"


def modules(provider: object) -> dict[str, Any]:
    """The imported modules of a process in which this is the provider."""
    metrics = SimpleNamespace(get_meter_provider=lambda: provider)
    return {"opentelemetry.metrics": metrics}


def some_measures() -> TurnMeasures:
    """A turn in which everything was counted."""
    measures = TurnMeasures("learning", lambda: 0.0, outcome="learned")
    measures.total = 0.5
    measures.add_seconds("queue", 0.25)
    measures.models["extraction"] = ModelUse(3, 1, 2, 700, 80)
    measures.entries["core"] += 2
    measures.operations["saved"] += 1
    measures.anomalies["retried"] += 1
    return measures


def test_nothing_collects() -> None:
    """Without a pipeline the metrics are off, and recording does nothing."""
    for loaded in ({}, modules(StandIn())):
        telemetry = Telemetry(loaded)
        assert not telemetry.on
        telemetry.record(some_measures())


def test_points() -> None:
    """Each measure is one point with attributes of few values; times are in milliseconds."""
    provider = Provider()
    telemetry = Telemetry(modules(provider))
    assert telemetry.on
    telemetry.record(some_measures())
    part = {"part": "learning"}
    asked = {**part, "purpose": "extraction"}
    prefix = "adaptive_memory."
    assert [(name.removeprefix(prefix), *rest) for name, *rest in provider.points] == [
        ("turn.duration", 500.0, {**part, "outcome": "learned", "reason": ""}),
        ("stage.duration", 250.0, {**part, "stage": "queue"}),
        ("model.calls", 1, {**asked, "result": "answered"}),
        ("model.calls", 2, {**asked, "result": "failed"}),
        ("model.tokens", 700, {**asked, "direction": "in"}),
        ("model.tokens", 80, {**asked, "direction": "out"}),
        ("entries", 2, {"kind": "core"}),
        ("operations", 1, {"status": "saved"}),
        ("anomalies", 1, {"anomaly": "retried"}),
    ]
    telemetry.record(some_measures())
    assert provider.meters == ["adaptive_memory"]


def test_another_provider() -> None:
    """A provider that is set later gets instruments of its own."""
    loaded = modules(StandIn())
    telemetry = Telemetry(loaded)
    telemetry.record(some_measures())
    first, second = Provider(), Provider()
    for provider in (first, second):
        loaded.update(modules(provider))
        telemetry.record(some_measures())
    assert len(first.points) == len(second.points) > 0
