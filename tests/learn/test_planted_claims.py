"""Proposals of a careless model beside what was said; their authors had not seen the rules."""

from __future__ import annotations

import json
from typing import Any

from adaptive.core.model import Memory, Provenance, Turn
from adaptive.core.providers import Completion
from adaptive.learn.grounding import screened
from adaptive.learn.proposals import ExtractionSource, read_proposals
from tests.fakes import hook_settings
from tests.rates import labelled_set, rate

CASES: list[dict[str, Any]] = labelled_set("planted_claims")
SETTINGS = hook_settings()


def judged(case: dict[str, Any]) -> str:
    """What becomes of a proposal: it is kept, refused, taken as new, or asked about."""
    shown = [
        Memory(str(one["id"]), one["content"], 0, 0)
        for one in case["memories"]
    ]
    turn = Turn(
        "ada", "saved", case["message"], (), Provenance("c", "m", 1795305600)
    )
    reply = Completion(
        json.dumps({"operations": [case["proposal"]]}, ensure_ascii=False)
    )
    read = read_proposals(reply, ExtractionSource((), shown), SETTINGS)
    assert read[0].is_open, read
    outcome = screened(read, turn, shown, SETTINGS)[0]
    if outcome.status == "asked":
        return "ask"
    if not outcome.is_open:
        return "refuse"
    is_readdressed = outcome.kind != case["proposal"]["operation"]
    return "new" if is_readdressed else "keep"


def test_inventions_are_kept_out() -> None:
    """What was not said is not stored, and no memory is overwritten or deleted for another one."""
    wrong = [case for case in CASES if case["right"] != "keep"]
    rate(wrong, lambda case: judged(case) != "keep").at_least(0.85)


def test_true_claims_pass() -> None:
    """What was said passes, in whatever words, digits and languages; a deletion is asked about."""
    true = [case for case in CASES if case["right"] == "keep"]

    def passes(case: dict[str, Any]) -> bool:
        """Whether nothing is lost of a true claim."""
        is_deletion = case["proposal"]["operation"] == "DELETE"
        return judged(case) == "keep" or (
            is_deletion and judged(case) == "ask"
        )

    rate(true, passes).at_least(0.96)
