"""Turns are kept apart, end, and are forgotten; what is lost leaves placeholders."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adaptive.host.redacted_turns import RedactedTurns, withheld

MAIL = "ana@example.org"
OTHER = "bo@example.org"


class Clock:
    """Seconds that a test lets pass."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def asking(*texts: str) -> dict[str, Any]:
    """A request with these words of a user."""
    return {"model": "gpt", "messages": [{"role": "user", "content": text} for text in texts]}


def chunk(text: str, finish: str | None = None) -> dict[str, Any]:
    """A piece of an answer."""
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return {"choices": [choice]}


def said(event: dict[str, Any]) -> str:
    """The words in a piece of an answer."""
    return event["choices"][0]["delta"]["content"]


def texts_of(body: dict[str, Any]) -> list[str]:
    """The contents of a body's messages."""
    return [message["content"] for message in body["messages"]]


async def test_turns_never_mix() -> None:
    """Two turns with the same placeholder get each its own value; nobody else gets any."""
    turns = RedactedTurns()
    ann: dict[str, Any] = {}
    bob: dict[str, Any] = {}
    for mine, value in ((ann, MAIL), (bob, OTHER)):
        assert texts_of(await turns.redact(asking(value), mine)) == ["[EMAIL_1]"]
    assert said(turns.restore_event(chunk("[EMAIL_1]"), ann, {})) == MAIL
    assert said(turns.restore_event(chunk("[EMAIL_1]"), bob, {})) == OTHER
    for stranger in (
        {},
        {"adaptive_memory_redaction": "guessed"},
        {"adaptive_memory_redaction": 1},
    ):
        assert said(turns.restore_event(chunk("[EMAIL_1]"), stranger, {})) == "[EMAIL_1]"


async def test_turn_that_begins_when_another_has_ended() -> None:
    """A turn that is still under way keeps its values, whoever comes and goes meanwhile."""
    turns = RedactedTurns()
    ended: dict[str, Any] = {}
    running: dict[str, Any] = {}
    later: dict[str, Any] = {}
    await turns.redact(asking("cy@example.org"), ended)
    await turns.redact(asking(MAIL), running)
    turns.restore_answer({"messages": []}, ended)
    await turns.redact(asking(OTHER), later)
    assert said(turns.restore_event(chunk("[EMAIL_1]"), running, {})) == MAIL
    assert said(turns.restore_event(chunk("[EMAIL_1]"), later, {})) == OTHER


async def test_request_is_not_changed_in_place() -> None:
    """The host keeps other references to the messages, the stored chat's among them."""
    body = asking(MAIL)
    await RedactedTurns().redact(body, {})
    assert texts_of(body) == [MAIL]


async def test_end_of_a_turn() -> None:
    """The answer of a stored chat gets its values, once; what others said is left alone."""
    turns = RedactedTurns()
    metadata: dict[str, Any] = {}
    await turns.redact(asking(MAIL), metadata)
    assert len(turns) == 1
    part = {"type": "output_text", "text": "[EMAIL_1]"}
    messages = [
        {"id": "1", "role": "assistant", "content": "[EMAIL_1]"},
        {"id": "2", "role": "user", "content": "[EMAIL_1]"},
        {
            "id": "3",
            "role": "assistant",
            "content": "[EMAIL_1]",
            "output": [{"type": "message", "content": [part]}],
        },
    ]
    before = json.dumps(messages)
    ended = turns.restore_answer({"messages": messages}, metadata)
    assert texts_of(ended) == ["[EMAIL_1]", "[EMAIL_1]", MAIL]
    assert ended["messages"][2]["output"][0]["content"][0]["text"] == MAIL
    assert json.dumps(messages) == before
    assert len(turns) == 0
    assert turns.restore_answer({"messages": messages}, metadata) == {"messages": messages}


async def test_end_of_a_turn_that_is_not_stored() -> None:
    """What the host gives back of the request itself gets its values, to be learned from."""
    turns = RedactedTurns()
    metadata: dict[str, Any] = {}
    body = await turns.redact(asking(MAIL), metadata)
    answer = {"id": "3", "role": "assistant", "content": "Hello"}
    ended = turns.restore_answer({"messages": [*body["messages"], answer]}, metadata)
    assert texts_of(ended) == [MAIL, "Hello"]


async def test_tail_of_a_stream_without_an_end() -> None:
    """What was held when the provider broke off is added to the stored answer."""
    turns = RedactedTurns()
    metadata: dict[str, Any] = {}
    await turns.redact(asking(MAIL), metadata)
    assert said(turns.restore_event(chunk("See [1"), metadata, {})) == "See [1"
    assert said(turns.restore_event(chunk(" ["), metadata, {})) == " "
    part = {"type": "output_text", "text": "See [1 "}
    output = [{"type": "message", "content": [part]}]
    answer = {"id": "3", "role": "assistant", "content": "See [1 ", "output": output}
    ended = turns.restore_answer({"messages": [answer]}, metadata)
    assert texts_of(ended) == ["See [1 ["]
    assert ended["messages"][0]["output"][0]["content"][0]["text"] == "See [1 ["


async def test_nothing_found_changes_nothing() -> None:
    """Pieces and answers pass as they are, the very same objects."""
    turns = RedactedTurns()
    metadata: dict[str, Any] = {}
    await turns.redact(asking("Hello"), metadata)
    event = chunk("[EMAIL_1]")
    body = {"messages": [{"id": "3", "role": "assistant", "content": "[EMAIL_1]"}]}
    assert turns.restore_event(event, metadata, {}) is event
    assert turns.restore_answer(body, metadata) is body


@pytest.mark.parametrize(
    ("body", "metadata"),
    [({"tools": [{"type": "function"}]}, {}), ({}, {"features": {"code_interpreter": True}})],
    ids=["tools", "code"],
)
async def test_answers_that_go_back_to_the_model(
    body: dict[str, Any], metadata: dict[str, Any]
) -> None:
    """Where the host does not ask before, placeholders stay; where it does, values come at once."""
    turns = RedactedTurns()
    sent = await turns.redact(asking(MAIL), metadata)
    assert said(turns.restore_event(chunk("[EMAIL_1]", "stop"), metadata, body)) == "[EMAIL_1]"
    await turns.redact_again(sent, metadata)
    assert said(turns.restore_event(chunk("[EMAIL_1]", "stop"), metadata, body)) == MAIL
    more = {"messages": [*sent["messages"], {"role": "assistant", "content": f"{MAIL} {OTHER}"}]}
    again = await turns.redact_again(more, metadata)
    assert texts_of(again) == ["[EMAIL_1]", "[EMAIL_1] [EMAIL_2]"]
    assert said(turns.restore_event(chunk("[EMAIL_2]", "stop"), metadata, body)) == OTHER


async def test_request_of_a_turn_that_is_not_ours() -> None:
    """A turn that began before the valve was on is left alone; one forgotten begins anew."""
    turns = RedactedTurns()
    body = asking(MAIL)
    assert await turns.redact_again(body, {}) is body
    lost: dict[str, Any] = {"adaptive_memory_redaction": "gone"}
    assert texts_of(await turns.redact_again(body, lost)) == ["[EMAIL_1]"]
    assert said(turns.restore_event(chunk("[EMAIL_1]"), lost, {})) == MAIL


async def test_idle_turns_are_forgotten() -> None:
    """A turn without an end is gone after an hour in which nothing came; a busy one is not."""
    clock = Clock()
    turns = RedactedTurns(clock)
    busy: dict[str, Any] = {}
    idle: dict[str, Any] = {}
    await turns.redact(asking(MAIL), busy)
    await turns.redact(asking(MAIL), idle)
    clock.now = 3000
    turns.restore_event(chunk("a"), busy, {})
    clock.now = 4000
    assert len(turns) == 1
    assert said(turns.restore_event(chunk("[EMAIL_1]"), idle, {})) == "[EMAIL_1]"
    clock.now = 9000
    assert len(turns) == 0


async def test_long_chats_are_redacted_in_a_thread() -> None:
    """A long history goes out as a short one does."""
    turns = RedactedTurns()
    body = await turns.redact(asking("word " * 5000, MAIL), {})
    assert texts_of(body)[1] == "[EMAIL_1]"


async def test_too_slow() -> None:
    """What takes too long fails."""
    with pytest.raises(TimeoutError):
        await RedactedTurns(longest_seconds=0).redact(asking("word " * 5000, MAIL), {})


@pytest.mark.parametrize("kind", [str, str.encode], ids=["text", "bytes"])
async def test_lines_of_plain_api_calls(kind: Any) -> None:
    """Older releases hand over lines, as text or bytes, and get back what they gave."""
    turns = RedactedTurns()
    metadata: dict[str, Any] = {}
    await turns.redact(asking(MAIL), metadata)
    line = kind(f"data: {json.dumps(chunk('[EMAIL_1]'))}\n\n")
    out = turns.restore_event(line, metadata, {})
    assert type(out) is type(line)
    assert MAIL in str(out)
    assert turns.restore_event(None, metadata, {}) is None


def test_withheld_request() -> None:
    """The rest of the request stays, and nobody's words do."""
    body = withheld(asking(MAIL))
    assert body["model"] == "gpt"
    assert MAIL not in str(body)
