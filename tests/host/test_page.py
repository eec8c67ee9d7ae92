"""Questions in the page, which never get in the way of anything."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adaptive.host.page import PageDialog


def page(
    answer: object, asked: list[dict[str, Any]] | None = None
) -> PageDialog:
    """A dialog whose page answers so, or fails."""

    async def call(event: dict[str, Any]) -> object:
        if asked is not None:
            asked.append(event)
        if isinstance(answer, BaseException):
            raise answer
        return (
            await answer.wait()
            if isinstance(answer, asyncio.Event)
            else answer
        )

    return PageDialog(call, 0.01 if isinstance(answer, asyncio.Event) else 10)


@pytest.mark.parametrize(
    ("dialog", "consent", "words"),
    [
        (page(True), True, ""),
        (page(False), False, ""),
        (page(" 1 3\n"), None, "1 3"),
        (page("x" * 5000), None, "x" * 1000),
        (page({"error": "Client session disconnected."}), None, None),
        (page(KeyError("session_id")), None, None),
        (page(asyncio.Event()), None, None),
        (PageDialog(None), None, None),
    ],
)
async def test_answers(
    dialog: PageDialog, consent: bool | None, words: str | None
) -> None:
    """Only a clear answer is one; a page that fails, is none or shows another chat gives none."""
    assert await dialog.confirm("Delete?", "One memory.") is consent
    assert await dialog.ask("Delete?", "One memory.", "1") == words


async def test_question() -> None:
    """Both kinds have the shape that the page reads, and show bounded texts without markup."""
    events: list[dict[str, Any]] = []
    dialog = page(True, events)
    await dialog.confirm(
        "Delete\nthis? " + "x" * 200, "You said:\n1. ![a](http://b.example)"
    )
    await dialog.ask("Delete?", "Which? " * 1000, "1 3")
    confirmation, asked = events
    assert confirmation["type"] == "confirmation"
    assert confirmation["data"] == {
        "title": "Delete this? " + "x" * 86 + "…",
        "message": "You said:  \n1\\. ![\u2060a]\u2060(http\\://b.example)",
    }
    assert len(asked["data"].pop("message")) <= 4000
    fields = {
        "title": "Delete?",
        "placeholder": "1 3",
        "value": "",
        "type": "text",
    }
    assert asked == {"type": "input", "data": fields}
