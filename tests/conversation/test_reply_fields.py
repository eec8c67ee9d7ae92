"""Fields of a reply: each by itself, within its bounds, whatever a model writes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.conversation.reply_fields import (
    ReplyFields,
    distinct_lines,
    reply_fields,
    reply_line,
)
from adaptive.errors import ReplyUnusable
from adaptive.model import Completion
from tests.rates import over


@dataclass(frozen=True)
class Case:
    """A value and what is read of it; ``expected`` is ``None`` where it is absent."""

    id: str
    value: Any
    expected: float | None


SCORES = [
    Case("whole", 7, 7),
    Case("fraction", 2.5, 2.5),
    Case("zero", 0, 0),
    Case("text", "7", 7),
    Case("comma", "7,5", 7.5),
    Case("of ten", "7/10", 7),
    Case("too high", 11, None),
    Case("percent of what", 85, None),
    Case("negative", -1, None),
    Case("not a number", float("nan"), None),
    Case("endless", float("inf"), None),
    Case("huge", 10**400, None),
    Case("truth", True, None),
    Case("word", "high", None),
    Case("nothing", None, None),
    Case("list", [7], None),
]
SHARES = [
    Case("share", 0.9, 0.9),
    Case("text", "0.9", 0.9),
    Case("percent", "90%", 0.9),
    Case("percent with space", "90 %", 0.9),
    Case("small percent", "5%", 0.05),
    Case("hundred", 90, 0.9),
    Case("all", 1, 1),
    Case("none", 0, 0),
    Case("nine of what", 9, None),
    Case("beyond", 101, None),
    Case("negative", -0.1, None),
    Case("truth", False, None),
    Case("word", "likely", None),
]


@over("case", SCORES)
def test_scores(case: Case) -> None:
    """A score is a number within its range, however it is written, or absent."""
    assert ReplyFields({"harmful": case.value}).score("harmful", 10) == case.expected


@over("case", SHARES)
def test_shares(case: Case) -> None:
    """A share is a number from 0 to 1 or a percentage, or absent."""
    read = ReplyFields({"chance": case.value}).share("chance")
    assert read == (None if case.expected is None else pytest.approx(case.expected))


def test_names_in_any_spelling() -> None:
    """Fields are found by camel case, hyphens and capitals, too."""
    assert ReplyFields({"languageCode": "en"}).line("language_code", 9) == "en"
    assert ReplyFields({"Language-Code": "en"}).line("language_code", 9) == "en"


@over(
    "value, read",
    [
        ("  two\n lines ", "two lines"),
        ("a\x00b\ud800c", "abc"),
        ("<the title>", ""),
        ("...", ""),
        ("too long for it", ""),
        (7, ""),
        (None, ""),
    ],
)
def test_lines(value: Any, read: str) -> None:
    """A text is one line without what can't be stored; too long, or only the form, it is absent."""
    assert reply_line(value, 12) == read


def test_lists() -> None:
    """Of a list its different texts count, up to a number; of a text with commas its parts."""
    fields = ReplyFields({"tags": ["Tea", "tea", 7, "", None, "x" * 50, "milk", "cups"]})
    assert fields.lines("tags", 2, 40) == ("Tea", "milk")
    assert ReplyFields({"tags": "tea, milk;cups"}).lines("tags", 9, 40, split=True) == (
        "tea",
        "milk",
        "cups",
    )
    assert ReplyFields({"tags": "tea, milk"}).lines("tags", 9, 40) == ("tea, milk",)
    assert ReplyFields({"tags": {"a": 1}}).lines("tags", 9, 40) == ()
    assert distinct_lines(["a", "A", "", "b"], 5) == ("a", "b")


REPLIES = [
    '{"language_code": "en", "harmful": 1}',
    '```json\n{"language_code": "en", "harmful": 1}\n```',
    'Sure! {"language_code": "en", "harmful": 1} Done.',
    '<think>{"language_code": "de"}</think>{"language_code": "en", "harmful": 1}',
    '[{"language_code": "en", "harmful": 1}]',
    '{"result": {"language_code": "en", "harmful": 1}}',
    '{"preprocessing": {"language_code": "en", "harmful": 1}}',
    "{'language_code': 'en', 'harmful': 1,}",
    '{"language_code": "<code>", "harmful": 0}\n{"language_code": "en", "harmful": 1}',
]


@over("text", REPLIES)
def test_object_in_a_reply(text: str) -> None:
    """The object is found in fences, prose, wrappers and half-broken JSON; the last one counts."""
    fields = reply_fields(Completion(text), "preprocessing", ["language_code", "harmful"])
    assert fields.line("language_code", 9) == "en"
    assert fields.score("harmful", 10) == 1


@pytest.mark.parametrize(
    "text", ["", "I can't do that.", "[]", "{}", '{"weather": "fine"}', '{"language_code": "e']
)
def test_no_object(text: str) -> None:
    """A reply without such an object, or with half of one, is unusable."""
    with pytest.raises(ReplyUnusable):
        reply_fields(Completion(text), "preprocessing", ["language_code"])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(VALUES)
def test_no_value_breaks_a_reader(value: Any) -> None:
    """Whatever stands in an object, reading it raises nothing and keeps the bounds."""
    fields = ReplyFields(json.loads(json.dumps({"x": value})))
    assert len(fields.line("x", 20)) <= 20
    assert all(len(line) <= 20 for line in fields.lines("x", 3, 20, split=True))
    assert 0 <= (fields.score("x", 10) or 0) <= 10
    assert 0 <= (fields.share("x") or 0) <= 1
