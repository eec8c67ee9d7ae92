"""A message as several thoughts, each of which is looked for by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from adaptive.core.messages import head_and_tail, passages, sentences
from adaptive.core.model import Vectors
from adaptive.search.examples import Judges
from adaptive.search.fusion import RankingQuery
from adaptive.search.tokens import KeywordIndex, continues, tokens
from adaptive.search.vectors import LONGEST_QUERY

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
    thoughts: Sequence[str], vectors: Vectors | None, dimension: int
) -> list[RankingQuery]:
    """The thoughts of a message to rank for; the last of ``vectors`` are theirs.

    Vectors of another dimension than the store's are left out.
    """
    own: Sequence[Vectors | None] = [None] * len(thoughts)
    if vectors is not None and vectors.shape[1] == dimension:
        own = [*vectors[len(vectors) - len(thoughts) :]]
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
