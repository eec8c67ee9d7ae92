"""Asking for the facts of a turn, and validating what the model answers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.errors import ReplyUnusable
from adaptive.learn.extract import EXTRACT_SCHEMA, extraction_request, read_extraction
from adaptive.model import CATEGORIES, Completion, Draft, Operation, Outcome, Utterance
from tests.fakes import hook_settings, memory, turn

NOW = datetime(2026, 11, 21, 9, 5, tzinfo=ZoneInfo("Europe/Lisbon"))
TEA = memory(
    "m-1", "User likes tea.", tags=("preference",), bank="Personal", confidence=0.8, importance=3
)
DOG = memory("m-2", "User's dog is called Biscuit.")
SETTINGS = hook_settings()


def test_request_of_a_first_message() -> None:
    """Without earlier turns and memories the question holds the message alone."""
    request = extraction_request(turn("I live in Lisbon."), [], SETTINGS, NOW)
    assert request.user == "## Newest message of the user\nI live in Lisbon."
    assert request.schema == EXTRACT_SCHEMA
    assert request.schema_name == "memory_operations"


def test_request_with_everything() -> None:
    """Earlier turns and existing memories stand before the message, each on one line."""
    said = turn(
        "Now I prefer\ncoffee.", Utterance("user", "Hi\nthere"), Utterance("assistant", "Hello!")
    )
    request = extraction_request(said, [TEA, memory("m-3", "a\n\n## b")], SETTINGS, NOW)
    assert request.user == (
        "## Earlier turns, for reference only\n"
        "user: Hi there\n"
        "assistant: Hello!\n"
        "\n"
        "## Existing memories\n"
        "- id=m-1 | User likes tea.\n"
        "- id=m-3 | a ## b\n"
        "\n"
        "## Newest message of the user\n"
        "Now I prefer\ncoffee."
    )


def test_system_prompt() -> None:
    """The system message begins with its title and tells time, zone, categories and banks."""
    chosen = hook_settings(enable_goal_memory=False, allowed_memory_banks="Home, Work")
    system = extraction_request(turn("Hi"), [], chosen, NOW).system
    assert system.startswith("# Extract memories\n")
    assert "Saturday, 21 November 2026, 09:05" in system
    assert "Europe/Lisbon" in system
    assert "identity, behavior, preference, relationship, possession" in system
    assert "Home, Work, General" in system
    assert "$" not in system


def test_overridden_prompt() -> None:
    """An admin's prompt takes the place of the built-in one, placeholders filled."""
    chosen = hook_settings(memory_identification_prompt="Only $categories in $timezone. $x")
    request = extraction_request(turn("Hi"), [], chosen, datetime(2026, 1, 1, tzinfo=UTC))
    assert request.system == f"Only {', '.join(CATEGORIES)} in UTC. $x"


def test_request_is_bounded() -> None:
    """A message of 200 kB, long earlier turns and long memories are shortened."""
    long = "word " * 40_000
    said = turn(long, Utterance("user", long))
    request = extraction_request(said, [memory("m", long)], SETTINGS, NOW)
    assert len(request.user) < 15_000
    assert request.user.count("[…]") == 3


def test_schema_is_strict_json() -> None:
    """The schema survives the wire, and names every field that is read."""
    item = json.loads(json.dumps(dict(EXTRACT_SCHEMA)))["properties"]["operations"]["items"]
    assert item["required"] == ["operation"]
    assert item["properties"].keys() == {
        "operation",
        "id",
        "content",
        "tags",
        "memory_bank",
        "confidence",
        "importance",
        "kind",
    }


def read(*items: Any, **valves: Any) -> tuple[list[Operation], list[Outcome]]:
    """What is made of a reply with these items, where tea and dog were offered."""
    completion = Completion(json.dumps({"operations": list(items)}))
    extraction = read_extraction(completion, [TEA, DOG], hook_settings(**valves))
    return list(extraction.operations), list(extraction.refused)


@dataclass(frozen=True)
class Case:
    """An item of the reply, and the operation it becomes."""

    id: str
    item: dict[str, Any]
    operation: Operation
    valves: dict[str, Any] = field(default_factory=dict)


def new(content: str = "User lives in Lisbon.", **fields: Any) -> Operation:
    """A NEW operation with defaults but for the named fields."""
    return Operation("NEW", "", Draft(content, **{"bank": "General", **fields}))


LISBON = {"operation": "NEW", "content": "User lives in Lisbon."}
UPDATE = {"operation": "UPDATE", "id": "m-1", "content": "User likes green tea."}
KEPT = {"tags": ("preference",), "bank": "Personal", "confidence": 0.8, "importance": 3}

TAKEN = [
    Case("only what is needed", LISBON, new()),
    Case(
        "everything",
        {
            **LISBON,
            "tags": ["identity", "goal"],
            "memory_bank": "Work",
            "confidence": 0.9,
            "importance": 8,
            "kind": "FACT",
        },
        new(tags=("identity", "goal"), bank="Work", confidence=0.9, importance=8),
    ),
    Case("small letters", {**LISBON, "operation": " new ", "kind": "fact"}, new()),
    Case("id of a new fact", {**LISBON, "id": "m-1"}, new()),
    Case("nulls", {**LISBON, "id": None, "tags": None, "confidence": None, "kind": None}, new()),
    Case("spaces", {**LISBON, "content": " User\nlives  in Lisbon. "}, new()),
    Case("tags as text", {**LISBON, "tags": "Identity, goal"}, new(tags=("identity", "goal"))),
    Case("unknown tags", {**LISBON, "tags": ["place", "goal", "goal"]}, new(tags=("goal",))),
    Case("bank in small letters", {**LISBON, "memory_bank": " personal"}, new(bank="Personal")),
    Case("unknown bank", {**LISBON, "memory_bank": "Secret"}, new()),
    Case(
        "own default bank",
        LISBON,
        new(bank="Life"),
        {"allowed_memory_banks": "Life, Work", "default_memory_bank": "Life"},
    ),
    Case("no default bank", LISBON, new(), {"default_memory_bank": " "}),
    Case("confidence as text", {**LISBON, "confidence": "0.9"}, new(confidence=0.9)),
    Case("per cent", {**LISBON, "confidence": "90%"}, new(confidence=0.9)),
    Case("out of a hundred", {**LISBON, "confidence": 90}, new(confidence=0.9)),
    Case("importance as text", {**LISBON, "importance": "7"}, new(importance=7)),
    Case("importance with a fraction", {**LISBON, "importance": 6.6}, new(importance=7)),
    Case("importance of none", {**LISBON, "importance": 0}, new(importance=1)),
    Case("fields of its own", {**LISBON, "reason": "said so"}, new()),
    Case(
        "update keeps what it leaves out",
        UPDATE,
        Operation("UPDATE", "m-1", Draft("User likes green tea.", **KEPT)),
    ),
    Case(
        "update with everything",
        {**UPDATE, "tags": ["goal"], "memory_bank": "Work", "confidence": 1, "importance": 9},
        Operation("UPDATE", "m-1", Draft("User likes green tea.", ("goal",), "Work", 1, 9)),
    ),
    Case(
        "update with nothing usable",
        {**UPDATE, "tags": ["place"], "memory_bank": "Secret"},
        Operation("UPDATE", "m-1", Draft("User likes green tea.", **KEPT)),
    ),
    Case(
        "update of a memory without bank",
        {**UPDATE, "id": " m-2 "},
        Operation("UPDATE", "m-2", Draft("User likes green tea.", bank="General")),
    ),
    Case(
        "delete",
        {"operation": "DELETE", "id": "m-1"},
        Operation("DELETE", "m-1", Draft("", **KEPT)),
    ),
]


@pytest.mark.parametrize("case", TAKEN, ids=lambda case: case.id)
def test_item_is_taken(case: Case) -> None:
    """An item becomes the operation that was meant, with defaults for what it leaves out."""
    assert read(case.item, **case.valves) == ([case.operation], [])


@dataclass(frozen=True)
class Refusal:
    """An item of the reply, and what the user is told about it."""

    id: str
    item: Any
    content: str
    reason: str


REFUSED = [
    Refusal("no object", "User likes tea.", "", "wrong in 'item'"),
    Refusal("null", None, "", "wrong in 'item'"),
    Refusal("no operation", {"content": "a"}, "a", "wrong in 'operation'"),
    Refusal("unknown operation", {"operation": "MERGE", "id": "x"}, "x", "wrong in 'operation'"),
    Refusal("content is no text", {**LISBON, "content": 5}, "5", "wrong in 'content'"),
    Refusal("content without end", {**LISBON, "content": "x" * 4001}, "x" * 200, "'content'"),
    Refusal("tag is no text", {**LISBON, "tags": [5]}, LISBON["content"], "wrong in 'tags.0'"),
    Refusal("confidence of 1000", {**LISBON, "confidence": 1000}, LISBON["content"], "confidence"),
    Refusal("confidence below 0", {**LISBON, "confidence": -1}, LISBON["content"], "confidence"),
    Refusal("no number", {**LISBON, "confidence": "nan"}, LISBON["content"], "confidence"),
    Refusal("words", {**LISBON, "confidence": "high"}, LISBON["content"], "confidence"),
    Refusal("importance of 11", {**LISBON, "importance": 11}, LISBON["content"], "importance"),
    Refusal("unknown kind", {**LISBON, "kind": "JOKE"}, LISBON["content"], "wrong in 'kind'"),
    Refusal("about the chat", {**LISBON, "kind": "meta"}, LISBON["content"], "conversation"),
    Refusal("empty fact", {"operation": "NEW", "content": " \n"}, "", "an empty fact"),
    Refusal("no fact", {"operation": "NEW"}, "", "an empty fact"),
    Refusal("empty update", {"operation": "UPDATE", "id": "m-1"}, "", "an empty fact"),
    Refusal("update without id", {**UPDATE, "id": None}, UPDATE["content"], "was not shown"),
    Refusal("id of nobody", {**UPDATE, "id": "m-9"}, UPDATE["content"], "was not shown"),
    Refusal("delete of another's", {"operation": "DELETE", "id": "m-9"}, "m-9", "was not shown"),
    Refusal("delete of nothing", {"operation": "DELETE"}, "", "was not shown"),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.id)
def test_item_is_refused(case: Refusal) -> None:
    """A bad item is refused with a reason, and spoils no other."""
    operations, refused = read(LISBON, case.item, {"operation": "DELETE", "id": "m-2"})
    assert [one.kind for one in operations] == ["NEW", "DELETE"]
    ((status, content, reason),) = [(one.status, one.content, one.reason) for one in refused]
    assert (status, content) == ("rejected", case.content)
    assert case.reason in reason


def test_nothing() -> None:
    """An empty list is an answer: there is nothing to keep."""
    assert read() == ([], [])


def test_too_many() -> None:
    """Of more than thirty items the first are taken, and the rest is told."""
    operations, refused = read(*({**LISBON, "content": f"Fact {n}."} for n in range(35)))
    assert [one.draft.content for one in operations] == [f"Fact {n}." for n in range(30)]
    assert refused == [Outcome("rejected", "5 more", "too many facts in one reply")]


def test_cut_reply() -> None:
    """Of a reply that was cut the whole items are taken, and that it was cut is told."""
    text = json.dumps({"operations": [LISBON, LISBON]})[:-30]
    extraction = read_extraction(Completion(text, cut=True), [], SETTINGS)
    assert extraction.operations == (new(),)
    ((told),) = extraction.refused
    assert "cut off" in told.reason


@pytest.mark.parametrize("text", ["", "Nothing to remember.", "{}", '{"operations": [{"operation'])
def test_no_list_at_all(text: str) -> None:
    """A reply without a list of operations is no "nothing to keep", but unusable."""
    with pytest.raises(ReplyUnusable):
        read_extraction(Completion(text), [], SETTINGS)


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)
item_like = st.fixed_dictionaries(
    {"operation": st.sampled_from(["NEW", "UPDATE", "DELETE"]) | json_like},
    optional={
        "id": st.none() | st.sampled_from(["m-1", "m-2"]) | json_like,
        "content": st.none() | st.text() | json_like,
        "tags": st.none() | st.lists(st.sampled_from(CATEGORIES)) | json_like,
        "memory_bank": st.none() | json_like,
        "confidence": st.none() | st.floats() | json_like,
        "importance": st.none() | st.floats() | json_like,
        "kind": st.none() | st.sampled_from(["FACT", "META"]) | json_like,
    },
)


@settings(deadline=None)
@given(st.lists(item_like, max_size=3) | st.lists(json_like, max_size=3))
def test_any_items(items: list[Any]) -> None:
    """Whatever the items are, each becomes a sound operation or a refusal with a reason."""
    operations, refused = read(*items)
    assert len(operations) + len(refused) == len(items)
    assert all(one.status == "rejected" and one.reason for one in refused)
    for operation in operations:
        draft = operation.draft
        assert (operation.id in ("m-1", "m-2")) == (operation.kind != "NEW")
        assert draft.content or operation.kind == "DELETE"
        assert 0 <= draft.confidence <= 1
        assert 1 <= draft.importance <= 10
        assert draft.bank in (*SETTINGS.banks, "Personal")
        assert set(draft.tags) <= set(CATEGORIES)
