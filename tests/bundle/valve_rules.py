"""What must hold of valves whatever was saved for them; runs in the tests and in every host."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

GARBAGE: tuple[Any, ...] = (
    None,
    "",
    " ",
    "abc",
    "NaN",
    "-inf",
    "1e400",
    "7",
    True,
    -1,
    0,
    3.5,
    10**30,
    -(10**400),
    math.nan,
    math.inf,
    -math.inf,
    [],
    [""],
    ["General", 1, None],
    {},
    {"a": {"b": [None]}},
    "x" * 100_000,
    "\ud800\x00",
)

_COMPARISONS = {
    "ge": lambda value, bound: value >= bound,
    "gt": lambda value, bound: value > bound,
    "le": lambda value, bound: value <= bound,
    "lt": lambda value, bound: value < bound,
    "min_length": lambda value, bound: len(value) >= bound,
    "max_length": lambda value, bound: len(value) <= bound,
}


def out_of_bounds(valves: BaseModel) -> list[str]:
    """Valves whose value is not of the declared type, or outside the declared range."""
    wrong: list[str] = []
    for name, field in type(valves).model_fields.items():
        value = getattr(valves, name)
        fits = _has_type(value, field.annotation) and all(
            holds(value, bound)
            for rule in field.metadata
            for attribute, holds in _COMPARISONS.items()
            if (bound := getattr(rule, attribute, None)) is not None
        )
        if not fits:
            wrong.append(f"{name}={value!r:.80}")
    return wrong


def broken_by_garbage(model: type[BaseModel]) -> list[str]:
    """Valves that a saved value of any kind makes raise, or leaves outside of their range."""
    broken: list[str] = []
    for name in model.model_fields:
        for value in GARBAGE:
            try:
                broken += out_of_bounds(model(**{name: value}))
            except Exception as error:  # noqa: BLE001 - that anything raises is the finding
                broken.append(f"{name}={value!r:.80} raised {type(error).__name__}")
    return broken


def _has_type(value: Any, annotation: Any) -> bool:
    if get_origin(annotation) is Literal:
        return value in get_args(annotation)
    if annotation is float:
        return type(value) in (int, float) and math.isfinite(value)
    return type(value) is annotation
