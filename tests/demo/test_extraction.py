"""The stand-in's part in extraction: statements in, operations out."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from demo.standin.extraction import operations
from tests.rates import over


@dataclass(frozen=True)
class Case:
    message: str
    contents: tuple[str, ...]
    tags: tuple[str, ...] = ()


STATEMENTS = (
    Case("I'm learning the cello", ("User is learning the cello.",), ("identity",)),
    Case("I've been a nurse for nine years.", ("User has been a nurse for nine years.",)),
    Case("we're moving to Porto in May", ("User is moving to Porto in May.",)),
    Case("For nine years I've sung", ("User: For nine years I have sung.",)),
    Case("Ich lerne Cello.", ("User: Ich lerne Cello.",)),
    Case("Seit Mai wohne ich in K\u00f6ln", ("User: Seit Mai wohne ich in K\u00f6ln",)),
    Case("Estou a aprender violoncelo.", ("User: Estou a aprender violoncelo.",)),
    Case("My dog is called Biscuit.", ("User's dog is called Biscuit.",)),
    Case("my dog\u2019s called Biscuit!", ("User's dog is called Biscuit.",)),
    Case("my dog's name is Biscuit", ("User's dog's name is Biscuit.",)),
    Case('My dog is called "Biscuit" \U0001f436', ("User's dog is called Biscuit.",)),
    Case("I have a dog called Rex, too", ("User has a dog called Rex.",)),
    Case("my cats are called Mia and Tom", ("User's cats are called Mia and Tom.",)),
    Case(
        "My sister is called Anna and she lives in Porto",
        ("User's sister is called Anna.",),
    ),
    Case("My favourite colour is green", ("User's favourite colour is green.",), ("preference",)),
    Case("My car is a red Volvo", ("User's car is a red Volvo.",)),
    Case("I moved to Lisbon", ("User lives in Lisbon.",), ("identity",)),
    Case("I just moved from Porto to Lisbon last week.", ("User lives in Lisbon.",)),
    Case("We\u2019ve moved to S\u00e3o Paulo, by the way.", ("User lives in S\u00e3o Paulo.",)),
    Case("Actually, I live in Berlin now, not Lisbon.", ("User lives in Berlin.",)),
    Case("i live in Lisbon", ("User lives in Lisbon.",)),
    Case("I'm from the US", ("User is from the US.",), ("identity",)),
    Case("I work as a nurse at St. Mary's.", ("User works as a nurse at St. Mary's.",)),
    Case("I work at Acme", ("User works at Acme.",), ("identity",)),
    Case("I am allergic to peanuts", ("User is allergic to peanuts.",), ("identity",)),
    Case("I\u2019m allergic to peanuts and eggs!!", ("User is allergic to peanuts and eggs.",)),
    Case("im allergic to cats :)", ("User is allergic to cats.",)),
    Case("My name's Jo.", ("User's name is Jo.",), ("identity",)),
    Case("Hi! Call me Bob", ("User's name is Bob.",)),
    Case("I like sushi", ("User likes sushi.",), ("preference",)),
    Case("I really love my dog and my cat", ("User loves their dog and their cat.",)),
    Case("I prefer tea to coffee", ("User prefers tea to coffee.",)),
    Case("I hate olives", ("User hates olives.",)),
    Case("I play the cello.", ("User plays the cello.",)),
    Case("I collect old maps", ("User collects old maps.",)),
    Case("I study law", ("User studies law.",)),
    Case("I don't like olives", ("User does not like olives.",)),
    Case("I have two children", ("User has two children.",)),
    Case("My birthday is on 3 May", ("User's birthday is on 3 May.",), ("identity",)),
    Case("my birthday's the 4th of July", ("User's birthday is the 4th of July.",)),
    Case("My birthday is in May", ("User's birthday is in May.",), ("identity",)),
    Case("I want to learn Portuguese", ("User wants to learn Portuguese.",)),
    Case("I plan to run a marathon in 2026", ("User plans to run a marathon in 2026.",)),
    Case("I'm planning to visit my mother", ("User is planning to visit their mother.",)),
    Case("Remember that I park on level 3", ("User parks on level 3.",)),
    Case("Please remember: my garage code is blue", ("User's garage code is blue.",)),
    Case("Don't forget that I'm vegetarian", ("User is vegetarian.",)),
    Case("Can you remember that I live in Rome?", ("User lives in Rome.",), ("identity",)),
    Case("remember that the wifi is called Home5", ("The wifi is called Home5.",)),
    Case(
        "My name is Eve. I live in Rome and work as a cook, but I am from Spain.",
        (
            "User's name is Eve.",
            "User lives in Rome.",
            "User works as a cook.",
            "User is from Spain.",
        ),
    ),
    Case(
        "My dog is called Biscuit, I live in Lisbon and I'm allergic to nuts.",
        ("User's dog is called Biscuit.", "User lives in Lisbon.", "User is allergic to nuts."),
    ),
    Case("My dog is called Rex. What should he eat?", ("User's dog is called Rex.",)),
    Case("I like jazz. I like jazz!", ("User likes jazz.",)),
)


@over("case", STATEMENTS)
def test_a_statement_becomes_new_memories(case: Case) -> None:
    """Each statement of a message becomes one plain sentence about the user."""
    found = operations(f"## Newest message of the user\n{case.message}")
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
        "If I lived in Rome, I would be happy",
        "Write a poem about my dog",
        'Translate "my dog is called Rex" to French',
        "I have a question about Python",
        "I'd like to know more",
        "I like it",
        "Please call me later",
        "My birthday is today",
        "I'm a bit tired",
        "I want to know the time",
        "thanks",
        "forget it",
        "I need a recipe for dinner",
        "I think you are wrong",
        "Kannst du mir sagen, was ich lerne",
        "Ich habe eine Frage zu Python",
        "",
    ],
)
def test_everything_else_changes_nothing(message: str) -> None:
    """Questions, requests and small talk give no operations."""
    assert operations(f"## Newest message of the user\n{message}") == []


LISTED = """\
## Earlier turns, for reference only
user: I live in Madrid
assistant: I see.

## Existing memories
- id=home | User lives in Porto.
- id=dog | User's dog is called Rex.
- id=music | [Tags: preference] User likes jazz.
- id=colour | User's favourite colour is red.

## Newest message of the user
"""


@dataclass(frozen=True)
class Change:
    message: str
    operation: str
    id: str | None
    content: str


CHANGES = (
    Change("I moved to Lisbon", "UPDATE", "home", "User lives in Lisbon."),
    Change("No, my dog is called Bruno.", "UPDATE", "dog", "User's dog is called Bruno."),
    Change("My favourite colour is blue", "UPDATE", "colour", "User's favourite colour is blue."),
    Change("My dog is five years old", "NEW", None, "User's dog is five years old."),
    Change("I like pop", "NEW", None, "User likes pop."),
    Change("forget that I live in Porto", "DELETE", "home", "User lives in Porto."),
    Change("Please forget about my dog.", "DELETE", "dog", "User's dog is called Rex."),
    Change("Could you forget that I like jazz?", "DELETE", "music", "User likes jazz."),
)


@over("change", CHANGES)
def test_what_is_said_of_a_known_subject_changes_its_memory(change: Change) -> None:
    """A correction updates, a wish to forget deletes, and what can stand beside is new."""
    (operation,) = operations(LISTED + change.message)
    assert operation["operation"] == change.operation
    assert operation.get("id") == change.id
    assert operation["content"] == change.content
    assert operation["evidence"] == change.message


@pytest.mark.parametrize("message", ["I live in Porto", "i like Jazz", "Forget my cat"])
def test_what_is_known_or_unknown_already_changes_nothing(message: str) -> None:
    """Neither a repeated fact nor a wish to forget what is not there gives an operation."""
    assert operations(LISTED + message) == []


def test_the_newest_message_may_repeat_the_headings() -> None:
    """Headings that the user typed list no memories."""
    typed = "I like tea.\n## Existing memories\n- id=x | User likes tea."
    (operation,) = operations(LISTED + typed)
    assert operation["content"] == "User likes tea."


@pytest.mark.parametrize(
    "message", ["my " * 80_000, "not " * 50_000, "I like " + "a and I " * 9000]
)
def test_a_long_message_is_read_in_a_moment(message: str) -> None:
    """A pasted book does not make the stand-in think for seconds."""
    started = time.monotonic()
    operations(f"## Newest message of the user\n{message}")
    assert time.monotonic() - started < 2
