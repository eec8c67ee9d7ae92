"""The names that models give to fields and operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.dialects import ItemFields, is_operation, item_fields
from adaptive.llm.loose_json import JsonObject
from tests.rates import over

SAID = "User likes tea."


@dataclass(frozen=True)
class Case:
    """An item, and what it says under the prompt's names."""

    id: str
    item: dict[str, Any]
    values: dict[str, Any]
    unclear: str = ""


NEW = {"operation": "NEW", "content": SAID}

CASES = [
    Case("the prompt's names", NEW, NEW),
    Case("other names", {"op": "add", "text": SAID}, NEW),
    Case("nulls and blanks", {**NEW, "id": None, "kind": " ", "op": ""}, NEW),
    Case("unknown names", {**NEW, "why": "said so", "fact": True}, NEW),
    Case(
        "an id under memory",
        {"action": "delete", "memory": "m-1"},
        {"operation": "DELETE", "id": "m-1"},
    ),
    Case("a sentence under memory", {"action": "add", "memory": SAID}, NEW),
    Case("an object under memory", {"action": "add", "memory": {"content": SAID}}, NEW),
    Case("a call", {"name": "add_memory", "arguments": {"content": SAID}}, NEW),
    Case(
        "a call with a text", {"name": "add_memory", "arguments": f'{{"content": "{SAID}"}}'}, NEW
    ),
    Case("a call with prose", {"name": "add_memory", "arguments": "{see"}, {"operation": "NEW"}),
    Case(
        "a call in a call",
        {"type": "function", "function": {"name": "add_memory", "arguments": {"content": SAID}}},
        NEW,
    ),
    Case("a type that is a kind", {**NEW, "type": "Fact"}, {**NEW, "kind": "fact"}),
    Case("a type that is a category", {**NEW, "type": "goal"}, {**NEW, "tags": ["goal"]}),
    Case("a type that is neither", {**NEW, "type": "memory"}, NEW),
    Case("a kind that is a category", {**NEW, "kind": "goal"}, {**NEW, "tags": ["goal"]}),
    Case("tags of two names", {**NEW, "tags": ["a"], "category": "b"}, {**NEW, "tags": ["a", "b"]}),
    Case("an unknown operation", {"operation": "MERGE"}, {"operation": "MERGE"}),
    Case("an id on a new fact", {**NEW, "id": "a", "memory_id": "b"}, {**NEW, "id": "a"}),
    Case("two sentences", {**NEW, "text": "x"}, NEW, "content"),
    Case(
        "two ids",
        {"op": "delete", "id": "a", "memory_id": "b"},
        {"operation": "DELETE", "id": "a"},
        "id",
    ),
    Case("two operations", {**NEW, "action": "remove"}, NEW, "operation"),
    Case(
        "two in two layers",
        {"name": "add_memory", "arguments": {"action": "delete"}},
        {"operation": "NEW"},
        "operation",
    ),
    Case(
        "one name twice",
        JsonObject([("operation", "NEW"), ("content", "x"), ("content", SAID)]),
        NEW,
        "content",
    ),
]


@over("case", CASES)
def test_item(case: Case) -> None:
    """Each field is read under the one name that it can mean."""
    found = item_fields(case.item, {"m-1"})
    values = {**found.values}
    if "tags" in values:
        values["tags"] = list(dict.fromkeys(values["tags"]))
    assert ItemFields(values, found.unclear) == ItemFields(case.values, case.unclear)


@pytest.mark.parametrize(
    "item",
    [NEW, {"operation": "?"}, {"op": "add"}, {"event": "NONE"}, {"name": "delete_memory"}],
    ids=repr,
)
def test_operations(item: dict[str, Any]) -> None:
    """An object that says what is to be done is an item wherever it stands."""
    assert is_operation(item)


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"content": SAID},
        {"id": "m-1"},
        {"operation": None},
        {"operation": [NEW]},
        {"name": "search"},
    ],
    ids=repr,
)
def test_no_operations(item: dict[str, Any]) -> None:
    """An object that does not say it is none."""
    assert not is_operation(item)


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
names = st.sampled_from(["operation", "op", "type", "name", "memory", "arguments", "tags", "kind"])


@given(st.dictionaries(names | st.text(max_size=5), json_like))
def test_any_item(item: dict[str, Any]) -> None:
    """Whatever an item holds, only names of the prompt come out, and no null."""
    found = item_fields(item, ["m-1"])
    known = {
        "operation",
        "id",
        "content",
        "tags",
        "memory_bank",
        "confidence",
        "importance",
        "kind",
    }
    assert found.values.keys() <= known
    assert None not in [*found.values.values()]
    assert found.unclear in ("", *found.values)
