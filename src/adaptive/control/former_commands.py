"""Former commands in a chat: the chat model sees neither them nor their answers."""

from __future__ import annotations

from typing import Any

from adaptive.core.messages import memory_is_off, messages_of, without_commands
from adaptive.core.shapes import mapping


def without_former_commands(body: dict[str, Any]) -> dict[str, Any]:
    """The request as if no command had been given, and without the host's memory after *off*.

    It is for conversations in which commands are answered: elsewhere a text that begins like one
    is a message like any other. The newest message stays, whoever wrote it: no request is empty.
    """
    messages = messages_of(body)
    remaining = [*without_commands(messages[:-1]), *messages[-1:]]
    if len(remaining) == len(messages):
        return body
    body = {**body, "messages": remaining}
    if memory_is_off(messages):
        body["features"] = {**mapping(body.get("features")), "memory": False}
    return body
