"""What of a long chat is sent, and what is left for memories and past conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from fastapi import FastAPI, Request

from adaptive.conversation.message_tokens import message_tokens
from adaptive.conversation_ports import ChatNotes
from adaptive.errors import HostError, TablesUnavailable
from adaptive.host.hook import Hook
from adaptive.recall.block import with_block
from adaptive.windowing import (
    RequestWindow,
    block_with,
    host_compacts,
    plain_window,
    request_window,
)
from tests.fakes import hook_settings

SYSTEM = {"role": "system", "content": "Be kind."}
SAVED = {"chat_id": "chat", "session_id": "page"}


class Notes:
    """A table with one summary for every chat; counts who asks."""

    def __init__(self, summary: str = "", *, failing: bool = False) -> None:
        self.summary, self.failing = summary, failing
        self.asked: list[tuple[str, str]] = []

    async def read(self, user_id: str, chat_id: str) -> ChatNotes:
        """The summary."""
        self.asked.append((user_id, chat_id))
        if self.failing:
            raise TablesUnavailable("away")
        return ChatNotes(summary=self.summary)

    async def write(self, user_id: str, chat_id: str, notes: ChatNotes, now: int) -> None:
        """Not used."""

    async def all(self, user_id: str, limit: int) -> tuple[tuple[str, ChatNotes, int], ...]:
        """Not used."""
        return ()

    async def drop_deleted(self, user_id: str, current: str = "") -> int:
        """Not used."""
        return 0


def chat(turns: int, words: int = 20) -> list[dict[str, Any]]:
    """A system message and turns of about 60 tokens."""
    said = [
        {"role": role, "content": f"{role} {number} " + "word " * words}
        for number in range(turns)
        for role in ("user", "assistant")
    ]
    return [dict(SYSTEM), *said, {"role": "user", "content": "And now?"}]


def a_hook(metadata: dict[str, Any] | None = None, **valves: Any) -> Hook:
    """A hook of Ada's."""
    request = Request({"type": "http", "headers": [], "app": FastAPI()})
    metadata = dict(SAVED if metadata is None else metadata)
    return Hook(hook_settings(**valves), {"id": "ada"}, metadata, request, None, None)


async def fitted(
    hook: Hook, messages: list[dict[str, Any]], notes: Notes | None = None, *, on: bool = False
) -> RequestWindow:
    """The window; ``on`` says that the host compacts chats."""

    async def compacts(_: Hook) -> bool:
        return on

    return await request_window(hook, messages, notes or Notes(), compacts)


def total(window: RequestWindow) -> int:
    """Tokens of what is sent."""
    return sum(map(message_tokens, window.messages))


async def test_off() -> None:
    """Without a limit nobody is asked anything, and everything is sent as it is."""
    hook, messages, notes = a_hook(), chat(200), Notes("They spoke.")

    async def nobody(_: Hook) -> bool:
        raise AssertionError

    window = await request_window(hook, messages, notes, nobody)
    assert window == RequestWindow(hook, messages)
    assert notes.asked == []


async def test_short_chat_costs_no_question() -> None:
    """While everything fits with all budgets, neither the host nor the table is asked."""
    hook, notes = a_hook(max_context_tokens=5000), Notes("They spoke.")
    window = await fitted(hook, chat(3), notes)
    assert window == RequestWindow(hook, chat(3))
    assert notes.asked == []


async def test_oldest_turns_give_way_to_the_summary() -> None:
    """The newest turns stay whole beside the summary, within what memories leave of the window."""
    hook, messages = a_hook(max_context_tokens=4000), chat(100)
    window = await fitted(hook, messages, Notes("They spoke of tea."))
    kept = window.messages[1:]
    assert 0 < len(kept) < 200
    assert window.messages[0] == SYSTEM
    assert kept == messages[-len(kept) :]
    assert kept[0]["role"] == "user"
    assert window.summary == "### Earlier in this conversation\nThey spoke of tea."
    assert total(window) <= 4000 - hook.settings.max_injected_tokens - 300
    assert window.hook.settings.max_injected_tokens == hook.settings.max_injected_tokens


@dataclass(frozen=True)
class Case:
    """A window, and what is left of the budgets beside the newest message."""

    id: str
    most: int
    newest_words: int
    memories: int
    history: int


CASES = (
    Case("room for all", 8000, 10, 1500, 2000),
    Case("history gives way", 4000, 2000, 1500, 0),
    Case("then memories", 3000, 2000, 400, 0),
    Case("down to core memories", 1000, 2000, 200, 0),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_order_of_giving_way(case: Case) -> None:
    """Turns go first, then past conversation, then memories; core memories stay."""
    valves = {"history_recall_default": "all", "max_context_tokens": case.most}
    messages = [*chat(100), {"role": "user", "content": "word " * case.newest_words}]
    window = await fitted(a_hook(**valves), messages)
    settings = window.hook.settings
    assert window.messages[-1] == messages[-1]
    assert abs(settings.max_injected_tokens - case.memories) <= 150
    assert abs(settings.history_tokens - case.history) <= 150
    assert settings.history_recall == ("all" if case.history else "off")
    sent = total(window) + settings.max_injected_tokens + settings.history_tokens
    assert sent <= max(case.most, message_tokens(messages[-1]) + 250)


async def test_recall_that_is_off_reserves_nothing() -> None:
    """Who sees no memories and recalls no history has the window for the turns."""
    with_memories = await fitted(a_hook(max_context_tokens=4000), chat(100))
    without = await fitted(a_hook(max_context_tokens=4000, show_memories=False), chat(100))
    assert total(without) > total(with_memories) + 1000


async def test_host_that_compacts() -> None:
    """Where the host shortens chats itself, nothing is cut and nothing narrowed."""
    hook, messages, notes = a_hook(max_context_tokens=1000), chat(100), Notes("They spoke.")
    assert await fitted(hook, messages, notes, on=True) == RequestWindow(hook, messages)
    assert notes.asked == []


async def test_host_that_does_not_tell(caplog: pytest.LogCaptureFixture) -> None:
    """Where nobody knows whether the host shortens chats, this one fits all the same."""

    async def fails(_: Hook) -> bool:
        raise HostError("the database is away")

    hook, messages = a_hook(max_context_tokens=1000), chat(100)
    window = await request_window(hook, messages, Notes("They spoke."), fails)
    assert total(window) < 1000
    assert window.summary
    assert "the database is away" in caplog.text


@pytest.mark.parametrize("most", [0, 1000, 4000, 10**6])
async def test_plain_window(most: int) -> None:
    """Without asking anybody the cut is the same, in the same kinds of conversations."""
    for metadata in (SAVED, {}, {"chat_id": "channel:x", "session_id": "page"}):
        hook, messages = a_hook(metadata, max_context_tokens=most), chat(100)
        asked = await fitted(hook, messages)
        assert plain_window(hook, messages) == RequestWindow(hook, asked.messages)


@pytest.mark.parametrize(
    ("metadata", "cut", "asked"),
    [
        (SAVED, True, 1),
        ({"chat_id": "temporary:x", "session_id": "page"}, True, 0),
        ({}, True, 0),
        ({"chat_id": "channel:x", "session_id": "page"}, False, 0),
        ({**SAVED, "internal": True}, False, 0),
    ],
)
async def test_kinds(metadata: dict[str, Any], cut: bool, asked: int) -> None:
    """Chats and API calls are cut, a saved chat has a summary; channels and sub-agents stay."""
    notes = Notes("They spoke.")
    window = await fitted(a_hook(metadata, max_context_tokens=2500), chat(100), notes)
    assert (len(window.messages) < 202) is cut
    assert len(notes.asked) == asked
    assert bool(window.summary) is bool(asked)


async def test_summary_that_cannot_be_read(caplog: pytest.LogCaptureFixture) -> None:
    """Turns give way all the same where there is no summary, or no table to read it from."""
    hook = a_hook(max_context_tokens=2500)
    for notes in (Notes(), Notes(failing=True)):
        window = await fitted(hook, chat(100), notes)
        assert window.summary == ""
        assert len(window.messages) < 202
    assert "without a summary" in caplog.text


async def test_asking_the_host() -> None:
    """A release that knows no compaction, as 0.9, does none."""
    hook = a_hook()
    hook.request.app.state.config = object()
    assert await host_compacts(hook) is False


def test_section_within_the_markers() -> None:
    """A section stands in the block, alone if need be, and goes with it."""
    block = "<adaptive_memory>\nAbout the user:\n- Tea\n</adaptive_memory>"
    both = block_with(block, "### Earlier\nThey spoke.")
    assert both == block.replace("- Tea\n", "- Tea\n\n### Earlier\nThey spoke.\n")
    alone = block_with("", "### Earlier\nThey spoke.")
    assert alone.startswith("<adaptive_memory>\n")
    assert block_with(block, "") == block
    for one in (both, alone):
        messages = with_block([SYSTEM], one)
        assert with_block(messages, "") == [SYSTEM]
