"""Which messages may hold a fact about the user, and which need not be sent to a model."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.worth import (
    NO_WORDS,
    ONLY_ASKING,
    ONLY_PASTED,
    ONLY_POLITE,
    has_first_person,
    reason_to_skip,
)
from tests.rates import labelled_set, over

MESSAGES = labelled_set("worth_sending")
WORTH = [one["words"] for one in MESSAGES if one["skipped"] is None]


@dataclass(frozen=True)
class Skipped:
    """A message that holds nothing, and why."""

    words: str
    reason: str


SKIPPED = [Skipped(one["words"], one["skipped"]) for one in MESSAGES if one["skipped"]]


@over("words", WORTH, at_least=0.97)
def test_worth_sending(words: str) -> None:
    """What may hold a fact is sent to the model."""
    assert reason_to_skip(words) is None


@over("case", SKIPPED, at_least=0.95)
def test_not_worth_sending(case: Skipped) -> None:
    """What certainly holds no fact is not sent, and has its reason."""
    assert reason_to_skip(case.words) == case.reason


@pytest.mark.parametrize(
    "words",
    [
        "What is it? " * 400,
        "Explain this:" + " I am" * 20000,
        "```\n" + "my code\n" * 12000,
        "？" * 9,
    ],
)
def test_long_messages(words: str) -> None:
    """A message of any length gets an answer."""
    assert reason_to_skip(words) in (None, ONLY_PASTED, NO_WORDS)


@given(st.text(max_size=400))
def test_any_words(words: str) -> None:
    """Any message is judged, and one's own statement behind it makes it worth sending."""
    assert reason_to_skip(words) in (None, NO_WORDS, ONLY_PASTED, ONLY_ASKING, ONLY_POLITE)
    assert reason_to_skip(f"I live in Porto.\n{words}") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My dog is ill.", True),
        ("Как меня зовут", True),
        ("How do I sort a list?", False),
        ("Tell me a joke", False),
        ("Сколько будет дважды два", False),
        ("World War I ended", False),
    ],
)
def test_first_person(text: str, expected: bool) -> None:
    """Set phrases such as "how do I" are not about anybody."""
    assert has_first_person(text) is expected
