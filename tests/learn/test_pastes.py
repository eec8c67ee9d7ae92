"""Whose words the paragraphs of a message are, where nothing marks what was pasted."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from adaptive.core.model import Draft, Proposal
from adaptive.learn.grounding import screened
from adaptive.learn.pastes import (
    without_pastes,
)
from adaptive.learn.quotation import typed_words
from tests.fakes import hook_settings
from tests.fakes import turn as said_turn
from tests.rates import labelled_set, over, rate

# By an author who had not seen the rules: pastes in six forms, and what users say beside them.
MESSAGES: list[dict[str, Any]] = labelled_set("pasted_messages")
SETTINGS = hook_settings()
SENTENCE_ENDS = re.compile(
    r"(?<=[.!?\u2026])\s+|[\u3002\uff01\uff1f\n\u0964\u061f]+"
)


def pieces(text: str) -> Counter[str]:
    """How often each few signs in a row stand in a text, fewer where words are not spaced."""
    plain = re.sub(r"\W+", " ", text.lower())
    size = 2 if re.search("[\u3040-\u9fff]", plain) else 4
    return Counter(
        plain[place : place + size] for place in range(len(plain) - size + 1)
    )


def evidence(fact: str, message: str) -> str:
    """The sentence of a message that a truthful model quotes for a fact."""
    wanted = pieces(fact)

    def likeness(sentence: str) -> float:
        """How much of the fact a sentence says, for its length."""
        shared = (wanted & pieces(sentence)).total()
        return shared / (len(sentence) + 20) ** 0.3

    sentences = filter(str.strip, SENTENCE_ENDS.split(message))
    return max(sentences, key=likeness).strip()


def is_stored(fact: str, message: str, read: str) -> bool:
    """Whether a fact is stored that a model proposes for a message with a true quotation.

    ``read`` is the message as the lesson reads it.
    """
    proposal = Proposal(
        kind="NEW", draft=Draft(fact), evidence=(evidence(fact, message),)
    )
    return screened([proposal], said_turn(read), [], SETTINGS)[0].is_open


def stored_facts(label: str) -> list[tuple[str, str, bool]]:
    """Each of the facts under a label, with its message's name, and whether it is stored."""
    facts: list[tuple[str, str, bool]] = []
    for case in MESSAGES:
        message = case["message"]
        read = without_pastes(message)
        facts += [
            (case["id"], fact, is_stored(fact, message, read))
            for fact in case[label]
        ]
    return facts


def test_facts_of_others_are_not_stored() -> None:
    """What stands in a paste without marks becomes nobody's life, in six forms and 13 languages."""
    facts = stored_facts("pasted")
    rate(facts, lambda fact: not fact[2]).at_least(0.94)


def test_own_facts_beside_a_paste_are_stored() -> None:
    """What users say of themselves beside a paste stays theirs."""
    facts = stored_facts("own")
    rate(facts, lambda fact: fact[2]).at_least(0.88)


@dataclass(frozen=True)
class Own:
    """A message of which all is the user's own, though it has paragraphs beside a request."""

    id: str
    message: str


LIFE = (
    "I started as a kitchen porter at sixteen and worked my way up to sous chef.\n\n"
    "Since the twins were born I only do lunches, so I need something with regular hours."
)
OWN = [
    Own(
        "request behind facts", f"{LIFE}\n\nwrite me a cover letter from this"
    ),
    Own("question behind facts", f"{LIFE}\n\nWhat would you do in my place?"),
    Own("request before facts", f"Write a short bio for me.\n\n{LIFE}"),
    Own("facts alone", LIFE),
    Own("list", "About me:\n- nurse\n- two cats\n- allergic to penicillin"),
    Own(
        "facts behind a colon",
        "My situation: I'm a widower and I rent a room.",
    ),
    Own(
        "bio",
        "Improve my bio: I am a potter from Hull and I teach evening classes.",
    ),
    Own(
        "German",
        "Ich wohne in Kiel und habe zwei Kinder.\n\nWas koche ich heute?",
    ),
    Own(
        "French",
        "Je suis veuve et je vis seule.\n\nQue ferais-tu à ma place ?",
    ),
    Own("Spanish", "Trabajo de noche y duermo mal.\n\n¿Qué me aconsejas?"),
    Own("Japanese", "福岡に住んでいて、犬がいます。\n\nどうしたらいいですか"),
    Own(
        "two questions",
        "how do I get rust off a pan?\n\nand what should I cook?",
    ),
    Own("thanks", "Thanks, that worked!\n\nBy the way, we got a kitten."),
]


@over("case", OWN, at_least=0.9)
def test_own_paragraphs_stay(case: Own) -> None:
    """Paragraphs about the user beside a task, or a draft of their own, are typed."""
    assert without_pastes(case.message) == case.message


def test_paste_is_a_block_quote() -> None:
    """A paste is no source, whether it stands below a request, above it or behind a colon."""
    page = "Ten years ago I sold my bakery and moved to a lighthouse. I keep bees."
    for message in (
        f"Can you summarise this page?\n\n{page}",
        f"{page}\n\nwhat does the author mean by this?",
        f"Translate this into German: {page}",
    ):
        assert "bees" not in typed_words(without_pastes(message))
        assert "bees" in without_pastes(message)


def test_marks_of_messages_hold() -> None:
    """A fence stays closed, and what is typed behind it stays typed."""
    message = "Summarise this:\n```\nI keep bees.\n\nI live in Hull.\n```\nI'm a nurse."
    assert "nurse" in typed_words(without_pastes(message))


def test_first_line_above_a_list_is_typed() -> None:
    """What users say of themselves above a list stays theirs, even if the list reads as a text."""
    recipe = "\n".join(f"ingredient-{n}: {n}0 g" for n in range(1, 31))
    message = f"I am coeliac, what can take the place of flour?\n{recipe}\n\nWrite to b@example.org."
    assert "I am coeliac" in typed_words(without_pastes(message))


@pytest.mark.parametrize(
    "fact",
    [
        "User is 34 years old, coeliac, and runs ultras.",
        "User is 34.",
        "User is coeliac and runs ultras in the Highlands.",
    ],
)
def test_no_word_of_a_paste_proves_a_fact(fact: str) -> None:
    """What stands in a paste bears nothing out, whatever words of the user's are quoted for it."""
    read = (
        "> Hi all, I'm 34, coeliac, and I run ultras in the Highlands. Any advice?\n\n"
        "saw that on reddit. im 41 and only run for the bus. what works"
    )
    for quoted in ("saw that on reddit", "im 41 and only run for the bus"):
        proposal = Proposal(kind="NEW", draft=Draft(fact), evidence=(quoted,))
        assert not screened([proposal], said_turn(read), [], SETTINGS)[
            0
        ].is_open
