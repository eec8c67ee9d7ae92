"""An answer rewritten in every form in which a host keeps it."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from adaptive.host.corrected_answer import rewritten_answer
from tests.rates import over

DETAILS = '<details type="reasoning" done="true">\n<summary>Thought</summary>\n&gt; x\n</details>'
NOTE = {
    "type": "message",
    "id": "adaptive_memory_note",
    "content": [{"type": "text", "text": "Saved."}],
}


def said(*texts: str) -> dict[str, Any]:
    """An item of output that says this."""
    return {
        "type": "message",
        "id": "m",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []} for text in texts],
    }


def call(arguments: str) -> dict[str, Any]:
    """An item of output that calls a tool."""
    return {"type": "function_call", "call_id": "c", "name": "look", "arguments": arguments}


def without_x(text: str) -> str:
    """The rewriting of these tests."""
    return text.replace("x", "")


@over("content", ["Hello.", "", None, [], [{"type": "text", "text": "Hello."}]])
@over("output", [None, [], "odd", ["odd"], [said("Hello."), {"type": "odd"}]])
def test_nothing_to_change(content: object, output: object) -> None:
    """An answer that stays as it is, whatever its shape, has no changed fields."""
    assert rewritten_answer({"content": content, "output": output}, without_x) == {}
    assert rewritten_answer({}, without_x) == {}


def test_content() -> None:
    """Without output the content is rewritten; so are the texts of a list of parts."""
    assert rewritten_answer({"content": "Hexllo."}, without_x) == {"content": "Hello."}
    image = {"type": "image_url", "image_url": {"url": "x"}}
    parts = [{"type": "text", "text": "xa"}, image]
    changed = {"content": [{"type": "text", "text": "a"}, image]}
    assert rewritten_answer({"content": parts}, without_x) == changed


def test_output() -> None:
    """Every text of every message item is rewritten; calls and reasoning are not."""
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "x"}]}
    message = {"content": "", "output": [thought, said("xa", "b"), call("x"), said("cx")]}
    before = copy.deepcopy(message)
    changed = {"output": [thought, said("a", "b"), call("x"), said("c")]}
    assert rewritten_answer(message, without_x) == changed
    assert message == before


def test_content_follows_output() -> None:
    """A content that repeats the output, with blocks between, changes where the output does."""
    content = f"{DETAILS}\nfirst x\n{DETAILS}\nlast x"
    message = {"content": content, "output": [said("first x"), call("x"), said("\nlast x\n")]}
    fields = rewritten_answer(message, without_x)
    assert fields["output"] == [said("first "), call("x"), said("\nlast \n")]
    assert fields["content"] == f"{DETAILS}\nfirst\n{DETAILS}\nlast"


def test_content_of_its_own() -> None:
    """A content that another filter has changed is rewritten for itself."""
    message = {"content": "Another onex", "output": [said("Hello.")]}
    assert rewritten_answer(message, without_x) == {"content": "Another one"}
    message = {"content": "b x", "output": [said("a x")]}
    assert rewritten_answer(message, without_x) == {"content": "b ", "output": [said("a ")]}


def test_line_of_ours_stays() -> None:
    """The line below an answer is kept in both forms."""
    message = {"content": "Hex\n\nSaved.", "output": [said("Hex"), NOTE]}
    fields = rewritten_answer(message, without_x)
    assert fields == {"content": "He\n\nSaved.", "output": [said("He"), NOTE]}


@given(st.lists(st.text("ax \n", max_size=5), max_size=4))
def test_both_forms_agree(texts: list[str]) -> None:
    """However a text is cut into parts, content and output lose the same and nothing else."""
    content = "\n".join(text.strip() for text in texts if text.strip())
    message = {"content": content, "output": [said(*texts)]}
    changed = {**message, **rewritten_answer(message, without_x)}
    assert "x" not in str([part["text"] for part in changed["output"][0]["content"]])
    assert changed["content"].split() == " ".join(map(without_x, texts)).split()
