"""The line below an answer: added once, and never part of what the model said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.answer_notes import answer_note, noted_answer, without_answer_note

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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
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


def output(*texts: str, **fields: Any) -> list[dict[str, Any]]:
    """Output items as the host stores them."""
    parts = [{"type": "output_text", "text": text} for text in texts]
    return [{"type": "reasoning", "id": "r"}, {"type": "message", "content": parts, **fields}]


def test_content() -> None:
    """An answer without output items gets the line in its content."""
    stored = {"role": "assistant", "content": "Hello.\n", "done": True}
    assert noted_answer(stored, LINE) == {"content": f"Hello.\n\n{NOTE}"}


@pytest.mark.parametrize("content", ["", "Hello."], ids=["no content", "content"])
def test_output(content: str) -> None:
    """Output items get one more, which the host shows and keeps from models."""
    stored = {"role": "assistant", "content": content, "done": True, "output": output("Hello.")}
    fields = noted_answer(stored, LINE)
    assert fields
    assert fields["content"] == f"Hello.\n\n{NOTE}"
    *before, item = fields["output"]
    assert before == stored["output"]
    assert (item["type"], item["role"], item["status"]) == ("message", "assistant", "completed")
    assert item["content"] == [{"type": "text", "text": NOTE}]


def test_once() -> None:
    """Adding a line again changes nothing; another line takes its place."""
    stored = {"role": "assistant", "content": "", "done": True, "output": output("Hello.")}
    once = {**stored, **(noted_answer(stored, LINE) or {})}
    assert noted_answer(once, LINE) == {name: once[name] for name in ("content", "output")}
    other = noted_answer(once, "Memory updated.")
    assert other
    assert other["content"].count("Adaptive Memory") == 1
    assert len(other["output"]) == 3


@dataclass(frozen=True)
class Unfit:
    """A stored message that gets no line."""

    id: str
    fields: dict[str, Any]


UNFIT = [
    Unfit("unknown", {"role": None, "content": ""}),
    Unfit("the user's", {"role": "user"}),
    Unfit("still written", {"done": False}),
    Unfit("an error", {"error": {"content": "no model"}}),
    Unfit("empty", {"content": " \n"}),
    Unfit("only a line of ours", {"content": NOTE}),
    Unfit("cut within code", {"content": "So:\n```python\nprint(1)"}),
    Unfit("cut within longer fences", {"content": "````\n```\n"}),
    Unfit("cut within tildes", {"content": "~~~\n```"}),
]


@pytest.mark.parametrize("case", UNFIT, ids=lambda case: case.id)
def test_no_note(case: Unfit) -> None:
    """What is no finished answer is left alone."""
    stored = {"role": "assistant", "content": "Hello.", "done": True, **case.fields}
    assert noted_answer(stored, LINE) is None


def test_after_code() -> None:
    """Closed code is no obstacle."""
    text = "```py\nx\n```\n~~~\ny\n~~~"
    stored = {"role": "assistant", "content": text}
    assert noted_answer(stored, LINE) == {"content": f"{text}\n\n{NOTE}"}


@given(st.text(max_size=80), st.text(max_size=40))
def test_there_and_back(text: str, line: str) -> None:
    """Whatever the answer and the line, taking the line out gives the answer."""
    stored = {"role": "assistant", "content": text, "done": True}
    fields = noted_answer(stored, line)
    if fields and "Adaptive Memory" not in text:
        assert without_answer_note(fields["content"]) == text.rstrip()
