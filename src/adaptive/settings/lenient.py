"""A pydantic model that no stored value can break.

The host builds ``Valves(**saved)`` before each hook, and a raise there would end every chat (host:
utils/filter.py). Numbers arrive from the panel as text, and saved values outlive releases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import ComputedFieldInfo, FieldInfo

from adaptive.core.messages import mapping

# The group whose valves go without its name.
FIRST_GROUP = "First"
_CAPITALS = {"llm": "LLM", "api": "API", "url": "URL", "pii": "PII"}


def valve(
    group: str, default: Any, description: str, *, widget: Any = None
) -> Any:
    """A field of the panel: its group, its default, and the sentence that explains it."""
    extra: dict[str, Any] = {"group": group} | (
        {"input": widget} if widget else {}
    )
    return Field(
        default=default, description=description, json_schema_extra=extra
    )


def _panel_title(name: str, field: FieldInfo | ComputedFieldInfo) -> str:
    """What stands above a valve in the panel: "Recall: related memories n"."""
    words = " ".join(_CAPITALS.get(word, word) for word in name.split("_"))
    group = mapping(field.json_schema_extra).get("group", FIRST_GROUP)
    return (
        words[:1].upper() + words[1:]
        if group == FIRST_GROUP
        else f"{group}: {words}"
    )


class LenientModel(BaseModel):
    """A model that takes anything: clamps what is out of range, else falls back to the default."""

    # Nobody validates ``Settings``, which hold all valves again: what is used is built, when it is.
    model_config = ConfigDict(
        extra="ignore",
        defer_build=True,
        allow_inf_nan=False,
        field_title_generator=_panel_title,
    )

    @field_validator("*", mode="wrap")
    @classmethod
    def _usable(
        cls, value: Any, validate: Callable[[Any], Any], info: ValidationInfo
    ) -> Any:
        field = cls.model_fields[info.field_name or ""]
        for attempt in _attempts(value, field):
            with suppress(ValidationError):
                return validate(attempt)
        return field.get_default()


def _attempts(value: Any, field: FieldInfo) -> Iterator[Any]:
    """The value itself, then what may have been meant by it, nearest first."""
    if isinstance(value, list | tuple):
        # The first Adaptive Memory kept lists; they are comma-separated text here.
        value = ", ".join(map(str, cast(Sequence[Any], value)))
    yield value
    least = _bound(field, "ge")
    most = _bound(field, "le")
    if least is not None and most is not None:
        with suppress(ValueError, TypeError, OverflowError):
            number = min(max(float(value), least), most)
            yield number
            yield round(number)
    if isinstance(value, str):
        yield value.strip()


def _bound(field: FieldInfo, name: str) -> float | None:
    return next(
        (
            getattr(rule, name)
            for rule in field.metadata
            if hasattr(rule, name)
        ),
        None,
    )
