"""What memories are wanted for: the newest message of the user and the one before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adaptive.messages import Message, message_text, newest_user_message, spoken_text
from adaptive.shapes import mapping


@dataclass(frozen=True, slots=True)
class Question:
    """What memories are wanted for; without a ``chat_id`` nothing is kept in place.

    ``first`` tells that the chat holds no earlier message of the user. ``today`` is the user's day
    as "YYYY-MM-DD"; without it nothing has ended.
    """

    text: str
    previous: str = ""
    chat_id: str = ""
    first: bool = False
    today: str = ""


def question_of(
    messages: Sequence[Message], metadata: Mapping[str, Any], chat_id: str, today: str = ""
) -> Question:
    """The question that a prompt asks."""
    newest = newest_user_message(messages) or {}
    said = [one for one in messages if one.get("role") == "user"]
    if metadata.get("regeneration_message_id"):
        # "make it shorter" stands last then; what it is about, the user's message tells.
        newest = mapping(metadata.get("user_message")) or newest
    text = spoken_text(message_text(newest))
    previous = spoken_text(message_text(said[-2])) if len(said) > 1 else ""
    return Question(text, previous, chat_id, first=len(said) <= 1, today=today)
