"""What is told to somebody who asks to remember or to forget where nothing is learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request

from adaptive.host.hook import Hook
from adaptive.understanding import unheard_command
from tests.fakes import hook_settings
from tests.rates import over

OFF = "Nothing saved or forgotten: learning is switched off (Save Mode)"
TEMPORARY = "Nothing saved or forgotten: temporary chats are not learned from"
SAVED = {"chat_id": "c", "session_id": "s"}
PASSING = {"chat_id": "local:x", "session_id": "s"}


@dataclass(frozen=True)
class Case:
    """What is said in which chat under which mode, and what the user is told."""

    id: str
    words: str
    mode: str
    metadata: dict[str, Any]
    told: str


CASES = [
    Case("remember while off", "Remember that I like tea.", "off", SAVED, OFF),
    Case("forget while off", "Forget that I like tea.", "off", SAVED, OFF),
    Case("in another language", "Vergiss, dass ich Tee mag.", "off", SAVED, OFF),
    Case("in a temporary chat", "Remember that I like tea.", "auto", PASSING, TEMPORARY),
    Case("off in a temporary chat", "Remember that I like tea.", "off", PASSING, OFF),
    Case("nothing is asked for", "I like tea.", "off", SAVED, ""),
    Case("a question", "Do you remember what I like?", "off", SAVED, ""),
    Case("it is learned", "Remember that I like tea.", "auto", SAVED, ""),
    Case("it is suggested", "Remember that I like tea.", "suggest", SAVED, ""),
    Case("nobody is there to be told", "Remember that I like tea.", "off", {}, ""),
    Case("a long text", "Remember that I like tea. " * 100, "off", SAVED, ""),
]


@over("case", CASES)
def test_told(case: Case) -> None:
    """Who asks in so many words is told why nothing is done; everybody else sees no such line."""
    request = Request({"type": "http", "app": FastAPI(), "headers": []})
    settings = hook_settings(save_mode=case.mode)
    hook = Hook(settings, {"id": "ada"}, dict(case.metadata), request, None, None)
    assert unheard_command(hook, [{"role": "user", "content": case.words}]) == case.told
