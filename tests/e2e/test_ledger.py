"""What the long runs go by: the ledger of the facts that made-up users have told."""

from __future__ import annotations

from dataclasses import replace

from tests.e2e.driver.ledger import Ledger
from tests.e2e.driver.made_up_lives import Fact, Saying
from tests.rates import over

BOAT = Fact(20_000, "keep", "boat", "Porto")
MOVED = replace(BOAT, place="Faro")


@over(
    "rows, wrong, owed, user",
    [
        ((MOVED.told,), set(), True, "ada"),
        ((), {"lost"}, True, "ada"),
        ((MOVED.told, MOVED.told), {"doubled"}, True, "ada"),
        ((BOAT.told, MOVED.told), {"doubled"}, True, "ada"),
        ((BOAT.told,), {"outdated"}, True, "ada"),
        ((BOAT.told,), set(), False, "ada"),
        ((MOVED.told,), set(), False, "ada"),
        ((MOVED.told,), {"mixed", "lost"}, True, "bob"),
        (
            (MOVED.told, "User keeps canoe 20001 in Cork."),
            {"unknown"},
            True,
            "ada",
        ),
        ((MOVED.told, "User likes tea."), {"unknown"}, True, "ada"),
    ],
)
def test_ledger_tells_what_is_wrong(
    rows: tuple[str, ...], wrong: set[str], owed: bool, user: str
) -> None:
    """Each way in which a store can differ from what was told and is owed has its name."""
    ledger = Ledger({0: "ada", 1: "bob"})
    for fact, is_owed in ((BOAT, True), (MOVED, owed)):
        ledger.tell(Saying("", (fact,)))
        if is_owed:
            ledger.owe(Saying("", (fact,)))
    found = ledger.compare({"user_id": user, "content": row} for row in rows)
    assert found.keys() == wrong
