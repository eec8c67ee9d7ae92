"""Reading chat messages as Open WebUI passes them: who said what, and when."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from adaptive.core.markdown import without_answer_note, without_spans
from adaptive.core.model import Utterance
from adaptive.core.shapes import listing, mapping

Message = Mapping[str, Any]
# The year 5138.
_LATEST_SECONDS = 1e11

# Reasoning, tool calls and code runs stand as <details> blocks in stored answers up to Open WebUI
# 0.9 (host: utils/middleware.py, serialize_output).
_DETAILS = (
    re.compile(r"<details\b[^<>]*>", re.IGNORECASE),
    re.compile(r"</details>\s*", re.IGNORECASE),
)
_INJECTED = (
    re.compile(r"<(?:adaptive_memory|memory_context)>", re.IGNORECASE),
    re.compile(r"</(?:adaptive_memory|memory_context)>\s*", re.IGNORECASE),
)


def message_text(message: Message) -> str:
    """The text of a message: its content, the text parts of a content list, or its output.

    Open WebUI 0.10 leaves the content of answers empty and keeps them in ``output`` items.
    """
    content = message.get("content")
    if isinstance(content, str) and content:
        return content
    parts = listing(content)
    for item in listing(message.get("output")) if not parts else []:
        if mapping(item).get("type") == "message":
            parts = [*parts, *listing(mapping(item).get("content"))]
    kinds = ("text", "output_text")
    said = [part for part in map(mapping, parts) if part.get("type", "text") in kinds]
    return "\n".join(text for part in said if isinstance(text := part.get("text"), str))


def newest_user_message(messages: Sequence[Message]) -> Message | None:
    """The last message whose role is ``user``."""
    return next((message for message in reversed(messages) if message.get("role") == "user"), None)


def spoken_text(text: str) -> str:
    """A message's text without what the host or a filter put into it."""
    bare = without_spans(without_spans(text, *_DETAILS), *_INJECTED)
    return without_answer_note(bare).strip()


def typed_message(messages: Sequence[Message], message_id: str) -> tuple[Message, str] | None:
    """The user's message of that id, or the newest one, and the words that were typed in it.

    ``None`` where there are none.
    """
    named = (message for message in messages if message_id and message.get("id") == message_id)
    newest = next(named, None) or newest_user_message(messages)
    words = spoken_text(message_text(newest)) if newest else ""
    return (newest, words) if newest is not None and has_words(words) else None


def earlier_utterances(
    messages: Sequence[Message], before: Message, limit: int
) -> tuple[Utterance, ...]:
    """The last ``limit`` texts of user and assistant that stand before a message, oldest first."""
    found: list[Utterance] = []
    for message in messages:
        if message is before:
            break
        role = message.get("role")
        text = spoken_text(message_text(message))
        if text and (role == "user" or role == "assistant"):
            found.append(Utterance(role, text))
    return tuple(found[-limit:])


def has_words(text: str) -> bool:
    """Whether there is a letter or a digit of any script in the text."""
    return any(character.isalnum() for character in text)


def said_at(message: Message, now: float) -> int:
    """When a message was said, in epoch seconds: its timestamp if it is a usable one, else now."""
    stamp = message.get("timestamp")
    if isinstance(stamp, int | float) and 0 < stamp <= _LATEST_SECONDS:
        return int(stamp)
    return int(now)


def local_time(epoch_seconds: float, *zone_names: str) -> datetime:
    """The time in the first of the named zones that exists, else in UTC."""
    for name in filter(None, map(str.strip, zone_names)):
        try:
            return datetime.fromtimestamp(epoch_seconds, ZoneInfo(name))
        except (KeyError, ValueError, OSError):  # no such zone, no name of one
            continue
    return datetime.fromtimestamp(epoch_seconds, UTC)


def head_and_tail(text: str, limit: int) -> str:
    """At most about ``limit`` characters: two thirds from the head, one third from the tail."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    return f"{text[:head]}\n[…]\n{text[-(limit - head) :]}"


def estimated_tokens(text: str) -> int:
    """A rough count of tokens: four ASCII characters each, every other character one."""
    ascii_characters = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return -(-ascii_characters // 4) + len(text) - ascii_characters
