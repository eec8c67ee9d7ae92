"""A reply's operations: the stored replies as a rate, and each rule by itself."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest

from adaptive.core.errors import ReplyUnusable
from adaptive.core.model import (
    ABOUT,
    FACT_KINDS,
    Completion,
    CompletionRequest,
    Proof,
)
from adaptive.learn.extraction import extraction
from adaptive.learn.operations import Extraction, journal_of, read_extraction, read_journal
from tests.fakes import ScriptedModel, hook_settings, turn
from tests.llm.reply_cases import OFFERED, ReplyCase, stored_replies
from tests.rates import over

SETTINGS = hook_settings()
NOW = datetime(2026, 11, 21, 9, 5, tzinfo=UTC)
IDS = {memory.id for memory in OFFERED}
LISBON_ITEM = {"operation": "NEW", "content": "User lives in Lisbon."}
DOG_ITEM = {"operation": "NEW", "content": "User has a dog."}
LISBON = ("NEW", "", "User lives in Lisbon.")
DOG = ("NEW", "", "User has a dog.")
# 418 of 514 were read when this was written; of the rest the model is asked again.
LEAST_READ = 0.78


def reply_of(*items: Any, **layout: Any) -> str:
    """A reply with these items, to the letter."""
    return json.dumps({"operations": list(items)}, **layout)


def read(text: str, *, cut: bool = False) -> Extraction:
    """What is made of a reply, the memories of the set offered."""
    return read_extraction(Completion(text, cut), OFFERED, SETTINGS)


def told(extraction: Extraction) -> tuple[tuple[str, str, str], ...]:
    """The operations as kind, id and content."""
    return tuple((one.kind, one.id, one.draft.content) for one in extraction.operations)


def taken(reply: str, *, cut: bool = False) -> tuple[tuple[str, str, str], ...]:
    """What is taken from a reply; nothing of one that can't be used."""
    try:
        return told(read(reply, cut=cut))
    except ReplyUnusable:
        return ()


@cache
def read_cases() -> list[tuple[ReplyCase, tuple[tuple[str, str, str], ...]]]:
    """Each stored reply with what is taken from it."""
    return [(case, taken(case.reply, cut=case.cut)) for case in stored_replies()]


def test_rate_of_replies_read() -> None:
    """Of the stored replies most are read; what is missed is printed, and the model asked again."""
    missed = [case.id for case, found in read_cases() if found != case.operations]
    rate = 1 - len(missed) / len(read_cases())
    sys.stdout.write("\n".join([f"{rate:.1%} are read; missed:", *missed, ""]))
    assert len(read_cases()) == 514
    assert rate >= LEAST_READ


def test_nothing_wrong_is_read() -> None:
    """No stored reply yields an operation that it does not hold: each is as expected, or absent."""
    wrong = {
        case.id: found for case, found in read_cases() if not set(found) <= set(case.operations)
    }
    assert wrong == {}


def test_cut_at_every_character() -> None:
    """Of a reply that is cut anywhere nothing is taken that the whole of it does not hold."""
    wrong = [
        (case.id, end)
        for case, whole in read_cases()
        if whole and len(case.reply) < 600 and "</" not in case.reply
        for end in range(len(case.reply))
        if (found := taken(case.reply[:end], cut=case.cut)) != whole[: len(found)]
    ]
    assert wrong == []


PROOFS = [
    ({}, Proof()),
    ({"evidence": "I live  in\nLisbon"}, Proof(("I live in Lisbon",))),
    ({"evidence": ["I moved", "", 5, {}, "to Lisbon"]}, Proof(("I moved", "5", "to Lisbon"))),
    ({"evidence": {"quote": "x"}, "about": ["user"], "kind": 5}, Proof()),
    ({"about": "Assistant", "kind": " style "}, Proof((), "assistant", "STYLE")),
    ({"about": "them", "kind": "JOKE"}, Proof()),
    *(({"kind": kind.lower()}, Proof(kind=kind)) for kind in FACT_KINDS),
    *(({"about": about.upper()}, Proof(about=about)) for about in ABOUT),
]


@pytest.mark.parametrize(("fields", "proof"), PROOFS, ids=str)
def test_proof(fields: dict[str, Any], proof: Proof) -> None:
    """What the model says for a fact is kept under canonical names; what is odd is left out."""
    (one,) = read(reply_of({**LISBON_ITEM, **fields})).operations
    assert one.proof == proof
    found = read(reply_of({**LISBON_ITEM, **fields}))
    assert read_journal(journal_of(found)) == found


UNTIL = [
    ("2027-02-14", "2027-02-14"),
    ("2027-2-4", "2027-02-04"),
    ("2027-02-14T10:00:00Z", "2027-02-14"),
    ("2027-02", "2027-02-28"),
    ("2028-02", "2028-02-29"),
    ("2027", "2027-12-31"),
    (2027, "2027-12-31"),
    ("2027-02-30", ""),
    ("2027-13", ""),
    ("0000", ""),
    ("next week", ""),
    (None, ""),
    ("", ""),
    (["2027-02-14"], ""),
    (True, ""),
]


@pytest.mark.parametrize(("said", "until"), UNTIL, ids=str)
def test_until(said: Any, until: str) -> None:
    """The end is a day, of a month or a year the last; what is none is dropped."""
    (one,) = read(reply_of({**LISBON_ITEM, "until": said})).operations
    assert one.draft.until == until


# The second question


async def second_question(reply: str | Exception) -> str:
    """What is added to the question after a first answer; empty where it is not asked again."""
    model = ScriptedModel(reply, '{"operations": []}')

    async def ask_model(request: CompletionRequest) -> Completion:
        return await model.complete(request, "text")

    await extraction(ask_model, turn("I live in Lisbon."), OFFERED, SETTINGS, NOW)
    first, *more = [one.user for one in model.requests]
    return more[0].removeprefix(first) if more else ""


NOTES: list[tuple[str | Exception, str]] = [
    ("", "is empty"),
    ("<think>hm", "only reasoned"),
    ("Biscuit is a dog.", "no usable JSON"),
    ('{"operations": [{"operation": "NEW", "content": "Biscuit', "ends in the middle"),
    (f"{reply_of(LISBON_ITEM)} or rather {reply_of(DOG_ITEM)}", "several answers"),
    ("x" * 300_000, "far too long"),
    (f'{{"operations": [{json.dumps(LISBON_ITEM)}, {{"op', "was cut off"),
    (reply_of({"operation": "Biscuit", "content": "a b", "id": "m-1"}), "to save or delete it"),
    (reply_of({"operation": "DELETE", "id": "Biscuit"}), "one of the memories shown"),
    (reply_of({**LISBON_ITEM, "text": "User has Biscuit."}), "is empty or too long"),
    (reply_of({"operation": "NEW"}), "is empty or too long"),
    (reply_of("User has Biscuit."), "no operation"),
    (ReplyUnusable("the model answered with an error: 'Biscuit'"), "no JSON that can be read"),
]


@over("reply, wrong", NOTES)
async def test_second_question(reply: str | Exception, wrong: str) -> None:
    """The model is told in few words what was wrong, and nothing that anybody said."""
    note = await second_question(reply)
    assert wrong in note
    assert note.endswith("one JSON object of the form above, and nothing else.")
    assert len(note) < 300
    assert "Biscuit" not in note


def test_second_answer_adds() -> None:
    """What the first answer brought stays; the second brings what the first did not."""
    first = read(
        reply_of(
            LISBON_ITEM,
            {"operation": "UPDATE", "id": "m-1", "content": "User likes coffee."},
            {"operation": "DELETE", "id": "m-9"},
        )
    )
    second = read(
        reply_of(
            LISBON_ITEM,
            {"operation": "UPDATE", "id": "m-1", "content": "User likes cocoa."},
            DOG_ITEM,
            {"operation": "DELETE", "id": "m-2"},
            {"operation": "NEW", "content": 5},
        )
    )
    joined = first.joined(second)
    assert [(one.kind, one.id, one.draft.content) for one in joined.operations] == [
        ("NEW", "", "User lives in Lisbon."),
        ("UPDATE", "m-1", "User likes coffee."),
        ("NEW", "", "User has a dog."),
        ("DELETE", "m-2", ""),
    ]
    assert [one.content for one in joined.refused] == ["5"]
