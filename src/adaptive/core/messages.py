"""Reading chat messages as Open WebUI passes them: who said what, and when."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from adaptive.core.characters import storable_text
from adaptive.core.markdown import without_answer_note, without_spans
from adaptive.core.model import Utterance
from adaptive.core.shapes import listing, mapping

Message = Mapping[str, Any]
_LATEST_SECONDS = 1e11  # the year 5138
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def messages_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of a request, or those that an outlet is shown."""
    return [
        dict(mapping(message)) for message in listing(body.get("messages"))
    ]


def message_text(message: Message) -> str:
    """The text of a message as it can be stored; whatever was sent is read by this function alone.

    It is the content, the text parts of a content list, or the output: Open WebUI 0.10 leaves the
    content of answers empty and keeps them in ``output`` items.
    """
    return storable_text(_sent_text(message))


def _sent_text(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, str) and content:
        return content
    items = map(mapping, listing(message.get("output")))
    said = [
        item.get("content") for item in items if item.get("type") == "message"
    ]
    parts = map(
        mapping,
        listing(content) or [part for one in said for part in listing(one)],
    )
    texts = [
        one.get("text")
        for one in parts
        if one.get("type", "text") in ("text", "output_text")
    ]
    return "\n".join(text for text in texts if isinstance(text, str))


def newest_user_message(messages: Sequence[Message]) -> Message | None:
    """The last message whose role is ``user``."""
    return next(
        (
            message
            for message in reversed(messages)
            if message.get("role") == "user"
        ),
        None,
    )


def spoken_text(text: str) -> str:
    """A message's text without what the host or a filter put into it."""
    # Reasoning, tool calls and code runs stand as <details> blocks in stored answers up to Open
    # WebUI 0.9 (host: utils/middleware.py, serialize_output).
    spoken = without_spans(
        without_spans(text, "details"), "adaptive_memory|memory_context"
    )
    return without_answer_note(spoken).strip()


def typed_message(
    messages: Sequence[Message], message_id: str
) -> tuple[Message, str] | None:
    """The user's message of that id, or the newest one, with its typed words if there are any."""
    named = (
        message
        for message in messages
        if message_id and message.get("id") == message_id
    )
    newest = next(named, None) or newest_user_message(messages)
    words = spoken_text(message_text(newest)) if newest else ""
    return (newest, words) if newest is not None and has_words(words) else None


def earlier_utterances(
    messages: Sequence[Message], before: Message, limit: int
) -> tuple[Utterance, ...]:
    """The last ``limit`` texts of user and assistant that stand before a message, oldest first."""
    earlier = [
        *itertools.takewhile(lambda message: message is not before, messages)
    ]
    # From the newest back, so that no more messages are read than are wanted.
    utterances = (
        one for one in map(_utterance, reversed(earlier)) if one is not None
    )
    return tuple(itertools.islice(utterances, limit))[::-1]


def _utterance(message: Message) -> Utterance | None:
    """What the user or the assistant said in a message; ``None`` where nothing was said."""
    role = message.get("role")
    if role not in ("user", "assistant"):
        return None
    text = spoken_text(message_text(message))
    return Utterance(role, text) if text else None


def has_words(text: str) -> bool:
    """Whether there is a letter or a digit of any script in the text."""
    return _LETTER_OR_DIGIT.search(text) is not None


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
        except (
            KeyError,
            ValueError,
            OSError,
            RecursionError,
        ):  # no such zone, no name of one
            continue
    return datetime.fromtimestamp(epoch_seconds, UTC)


def head_and_tail(text: str, limit: int) -> str:
    """At most about ``limit`` characters: two thirds from the head, one third from the tail."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    return f"{text[:head]}\n[…]\n{text[-(limit - head) :]}"


def passages(text: str, longest: int) -> list[str]:
    """The words of a text in pieces of at most ``longest`` characters; none where it has none."""
    pieces: list[list[str]] = []
    room = 0
    for word in text.split():
        for start in range(0, len(word), longest):
            part = word[start : start + longest]
            if room <= len(part):
                pieces.append([])
                room = longest + 1
            pieces[-1].append(part)
            room -= len(part) + 1
    return [" ".join(piece) for piece in pieces]


def estimated_tokens(text: str) -> int:
    """A rough count of tokens: four ASCII characters each, every other character one."""
    ascii_characters = (
        len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    )
    return -(-ascii_characters // 4) + len(text) - ascii_characters
