"""A line of ours in a stored answer: in both of its fields, once, and only where it fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from adaptive.answer_notes import answer_note
from adaptive.host.noted_answer import noted_answer
from tests.rates import over

LINE = "Memory saved: User lives in Porto."
NOTE = answer_note(LINE)


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


@over("case", UNFIT)
def test_no_note(case: Unfit) -> None:
    """What is no finished answer is left alone."""
    stored = {"role": "assistant", "content": "Hello.", "done": True, **case.fields}
    assert noted_answer(stored, LINE) is None


def test_after_code() -> None:
    """Closed code is no obstacle."""
    text = "```py\nx\n```\n~~~\ny\n~~~"
    stored = {"role": "assistant", "content": text}
    assert noted_answer(stored, LINE) == {"content": f"{text}\n\n{NOTE}"}
