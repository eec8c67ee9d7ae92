"""Reading values of unknown shape, as hosts, models and stored rows deliver them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, cast


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}


def listing(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return cast(list[Any], value) if isinstance(value, list) else []


def number(value: object) -> float | None:
    """A finite number, also one that is written as a text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        read = float(value.replace(",", ".") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return read if math.isfinite(read) else None


def share(value: object) -> float | None:
    """A number from 0 to 1; 90 and "90%" are 0.9, a bare 9 may be anything."""
    percent = isinstance(value, str) and value.strip().endswith("%")
    read = number(value.strip().rstrip("% ") if isinstance(value, str) else value)
    if read is None:
        return None
    if percent or 10 < read <= 100:
        read /= 100
    return read if 0 <= read <= 1 else None


def plain_name(name: str) -> str:
    """A field's name without case, underscores, hyphens and spaces."""
    return re.sub(r"[\W_]+", "", name).casefold()
