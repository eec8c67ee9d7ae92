"""Where in a parsed reply the items are."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from adaptive.llm.envelope import Found, ReplyForm, found_items, plain_name
from adaptive.llm.loose_json import read_loosely
from tests.rates import over

FORM = ReplyForm("scores", lambda fields: "id" in fields)
A = {"id": "a", "score": 0.5}
B = {"id": "b", "score": 1}


@dataclass(frozen=True)
class Case:
    """A value, and what is found in it."""

    id: str
    value: Any
    found: Found | None


CASES = [
    Case("the list", {"scores": [A, B]}, Found([A, B])),
    Case("the empty list", {"scores": []}, Found([])),
    Case("one object", {"scores": A}, Found([A])),
    Case("a map under the key", {"scores": {"a": 0.5}}, Found([{"a": 0.5}])),
    Case("bare", [A, B], Found([A, B], bare=True)),
    Case("bare, not all are items", [A, 1], Found([A, 1], bare=True)),
    Case("bare and empty", [], Found([], bare=True)),
    Case("an item", A, Found([A], listed=False)),
    Case("another spelling", {"Scores": [A]}, Found([A])),
    Case("wrapped", {"result": {"scores": [A]}}, Found([A])),
    Case("wrapped twice", {"data": [{"output": {"scores": [A]}}]}, Found([A])),
    Case("as a text", {"response": json.dumps({"scores": [A]})}, Found([A])),
    Case("the list as a text", {"scores": json.dumps([A])}, Found([A], bare=True)),
    Case("lists in the list", {"scores": [[A], [[B]]]}, Found([A, B])),
    Case("the object in the list", {"scores": [{"scores": [A]}, B]}, Found([A, B])),
    Case(
        "lists too deep",
        {"scores": json.loads("[" * 12 + '{"id": "a"}' + "]" * 12)},
        Found(json.loads('[[{"id": "a"}]]')),
    ),
    Case("several", [{"scores": [A]}, {"scores": [B]}], Found([A, B])),
    Case(
        "other values in the list",
        {"scores": [1, "x", None, [], {}]},
        Found([1, "x", None, [], {}]),
    ),
    Case("two wrappers", {"result": [A], "output": [B]}, None),
    Case("an unknown name", {"rejected": [A]}, None),
    Case("a list of others", [1, 2], None),
    Case("null", {"scores": None}, None),
    Case("a word", {"scores": "none"}, None),
    Case("a text of prose", {"message": "I score it [high]."}, None),
    Case("nothing", {}, None),
    Case("a number", 1, None),
    Case("too deep", json.loads('{"result": ' * 12 + "[]" + "}" * 12), None),
]


@over("case", CASES)
def test_found(case: Case) -> None:
    """Items are found in the list, by themselves and in known wrappers, and nowhere else."""
    assert found_items(case.value, FORM) == case.found


HALVES = [
    Case("an item", '[{"id": "a"}, {"id": "b"', Found([{"id": "a"}], finished=False, bare=True)),
    Case("the list", '{"scores": [{"id": "a"}', Found([{"id": "a"}], finished=False)),
    Case("the object", '{"scores": [{"id": "a"}]', Found([{"id": "a"}])),
    Case("a single item", '{"id": "a"', Found([], listed=False, finished=False)),
    Case("the object in the key", '{"scores": {"id": "a"', Found([], finished=False)),
    Case("the only item", '{"scores": [{"id": "a"', Found([], finished=False)),
    Case("nothing yet", '{"scores":', None),
    Case("an empty list", "[", None),
]


@over("case", HALVES)
def test_halves(case: Case) -> None:
    """What is not whole is left out, and that something was is known."""
    assert found_items(read_loosely(case.value, 0).value, FORM) == case.found


@pytest.mark.parametrize("name", ["memory_bank", "memoryBank", "Memory-Bank", "MEMORY BANK"])
def test_plain_name(name: str) -> None:
    """Case and separators of a name do not count."""
    assert plain_name(name) == "memorybank"
