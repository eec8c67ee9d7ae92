"""Conversation recall: a question goes in, the section on past conversation comes out."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from adaptive.conversation.history_block import (
    LONGEST_SHOWN,
    HistorySection,
    SectionRules,
    TopicNote,
    packed_section,
    summarised_section,
)
from adaptive.conversation.history_gate import (
    HISTORY_GATE,
    HistoryLevels,
    HistorySpace,
    NullVectors,
    history_evidence,
    is_small_talk,
    nearest_score,
)
from adaptive.conversation.history_index import HistoryIndex, MessageKey, history_index
from adaptive.conversation.history_indexes import HistoryIndexes
from adaptive.conversation.history_ranking import (
    FoundMessage,
    HistoryScope,
    best_coverage,
    rank_messages,
)
from adaptive.conversation.history_summary import HistorySummariser
from adaptive.conversation.past_messages import past_message
from adaptive.conversation_ports import HistoryHit, HistoryVectors, PastChats, PastMessage
from adaptive.errors import AdaptiveMemoryError, EmbeddingError, HostError
from adaptive.messages import has_words
from adaptive.ports import Embedder, Vectors
from adaptive.search.query import query_vectors
from adaptive.search.tokens import continues
from adaptive.search.vectors import normalised

log_history = logging.getLogger("adaptive_memory.conversation")

# Units that the vector database is asked for; each message has two.
HITS = 300
# Messages that are ranked; 2,000 tokens hold about fifty. Of those are read anew that fill the
# budget so many times.
_MOST_RANKED = 150
_READ_SHARE = 1.5
_FEWEST_TOKENS = 12
# Of messages that score below this share of the best one none is worth a summary.
_SUMMARY_SHARE = 0.5
_MOST_SUMMARISED = 80
_MOST_NOTES = 3


@dataclass(frozen=True, slots=True)
class HistorySources:
    """Where a user's past conversation comes from.

    ``nulls`` brings the vectors of the null prompts; without it they are made for this alone.
    """

    user_id: str
    embedder: Embedder
    vectors: HistoryVectors
    chats: PastChats
    indexes: HistoryIndexes
    nulls: NullVectors | None = None


@dataclass(frozen=True, slots=True)
class HistoryQuestion:
    """A message to recall for; ``previous`` is the user's message before it.

    ``vector`` is that of ``text``, normalised, where it has been made already.
    """

    text: str
    scope: HistoryScope
    previous: str = ""
    vector: Vectors | None = None


@dataclass(frozen=True, slots=True)
class HistoryRules:
    """Limits: how the section is written, seconds for the vector, bytes of all users' indexes.

    With ``topics`` summaries of topics stand first and lift the messages of their topic. ``gate``
    is the evidence without which nothing is recalled; 0 recalls for any prompt.
    """

    section: SectionRules
    patience: float
    index_bytes: int
    topics: bool = True
    gate: float = HISTORY_GATE


@dataclass(frozen=True, slots=True)
class RecalledHistory:
    """What is injected, and whether a model has summarised it."""

    section: HistorySection
    summarised: bool = False


async def recall_history(
    sources: HistorySources,
    question: HistoryQuestion,
    rules: HistoryRules,
    summariser: HistorySummariser | None = None,
) -> RecalledHistory:
    """The past messages that fit a question best, within the budget; no section where none does.

    What is injected is read anew: what was edited stands as it stands now, what was deleted does
    not. A summariser is asked only if what fits exceeds the budget; if it fails, the best messages
    stand there themselves.

    Raises:
        HostError: past messages can't be read.
    """
    if not has_words(question.text) or (question.scope.only_current and not question.scope.beyond):
        return RecalledHistory(HistorySection())
    asked = question.text
    if question.previous and continues(question.text):
        asked = f"{question.previous}\n{question.text}"
    if rules.gate and is_small_talk(asked):
        return RecalledHistory(HistorySection())
    embedder, hits = await _hits(sources, question, rules.patience)
    if not rules.topics:
        hits = tuple(hit for hit in hits if hit.kind != "topic")
    past = await _found_past(sources, hits, rules)
    if (
        rules.gate
        and _evidence_of_past(sources, question.scope, asked, past, embedder) < rules.gate
    ):
        return RecalledHistory(HistorySection())
    ranked = _ranked(question.scope, asked, past, rules)
    if summariser is None:
        ranked = _likely_shown(ranked, rules.section)
    topics = _near_topics(question.scope, hits)
    found, notes = await _as_they_stand(sources, ranked, topics, past)
    messages = [one.message for one in found]
    section = packed_section(asked, messages, notes, rules.section)
    if summariser is None or not section.left_out:
        return RecalledHistory(section)
    worth = [one for one in found if one.score >= _SUMMARY_SHARE * found[0].score]
    if len(worth) <= len(section.messages):
        return RecalledHistory(section)
    try:
        text = await summariser.summary(
            asked,
            [one.message for one in worth[:_MOST_SUMMARISED]],
            rules.section.tokens,
            rules.section.zone,
        )
    except AdaptiveMemoryError as error:
        log_history.warning("past conversation was not summarised: %s", error)
        return RecalledHistory(section)
    written = summarised_section(text, section, rules.section)
    return RecalledHistory(written, summarised=written is not section)


async def _hits(
    sources: HistorySources, question: HistoryQuestion, patience: float
) -> tuple[str, tuple[HistoryHit, ...]]:
    """The embedder's name and what the vector database brings; nothing where either fails."""
    vector = question.vector
    follow_up = bool(question.previous) and continues(question.text)
    if vector is None or follow_up:
        texts = (question.text, question.previous) if follow_up else (question.text,)
        made = await query_vectors(sources.embedder, texts, patience)
        vector = None if made is None else normalised(made.sum(axis=0, keepdims=True))[0]
    if vector is None:
        return "", ()
    only = question.scope.current_chat if question.scope.only_current else ""
    try:
        name = await sources.embedder.name()
        return name, await sources.vectors.search(sources.user_id, name, vector, HITS, only)
    except (EmbeddingError, HostError) as error:
        log_history.warning("past conversation is searched by keywords only: %s", error)
        return "", ()


@dataclass(frozen=True, slots=True)
class _FoundPast:
    """What a search has to go by: hits, the index, and messages that only the hits know.

    Those are new, or no index stands yet; ``fresh`` are they as they stand now, ``apart`` is the
    index of them.
    """

    hits: tuple[HistoryHit, ...]
    index: HistoryIndex | None
    fresh: dict[MessageKey, PastMessage]
    apart: HistoryIndex | None


async def _found_past(
    sources: HistorySources, hits: tuple[HistoryHit, ...], rules: HistoryRules
) -> _FoundPast:
    user_id = sources.user_id
    index = await sources.indexes.at_hand(user_id, sources.chats, rules.index_bytes)
    unknown = [
        key
        for hit in hits
        if hit.kind != "topic"
        and (key := (hit.chat_id, hit.message_id))
        and (index is None or key not in index.places)
    ]
    fresh = await _current(sources, dict.fromkeys(unknown))
    ordered = sorted(fresh.values(), key=lambda one: (one.said_at, one.role == "assistant"))
    return _FoundPast(hits, index, fresh, history_index(ordered) if ordered else None)


def _evidence_of_past(
    sources: HistorySources, scope: HistoryScope, asked: str, past: _FoundPast, embedder: str
) -> float:
    """What speaks for recalling anything of the scope."""
    indexes = [index for index in (past.index, past.apart) if index is not None]
    coverage = max((best_coverage(index, asked, scope) for index in indexes), default=0.0)
    levels: HistoryLevels = {}
    if embedder:
        space = HistorySpace(sources.user_id, sources.embedder, sources.vectors, sources.nulls)
        size = sum(len(index.messages) for index in indexes)
        levels = sources.indexes.calibrations.at_hand(space, embedder, size)
    nearest = nearest_score([hit for hit in past.hits if scope.holds(hit.chat_id, hit.message_id)])
    return history_evidence(asked, nearest, coverage, levels)


def _ranked(
    scope: HistoryScope, asked: str, past: _FoundPast, rules: HistoryRules
) -> list[FoundMessage]:
    """The best messages, as they stood when they were indexed.

    Messages that only the vector database knows are compared among themselves and put between the
    others by their scores.
    """
    limit = min(_MOST_RANKED, rules.section.tokens // _FEWEST_TOKENS + 20)
    found: list[FoundMessage] = []
    for index in (past.index, past.apart):
        if index is not None:
            found += rank_messages(index, asked, past.hits, scope=scope, limit=limit)
    if past.apart is not None:
        found.sort(key=lambda one: -one.score)
    return found[:limit]


def _likely_shown(found: list[FoundMessage], rules: SectionRules) -> list[FoundMessage]:
    """As many of the best as fill the budget amply: reading the others would be for nothing."""
    left = _READ_SHARE * rules.tokens
    for at, one in enumerate(found):
        left -= rules.count_tokens(one.message.text[:LONGEST_SHOWN])
        if left < 0:
            return found[: at + 1]
    return found


def _near_topics(scope: HistoryScope, hits: Sequence[HistoryHit]) -> list[HistoryHit]:
    """The nearest summaries of topics that may be told."""
    near = (
        hit
        for hit in hits
        if hit.kind == "topic" and hit.text and scope.holds(hit.chat_id, hit.message_id)
    )
    return list(islice(near, _MOST_NOTES))


async def _as_they_stand(
    sources: HistorySources,
    ranked: Sequence[FoundMessage],
    topics: Sequence[HistoryHit],
    past: _FoundPast,
) -> tuple[list[FoundMessage], list[TopicNote]]:
    """Messages, and summaries of topics of which the first message still stands; by one read."""
    keys = {(one.message.chat_id, one.message.id): one for one in ranked}
    firsts = [(hit.chat_id, hit.message_id) for hit in topics]
    fresh = dict(past.fresh)
    fresh |= await _current(
        sources, [key for key in dict.fromkeys((*keys, *firsts)) if key not in fresh]
    )
    found = [replace(one, message=fresh[key]) for key, one in keys.items() if key in fresh]
    notes = [
        TopicNote(hit.chat_id, fresh[key].said_at, hit.text)
        for hit, key in zip(topics, firsts, strict=True)
        if key in fresh
    ]
    return found, notes


async def _current(
    sources: HistorySources, keys: Iterable[MessageKey]
) -> dict[MessageKey, PastMessage]:
    """Messages as they stand now, by chat and id; those that are gone are missing."""
    wanted = list(keys)
    if not wanted:
        return {}
    stored = await sources.chats.current(sources.user_id, wanted)
    found: dict[MessageKey, PastMessage] = {}
    for key in wanted:
        message = past_message(key[0], stored[key], 0) if key in stored else None
        if message is not None:
            found[key] = message
    return found
