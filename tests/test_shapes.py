"""Reading values of unknown shape."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from adaptive.shapes import listing, mapping
from tests.rates import over


@over("value", [None, 1, "text", b"", [1], (1,), {1}, object()])
def test_what_is_no_mapping_is_empty(value: Any) -> None:
    """Anything but a mapping reads as an empty one."""
    assert mapping(value) == {}


@over("value", [None, 1, "text", b"", {"a": 1}, (1,), {1}, object()])
def test_what_is_no_list_is_empty(value: Any) -> None:
    """Anything but a list, a tuple included, reads as an empty one."""
    assert listing(value) == []


def test_the_value_itself() -> None:
    """A mapping and a list are handed on as they are, not copied."""
    held = MappingProxyType({"a": 1})
    items = [1]
    assert mapping(held) is held
    assert listing(items) is items
