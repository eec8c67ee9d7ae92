"""What the long runs go by: made-up facts, the model that finds them, and the ledger of both."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from tests.e2e.driver.ledger import Findings, Ledger, mixed_requests
from tests.e2e.driver.made_up_lives import (
    EXTRACT,
    HARMLESS,
    Fact,
    Saying,
    extracted_facts,
    extraction_reply,
    facts_in,
    made_up_sayings,
    numbers_in,
    user_of,
)
from tests.e2e.driver.scripted_model import ModelRequest

BOAT = Fact(3000, "keep", "boat", "Porto")
MOVED = replace(BOAT, place="Faro")
PEOPLE = {0: "ada", 1: "bob"}


def saying(*facts: Fact) -> Saying:
    """A message that tells these facts."""
    return Saying("new", "", facts)


def request(words: str, memories: str = "") -> ModelRequest:
    """An extraction request as the plug-in sends it."""
    user = f"{memories}\n\n## Newest message of the user\n{words}"
    messages = [{"role": "system", "content": EXTRACT}, {"role": "user", "content": user}]
    return ModelRequest("/v1/chat/completions", {"messages": messages}, {})


@dataclass(frozen=True, slots=True)
class Case:
    """Contents of the rows of one user after a boat was kept in Porto and then in Faro."""

    id: str
    rows: tuple[str, ...]
    wrong: str = ""
    moved: bool = True
    user: str = "ada"


CASES = (
    Case("as it is", (MOVED.told,)),
    Case("lost", (), "lost"),
    Case("doubled", (MOVED.told, MOVED.told), "doubled"),
    Case("doubled by its former form", (BOAT.told, MOVED.told), "doubled"),
    Case("outdated", (BOAT.told,), "outdated"),
    Case("not owed yet", (BOAT.told,), moved=False),
    Case("learned before it was owed", (MOVED.told,), moved=False),
    Case("somebody else's", (MOVED.told,), "mixed", user="bob"),
    Case("never told", (MOVED.told, "User keeps canoe 3001 in Cork."), "unknown"),
    Case("no fact at all", (MOVED.told, "User likes tea."), "unknown"),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_ledger_tells_what_is_wrong(case: Case) -> None:
    """Each way in which a store can differ from what was told has its name."""
    ledger = Ledger(PEOPLE)
    ledger.tell(saying(BOAT))
    ledger.owe(saying(BOAT))
    ledger.tell(saying(MOVED))
    if case.moved:
        ledger.owe(saying(MOVED))
    found = ledger.compare({"user_id": case.user, "content": row} for row in case.rows)
    wrong = {name for name, entries in found.figures().items() if entries}
    assert wrong - {"lost"} == {case.wrong} - {"lost", ""}
    assert ("lost" in wrong) == (case.wrong in {"lost", "mixed"})
    assert found.clean == (not case.wrong)


def test_ledger_owes_what_the_model_has_found() -> None:
    """A fact in a reply that was sent must be learned, even if its turn was never seen to end."""
    ledger = Ledger(PEOPLE)
    ledger.tell(saying(BOAT))
    assert ledger.compare([]) == Findings()
    ledger.owe_extracted(request(BOAT.said + "."))
    assert ledger.owed == {BOAT.told}
    assert ledger.compare([]).lost


def test_model_updates_what_it_is_shown() -> None:
    """What is shown with another place is updated by its id, everything else is new."""
    shown = f"## Existing memories\n- id=m1 | {BOAT.told}\n- id=m2 | {BOAT.told.replace('0', '1')}"
    canoe = Fact(3001, "bought", "canoe", "Cork")
    words = f"{BOAT.said}. {canoe.said}. {MOVED.said} now."
    reply = extraction_reply(request(words, shown).body)["operations"]
    told = [(one["operation"], one.get("id"), one["content"]) for one in reply]
    assert told == [("UPDATE", "m1", MOVED.told), ("NEW", None, canoe.told)]


def test_sayings_tell_what_the_model_finds() -> None:
    """All that a user says is found again, and nothing in what holds no fact."""
    for user in (0, 1, 19):
        told = made_up_sayings(user, 50, seed=1)
        assert {one.kind for one in told} == {"new", "two", "update", "repeat"}
        for one in told:
            facts = [fact.told for fact in one.facts]
            assert extracted_facts(request(one.words).body) == facts
            assert [facts_in(fact)[0][1] for fact in facts] == facts
            assert {user_of(number) for number in numbers_in(one.words)} == {user}
    for words in HARMLESS:
        assert not extracted_facts(request(words).body)
        assert not numbers_in(words)


def test_facts_of_two_users_in_one_request_are_seen() -> None:
    """A request with facts of two users is told apart from one with two facts of one user."""
    second, other = Fact(3001, "keep", "loom", "Graz"), Fact(3150, "keep", "loom", "Graz")
    own = request(BOAT.said, f"- id=m1 | {second.told}")
    mixed = request(BOAT.said, f"- id=m1 | {other.told}")
    assert not mixed_requests([own])
    assert len(mixed_requests([own, mixed])) == 1
