"""What learning did, in one line for the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.learn.report import NOTHING_NEW, failure_line, report_line
from adaptive.model import Outcome, OutcomeStatus
from tests.rates import over


@dataclass(frozen=True)
class Case:
    """Outcomes of a turn, and the line for the user."""

    id: str
    outcomes: list[Outcome]
    line: str


CASES = [
    Case("nothing", [], NOTHING_NEW),
    Case("saved", [Outcome("saved", "Likes tea")], "Memory saved: Likes tea"),
    Case(
        "two sentences",
        [Outcome("saved", "Likes tea."), Outcome("saved", "Has a dog.")],
        "Memory saved: Likes tea. Has a dog.",
    ),
    Case("known", [Outcome("unchanged", "Likes tea", "already known")], "Already known: Likes tea"),
    Case(
        "ended",
        [
            Outcome("updated", "Lives in Porto", before="Lives in Rome"),
            Outcome("ended", "", "no longer true", before="Cycles to the office in Rome"),
            Outcome("ended", "Had a flat in Rome", "no longer true", before="Has a flat in Rome"),
        ],
        "Memory updated: Lives in Porto · "
        "Also no longer true: Cycles to the office in Rome; Has a flat in Rome",
    ),
    Case(
        "refused",
        [Outcome("rejected", "Tea", "shorter than 8 characters")],
        "Not saved: Tea (shorter than 8 characters)",
    ),
    Case(
        "refused without text",
        [Outcome("rejected", "", "an empty fact")],
        "Not saved: an empty fact",
    ),
    Case(
        "what was done comes first",
        [
            Outcome("failed", "a", "locked"),
            Outcome("rejected", "b", "too short"),
            Outcome("unchanged", "c"),
            Outcome("deleted", "d"),
            Outcome("updated", "e"),
            Outcome("saved", "f"),
        ],
        "Memory saved: f · Memory updated: e · Memory deleted: d · Already known: c · "
        "Not saved: b (too short) · Could not be saved: a (locked)",
    ),
]


@over("case", CASES)
def test_report_line(case: Case) -> None:
    """The line tells what was written, then what was not and why."""
    assert report_line(case.outcomes) == case.line


outcomes = st.builds(Outcome, st.sampled_from(get_args(OutcomeStatus)), st.text(), st.text())


@settings(deadline=None)
@given(st.lists(outcomes, max_size=40), st.text())
def test_lines_are_bounded(outcomes: list[Outcome], reason: str) -> None:
    """However much was learned or went wrong, the line fits under an answer and says something."""
    assert 0 < len(report_line(outcomes)) <= 600
    assert 0 < len(failure_line(reason)) <= 600


def test_long_texts_are_clipped() -> None:
    """A long fact keeps its beginning, so that several fit into the line."""
    line = report_line([Outcome("saved", "x" * 1000), Outcome("saved", "Has a dog.")])
    assert line == f"Memory saved: {'x' * 159}… Has a dog."


def test_failure_line() -> None:
    """A turn that could not be learned says why, on one line."""
    assert failure_line("the model\n failed") == "Nothing saved: the model failed"


def test_no_line_holds_a_secret() -> None:
    """A memory with a secret that another tool has written is told without it."""
    token = "gh" + "p_" + "a1B2c3D4e5F6" * 3
    line = report_line([Outcome("deleted", f"User's token is {token}.")])
    assert line == "Memory deleted: User's token is [secret removed]."
