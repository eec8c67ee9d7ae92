"""Packages that the plug-in works without."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from adaptive.core.soft import soft_import


def test_installed() -> None:
    """A module that is there is imported."""
    assert soft_import("json", "nothing") is json


def test_absent(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that is not there is ``None``, and the log says once what is missed."""
    monkeypatch.setitem(sys.modules, "adaptive_memory_absent", None)
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            assert soft_import("adaptive_memory_absent", "nothing is better") is None
    assert [record.message for record in caplog.records] == [
        "the package of 'adaptive_memory_absent' is not installed: nothing is better"
    ]
