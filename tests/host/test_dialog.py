"""Questions in the page, which never get in the way of anything."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from adaptive.host.dialog import PageDialog, PageLists
from adaptive.settings.hook import PageQuestion


def page(
    answer: object,
    asked: list[dict[str, Any]] | None = None,
    lists: PageLists = "",
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

    seconds = 0.01 if isinstance(answer, asyncio.Event) else 10
    return PageDialog(call, seconds, lists)


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


KEEP = PageQuestion(
    title="Keep these?",
    entries=["User sings.", "User *paints*."],
    options=("Later", "Keep", "Never"),
    preset=1,
    how_to_type="Numbers, please.",
)
DELETE = replace(KEEP, preset=0, reason="You said so.")
ONE = replace(KEEP, entries=["User sings."])


def accepted(**content: str) -> dict[str, Any]:
    """What the page answers to a form that was sent."""
    return {"action": "accept", "content": content}


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ("1 -2", (1, 2)),
        ("-1. \u22122", (2, 2)),
        ("all", (1, 1)),
        ("\u201e\uff21ll\u201c", (1, 1)),
        ("\uff11\u3001\uff0d2", (1, 2)),
        ("\u0661\u060c \u0662", (1, 1)),
        ("\u00ab\u00a01 2\u00a0\u00bb", (1, 1)),
        ("1-2", (0, 0)),
        ("1 \u2013 2", (0, 0)),
        ("1, - 2", (1, 2)),
        ("2, 3", (0, 0)),
        ("1, 2What goes with it?", (0, 0)),
        ("", ()),
        (False, ()),
        (None, None),
        ({"error": "Event call timed out."}, None),
    ],
)
async def test_typed(answer: object, chosen: tuple[int, ...] | None) -> None:
    """A page without lists is answered by numbers, which stand there where one option is preset."""
    asked: list[dict[str, Any]] = []
    found = await page(answer, asked).choose(KEEP)
    assert (None if found is None else (*found,)) == chosen
    (event,) = asked
    assert (event["type"], event["data"]["value"]) == ("input", "1, 2")
    assert "2\\. User \\*paints\\*." in event["data"]["message"]
    assert "Numbers, please." in event["data"]["message"]


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        (accepted(**{"entry 0": "1", "entry 1": "2"}), (1, 2)),
        (accepted(**{"entry 1": "1"}), (0, 1)),
        (accepted(all="1", **{"entry 0": "0"}), (1, 1)),
        (accepted(**{"entry 0": "no", "entry 1": "-1"}), (0, 0)),
        (accepted(**{"entry 0": "3", "entry 1": "9" * 5000}), (0, 0)),
        ({"action": "decline"}, ()),
        ({"action": "cancel"}, ()),
        ({"status": "cancelled", "answers": {}}, None),
        ({"error": "Client session disconnected."}, None),
    ],
)
async def test_form(answer: object, chosen: tuple[int, ...] | None) -> None:
    """A form has a list for each entry, and one for all where nothing is preset."""
    asked: list[dict[str, Any]] = []
    found = await page(answer, asked, "form").choose(DELETE)
    assert (None if found is None else (*found,)) == chosen
    await page(answer, asked, "form").choose(KEEP)
    titles = [
        [field["title"] for field in each["properties"].values()]
        for each in (event["data"]["requestedSchema"] for event in asked)
    ]
    assert titles == [["All of them", *KEEP.entries], [*KEEP.entries]]
    event = asked[0]
    assert event["type"] == "request:elicitation"
    assert event["data"]["message"] == "You said so."
    field = event["data"]["requestedSchema"]["properties"]["entry 0"]
    assert field["default"] == "0"
    assert field["oneOf"][2] == {"const": "2", "title": "Never"}


@pytest.mark.parametrize("lists", ["list", "form"])
@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ("2", [2]),
        ("3", [0]),
        ("x", [0]),
        ("", ()),
        (False, ()),
        (None, None),
    ],
)
async def test_list(
    lists: PageLists, answer: object, chosen: tuple[int, ...] | None
) -> None:
    """For one entry there is one list."""
    asked: list[dict[str, Any]] = []
    assert await page(answer, asked, lists).choose(ONE) == chosen
    data = asked[0]["data"]
    assert (asked[0]["type"], data["value"]) == ("input", "1")
    assert data["message"] == "User sings."
    assert data["input"]["options"][2] == {"value": "2", "label": "Never"}


async def test_not_asked() -> None:
    """Without lists and without words for how to type an answer nothing is asked."""
    asked: list[dict[str, Any]] = []
    question = replace(ONE, how_to_type="")
    assert await page("1", asked).choose(question) is None
    assert asked == []
