"""Plays the model's part in the host's own tasks: titles, tags, follow-ups, queries and so on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

HostTask: TypeAlias = Literal[
    "title", "tags", "follow-ups", "queries", "image prompt", "choice of tools"
]

# How the host's prompt for each task writes down the answer's form, the same on every supported
# release (host: config.py, DEFAULT_..._PROMPT_TEMPLATE). The chat stands behind it.
_FORMS: Mapping[str, HostTask] = {
    '{ "title": ': "title",
    '{ "tags": ': "tags",
    '{ "follow_ups": ': "follow-ups",
    '{ "queries": ': "queries",
    '"prompt": "Your detailed': "image prompt",
}
_BEGINNING = "### Task:\n"
_CHAT = "### Chat History:\n"
_TOOLS = "Available Tools: "
_USER_MESSAGE = re.compile(r"^USER: (.*)$", re.MULTILINE)
_TITLE_WORDS = 6


def host_task(system: str, message: str) -> HostTask | None:
    """Which of the host's tasks a request is, by its system prompt and its user's message."""
    if system.startswith(_TOOLS):
        return "choice of tools"
    instructions, heading, _ = message.partition(_CHAT)
    if not heading or not instructions.startswith(_BEGINNING):
        return None
    return next(
        (task for form, task in _FORMS.items() if form in instructions), None
    )


def task_answer(task: HostTask, message: str) -> str:
    """What a small task model answers, in the form that the host reads."""
    said = _newest_words(message)
    answers: Mapping[HostTask, dict[str, object]] = {
        "title": {
            "title": " ".join(said.split()[:_TITLE_WORDS]).strip(" ,.;:?!")
            or "New chat"
        },
        "tags": {"tags": ["General"]},
        "follow-ups": {
            "follow_ups": [
                "Tell me more about it.",
                "What else do you remember?",
            ]
        },
        "queries": {"queries": [said]},
        "image prompt": {"prompt": said},
        "choice of tools": {"tool_calls": []},
    }
    return json.dumps(answers[task], ensure_ascii=False)


def _newest_words(message: str) -> str:
    """The first line of the newest user message in the chat that a task's prompt quotes."""
    user_messages: list[str] = _USER_MESSAGE.findall(
        message.partition(_CHAT)[2]
    )
    return user_messages[-1].strip() if user_messages else ""
