"""A pydantic model that no stored value can break.

The host builds ``Valves(**saved)`` before each hook, and a raise there would end every chat (host:
utils/filter.py). Numbers arrive from the panel as text, and saved values outlive releases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)


class LenientModel(BaseModel):
    """A model that takes anything: clamps what is out of range, else falls back to the default."""

    # Each class of valves holds those of the one before: only what is used is built, when it is.
    model_config = ConfigDict(extra="ignore", defer_build=True)

    @field_validator("*", mode="wrap")
    @classmethod
    def _usable(
        cls, value: Any, validate: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> Any:
        for attempt in _attempts(value, *_bounds(cls, info.field_name)):
            try:
                checked = validate(attempt)
            except (ValidationError, ValueError, TypeError, OverflowError):
                continue
            if not (isinstance(checked, float) and math.isnan(checked)):
                return checked
        return cls.model_fields[info.field_name or ""].get_default()


def _attempts(value: Any, low: float | None, high: float | None) -> list[Any]:
    """The value itself, then what may have been meant by it, nearest first."""
    if isinstance(value, str):
        attempts: list[Any] = [value, value.strip()]
    elif isinstance(value, list | tuple):
        # Releases before the supported ones kept lists; they are comma-separated text here.
        attempts = [", ".join(str(item) for item in cast(Sequence[Any], value))]
    else:
        attempts = [value]
    if low is None or high is None:
        if isinstance(value, int | float) and not isinstance(value, bool):
            attempts.append(str(value))
        return attempts
    try:
        number = float(cast(Any, value))
    except (ValueError, TypeError, OverflowError):
        return attempts
    if number < low:
        return [low]
    if number > high:
        return [high]
    return [*attempts, number, round(number)] if math.isfinite(number) else attempts


def _bounds(model: type[BaseModel], name: str | None) -> tuple[float | None, float | None]:
    low = high = None
    for rule in model.model_fields[name or ""].metadata:
        low = getattr(rule, "ge", low)
        high = getattr(rule, "le", high)
    return low, high


def valve_notes(group: str, when: str, **widget: Any) -> dict[str, Any]:
    """What stands with a valve in the reference: its group, and when to change it."""
    return {"group": group, "when": when, **widget}
