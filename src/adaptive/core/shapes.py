"""Reading values of unknown shape, as hosts, models and stored rows deliver them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}


def listing(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return cast(list[Any], value) if isinstance(value, list) else []
