"""Tags, bank and end date inside a memory's text."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.host.notation import NotedText, read_notation, write_notation
from adaptive.model import CATEGORIES
from tests.rates import over


@dataclass(frozen=True)
class Case:
    """A stored text, and what it says."""

    id: str
    stored: str
    noted: NotedText


CASES = [
    Case("plain", "User likes tea.", NotedText("User likes tea.")),
    Case("empty", "", NotedText("")),
    Case(
        "tags", "[Tags: preference] User likes tea.", NotedText("User likes tea.", ("preference",))
    ),
    Case(
        "everything",
        "[Tags: preference, goal] User likes tea. [Memory Bank: Personal]",
        NotedText("User likes tea.", ("preference", "goal"), "Personal"),
    ),
    Case(
        "of release 3.1",
        "[Tags: preference] User likes tea. [Memory Bank: Work] [Confidence: 0.85]",
        NotedText("User likes tea.", ("preference",), "Work"),
    ),
    Case(
        "confidence in the middle",
        "[Tags: goal] User wants [Confidence: 0.9] to run. [Memory Bank: Work]",
        NotedText("User wants to run.", ("goal",), "Work"),
    ),
    Case(
        "end date",
        "[Tags: goal] a [Memory Bank: Work] [Until: 2027-02-28]",
        NotedText("a", ("goal",), "Work", "2027-02-28"),
    ),
    Case("no day", "a [Until: 2027-02-30]", NotedText("a [Until: 2027-02-30]")),
    Case("capitals", "[TAGS: goal]a[memory bank: Work]", NotedText("a", ("goal",), "Work")),
    Case("no tags", "[Tags: ] a", NotedText("a")),
    Case("gaps", "[Tags: goal,, ] a", NotedText("a", ("goal",))),
    Case("bank alone", "a [Memory Bank:]", NotedText("a")),
    Case("bank in front", "[Memory Bank: Work] a", NotedText("a", (), "Work")),
    Case("tags further in", "a [Tags: goal]", NotedText("a [Tags: goal]")),
    Case("never closed", "[Tags: goal a", NotedText("[Tags: goal a")),
    Case("other brackets", "User likes [tea] [x: y].", NotedText("User likes [tea] [x: y].")),
    Case(
        "several lines",
        "[Tags: goal]\na\nb\n[Memory Bank: Work]",
        NotedText("a\nb", ("goal",), "Work"),
    ),
]


@over("case", CASES)
def test_read(case: Case) -> None:
    """Marks of any earlier release are read; what only looks like one stays."""
    assert read_notation(case.stored) == case.noted


def test_write() -> None:
    """The text is written as releases before wrote it, without marks that say nothing."""
    noted = NotedText("User likes tea.", ("preference", "goal"), "Personal")
    assert write_notation(noted) == CASES[3].stored
    assert write_notation(NotedText("User likes tea.")) == "User likes tea."


plain = st.text(st.characters(exclude_characters="[]"))


@settings(deadline=None)
@given(
    plain.map(str.strip),
    st.lists(st.sampled_from(CATEGORIES), unique=True).map(tuple),
    plain.map(str.strip),
    st.dates().map(str) | st.just(""),
)
def test_round_trip(content: str, tags: tuple[str, ...], bank: str, until: str) -> None:
    """What is written comes back as it was, to the letter."""
    noted = NotedText(content, tags, bank, until)
    assert read_notation(write_notation(noted)) == noted


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "[Tags: goal]",
                "[Memory Bank: a]",
                "[Confidence: 1]",
                "[Until: 2027-02-28]",
                "[",
                "]",
                " ",
                "a",
            ]
        )
    ).map("".join)
)
def test_any_text(text: str) -> None:
    """Any text is read, and nothing is made up."""
    noted = read_notation(text)
    assert set("".join([noted.content, noted.bank, *noted.tags])) <= set(text) | {" "}
    assert noted.until in text


PATHOLOGICAL = [
    " " * 200_000 + "x",
    "[Tags:" + " " * 200_000,
    "[Tags: " * 30_000,
    "[Memory Bank:" * 15_000,
    "[Memory Bank:" + " " * 200_000,
    "[Confidence:" * 16_000,
    "[Until:" + " " * 200_000,
    "[Until: 2027-99-99] " * 10_000,
    "[Confidence:" + " " * 200_000,
    "[Confidence: 1] " * 12_000,
    "[" * 200_000,
    "\n" * 200_000,
]


@pytest.mark.timeout(120)
@over("text", PATHOLOGICAL)
def test_linear_time(text: str) -> None:
    """200 kB that a user typed into a memory are read in no time."""
    assert len(read_notation(text).content) <= len(text)
