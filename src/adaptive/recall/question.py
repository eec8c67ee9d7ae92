"""What is asked: the newest message of the user, as memories are searched for it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from adaptive.core.messages import (
    Message,
    has_words,
    local_time,
    message_text,
    newest_user_message,
    spoken_text,
)
from adaptive.core.model import Embedder, Vectors
from adaptive.privacy.spoken_requests import sentences_to_forget
from adaptive.search.fusion import (
    DEFAULT_WEIGHTS,
    Ranked,
    Weights,
    rank,
    ranking_query,
)
from adaptive.search.index import MemoryIndex
from adaptive.search.tokens import continues
from adaptive.search.vectors import query_vectors
from adaptive.settings.hook import Hook

# Shares of the inlet's time limit; what is left is for ranking, and for the judge if there is one.
_SHARE_FOR_EMBEDDING = 0.5
_SHARE_FOR_SEARCHING_AGAIN = 0.15

# Brings the text to search with, the message's own words included, within a bounded time; empty
# where the message stands as it is.
Complete = Callable[[], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Question:
    """What memories are wanted for; without a ``chat_id`` nothing is kept in place.

    ``previous`` is the user's message before it. ``first`` tells that the chat holds no earlier
    message of the user. ``today`` is the user's day as "YYYY-MM-DD"; without it nothing has ended.
    ``to_forget`` is what of the message asks to forget something. ``vectors`` are those of the text
    and, where that continues it, of the previous one; ``None`` where keywords have to serve.
    ``former`` are the ids of the memories that stand in the chat's block.
    """

    text: str
    previous: str = ""
    chat_id: str = ""
    first: bool = False
    today: str = ""
    to_forget: str = ""
    vectors: Vectors | None = None
    former: Sequence[str] = ()

    def nearest(
        self,
        index: MemoryIndex,
        limit: int,
        weights: Weights = DEFAULT_WEIGHTS,
    ) -> list[Ranked]:
        """The nearest memories, best first, whether they may come or not; none without words."""
        if not has_words(self.text):
            return []
        query = ranking_query(
            self.text, self.previous, self.vectors, index.dimension
        )
        return rank(index.ranking, query, limit, weights)


def question_of(
    hook: Hook, messages: Sequence[Message], *, answered: bool = False
) -> Question:
    """The question that a request asks, or the newest that was ``answered``."""
    of_user = [
        message for message in messages if message.get("role") == "user"
    ]
    # "make it shorter" stands last then; what it is about, the user's message tells.
    anew = not answered and hook.regenerated_message
    newest = anew or newest_user_message(messages) or {}
    text = spoken_text(message_text(newest))
    return Question(
        text=text,
        previous=spoken_text(message_text(of_user[-2]))
        if len(of_user) > 1
        else "",
        chat_id=hook.chat_id if hook.told_kind == "saved" else "",
        first=len(of_user) <= 1,
        today=local_time(time.time(), *hook.time_zones).date().isoformat(),
        to_forget=sentences_to_forget(text),
    )


async def embedded_question(
    hook: Hook,
    question: Question,
    embedder: Embedder,
    complete: Complete | None = None,
) -> Question:
    """The question in the words to search with, and with their vectors."""
    seconds = hook.settings.inlet_timeout_seconds
    texts = [question.text]
    if continues(question.text):
        texts.append(question.previous)
    # Before the question is completed: with a model in this process both take longer at once.
    vectors = await query_vectors(
        embedder, texts, seconds * _SHARE_FOR_EMBEDDING
    )
    text = await complete() if complete is not None else ""
    if not text or text == question.text:
        return replace(question, vectors=vectors)
    if vectors is not None:
        again = seconds * _SHARE_FOR_SEARCHING_AGAIN
        completed = await query_vectors(embedder, [text], again)
        if completed is not None:
            vectors = np.concatenate([completed, vectors[1:]])
    return replace(question, text=text, vectors=vectors)
