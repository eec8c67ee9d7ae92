"""Turns are kept apart, end, and are forgotten; what is lost leaves placeholders."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from adaptive.privacy.redacted_chat import RedactedTurns

MAIL, OTHER = "ana@example.org", "bo@example.org"


def asking(*texts: str) -> dict[str, Any]:
    """A request with these words of a user."""
    return {
        "model": "gpt",
        "messages": [{"role": "user", "content": text} for text in texts],
    }


def chunk(text: str, finish: str | None = None) -> dict[str, Any]:
    """A piece of an answer."""
    return {
        "choices": [
            {"index": 0, "delta": {"content": text}, "finish_reason": finish}
        ]
    }


def shown(
    turns: RedactedTurns,
    metadata: dict[str, Any],
    text: str = "[EMAIL_1]",
    **body: Any,
) -> str:
    """What the page is shown of a piece of an answer."""
    event = turns.restore_event(chunk(text, "stop"), metadata, body)
    return event["choices"][0]["delta"]["content"]


def texts_of(body: dict[str, Any]) -> list[str]:
    """The contents of a body's messages."""
    return [message["content"] for message in body["messages"]]


async def test_turns_never_mix() -> None:
    """Each turn gets its own value, whoever comes and goes meanwhile; nobody else gets any."""
    turns = RedactedTurns()
    ended, ann, bob = ({}, {}, {})
    await turns.redact(asking("cy@example.org"), ended)
    for mine, value in ((ann, MAIL), (bob, OTHER)):
        body = asking(value)
        assert texts_of(await turns.redact(body, mine)) == ["[EMAIL_1]"]
        assert texts_of(body) == [value]
        turns.restore_answer({"messages": []}, ended)
    assert (shown(turns, ann), shown(turns, bob)) == (MAIL, OTHER)
    for stranger in ({}, {"adaptive_memory": {"redaction": "guessed"}}, ended):
        assert shown(turns, stranger) == "[EMAIL_1]"


async def test_numbers_stay() -> None:
    """Placeholders are numbered as the model reads them, though a part comes later; values return."""
    turns, metadata = RedactedTurns(), dict[str, Any]()
    body, whole = asking(MAIL), asking(OTHER, MAIL)
    sent = await turns.redact(body, metadata, whole=whole)
    assert texts_of(sent) == ["[EMAIL_2]"]
    assert turns.restored(sent, metadata) == body
    assert turns.restored(sent, {}) == sent
    sent = await turns.redact(whole, metadata, again=True)
    assert texts_of(sent) == ["[EMAIL_1]", "[EMAIL_2]"]


async def test_end_of_a_turn() -> None:
    """The answer of a stored chat gets its values, once; what others said is left alone."""
    turns, metadata = RedactedTurns(), dict[str, Any]()
    await turns.redact(asking(MAIL), metadata)
    part = {"type": "output_text", "text": "[EMAIL_1]"}
    answer = {"role": "assistant", "content": "[EMAIL_1]"}
    messages = [
        {**answer, "id": "1"},
        {"id": "2", "role": "user", "content": "[EMAIL_1]"},
        {
            **answer,
            "id": "3",
            "output": [{"type": "message", "content": [part]}],
        },
    ]
    before = json.dumps(messages)
    ended = turns.restore_answer({"messages": messages}, metadata)
    assert texts_of(ended) == ["[EMAIL_1]", "[EMAIL_1]", MAIL]
    assert ended["messages"][2]["output"][0]["content"][0]["text"] == MAIL
    assert json.dumps(messages) == before
    assert shown(turns, metadata) == "[EMAIL_1]"
    assert turns.restore_answer({"messages": messages}, metadata) == {
        "messages": messages
    }


@pytest.mark.parametrize(
    ("body", "metadata"),
    [
        ({"tools": [{"type": "function"}]}, {}),
        ({}, {"features": {"code_interpreter": True}}),
    ],
    ids=["tools", "code"],
)
async def test_answers_that_go_back_to_the_model(
    body: dict[str, Any], metadata: dict[str, Any]
) -> None:
    """Where the host does not ask before, placeholders stay; where it does, values come at once."""
    turns = RedactedTurns()
    sent = await turns.redact(asking(MAIL), metadata)
    assert shown(turns, metadata, **body) == "[EMAIL_1]"
    await turns.redact(sent, metadata, again=True)
    assert shown(turns, metadata, **body) == MAIL
    more = {
        "messages": [
            *sent["messages"],
            {"role": "assistant", "content": f"{MAIL} {OTHER}"},
        ]
    }
    again = await turns.redact(more, metadata, again=True)
    assert texts_of(again) == ["[EMAIL_1]", "[EMAIL_1] [EMAIL_2]"]
    assert shown(turns, metadata, "[EMAIL_2]", **body) == OTHER


async def test_idle_turns_are_forgotten() -> None:
    """A turn of which nothing came for an hour is over; a busy one is not."""
    now = 0.0
    turns = RedactedTurns(lambda: now)
    busy, idle = dict[str, Any](), dict[str, Any]()
    await turns.redact(asking(MAIL), busy)
    await turns.redact(asking(MAIL), idle)
    now = 3000
    shown(turns, busy)
    now = 4000
    assert shown(turns, idle) == "[EMAIL_1]"
    assert shown(turns, busy) == MAIL


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of Python it takes, which does not depend on the machine as time does."""
    lines = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    former = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(former)
    return lines


async def test_turns_are_found_by_key() -> None:
    """A piece of an answer costs as much among hundreds of turns without an end as it does alone.

    The host looks for the hook, for which the turns are counted, before each piece.
    """
    turns, mine = RedactedTurns(), dict[str, Any]()
    await turns.redact(asking(MAIL), mine)

    def next_piece() -> None:
        assert turns
        assert shown(turns, mine) == MAIL

    alone = lines_run(next_piece)
    for _ in range(300):
        await turns.redact(asking(OTHER), {})
    assert lines_run(next_piece) == alone
