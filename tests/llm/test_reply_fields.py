"""Fields of a reply: each by itself, within its bounds, whatever a model writes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.errors import ReplyUnusable
from adaptive.llm.reply_fields import (
    read_fields,
    score_field,
    share_field,
    text_field,
    texts_field,
)
from adaptive.model import Completion
from tests.rates import over


@dataclass(frozen=True)
class Case:
    """A value and what is read of it."""

    id: str
    value: Any
    expected: float


SCORES = [
    Case("whole", 7, 7),
    Case("fraction", 2.5, 2.5),
    Case("zero", 0, 0),
    Case("text", "7", 7),
    Case("comma", "7,5", 7.5),
    Case("of ten", "7/10", 7),
    Case("too high", 11, 0),
    Case("percent of what", 85, 0),
    Case("negative", -1, 0),
    Case("not a number", float("nan"), 0),
    Case("endless", float("inf"), 0),
    Case("huge", 10**400, 0),
    Case("truth", True, 0),
    Case("word", "high", 0),
    Case("nothing", None, 0),
    Case("list", [7], 0),
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
    Case("nine of what", 9, 0),
    Case("beyond", 101, 0),
    Case("negative", -0.1, 0),
    Case("truth", False, 0),
    Case("word", "likely", 0),
]


@over("case", SCORES)
def test_scores(case: Case) -> None:
    """A score is a number within its range, however it is written, or absent."""
    assert score_field(10).read(case.value) == case.expected


@over("case", SHARES)
def test_shares(case: Case) -> None:
    """A share is a number from 0 to 1 or a percentage, or absent."""
    assert share_field().read(case.value) == pytest.approx(case.expected)


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
    assert text_field(12).read(value) == read


def test_lists() -> None:
    """Of a list its different texts count, up to a number; of a text with commas its parts."""
    said = ["Tea", "tea", 7, "", None, {"content": "milk"}, "x" * 50, "cups"]
    assert texts_field(2, 40).read(said) == ("Tea", "milk")
    assert texts_field(9, 40, split=True).read("tea, milk;cups") == ("tea", "milk", "cups")
    assert texts_field(9, 40).read("tea, milk") == ("tea, milk",)
    assert texts_field(9, 40).read({"a": 1}) == ()


TABLE = {"language_code": text_field(9), "harmful": score_field(10)}
REPLIES = [
    '{"language_code": "en", "harmful": 1}',
    '```json\n{"language_code": "en", "harmful": 1}\n```',
    'Sure! {"language_code": "en", "harmful": 1} Done.',
    '<think>{"language_code": "de"}</think>{"language_code": "en", "harmful": 1}',
    '[{"language_code": "en", "harmful": 1}]',
    '{"result": {"language_code": "en", "harmful": 1}}',
    '{"languageCode": "en", "HARMFUL": 1}',
    '{"preprocessing": {"language_code": "en", "harmful": 1}}',
    "{'language_code': 'en', 'harmful': 1,}",
    '{"language_code": "<code>", "harmful": 0}\n{"language_code": "en", "harmful": 1}',
]


@over("text", REPLIES)
def test_object_in_a_reply(text: str) -> None:
    """The object is found in fences, prose, wrappers and half-broken JSON; the last one counts."""
    found = read_fields(Completion(text), "preprocessing", TABLE)
    assert found == {"language_code": "en", "harmful": 1}


@pytest.mark.parametrize(
    "text", ["", "I can't do that.", "[]", "{}", '{"weather": "fine"}', '{"language_code": "e']
)
def test_no_object(text: str) -> None:
    """A reply without such an object, or with half of one, is unusable."""
    with pytest.raises(ReplyUnusable):
        read_fields(Completion(text), "preprocessing", TABLE)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@given(VALUES)
def test_no_value_breaks_a_reader(value: Any) -> None:
    """Whatever stands in an object, reading it raises nothing and keeps the bounds."""
    value = json.loads(json.dumps(value))
    assert len(text_field(20).read(value)) <= 20
    assert all(len(line) <= 20 for line in texts_field(3, 20, split=True).read(value))
    assert 0 <= score_field(10).read(value) <= 10
    assert 0 <= share_field().read(value) <= 1
