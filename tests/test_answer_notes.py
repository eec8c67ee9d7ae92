"""The line below an answer: its form, and the answer without it."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from adaptive.answer_notes import answer_note, without_answer_note
from tests.rates import over

LINE = "Memory saved: User lives in Porto."
NOTE = "> 🧠 *Adaptive Memory:* Memory saved: User lives in Porto."


@dataclass(frozen=True)
class Case:
    """An answer with lines of ours, and without them."""

    id: str
    text: str
    left: str


CASES = [
    Case("none", "Hello.\n\n> A quote.\n", "Hello.\n\n> A quote.\n"),
    Case("at the end", f"Hello.\n\n{NOTE}", "Hello."),
    Case("joined by the host", f"Hello.\n{NOTE}", "Hello."),
    Case("with a line break after it", f"Hello.\n\n{NOTE}\n", "Hello."),
    Case("nothing else", NOTE, ""),
    Case("continued", f"Once upon\n\n{NOTE}\n\na time.", "Once upon\n\na time."),
    Case("continued at once", f"Once upon\n\n{NOTE}\na time.", "Once upon\n\na time."),
    Case("two", f"One.\n\n{NOTE}\n\nTwo.\n\n{NOTE}", "One.\n\nTwo."),
    Case("two in a row", f"One.\n\n{NOTE}\n\n{NOTE}", "One."),
    Case("before it", f"{NOTE}\n\nOne.", "One."),
    Case("within a line", f"He wrote {NOTE}", f"He wrote {NOTE}"),
    Case("another quote", "> 🧠 Brains are grey.", "> 🧠 Brains are grey."),
]


@over("case", CASES)
def test_without_answer_note(case: Case) -> None:
    """Lines of ours go with the blank lines around them, and nothing else does."""
    assert without_answer_note(case.text) == case.left


def test_note() -> None:
    """A line has its form, on one line, shortened, and shows no markup."""
    assert answer_note(LINE) == NOTE
    assert answer_note("a\n\n![b](http://c.example)").endswith(
        "a ![\u2060b]\u2060(http\\://c.example)"
    )
    assert len(answer_note("x" * 5000)) < 700


@given(st.text(max_size=80), st.text(max_size=40))
def test_there_and_back(text: str, line: str) -> None:
    """Whatever the answer and the line, taking the line out gives the answer."""
    if text.strip() and "Adaptive Memory" not in text:
        noted = f"{text.rstrip()}\n\n{answer_note(line)}"
        assert without_answer_note(noted) == text.rstrip()
