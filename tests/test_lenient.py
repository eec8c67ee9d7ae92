"""A model that no stored value can break."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from adaptive.lenient import LenientModel
from tests.rates import over


class Sample(LenientModel):
    """One field of each kind that valves have."""

    switch: bool = True
    count: int = Field(default=5, ge=1, le=10)
    share: float = Field(default=0.5, ge=0, le=1)
    free: int = 3
    text: str = "default"
    choice: Literal["a", "b"] = "a"


@dataclass(frozen=True)
class Case:
    """A stored value of a field, and what is taken for it."""

    field: str
    stored: Any
    taken: Any

    @property
    def id(self) -> str:
        """Field and value."""
        return f"{self.field}={self.stored!r:.20}"


CASES = [
    Case("switch", False, False),
    Case("switch", "false", False),
    Case("switch", " off ", False),
    Case("switch", 0, False),
    Case("switch", "maybe", True),
    Case("switch", None, True),
    Case("count", 7, 7),
    Case("count", "7", 7),
    Case("count", " 7 ", 7),
    Case("count", "7.0", 7),
    Case("count", 6.6, 7),
    Case("count", 0, 1),
    Case("count", -(10**30), 1),
    Case("count", 11, 10),
    Case("count", math.inf, 10),
    Case("count", "1e400", 10),
    Case("count", math.nan, 5),
    Case("count", "many", 5),
    Case("count", "", 5),
    Case("count", None, 5),
    Case("count", [7], 7),
    Case("count", {"a": 7}, 5),
    Case("share", 0.25, 0.25),
    Case("share", "0.25", 0.25),
    Case("share", 2, 1.0),
    Case("share", -math.inf, 0.0),
    Case("share", "nan", 0.5),
    Case("share", True, 1.0),
    Case("free", 10**6, 10**6),
    Case("free", "x", 3),
    Case("text", "words", "words"),
    Case("text", " words ", " words "),
    Case("text", "", ""),
    Case("text", 5, "5"),
    Case("text", 0.5, "0.5"),
    Case("text", True, "default"),
    Case("text", None, "default"),
    Case("text", ["General", "Work"], "General, Work"),
    Case("text", [], ""),
    Case("text", {"a": 1}, "default"),
    Case("choice", "b", "b"),
    Case("choice", " b ", "b"),
    Case("choice", "c", "a"),
    Case("choice", None, "a"),
]


@over("case", CASES)
def test_stored_value(case: Case) -> None:
    """A value is taken as it was meant, clamped when out of range, else the default stands."""
    assert getattr(Sample(**{case.field: case.stored}), case.field) == case.taken


def test_names_nobody_knows() -> None:
    """Fields of another release are left out, and change nothing."""
    assert Sample(gone=1, model_config="x") == Sample()


json_like = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=20)
    | st.sampled_from(["1e999", "-0", "٣", "1_0", "0x1", " NaN", "TRUE", 10**400]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@settings(deadline=None)
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(Sample.model_fields, json_like)))
def test_anything_goes(stored: dict[str, Any]) -> None:
    """Whatever is stored in every field, nothing raises and everything is in its bounds."""
    made = Sample(**stored)
    assert made.switch in (True, False)
    assert type(made.count) is int
    assert 1 <= made.count <= 10
    assert type(made.share) is float
    assert 0 <= made.share <= 1
    assert type(made.free) is int
    assert type(made.text) is str
    assert made.choice in ("a", "b")
