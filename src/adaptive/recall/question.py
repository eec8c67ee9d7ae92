"""What memories are wanted for: the newest message of the user, made complete where a model can."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from adaptive.core.messages import Message, message_text, newest_user_message, spoken_text
from adaptive.core.ports import Embedder, Vectors
from adaptive.search.vectors import query_vectors
from adaptive.settings.hook import Hook

# Brings the text to search with, the message's own words included, within a bounded time; empty
# where the message stands as it is.
Complete = Callable[[], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Question:
    """What memories are wanted for; without a ``chat_id`` nothing is kept in place.

    ``previous`` is the user's message before it. ``first`` tells that the chat holds no earlier
    message of the user. ``today`` is the user's day as "YYYY-MM-DD"; without it nothing has ended.
    """

    text: str
    previous: str = ""
    chat_id: str = ""
    first: bool = False
    today: str = ""


def question_of(hook: Hook, messages: Sequence[Message]) -> Question:
    """The question that a request asks."""
    said = [one for one in messages if one.get("role") == "user"]
    # "make it shorter" stands last then; what it is about, the user's message tells.
    newest = hook.regenerated_message or newest_user_message(messages) or {}
    return Question(
        text=spoken_text(message_text(newest)),
        previous=spoken_text(message_text(said[-2])) if len(said) > 1 else "",
        chat_id=hook.chat_id if hook.told_kind == "saved" else "",
        first=len(said) <= 1,
    )


async def completed(
    question: Question,
    vectors: Vectors | None,
    embedder: Embedder,
    complete: Complete | None,
    patience: float,
) -> tuple[Question, Vectors | None]:
    """The question as it is to be searched for, with its vectors; as it was where nobody helps.

    ``vectors`` are those of the question, then of the message before it. They stay where the new
    text gets none within ``patience`` seconds.
    """
    text = await complete() if complete is not None else ""
    if not text or text == question.text:
        return question, vectors
    changed = replace(question, text=text)
    fresh = None if vectors is None else await query_vectors(embedder, [text], patience)
    if fresh is None or vectors is None:
        return changed, vectors
    return changed, np.concatenate([fresh, vectors[1:]])
