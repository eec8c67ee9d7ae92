"""What memories are wanted for: the newest message of the user, made complete where a model can."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from adaptive.core.messages import (
    Message,
    local_time,
    message_text,
    newest_user_message,
    spoken_text,
)
from adaptive.privacy.spoken_requests import sentences_to_forget
from adaptive.settings.hook import Hook

# Brings the text to search with, the message's own words included, within a bounded time; empty
# where the message stands as it is.
Complete = Callable[[], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Question:
    """What memories are wanted for; without a ``chat_id`` nothing is kept in place.

    ``previous`` is the user's message before it. ``first`` tells that the chat holds no earlier
    message of the user. ``today`` is the user's day as "YYYY-MM-DD"; without it nothing has ended.
    ``to_forget`` is what of the message asks to forget something.
    """

    text: str
    previous: str = ""
    chat_id: str = ""
    first: bool = False
    today: str = ""
    to_forget: str = ""


def question_of(hook: Hook, messages: Sequence[Message], *, answered: bool = False) -> Question:
    """The question that a request asks, or the newest that was ``answered``."""
    said = [one for one in messages if one.get("role") == "user"]
    # "make it shorter" stands last then; what it is about, the user's message tells.
    anew = not answered and hook.regenerated_message
    newest = anew or newest_user_message(messages) or {}
    text = spoken_text(message_text(newest))
    return Question(
        text=text,
        previous=spoken_text(message_text(said[-2])) if len(said) > 1 else "",
        chat_id=hook.chat_id if hook.told_kind == "saved" else "",
        first=len(said) <= 1,
        today=local_time(time.time(), *hook.time_zones).date().isoformat(),
        to_forget=sentences_to_forget(text),
    )
