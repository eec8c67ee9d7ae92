"""Metrics through the OpenTelemetry SDK that hosts ship, read back from memory."""

from __future__ import annotations

from pathlib import Path

from demo.environment import HostEnvironment
from tests.conftest import SOURCE
from tests.hosts import run_in_host

PROBE = Path(__file__).with_name("probe_telemetry.py")


def test_metrics(installed_host: HostEnvironment, tmp_path: Path) -> None:
    """Off until a provider is set; then two loads count into the same instruments, without loss."""
    arguments = {"source": str(SOURCE)}
    told = run_in_host(installed_host, PROBE, arguments, tmp_path, soft_dependencies=False)
    part = {"part": "learning"}
    asked = {**part, "purpose": "extraction"}
    points = [
        ["turn.duration", "ms", {**part, "outcome": "learned", "reason": ""}, 1000.0],
        ["stage.duration", "ms", {**part, "stage": "queue"}, 500.0],
        ["model.calls", "{call}", {**asked, "result": "answered"}, 2],
        ["model.calls", "{call}", {**asked, "result": "failed"}, 4],
        ["model.tokens", "{token}", {**asked, "direction": "in"}, 1400],
        ["model.tokens", "{token}", {**asked, "direction": "out"}, 160],
        ["entries", "{entry}", {"kind": "core"}, 4],
        ["operations", "{operation}", {"status": "saved"}, 2],
        ["anomalies", "{anomaly}", {"anomaly": "retried"}, 2],
    ]
    assert told == {
        "before": False,
        "after": True,
        "scopes": ["adaptive_memory"],
        "points": [[f"adaptive_memory.{name}", *rest] for name, *rest in points],
    }
