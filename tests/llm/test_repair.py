"""What json-repair makes of broken JSON is taken only if it says what the text says."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.llm.repair import repaired_json
from tests.rates import over


@dataclass(frozen=True)
class Case:
    """A broken text, and what is taken of it."""

    id: str
    text: str
    value: Any = None


TAKEN = [
    Case("quotes within", '[{"content": "Says "hi" often"}]', [{"content": 'Says "hi" often'}]),
    Case("no comma", '{"a": "b c" "d": "e f"}', {"a": "b c", "d": "e f"}),
    Case("no quote before a name", '{"a": "b c", d": "e f"}', {"a": "b c", "d": "e f"}),
    Case("a bare word", "{operation: NEW}", {"operation": "NEW"}),
    Case("numbers", '{"a": 0.90, "b": 5, c": 1}', {"a": 0.9, "b": 5, "c": 1}),
    Case("escapes", '{"a": "x \\u00e9\\ny", c": "\\ud83c\\udf75 z"}', {"a": "x é\ny", "c": "🍵 z"}),
    Case("no closing brackets", '{"a": [{"b": "c d"}', {"a": [{"b": "c d"}]}),
]

REFUSED = [
    Case(
        "a sentence cut short at a comma", '[\n{"a": "User said "hi, there" once."},\n{"a": "b"}]'
    ),
    Case("a sentence without quotes", '{"a": User likes "tea" a lot}'),
    Case("a sentence without quotes, whole", "{a: User likes tea}"),
    Case("a quote forgotten", '{"a": "User likes tea, "b": "c"}'),
    Case("a sum", '{"a": 2 + 3}'),
    Case("an odd quote", '{"a": "5" nail", "b": null}'),
    Case("several values", '{"a": "b", c": 1} {"a": "d"}'),
    Case("words lost", '{"a": "b", "a": "c", d": 1}'),
    Case("no bracket at the end", '{"a": "b", c": 1'),
    Case("prose at once after it", '{"a": "b", c": 1} and so on'),
    Case("no brackets", "a"),
    Case("too long", '{"a": "b", c": 1, "d": "' + "x" * 17_000 + '"}'),
    Case("too deep", '{"a": ' * 990 + "x" + "}" * 990),
    Case("too many brackets", "[" * 3_000 + "x y" + "]" * 3_000),
]


@over("case", TAKEN)
def test_faithful(case: Case) -> None:
    """Where only punctuation was missing the result is taken, and its end is known."""
    assert repaired_json(case.text) == (case.value, len(case.text))


@over("case", REFUSED)
def test_unfaithful(case: Case) -> None:
    """Where a word or a number would be missing, new or moved, nothing is taken."""
    assert repaired_json(case.text) is None


@pytest.mark.parametrize("after", ["\n```\nDone [1].", "\n\nAnything else?", "```", "</tool_call>"])
def test_what_follows(after: str) -> None:
    """A fence, a tag and prose on its own line end the answer."""
    text = '{"a": "b c", d": 1}'
    assert repaired_json(text + after) == ({"a": "b c", "d": 1}, len(text))


@pytest.mark.parametrize("case", TAKEN, ids=lambda case: case.id)
def test_without_json_repair(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the package can't be imported nothing is repaired."""
    monkeypatch.setitem(sys.modules, "json_repair", None)
    assert repaired_json(case.text) is None


PIECES = (
    '{"a": "',
    '"b": ',
    '"',
    "'",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\\",
    "tea",
    "0.9",
    " ",
    "\n",
    "null",
)


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=15).map("".join))
def test_any_text(text: str) -> None:
    """Whatever the text is, what comes back stands in it, or nothing comes back."""
    repaired = repaired_json("{" + text + "}")
    if repaired:
        assert repaired[1] <= len(text) + 2
