"""What the long runs go by: made-up facts, the model that finds them, and the ledger of both."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from tests.e2e.driver.ledger import Ledger
from tests.e2e.driver.made_up_lives import (
    Fact,
    Saying,
)

BOAT = Fact(20_000, "keep", "boat", "Porto")
MOVED = replace(BOAT, place="Faro")
PEOPLE = {0: "ada", 1: "bob"}


def saying(*facts: Fact) -> Saying:
    """A message that tells these facts."""
    return Saying("", facts)


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
    Case("never told", (MOVED.told, "User keeps canoe 20001 in Cork."), "unknown"),
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
    wrong = found.wrong.keys()
    assert wrong - {"lost"} == {case.wrong} - {"lost", ""}
    assert ("lost" in wrong) == (case.wrong in {"lost", "mixed"})
    assert bool(wrong) == bool(case.wrong)
