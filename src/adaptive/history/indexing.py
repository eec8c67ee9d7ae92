"""Putting a chat into the index of past conversation, and taking out what is gone.

What stands in the index is compared with the chat as it is now: new and changed messages are
embedded, those that were deleted or left behind on another branch are removed. So no message is
embedded twice, whichever worker did it first, and work that was broken off goes on where it was.

Embedded are each message, each message with the one before it, and summaries of topics. A short
answer ("The Minnesota Wolves!") says what it is about only together with the question; the pair
ends with the message, so that one that is added changes no vector but its own.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from adaptive.conversation_ports import HistoryUnit, UnitKind
from adaptive.history.index import UserPast
from adaptive.history.messages import (
    PastMessage,
    Topic,
    digest_of,
    past_messages,
    secretless,
    topics_of,
)
from adaptive.messages import head_and_tail
from adaptive.search.vectors import normalised

# A batch takes a model on a slow CPU about a second, in which no memory is embedded beside it.
_UNITS_EMBEDDED_AT_ONCE = 32
# Embedding models read a few hundred tokens; head and tail of a long message tell its subject.
LONGEST_EMBEDDED = 1500
_UNIT_NAMES = uuid.UUID("6f0f5f0a-7c1c-5b7e-9a46-2f1de0a7c0d3")


@dataclass(frozen=True, slots=True)
class IndexedChat:
    """What indexing a chat did: the number of units embedded, and of its topics.

    ``unsummarised`` are closed topics of which no summary of their present words is indexed.
    """

    embedded: int = 0
    topics: int = 0
    unsummarised: tuple[Topic, ...] = ()


async def index_chat(
    past: UserPast,
    chat_id: str,
    now: float,
    newest_id: str = "",
    summaries: Mapping[str, str] | None = None,
) -> IndexedChat:
    """Bring the index up to a chat as it stands; a chat that is gone is removed from it.

    ``newest_id`` names the message that ends the branch, ``summaries`` are those of topics, by the
    topic's id, without secrets. Units of topics without one here stay as long as the topic does,
    word for word.

    Raises:
        HostError: the chat can't be read, or the index not be written.
        EmbeddingError: the embedder brings no vectors; what was embedded before stands.
    """
    embedder = await past.embedder.name()
    # Read first: what another turn adds meanwhile is not taken for something that has gone.
    known = await past.vectors.known(past.user_id, embedder, chat_id)
    stored = await past.chats.messages(past.user_id, chat_id)
    messages = past_messages(chat_id, stored, now, newest_id)
    topics = topics_of(messages, now)
    told = summaries or {}
    summed = {one.id: topic_unit(past.user_id, one, told.get(one.id, "")) for one in topics}
    units = {unit.id: unit for unit in message_units(past.user_id, messages)}
    units |= {unit.id: unit for unit in summed.values() if unit.text}
    changed = [unit for unit in units.values() if known.get(unit.id) != unit.digest]
    standing = {unit.id for unit in summed.values() if known.get(unit.id) == unit.digest}
    # What goes is gone at once, and what comes is written batch by batch.
    if gone := sorted(known.keys() - units.keys() - standing):
        await past.vectors.delete(past.user_id, gone)
    # In a thread, as looking for secrets takes a moment.
    changed = await asyncio.to_thread(_secretless_units, past.user_id, changed, messages)
    for start in range(0, len(changed), _UNITS_EMBEDDED_AT_ONCE):
        some = changed[start : start + _UNITS_EMBEDDED_AT_ONCE]
        made = await past.embedder.embed([unit.text for unit in some], query=False)
        await past.vectors.upsert(past.user_id, embedder, some, normalised(made))
    told_of = units.keys() | standing
    left = [one for one in topics if one.closed and summed[one.id].id not in told_of]
    return IndexedChat(len(changed), len(topics), tuple(left))


async def drop_deleted_chats(past: UserPast) -> None:
    """Remove from the index chats that the user has no more.

    A filter hears nothing of a chat's deletion (host: events.py, CHAT_DELETED goes to Event
    functions and webhooks only).

    Raises:
        HostError: chats can't be read, or the index not be written.
    """
    indexed = sorted(await past.vectors.chats(past.user_id))
    standing = await past.chats.heads(past.user_id, indexed) if indexed else {}
    for chat_id in indexed:
        if chat_id not in standing:
            await past.vectors.delete_chat(past.user_id, chat_id)


def message_units(user_id: str, messages: Sequence[PastMessage]) -> list[HistoryUnit]:
    """The units of a chat's messages, oldest first: one of each, and one of each pair."""
    units: list[HistoryUnit] = []
    before = ""
    for message in messages:
        text = head_and_tail(message.text, LONGEST_EMBEDDED)
        units.append(_history_unit(user_id, "message", message, text, first=not units))
        half = head_and_tail(message.text, LONGEST_EMBEDDED // 2)
        if before:
            units.append(_history_unit(user_id, "exchange", message, f"{before}\n{half}"))
        before = half
    return units


def topic_unit(user_id: str, topic: Topic, summary: str = "") -> HistoryUnit:
    """The unit of a topic, by its summary; it is found as the topic's first message.

    Its digest is that of the messages: a summary of words that are gone is no summary of it.
    """
    text = head_and_tail(summary, LONGEST_EMBEDDED)
    return replace(_history_unit(user_id, "topic", topic.messages[0], text), digest=topic.digest)


def _secretless_units(
    user_id: str, units: Sequence[HistoryUnit], messages: Sequence[PastMessage]
) -> list[HistoryUnit]:
    """Units of a chat's messages without the secrets in those; they keep their digests."""
    found = {unit.message_id for unit in units}
    with_next = [{one.id for one in messages[at : at + 2]} for at in range(len(messages))]
    near = [one for one, ids in zip(messages, with_next, strict=True) if found & ids]
    bare = {one.key: one for one in secretless(near)}
    clean = message_units(user_id, [bare.get(one.key, one) for one in messages])
    texts = {unit.id: unit.text for unit in clean}
    return [replace(unit, text=texts.get(unit.id, unit.text)) for unit in units]


def unit_id(user_id: str, kind: UnitKind, chat_id: str, message_id: str) -> str:
    """The UUID of a unit; the same for the same user, kind, chat and message."""
    return str(uuid.uuid5(_UNIT_NAMES, "\0".join((user_id, kind, chat_id, message_id))))


def _history_unit(
    user_id: str, kind: UnitKind, message: PastMessage, text: str, *, first: bool = False
) -> HistoryUnit:
    return HistoryUnit(
        id=unit_id(user_id, kind, message.chat_id, message.id),
        kind=kind,
        chat_id=message.chat_id,
        message_id=message.id,
        role=message.role,
        said_at=message.said_at,
        text=text,
        digest=digest_of(f"{first}\n{text}"),
        first=first,
    )
