"""Conversation recall: a question goes in, the section on past conversation comes out."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from adaptive.conversation_ports import ChatNotesTable, HistoryHit
from adaptive.errors import AdaptiveMemoryError, EmbeddingError, HostError, TablesUnavailable
from adaptive.history.index import HistoryIndex, HistoryIndexes, UserPast, history_index
from adaptive.history.messages import MessageKey, PastMessage, past_message
from adaptive.history.ranking import (
    HISTORY_GATE,
    FoundMessage,
    HistoryScope,
    best_coverage,
    history_evidence,
    is_small_talk,
    rank_messages,
)
from adaptive.history.section import HistorySection, PastNote, packed_section, summarised_section
from adaptive.history.summaries import HistorySummariser
from adaptive.messages import has_words
from adaptive.search.query import query_vectors
from adaptive.search.vectors import normalised
from adaptive.settings import Settings

log_history = logging.getLogger("adaptive_memory.history")

# Units that the vector database is asked for; each message has two.
HITS = 300
# Messages that are ranked and read anew; 2,000 tokens hold about fifty.
_MOST_RANKED = 150
_TOKENS_PER_RANKED = 20
# Of messages that score below this share of the best one none is worth a summary, and no chat is
# like a new one for its sake.
_WORTH_SHARE = 0.5
_MOST_SUMMARISED = 80
_MOST_TOPICS = 3
# Of the inlet's time limit.
_SHARE_FOR_QUESTION_VECTOR = 0.5


async def recall_history(
    past: UserPast,
    indexes: HistoryIndexes,
    notes: ChatNotesTable,
    texts: Sequence[str],
    scope: HistoryScope,
    settings: Settings,
    *,
    opens: bool = False,
    zone: str = "",
    summariser: HistorySummariser | None = None,
) -> HistorySection:
    """The past messages that fit a question best, within ``history_tokens``; none where none does.

    ``texts`` are the question and before it the one that it continues. Where it ``opens`` a chat,
    former ones like it are named.

    What is injected is read anew: what was edited stands as it stands now, what was deleted does
    not. A summariser is asked only if what fits exceeds the budget; if it fails, the best messages
    stand there themselves. ``zone`` is the user's time zone.

    Raises:
        HostError: past messages can't be read.
    """
    asked = "\n".join(texts)
    unasked = not has_words(texts[-1]) or is_small_talk(asked)
    if unasked or (scope.only_current and not scope.beyond):
        return HistorySection()
    embedder, hits = await _hits(past, texts, scope, settings)
    index = indexes.at_hand(past.user_id, embedder)
    # Of messages that only the vector database knows, being new, an index is made beside it.
    fresh = await _current(past, _unknown(hits, index))
    ordered = sorted(fresh.values(), key=lambda one: (one.said_at, one.role == "assistant"))
    both = [one for one in (index, history_index(ordered) if ordered else None) if one is not None]
    near = [hit for hit in hits if scope.holds(hit.chat_id, hit.message_id)]
    evidence = history_evidence(
        asked,
        max((hit.score for hit in near), default=None),
        max((best_coverage(one, asked, scope) for one in both), default=0.0),
        index.levels if index is not None else {},
    )
    if evidence < HISTORY_GATE:
        return HistorySection()
    most = settings.history_tokens
    limit = min(_MOST_RANKED, most // _TOKENS_PER_RANKED + 20)
    ranked = [one for some in both for one in rank_messages(some, asked, hits, scope, limit)]
    ranked = sorted(ranked, key=lambda one: -one.score)[:limit]
    topics = {(hit.chat_id, hit.message_id): hit for hit in near if hit.kind == "topic"}
    first = list(topics)[:_MOST_TOPICS]
    wanted = dict.fromkeys((*(one.message.key for one in ranked), *first))
    known = fresh | await _current(past, [key for key in wanted if key not in fresh])
    found = [
        replace(one, message=known[key]) for one in ranked if (key := one.message.key) in known
    ]
    similar = await _similar(past, notes, found, settings) if opens else []
    about = [
        PastNote("Topic", key[0], known[key].said_at, topics[key].text)
        for key in first
        if key in known and not any(topics[key].text in one.text for one in similar)
    ]
    messages = [one.message for one in found]
    section = packed_section(asked, messages, [*similar, *about], most, zone)
    worth = [one.message for one in _worthy(found)][:_MOST_SUMMARISED]
    shown = {one.key for one in section.messages}
    if summariser is None or all(one.key in shown for one in worth):
        return section
    try:
        text = await summariser.summary(worth, most, asked)
    except AdaptiveMemoryError as error:
        log_history.warning("past conversation was not summarised: %s", error)
        return section
    return summarised_section(text, section, most)


async def _hits(
    past: UserPast, texts: Sequence[str], scope: HistoryScope, settings: Settings
) -> tuple[str, Sequence[HistoryHit]]:
    """The embedder's name and what the vector database brings; nothing where either fails."""
    patience = settings.inlet_timeout_seconds * _SHARE_FOR_QUESTION_VECTOR
    made = await query_vectors(past.embedder, texts, patience)
    if made is None:
        return "", ()
    vector = normalised(made.sum(axis=0, keepdims=True))[0]
    only = scope.current_chat if scope.only_current else ""
    try:
        name = await past.embedder.name()
        hits = await past.vectors.search(past.user_id, name, vector, HITS, only)
        return name, [one for one in hits if settings.enable_history_topics or one.kind != "topic"]
    except (EmbeddingError, HostError) as error:
        log_history.warning("past conversation is searched by keywords only: %s", error)
        return "", ()


def _unknown(hits: Iterable[HistoryHit], index: HistoryIndex | None) -> list[MessageKey]:
    keys = ((hit.chat_id, hit.message_id) for hit in hits if hit.kind != "topic")
    return [key for key in dict.fromkeys(keys) if index is None or key not in index.places]


async def _current(past: UserPast, keys: Sequence[MessageKey]) -> dict[MessageKey, PastMessage]:
    """Messages as they stand now, by chat and id; those that are gone are missing."""
    stored = await past.chats.current(past.user_id, keys) if keys else {}
    found = {key: past_message(key[0], message, 0) for key, message in stored.items()}
    return {key: message for key, message in found.items() if message is not None}


async def _similar(
    past: UserPast, notes: ChatNotesTable, found: Sequence[FoundMessage], settings: Settings
) -> list[PastNote]:
    """The chats in which the best messages stand, by their titles and what is noted of them."""
    chat_ids = list(dict.fromkeys(one.message.chat_id for one in _worthy(found)))
    chat_ids = chat_ids[: settings.similar_past_chats]
    heads = await past.chats.heads(past.user_id, chat_ids) if chat_ids else {}
    similar: list[PastNote] = []
    for head in (heads[one] for one in chat_ids if one in heads):
        told = ""
        with suppress(TablesUnavailable):
            told = (await notes.read(past.user_id, head.id)).summary
        text = ": ".join(filter(has_words, (head.title, told)))
        similar.append(PastNote("Similar chat", head.id, head.updated_at, text))
    return similar


def _worthy(found: Sequence[FoundMessage]) -> list[FoundMessage]:
    return [one for one in found if one.score >= _WORTH_SHARE * found[0].score]
