"""A reply's operations: the stored replies as a rate, and each rule by itself."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.errors import ReplyUnusable
from adaptive.learn.extraction import extraction
from adaptive.learn.operations import Extraction, journal_of, read_extraction, read_journal
from adaptive.model import (
    ABOUT,
    CATEGORIES,
    FACT_KINDS,
    Completion,
    CompletionRequest,
    Outcome,
    Proof,
)
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


@pytest.mark.parametrize(
    ("fields", "until"),
    [({}, "2027-01-31"), ({"until": None}, ""), ({"until": "2027-03"}, "2027-03-31")],
    ids=["left out", "null", "another"],
)
def test_until_of_an_update(fields: dict[str, Any], until: str) -> None:
    """An update keeps the end of the memory, unless it says another one, or that there is none."""
    item = {"operation": "UPDATE", "id": "m-1", "content": "User likes coffee.", **fields}
    (one,) = read(reply_of(item)).operations
    assert (one.draft.until, one.draft.tags, one.draft.confidence) == (until, ("preference",), 0.8)


def test_copied_end() -> None:
    """The end that a memory is shown with is no part of what an update says."""
    item = {"operation": "UPDATE", "id": "m-1", "content": "User likes cocoa. (until 2027-01-31)"}
    (one,) = read(reply_of(item)).operations
    assert one.draft.content == "User likes cocoa."


CONFIDENCES = [(0.4, 0.4), ("0,4", 0.4), ("40%", 0.4), (40, 0.4), ("low", 0.3), (9, 1), ("so", 1)]


@pytest.mark.parametrize(("said", "confidence"), CONFIDENCES, ids=str)
def test_confidence(said: Any, confidence: float) -> None:
    """A confidence is read in the forms that models write; one that is odd spoils nothing."""
    (one,) = read(reply_of({**LISBON_ITEM, "confidence": said})).operations
    assert one.draft.confidence == pytest.approx(confidence)


@dataclass(frozen=True)
class Refused:
    """An item that is refused, and the text by which the user is told about it."""

    id: str
    item: Any
    content: str


REFUSED = [
    Refused("content", {"operation": "MERGE", "id": "m-1", "content": "a b"}, "a b"),
    Refused("id", {"operation": "DELETE", "id": "m-9"}, "m-9"),
    Refused("a number", {"operation": "NEW", "content": 5}, "5"),
    Refused("under another name", {"operation": "UPDATE", "text": "a\n b"}, "a b"),
    Refused("a long text", {"operation": "NEW", "content": "x" * 4001}, "x" * 200),
    Refused("NUL and half a character", {"operation": "UPDATE", "content": "a\0\ud83cb"}, "ab"),
    Refused("a list", {"operation": "NEW", "content": ["a", "b"]}, "a b"),
    Refused("deep lists", {"operation": "NEW", "content": json.loads("[" * 60 + "]" * 60)}, ""),
    Refused("no object", "User likes tea.", ""),
    Refused("null", None, ""),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.id)
def test_what_was_refused_is_named(case: Refused) -> None:
    """The user is told which fact was refused, and the facts beside it are taken."""
    found = read(reply_of(LISBON_ITEM, case.item, DOG_ITEM))
    assert told(found) == (LISBON, DOG)
    ((content, reason),) = [(one.content, one.reason) for one in found.refused]
    assert content == case.content
    assert reason


@pytest.mark.parametrize(
    ("valves", "bank"),
    [
        ({"allowed_memory_banks": "Life, Work", "default_memory_bank": "Life"}, "Life"),
        ({"default_memory_bank": " "}, "General"),
    ],
    ids=["own", "none"],
)
def test_default_bank(valves: dict[str, Any], bank: str) -> None:
    """A fact for which the model names no bank goes to the admin's default."""
    extraction = read_extraction(
        Completion(reply_of(LISBON_ITEM)), OFFERED, hook_settings(**valves)
    )
    assert [one.draft.bank for one in extraction.operations] == [bank]


def test_nothing_was_offered() -> None:
    """Where no memory was shown no id is known, whatever the store holds."""
    text = reply_of(LISBON_ITEM, {"operation": "DELETE", "id": "m-1"})
    extraction = read_extraction(Completion(text), [], SETTINGS)
    assert told(extraction) == (LISBON,)
    assert [one.content for one in extraction.refused] == ["m-1"]


def test_too_many() -> None:
    """Of more than thirty facts the first are taken, and how many there were is told."""
    extraction = read(reply_of(*({**LISBON_ITEM, "content": f"Fact {n}."} for n in range(35))))
    assert [one.draft.content for one in extraction.operations] == [f"Fact {n}." for n in range(30)]
    assert extraction.refused == (Outcome("rejected", "5 more", "too many facts in one reply"),)


def test_journal_of_another_form() -> None:
    """What was written by another version, or not by us at all, is read as none."""
    for text in ("", "[]", "{}", '{"operations": [{"kind": "BURN"}], "refused": []}'):
        assert read_journal(text) is None


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


@over(
    "reply",
    [
        reply_of(LISBON_ITEM, DOG_ITEM),
        '{"operations": []}',
        reply_of({**LISBON_ITEM, "kind": "META"}),
        reply_of(*({**LISBON_ITEM, "content": f"Fact {n}."} for n in range(35))),
    ],
)
async def test_no_second_question(reply: str) -> None:
    """Where nothing would be better for it the model is not asked again."""
    assert await second_question(reply) == ""


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


# Any reply

json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
item_like = st.fixed_dictionaries(
    {"operation": st.sampled_from(["NEW", "UPDATE", "DELETE"]) | json_like},
    optional={
        "id": st.none() | st.sampled_from(sorted(IDS)) | json_like,
        "content": st.none() | st.text() | json_like,
        "text": st.text() | json_like,
        "memory": st.sampled_from(sorted(IDS)) | json_like,
        "type": st.sampled_from(["add", "META", "goal"]) | json_like,
        "arguments": json_like,
        "tags": st.none() | st.lists(st.sampled_from(CATEGORIES)) | json_like,
        "memory_bank": st.none() | json_like,
        "confidence": st.none() | st.floats() | json_like,
        "importance": st.none() | st.floats() | json_like,
        "kind": st.none() | st.sampled_from(["FACT", "META"]) | json_like,
        "evidence": st.none() | st.text() | json_like,
        "about": st.none() | st.sampled_from(ABOUT) | json_like,
        "until": st.none() | st.dates().map(str) | json_like,
    },
)


def assert_sound(extraction: Extraction) -> None:
    """Each operation can be carried out, and each refusal can be told."""
    for one in extraction.operations:
        assert (one.id in IDS) == (one.kind != "NEW")
        assert one.draft.content or one.kind == "DELETE"
        assert one.draft.content.encode() is not None
        assert "\0" not in one.draft.content
        assert 0 <= one.draft.confidence <= 1
        assert 1 <= one.draft.importance <= 10
        assert one.draft.bank in (*SETTINGS.banks, "Personal", "Work")
        assert set(one.draft.tags) <= set(CATEGORIES)
        assert one.proof.about in ("", *ABOUT)
        assert one.proof.kind in ("", *FACT_KINDS)
        assert all(one.proof.evidence)
    for refused in extraction.refused:
        assert refused.status == "rejected"
        assert refused.reason
        assert refused.content.encode() is not None


@given(st.lists(item_like, max_size=3) | st.lists(json_like, max_size=3))
def test_any_items(items: list[Any]) -> None:
    """Whatever the items are, each becomes a sound operation or a refusal with a reason."""
    extraction = read(reply_of(*items))
    assert_sound(extraction)
    assert bool(items) >= bool(extraction.operations or extraction.refused)


MARKS = (
    "```json\n",
    "<think>",
    "</think>",
    "[",
    "]",
    "{",
    "}",
    '"',
    "'",
    "\\",
    ":",
    ",",
    "//",
    "“",
)
PIECES = (
    '{"operations": [',
    '{"operation": "NEW", ',
    '"content": "User ',
    "'content': 'User's ",
    '"operation"',
    '"id": "m-1"',
    '"}',
    '"]}',
    json.dumps(LISBON_ITEM),
    "DELETE",
    "None",
    "0.",
    "\ud800",
    "\0",
    "\n",
)
noise = st.lists(st.sampled_from(MARKS + PIECES) | st.text(max_size=3), max_size=14).map("".join)


@given(noise | st.text() | st.binary().map(lambda raw: raw.decode("latin-1")), st.booleans())
def test_any_text(text: str, cut: bool) -> None:
    """Whatever a model says gives sound operations or ``ReplyUnusable``, and nothing else."""
    try:
        assert_sound(read(text, cut=cut))
    except ReplyUnusable as error:
        assert str(error)


contents = st.text(min_size=1, max_size=30) | noise
valid_items = st.lists(
    st.fixed_dictionaries(
        {"operation": st.just("NEW"), "content": contents},
        optional={"tags": st.lists(st.sampled_from(CATEGORIES), max_size=2), "id": st.none()},
    )
    | st.fixed_dictionaries({"operation": st.just("DELETE"), "id": st.sampled_from(sorted(IDS))})
    | st.fixed_dictionaries(
        {"operation": st.just("UPDATE"), "id": st.sampled_from(sorted(IDS)), "content": contents}
    ),
    min_size=1,
    max_size=4,
)
AROUND = (
    "Sure, here you are:",
    "it's the user's",
    "[1]",
    "{see}",
    "{}",
    "(a) [b",
    "{ c",
    "] }",
    "\n",
    " ",
    "```",
    "```json\n",
    "- ",
    "1. ",
    "<b>",
    "</answer>",
    ":-[",
    "#",
    "//",
    "/*",
    "里斯本",
    "“so”",
    "<think>maybe [] or {</think>",
)
around = st.lists(st.sampled_from(AROUND), max_size=5).map(" ".join)


@given(valid_items, around, around, st.booleans(), st.sampled_from([None, 1]))
def test_garbage_around(
    items: list[Any], before: str, after: str, bare: bool, indent: int | None
) -> None:
    """The operations of a valid reply are the same whatever stands around it."""
    answer = json.dumps(items, indent=indent) if bare else reply_of(*items, indent=indent)
    assert read(f"{before} {answer} {after}").operations == read(answer).operations


def loosely(value: Any) -> str:
    """A value as a careless writer of JSON puts it: Python's quotes and words, commas, comments."""
    if isinstance(value, dict):
        fields = (f"{name!r}: {loosely(inner)}," for name, inner in value.items())
        return "{" + " /* a {comment} */ ".join(fields) + "}"
    if isinstance(value, list):
        return "[" + "".join(f"{loosely(inner)}, # next\n" for inner in value) + "]"
    return repr(value)


plain_contents = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp", "Cf", "Cn", "Co"]),
    min_size=1,
    max_size=30,
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"operation": st.just("NEW"), "content": plain_contents},
            optional={"id": st.none(), "confidence": st.floats(0, 1)},
        ),
        min_size=1,
        max_size=3,
    )
)
def test_written_loosely(items: list[Any]) -> None:
    """Nothing is changed by other quotes: a fact arrives to the letter, or not at all."""
    strict = read(reply_of(*items)).operations
    try:
        found = read(loosely({"operations": items})).operations
    except ReplyUnusable:
        return
    assert set(found) <= set(strict)


@given(valid_items, st.integers(0, 10**6), st.booleans())
def test_cut_anywhere(items: list[Any], place: int, cut: bool) -> None:
    """A valid reply that is cut gives the first of its operations, each as it was."""
    text = reply_of(*items)
    whole = read(text).operations
    try:
        found = read(text[: place % len(text)], cut=cut).operations
    except ReplyUnusable:
        return
    assert found == whole[: len(found)]


@given(valid_items)
def test_lines_and_lists(items: list[Any]) -> None:
    """One object a line, a bare list and a list of calls say the same as the form asked for."""
    whole = read(reply_of(*items)).operations
    assert read("\n".join(map(json.dumps, items))).operations == whole
    assert read(json.dumps(items)).operations == whole
    assert read(json.dumps({"response": reply_of(*items)})).operations == whole
