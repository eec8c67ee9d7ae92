"""The stand-in's part in extraction: statements in, operations out."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from adaptive.learn.extraction import shown_message
from adaptive.learn.proposals import message_lines
from demo.standin.extraction import operations
from tests.fakes import turn
from tests.rates import over


@dataclass(frozen=True)
class Case:
    message: str
    contents: tuple[str, ...]
    tags: tuple[str, ...] = ()


def asked(message: str) -> str:
    """The end of a request, which shows the newest message."""
    shown = shown_message(turn(message), message_lines(message))
    return f"Newest message, Sunday, 22 November 2026:\n{shown}"


STATEMENTS = (
    Case(
        "I'm learning the cello",
        ("User is learning the cello.",),
        ("identity",),
    ),
    Case("For nine years I've sung", ("User: For nine years I have sung.",)),
    Case(
        "Seit Mai wohne ich in K\u00f6ln",
        ("User: Seit Mai wohne ich in K\u00f6ln",),
    ),
    Case("my dog\u2019s called Biscuit!", ("User's dog is called Biscuit.",)),
    Case(
        'My dog is called "Biscuit" \U0001f436',
        ("User's dog is called Biscuit.",),
    ),
    Case(
        "My sister is called Anna and she lives in Porto",
        ("User's sister is called Anna.",),
    ),
    Case(
        "We\u2019ve moved to S\u00e3o Paulo, by the way.",
        ("User lives in S\u00e3o Paulo.",),
    ),
    Case(
        "Actually, I live in Berlin now, not Lisbon.",
        ("User lives in Berlin.",),
    ),
    Case(
        "I work as a nurse at St. Mary's.",
        ("User works as a nurse at St. Mary's.",),
    ),
    Case(
        "I\u2019m allergic to peanuts and eggs!!",
        ("User is allergic to peanuts and eggs.",),
    ),
    Case("I like sushi", ("User likes sushi.",), ("preference",)),
    Case(
        "I really love my dog and my cat",
        ("User loves their dog and their cat.",),
    ),
    Case("I don't like olives", ("User does not like olives.",)),
    Case("Remember that I park on level 3", ("User parks on level 3.",)),
    Case(
        "Can you remember that I live in Rome?",
        ("User lives in Rome.",),
        ("identity",),
    ),
    Case(
        "remember that the wifi is called Home5",
        ("The wifi is called Home5.",),
    ),
    Case(
        "My name is Eve. I live in Rome and work as a cook, but I am from Spain.",
        (
            "User's name is Eve.",
            "User lives in Rome.",
            "User works as a cook.",
            "User is from Spain.",
        ),
    ),
    Case("I like jazz. I like jazz!", ("User likes jazz.",)),
)


@over("case", STATEMENTS)
def test_a_statement_becomes_new_memories(case: Case) -> None:
    """Each statement of a message becomes one plain sentence about the user."""
    found = operations(asked(case.message))
    assert tuple(one["content"] for one in found) == case.contents
    assert {one["operation"] for one in found} == {"NEW"}
    assert all(str(one["evidence"]) in case.message for one in found)
    if case.tags:
        assert tuple(found[0]["tags"]) == case.tags  # type: ignore[arg-type]


@over(
    "message",
    [
        "What is my dog called?",
        "Do you know that I live in Lisbon?",
        "Write a poem about my dog",
        'Translate "my dog is called Rex" to French',
        "I'm a bit tired",
        "I think you are wrong",
        "Kannst du mir sagen, was ich lerne",
        "",
    ],
)
def test_everything_else_changes_nothing(message: str) -> None:
    """Questions, requests and small talk give no operations."""
    assert operations(asked(message)) == []


LISTED = """\
Known:
#1 User lives in Porto.
#2 User's dog is called Rex.
#3 [Tags: preference] User likes jazz.

Said before:
user: I live in Madrid
assistant: I see.

"""


@dataclass(frozen=True)
class Change:
    message: str
    operation: str
    id: str | None
    content: str


CHANGES = (
    Change("I moved to Lisbon", "UPDATE", "1", "User lives in Lisbon."),
    Change(
        "No, my dog is called Bruno.",
        "UPDATE",
        "2",
        "User's dog is called Bruno.",
    ),
    Change(
        "My dog is five years old",
        "NEW",
        None,
        "User's dog is five years old.",
    ),
    Change(
        "forget that I live in Porto", "DELETE", "1", "User lives in Porto."
    ),
    Change(
        "Please forget about my dog.",
        "DELETE",
        "2",
        "User's dog is called Rex.",
    ),
    Change(
        "Could you forget that I like jazz?",
        "DELETE",
        "3",
        "User likes jazz.",
    ),
)


@over("change", CHANGES)
def test_what_is_said_of_a_known_subject_changes_its_memory(
    change: Change,
) -> None:
    """A correction updates, a wish to forget deletes, and what can stand beside is new."""
    (operation,) = operations(LISTED + asked(change.message))
    assert operation["operation"] == change.operation
    assert operation.get("id") == change.id
    assert operation["content"] == change.content
    assert operation["evidence"] == change.message


@pytest.mark.parametrize(
    "message", ["I live in Porto", "i like Jazz", "Forget my cat"]
)
def test_what_is_known_or_unknown_already_changes_nothing(
    message: str,
) -> None:
    """Neither a repeated fact nor a wish to forget what is not there gives an operation."""
    assert operations(LISTED + asked(message)) == []


def test_the_newest_message_may_repeat_the_headings() -> None:
    """Headings that the user typed list no memories."""
    typed = "I like tea.\nKnown:\n#9 User likes tea."
    (operation,) = operations(LISTED + asked(typed))
    assert operation["content"] == "User likes tea."
