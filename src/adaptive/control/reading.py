"""Commands as they are read in a chat, and the chat without them.

That is for conversations in which commands are answered: elsewhere a text that begins like one is a
message like any other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from adaptive.core.messages import (
    Message,
    clipped_line,
    mapping,
    message_text,
    messages_of,
    newest_user_message,
)

AnyMessage = TypeVar("AnyMessage", bound=Mapping[str, Any])

# What the user says to the memory itself, the same in every language.
_COMMAND = re.compile(
    r"/(memory|undo|remember|forget)(?:(?:\s|(?=#))(.*))?\Z",
    re.IGNORECASE | re.DOTALL,
)
# Keyboards of scripts that are written from right to left, and pasting, put them around a text.
_UNSEEN_AROUND = (
    "\u200b\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069\ufeff"
)
SWITCHES = ("on", "off")
_LONGEST_TITLE = 60


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name, the words behind it, and the chat's messages up to it.

    The name of ``/memory find`` is *find*, that of ``/memory`` alone is empty.
    """

    name: str
    words: str
    typed: str
    messages: list[dict[str, Any]] = field(
        default_factory=list[dict[str, Any]]
    )

    @property
    def title(self) -> str:
        """What a chat is called that begins with it."""
        return clipped_line(self.typed, _LONGEST_TITLE)


def read_command(typed: str) -> Command | None:
    """The command that a text is, ``None`` where it is none."""
    match = _COMMAND.match(typed.strip().strip(_UNSEEN_AROUND).strip())
    if match is None:
        return None
    name = match[1].lower()
    words = (match[2] or "").strip()
    if name == "memory":
        parts = words.split(maxsplit=1)
        name = parts[0].lower().rstrip(".,;:!?") if parts else ""
        words = "".join(parts[1:])
    return Command(name=name, words=words, typed=typed)


def command_in(messages: list[dict[str, Any]]) -> Command | None:
    """The command that the newest message of the user is, ``None`` where it is none."""
    command = read_command(message_text(newest_user_message(messages) or {}))
    return replace(command, messages=messages) if command is not None else None


def without_commands(
    messages: Sequence[AnyMessage], *, said_while_off: bool = True
) -> list[AnyMessage]:
    """Messages without commands and their answers, or without what was said while off, too."""
    remaining: list[AnyMessage] = []
    command: Command | None = None
    is_off = False
    for message in messages:
        role = message.get("role")
        if role == "user":
            command = read_command(message_text(message))
            if command is not None and command.name in SWITCHES:
                is_off = command.name == "off"
        is_left_out = command is not None or (is_off and not said_while_off)
        if role == "system" or not is_left_out:
            remaining.append(message)
    return remaining


def rememberable_messages(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Messages without commands, and without what was said while memory was off."""
    return without_commands(messages, said_while_off=False)


def memory_is_off(messages: Sequence[Message]) -> bool:
    """Whether the last ``/memory off`` or ``/memory on`` of a chat says off."""
    for message in reversed(messages):
        if message.get("role") == "user":
            command = read_command(message_text(message))
            if command is not None and command.name in SWITCHES:
                return command.name == "off"
    return False


def without_former_commands(body: dict[str, Any]) -> dict[str, Any]:
    """A request as if no command had been given, and without the host's memory after *off*.

    The newest message stays, whoever wrote it: no request is empty.
    """
    messages = messages_of(body)
    remaining = [*without_commands(messages[:-1]), *messages[-1:]]
    if len(remaining) == len(messages):
        return body
    body = {**body, "messages": remaining}
    if memory_is_off(messages):
        body["features"] = {**mapping(body.get("features")), "memory": False}
    return body
