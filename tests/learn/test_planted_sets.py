"""Sets whose author has seen no code: inventions under true quotations, and hard ways to tell truths."""

from __future__ import annotations

from typing import Any

import pytest

from adaptive.core.model import Draft, Memory, Proposal
from adaptive.learn.grounding import screened
from tests.fakes import hook_settings, turn
from tests.rates import labelled_set, rate

INVENTIONS: list[dict[str, Any]] = labelled_set("planted_inventions")
TURNED: list[dict[str, Any]] = labelled_set("turned_sentences")
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
# What of messages that say no such thing of the user is refused at least.
TURNED_BARS = {
    "play": 0.15,
    "asked": 0.35,
    "supposed": 0.5,
    "over": 0.25,
    "denied": 0.3,
    "near": 0.7,
    "quoted": 0.2,
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


def turned_cases(kind: str, follows: bool) -> list[dict[str, Any]]:
    """The cases of the set of turned sentences that are of a kind, wrong or right."""
    return [
        {**case, "kind": "new"}
        for case in TURNED
        if case["follows"] == follows and case["kind"] == kind
    ]


@pytest.mark.parametrize(("kind", "bar"), TURNED_BARS.items())
def test_turned_sentences_are_refused(kind: str, bar: float) -> None:
    """What is played, asked, supposed, over, denied, another's or quoted is not so of the user."""
    cases = turned_cases(kind, False)
    rate(cases, lambda case: not outcome(case).is_open).at_least(bar)


def test_right_sentences_beside_them_are_kept() -> None:
    """What users say of themselves in the wordings of play, questions and suppositions is kept."""
    cases = [one for kind in TURNED_BARS for one in turned_cases(kind, True)]
    rate(cases, lambda case: outcome(case).is_open).at_least(0.9)
