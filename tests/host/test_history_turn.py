"""A hook as past conversation needs it."""

from __future__ import annotations

from fastapi import FastAPI, Request

from adaptive.host.history_turn import history_turn
from adaptive.host.hook import Hook
from tests.fakes import hook_settings


async def test_what_the_hook_tells() -> None:
    """Ids, kind and time zones are the hook's; a release that knows no compaction does none."""
    request = Request({"type": "http", "headers": [], "app": FastAPI()})
    request.app.state.config = object()
    metadata = {"chat_id": "c", "session_id": "s", "user_message_id": "q", "message_id": "a"}
    lines: list[str] = []

    async def show(hook: Hook, line: str) -> None:
        lines.append(f"{hook.user_id}: {line}")

    hook = Hook(hook_settings(), {"id": "ada"}, metadata, request, None, None)
    turn = history_turn(hook, show)
    assert (turn.user_id, turn.chat_id, turn.question_id, turn.answer_id) == ("ada", "c", "q", "a")
    assert turn.told_kind == "saved"
    assert await turn.compacts() is False
    await turn.tell("Indexed")
    assert lines == ["ada: Indexed"]
