"""Reading values of unknown shape, as hosts, models and stored rows deliver them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast


def mapping(value: object, *names: str) -> Mapping[str, Any]:
    """The value, or what lies in it under names one within the other; empty if no mapping."""
    for name in names:
        value = mapping(value).get(name)
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}


def listing(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return cast(list[Any], value) if isinstance(value, list) else []


def text_field(fields: Mapping[str, Any], name: str) -> str:
    """The text of a field, empty where there is none."""
    return str(fields.get(name) or "")
