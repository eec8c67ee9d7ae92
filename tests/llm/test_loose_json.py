"""JSON as models write it: read to the letter, and never with more in it than it says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.llm.loose_json import JsonObject, read_loosely, read_strictly
from tests.rates import over


@dataclass(frozen=True)
class Case:
    """A text from a bracket on, and what is read from it."""

    id: str
    text: str
    value: Any
    state: str = "whole"


CASES = [
    Case("JSON", '{"a": [1, -2.5, true, null, "x"]}', {"a": [1, -2.5, True, None, "x"]}),
    Case("trailing commas", "[1, 2,]", [1, 2]),
    Case("comments", "[1, // one\n 2 /* two */, # three\n 3]", [1, 2, 3]),
    Case("comment marks in a string", '["a // b", "/* c */", "# d"]', ["a // b", "/* c */", "# d"]),
    Case("an open comment", "[1, /* two", [1], "ended"),
    Case("single quotes", "{'a': 'it's \"b\"'}", {"a": 'it\'s "b"'}),
    Case("quotes of books", "{“a”: „b“, «c»: ‘d’}", {"a": "b", "c": "d"}),
    Case("bare names", "{a: 1, _b2: 2, straße: 3}", {"a": 1, "_b2": 2, "straße": 3}),
    Case("words", "[True, FALSE, None, undefined]", [True, False, None, None]),
    Case("numbers", "[+1, .5, 1., 1e2, 90%]", [1, 0.5, 1.0, 100.0, "90%"]),
    Case("a large number", "[12345678901234567890, 1]", [12345678901234567890.0, 1]),
    Case("full width", '{"a"：1，"b"：2}', {"a": 1, "b": 2}),
    Case("no comma on the next line", '{"a": 1\n"b": 2}', {"a": 1, "b": 2}),
    Case("no comma between objects", '[{"a": 1} {"b": 2}]', [{"a": 1}, {"b": 2}]),
    Case("no comma on the line", '{"a": 1 "b": 2}', {"a": 1}, "broken"),
    Case("no comma between words", "[1 2]", [1], "broken"),
    Case("a line end in a string", '["a\nb"]', ["a\nb"]),
    Case("escapes", r'["\n\t\"\\\/\u00e9\ud83c\udf75", 1,]', ['\n\t"\\/é🍵', 1]),
    Case("unknown escapes", r"['\d\_\'', 1]", [r"\d_'", 1]),
    Case("forgotten brackets", '[{"a": [1, {"b": 2], "c": 3]', [{"a": [1, {"b": 2}], "c": 3}]),
    Case("brackets too many", '{"a": [1]], "b": 2}', {"a": [1], "b": 2}),
    Case("one name twice, lists", '{"a": [1], "a": [2], "b": 1,}', {"a": [1, 2], "b": 1}),
    Case("one name twice, objects", '{"a": {"b": 1}, "a": {"c": 2},}', {"a": [{"b": 1}, {"c": 2}]}),
    Case("a bare word", "[see]", [], "broken"),
    Case("an unquoted sentence", '{"a": x y}', {}, "broken"),
    Case("quotes within", '["a "b" c"]', ["a "], "broken"),
    Case("a quote that closes early", "[{'a': 'b'} c'}]", [{"a": "b"}], "broken"),
    Case("a sum", "[2 + 3]", [2], "broken"),
    Case("ends in a string", '{"a": "b', {}, "ended"),
    Case("ends in a number", "[1, 2", [1], "ended"),
    Case("ends in a word", "[nul", [], "ended"),
    Case("ends after a name", '{"a"', {}, "ended"),
    Case("ends after a colon", '{"a":', {}, "ended"),
    Case("ends within", '[{"a": 1}, {"b": 2', [{"a": 1}, {}], "ended"),
    Case("ends at once", "[", [], "ended"),
]


@over("case", CASES)
def test_loosely(case: Case) -> None:
    """What stands between its own marks is read; reading stops where something does not."""
    reading = read_loosely(case.text, 0)
    assert (reading.value, reading.state) == (case.value, case.state)
    assert (reading.end == len(case.text)) == (case.state != "broken")


def test_halves() -> None:
    """An object knows whether it was closed, and so does a list."""
    value: Any = read_loosely('{"a": [{"b": 1}, {"c": 2', 0).value
    assert not value.whole
    assert not value["a"].whole
    assert [one.whole for one in value["a"]] == [True, False]


@pytest.mark.parametrize("read", [read_strictly, read_loosely])
def test_one_name_twice(read: Any) -> None:
    """A name with two values is known for it, one with the same value twice is not."""
    reading = read('{"a": 1, "a": 2, "b": 3, "b": 3, "c": true, "c": 1, "d": {}, "d": 1}', 0)
    assert isinstance(reading.value, JsonObject)
    assert reading.value.twice == {"a", "c", "d"}


def test_names_tell_an_answer_from_prose() -> None:
    """Whether a name with a colon was read is known, however reading ended."""
    assert read_loosely('{"a": x', 0).named
    assert read_loosely('[{"a": 1}, x', 0).named
    assert not read_loosely("[see below]", 0).named


def test_strictly() -> None:
    """Strict reading takes JSON, says where it ends, and takes nothing else."""
    reading = read_strictly('x [1, {"a": "]"}] y', 2)
    assert reading
    assert (reading.value, reading.end, reading.state) == ([1, {"a": "]"}], 17, "whole")
    number = read_strictly("[1]", 1)
    assert number
    assert number.value == 1
    assert read_strictly("[1,]", 0) is None
    assert read_strictly("x", 0) is None


@over("depth", [64, 65, 900, 10_000, 100_000])
@over("opening", ["[", '{"a":'])
def test_depth(depth: int, opening: str) -> None:
    """Sixty-four levels are read; more are not, whatever the recursion limit is."""
    text = opening * depth + "1" + ("]" if opening == "[" else "}") * depth
    strict = read_strictly(text, 0)
    loose = read_loosely(text, 0)
    assert (strict is not None) == (loose.state == "whole") == (depth <= 64)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.lists(values, max_size=4) | st.dictionaries(st.text(), values, max_size=4),
    st.booleans(),
    st.sampled_from([None, 0, 2]),
)
def test_json_is_read_as_json(value: Any, ascii_only: bool, indent: int | None) -> None:
    """What is JSON to the letter says the same by the wider rules, and with a comma too many."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    strict = read_strictly(text, 0)
    assert strict
    assert strict.value == value
    loose = read_loosely(text, 0)
    assert (loose.value, loose.end, loose.state) == (value, len(text), "whole")
    carelessly = f"{text[:-1]},{text[-1]}"
    assert read_loosely(carelessly, 0).value == value


@given(st.sampled_from("[{"), st.text())
def test_any_text(bracket: str, text: str) -> None:
    """Whatever follows a bracket, reading ends within the text and says how."""
    reading = read_loosely(bracket + text, 0)
    assert 1 <= reading.end <= len(text) + 1
    assert reading.state in ("whole", "ended", "broken")
