"""Sets whose author has seen no code: inventions under true quotations, and hard ways to tell truths."""

from __future__ import annotations

from typing import Any

import pytest

from adaptive.core.model import Draft, Memory, Proposal
from adaptive.learn.grounding import screened
from tests.fakes import hook_settings, turn
from tests.rates import labelled_set, rate

INVENTIONS: list[dict[str, Any]] = labelled_set("planted_inventions")
TRUTHS: list[dict[str, Any]] = labelled_set("hard_truths")
SETTINGS = hook_settings()
# What each kind of invention is refused at least.
BARS = {
    "unrelated": 0.95,
    "embroidered": 0.8,
    "number": 0.92,
    "name": 0.66,
    "update": 0.65,
    "delete": 0.95,
    "whose": 0.45,
    "negated": 0.45,
}


def outcome(case: dict[str, Any]) -> Proposal:
    """What becomes of a proposal that a careless model makes of a message."""
    former = Memory("m-1", case.get("former", ""), 0, 0)
    kinds: Any = {"update": "UPDATE", "delete": "DELETE"}
    kind = kinds.get(case.get("kind"), "NEW")
    proposal = Proposal(
        kind=kind,
        memory_id="" if kind == "NEW" else former.id,
        draft=Draft(case["content"]),
        evidence=(case["evidence"],),
        before=former.content,
    )
    said = turn(case["message"])
    return screened([proposal], said, [former], SETTINGS)[0]


@pytest.mark.parametrize(("kind", "bar"), BARS.items())
def test_inventions_are_refused(kind: str, bar: float) -> None:
    """A true quotation does not prove what it does not say, and no other memory gives way for it."""
    cases = [case for case in INVENTIONS if case["kind"] == kind]

    def is_harmless(case: dict[str, Any]) -> bool:
        """Whether nothing is written, or nothing in the place of another memory."""
        made = outcome(case)
        return not made.is_open or (kind == "update" and made.kind == "NEW")

    rate(cases, is_harmless).at_least(bar)


def test_truths_are_kept() -> None:
    """What was said is kept, however numbers, days, names and words are written."""
    rate(TRUTHS, lambda case: outcome(case).is_open).at_least(0.92)
