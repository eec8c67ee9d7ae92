"""Questions in the page: answered, declined, or not answered at all."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from adaptive.host.dialog import PageDialog


class Tab:
    """An event caller of a host, and the answer of the page behind it."""

    def __init__(self, answer: Any = None, *, silent: bool = False) -> None:
        self.asked: list[dict[str, Any]] = []
        self._answer = answer
        self._silent = silent

    async def call(self, event: dict[str, Any]) -> Any:
        """Answer, fail, or never come back."""
        self.asked.append(event)
        if self._silent:
            await asyncio.Event().wait()
        if isinstance(self._answer, BaseException):
            raise self._answer
        return self._answer


GONE = {"error": "Client session disconnected."}


@dataclass(frozen=True)
class Case:
    """What the host gives back, and what it means for either kind of question."""

    id: str
    answer: Any
    consent: str
    words: str | None


CASES = [
    Case("yes", True, "yes", ""),
    Case("no", False, "no", ""),
    Case("words", " 1 3\n", "unanswered", "1 3"),
    Case("no words", "", "unanswered", ""),
    Case("many words", "x" * 5000, "unanswered", "x" * 1000),
    Case("tab gone", GONE, "unanswered", None),
    Case("nothing", None, "unanswered", None),
    Case("a number", 1, "unanswered", None),
    Case("a list", ["1"], "unanswered", None),
    Case("host failed", RuntimeError("no socket"), "unanswered", None),
    Case("no session", KeyError("session_id"), "unanswered", None),
    Case("host's time limit", TimeoutError(), "unanswered", None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_answers(case: Case) -> None:
    """Only a clear answer is one; whatever fails is none."""
    dialog = PageDialog(Tab(case.answer).call)
    assert await dialog.confirm("Delete?", "One memory.") == case.consent
    assert await dialog.ask("Delete?", "One memory.", "1") == case.words


async def test_question() -> None:
    """Both kinds have the shape that the page reads, and show texts without markup."""
    tab = Tab(True)
    dialog = PageDialog(tab.call)
    await dialog.confirm("Delete\nthis? " + "x" * 200, "You said:\n1. ![a](http://b.example)")
    await dialog.ask("Delete?", "Which?", "1 3")
    confirmation, asked = tab.asked
    assert confirmation["type"] == "confirmation"
    assert set(confirmation["data"]) == {"title", "message"}
    assert confirmation["data"]["title"].startswith("Delete this? xxx")
    assert len(confirmation["data"]["title"]) == 100
    assert confirmation["data"]["message"] == (
        "You said:  \n1\\. ![\u2060a]\u2060(http\\://b.example)"
    )
    assert asked == {
        "type": "input",
        "data": {
            "title": "Delete?",
            "message": "Which?",
            "placeholder": "1 3",
            "value": "",
            "type": "text",
        },
    }


async def test_nobody_answers() -> None:
    """A tab that shows another chat never answers; the wait is bounded."""
    dialog = PageDialog(Tab(silent=True).call, seconds=0.01)
    assert await dialog.confirm("Delete?", "One memory.") == "unanswered"
    assert await dialog.ask("Delete?", "Which?", "1") is None


@pytest.mark.parametrize("seconds", [0.0, -1.0])
async def test_no_time(seconds: float) -> None:
    """Who may not wait does not ask."""
    tab = Tab(True)
    assert await PageDialog(tab.call, seconds).confirm("Delete?", "") == "unanswered"
    assert tab.asked == []


async def test_no_page() -> None:
    """Without a caller, as for plain API calls, nothing is answered and nothing fails."""
    assert await PageDialog(None).confirm("Delete?", "") == "unanswered"
    assert await PageDialog(None).ask("Delete?", "", "") is None


async def test_long_message_is_cut() -> None:
    """A message of any length is bounded."""
    tab = Tab(True)
    await PageDialog(tab.call).confirm("Delete?", "word " * 10_000)
    assert len(tab.asked[0]["data"]["message"]) <= 4000


async def test_cancellation_passes() -> None:
    """A cancellation is not taken for an answer."""
    with pytest.raises(asyncio.CancelledError):
        await PageDialog(Tab(asyncio.CancelledError()).call).confirm("Delete?", "")
