"""The host's own memory, switched off for a turn."""

from __future__ import annotations

from typing import Any

import pytest

from adaptive.host.native import without_native_memory


def test_features_are_copied() -> None:
    """Memory is off in a copy: the original belongs to the other model's request too."""
    features = {"memory": True, "web_search": True}
    assert without_native_memory(features) == {"memory": False, "web_search": True}
    assert features == {"memory": True, "web_search": True}


@pytest.mark.parametrize("features", [None, {}, [], "memory"])
def test_no_features(features: Any) -> None:
    """Where there are no features memory is off all the same."""
    assert without_native_memory(features) == {"memory": False}
