"""The question that a request asks of the memories, in the words and vectors to search with.

Its message may be several thoughts, each of which is looked for by itself.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from adaptive.core import (
    Embedder,
    Message,
    Vectors,
    frozen,
    has_words,
    head_and_tail,
    is_of_user,
    local_time,
    message_text,
    passages,
    sentences,
    spoken_text,
)
from adaptive.privacy import sentences_to_forget, without_secrets
from adaptive.recall.chat_so_far import ChatSoFar
from adaptive.search import (
    DEFAULT_WEIGHTS,
    LONGEST_QUERY,
    Judges,
    KeywordIndex,
    MemoryIndex,
    Ranked,
    RankingQuery,
    Weights,
    continues,
    query_vectors,
    rank,
    ranking_query,
    tokens,
)
from adaptive.settings import Hook

_MOST_THOUGHTS = 8
_QUESTION_MARKS = {"?", "\uff1f", "\u061f"}
# In characters: who speaks or types without full stops, or in a script without them, goes on.
_LONGEST_SENTENCE = 200
_HALF_PART = 60
# What a user tells of themselves beside others, and asks nothing about, needs few memories.
_TOLD = 0.5


def thoughts_of(text: str, keywords: KeywordIndex) -> list[str]:
    """The thoughts of a message in their order; none where it is a single one.

    A thought is a sentence with those that lean on it, or a part of what is written on and on. Of
    many the last one counts, and those that have the rarest words in common with memories.
    """
    thoughts: list[str] = []
    for sentence in sentences(head_and_tail(text, LONGEST_QUERY)):
        if thoughts and continues(sentence):
            thoughts[-1] += f" {sentence}"
        else:
            thoughts.extend(_parts(sentence))
    # What is said twice is one thought.
    thoughts = [*dict.fromkeys(thoughts)]
    if len(thoughts) < 2:
        return []
    rarest_first = sorted(
        range(len(thoughts) - 1),
        key=lambda place: -keywords.rarest(tokens(thoughts[place])),
    )
    chosen = sorted(rarest_first[: _MOST_THOUGHTS - 1])
    return [thoughts[place] for place in (*chosen, len(thoughts) - 1)]


def _parts(sentence: str) -> list[str]:
    """A sentence, or its parts where it is longer than one that has an end.

    Each overlaps with the next by half, so that one of them holds what belongs together.
    """
    if len(sentence) <= _LONGEST_SENTENCE:
        return [sentence]
    halves = passages(sentence, _HALF_PART)
    return [" ".join(pair) for pair in pairwise(halves)]


def thought_queries(
    thoughts: Sequence[str], vectors: Vectors | None
) -> list[RankingQuery]:
    """The thoughts of a message to rank for, with their ``vectors``."""
    own = [None] * len(thoughts) if vectors is None else [*vectors]
    return [
        RankingQuery(
            text=thought,
            vector=vector,
            personal=1.0 if _QUESTION_MARKS & {*thought} else _TOLD,
        )
        for thought, vector in zip(thoughts, own, strict=True)
    ]


def with_evidence(
    queries: Sequence[RankingQuery], judges: Judges | None
) -> list[RankingQuery]:
    """Queries with the evidence of their vectors that they are about their writer."""
    if judges is None:
        return [*queries]
    return [
        replace(query, about_writer=judges.evidence(query.text, query.vector))
        if query.vector is not None
        else query
        for query in queries
    ]


# Shares of the inlet's time limit; what is left is for ranking, and for the judge if there is one.
_SHARE_FOR_EMBEDDING = 0.5
_SHARE_FOR_SEARCHING_AGAIN = 0.15

# Brings the text to search with, the message's own words included, within a bounded time; empty
# where the message stands as it is.
Complete = Callable[[], Awaitable[str]]


@frozen
class Question:
    """What memories are wanted for; without a ``chat_id`` nothing is kept in place.

    ``previous`` is the user's message before it. ``first`` tells that the chat holds no earlier
    message of the user. ``today`` is the user's day as "YYYY-MM-DD"; without it nothing has ended.
    ``to_forget`` is what of the message asks to forget something. ``complete`` is there where a
    model is asked for better words. ``thoughts`` are what is looked for: those of a message that has
    several, else the message, each with its vector where it has one. ``so_far`` is what its chat was
    given. The ``judges`` know messages that are about their writer.
    """

    text: str
    previous: str = ""
    chat_id: str = ""
    first: bool = False
    today: str = ""
    to_forget: str = ""
    complete: Complete | None = None
    thoughts: Sequence[RankingQuery] = ()
    so_far: ChatSoFar = ChatSoFar()
    judges: Judges | None = None

    def nearest(
        self,
        index: MemoryIndex,
        limit: int,
        weights: Weights = DEFAULT_WEIGHTS,
        without: Sequence[int] = (),
    ) -> list[list[Ranked]]:
        """The memories nearest to each thought, best first; none without words.

        Those of the places ``without`` are left out.
        """
        if not has_words(self.text):
            return []
        queries = self.queries()
        return [
            rank(
                index.ranking,
                query,
                limit,
                weights,
                thoughts=len(queries),
                without=without,
            )
            for query in queries
        ]

    def queries(self) -> list[RankingQuery]:
        """What is looked for; by its words alone where nothing was embedded."""
        by_words = ranking_query(self.text, self.previous, None)
        return with_evidence(self.thoughts or [by_words], self.judges)


def question_of(
    hook: Hook, messages: Sequence[Message], *, answered: bool = False
) -> Question:
    """The question that a request asks, or the newest that was ``answered``."""
    of_user = [*filter(is_of_user, messages)]
    nothing: Message = {}
    previous, newest = [nothing, nothing, *of_user][-2:]
    if hook.regenerated_message and not answered:
        # "make it shorter" stands last then; what it is about, the user's message tells.
        newest = hook.regenerated_message
    text = spoken_text(message_text(newest))
    return Question(
        text=text,
        previous=spoken_text(message_text(previous)),
        chat_id=hook.chat_id if hook.told_kind == "saved" else "",
        first=len(of_user) <= 1,
        today=local_time(time.time(), *hook.time_zones).date().isoformat(),
        to_forget=sentences_to_forget(text),
    )


async def embedded_question(
    hook: Hook,
    question: Question,
    embedder: Embedder,
    index: MemoryIndex | None,
) -> Question:
    """The question in the words to search with, and with their vectors.

    It stays as it is where there are no memories to search.
    """
    if index is None or not index.memories:
        return question
    seconds = hook.settings.inlet_timeout_seconds
    # Before the question is completed: with a model in this process both take longer at once.
    thoughts = await _embedded_thoughts(
        question, embedder, index, seconds * _SHARE_FOR_EMBEDDING
    )
    text = await question.complete() if question.complete else ""
    if text and text != question.text:
        vectors = await query_vectors(
            embedder, [text], seconds * _SHARE_FOR_SEARCHING_AGAIN
        )
        completed = ranking_query(text, "", vectors)
        # It holds the message's own words, so it stands for a message that is one thought.
        stands_for_all = len(thoughts) == 1 and completed.vector is not None
        thoughts = [completed] if stands_for_all else [completed, *thoughts]
        question = replace(question, text=text)
    return replace(question, thoughts=thoughts)


async def _embedded_thoughts(
    question: Question, embedder: Embedder, index: MemoryIndex, seconds: float
) -> list[RankingQuery]:
    """What is looked for, with its vectors: a message, or its thoughts where it has several.

    Of several the whole finds nothing more (``benchmarks/README.md``), and costs as much as all.
    """
    text = question.text
    thoughts: list[str] = []
    if not continues(text):
        # A secret of several lines is none that can be known by one of them.
        spoken = without_secrets(text)
        thoughts = thoughts_of(spoken, index.ranking.keywords)
    if thoughts:
        vectors = await query_vectors(embedder, thoughts, seconds)
        return thought_queries(thoughts, vectors)
    texts = [text, question.previous] if continues(text) else [text]
    vectors = await query_vectors(embedder, texts, seconds)
    return [ranking_query(text, question.previous, vectors)]
