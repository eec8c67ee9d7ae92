"""What learning did, in one line for the user."""

from __future__ import annotations

from dataclasses import dataclass

from adaptive.core.model import Outcome
from adaptive.learn.report import NOTHING_NEW, report_details, report_line
from tests.rates import over


@dataclass(frozen=True)
class Case:
    """Outcomes of a turn, and the line for the user."""

    id: str
    outcomes: list[Outcome]
    line: str


CASES = [
    Case("nothing", [], NOTHING_NEW),
    Case("saved", [Outcome("saved", "Likes tea")], "Saved: Likes tea"),
    Case(
        "several",
        [Outcome("saved", "Likes tea."), Outcome("saved", "Has a dog.")],
        "Saved (2): Likes tea. …",
    ),
    Case("known", [Outcome("unchanged", "Likes tea", "already known")], "Already known: Likes tea"),
    Case(
        "ended",
        [
            Outcome("updated", "Lives in Porto", before="Lives in Rome"),
            Outcome("ended", "", "no longer true", before="Cycles to the office in Rome"),
            Outcome("ended", "Had a flat in Rome", "no longer true", before="Has a flat in Rome"),
        ],
        "Updated: Lives in Porto · Also no longer true (2): Cycles to the office in Rome …",
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
        "Saved: f · Updated: e · Deleted: d · Could not be saved: a (locked) · "
        "Not saved: b (too short) · Already known: c",
    ),
]


@over("case", CASES)
def test_report_line(case: Case) -> None:
    """The line tells what was written, then what was not and why."""
    assert report_line(case.outcomes) == case.line


def test_details() -> None:
    """The full list stands behind a line that names less than the whole, and behind no other."""
    both = [Outcome("saved", "Likes tea."), Outcome("saved", "Has a dog.")]
    assert report_details(both) == ("Saved: Likes tea.", "Saved: Has a dog.")
    long = [Outcome(status, "x" * 150, "why") for status in ("rejected", "failed", "kept", "saved")]
    assert len(report_details(long)) == 4
    assert report_details([]) == report_details(both[:1]) == ()


def test_no_line_holds_a_secret() -> None:
    """A memory with a secret that another tool has written is told without it."""
    token = "gh" + "p_" + "a1B2c3D4e5F6" * 3
    line = report_line([Outcome("deleted", f"User's token is {token}.")])
    assert line == "Deleted: User's token is [secret removed]."
