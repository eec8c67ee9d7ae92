"""What of a chat is embedded: each message, each message with the one before it, and topics.

A short answer ("The Minnesota Wolves!") says what it is about only together with the question, so a
message is also found by the vector of both. The pair ends with the message, so that one that is
added changes no vector but its own.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from adaptive.conversation.topics import Topic
from adaptive.conversation_ports import HistoryUnit, PastMessage, UnitKind
from adaptive.messages import head_and_tail
from adaptive.privacy.redacting_completer import without_secret_values

# Embedding models read a few hundred tokens; head and tail of a long message tell its subject.
LONGEST_EMBEDDED = 1500
# What is searched for secrets before it is cut to that.
_LONGEST_SEARCHED = 20_000
_UNIT_NAMES = uuid.UUID("6f0f5f0a-7c1c-5b7e-9a46-2f1de0a7c0d3")


@dataclass(frozen=True, slots=True)
class UnitChanges:
    """What has to be done so that a chat's units stand in the index as they are now."""

    upserted: tuple[HistoryUnit, ...] = ()
    deleted: tuple[str, ...] = ()


def message_units(user_id: str, messages: Sequence[PastMessage]) -> tuple[HistoryUnit, ...]:
    """The units of a chat's messages, oldest first: one of each, and one of each pair."""
    units: list[HistoryUnit] = []
    for at, message in enumerate(messages):
        text = head_and_tail(message.text, LONGEST_EMBEDDED)
        units.append(_history_unit(user_id, "message", message, text, first=not at))
        if at:
            before = head_and_tail(messages[at - 1].text, LONGEST_EMBEDDED // 2)
            pair = f"{before}\n{head_and_tail(message.text, LONGEST_EMBEDDED // 2)}"
            units.append(_history_unit(user_id, "exchange", message, pair))
    return tuple(units)


def topic_unit(user_id: str, topic: Topic, summary: str) -> HistoryUnit:
    """The unit of a topic, by its summary; it is dated by the topic's first message.

    Its digest is that of the messages: a summary of words that are gone is no summary of it.
    """
    text = head_and_tail(summary, LONGEST_EMBEDDED)
    return replace(_history_unit(user_id, "topic", topic.messages[0], text), digest=topic.digest)


def secretless_units(
    units: Sequence[HistoryUnit], user_id: str, messages: Sequence[PastMessage]
) -> list[HistoryUnit]:
    """Units with a placeholder for each secret, found before the texts are cut.

    ``messages`` are all of their chat; the digests stay, so that nothing is embedded anew for it.
    """
    places = {message.id: at for at, message in enumerate(messages)}
    clean: dict[int, PastMessage] = {}
    bare: dict[str, str] = {}
    for at in sorted({places[one.message_id] for one in units if one.message_id in places}):
        near = range(max(at - 1, 0), at + 1)
        for one in near:
            if one not in clean:
                clean[one] = replace(messages[one], text=_secretless(messages[one].text))
        bare |= {one.id: one.text for one in message_units(user_id, [clean[at] for at in near])}
    return [
        replace(unit, text=bare.get(unit.id) or without_secret_values(unit.text)) for unit in units
    ]


def _secretless(text: str) -> str:
    return without_secret_values(head_and_tail(text, _LONGEST_SEARCHED))


def unit_changes(
    wanted: Iterable[HistoryUnit], known: Mapping[str, str], kept: frozenset[str] = frozenset()
) -> UnitChanges:
    """The difference between a chat's units and the digests that stand in the index, by unit id.

    Units in ``kept`` stay though they are not wanted, as a topic's does while its summary is not
    at hand.
    """
    units = {unit.id: unit for unit in wanted}
    changed = tuple(unit for unit in units.values() if known.get(unit.id) != unit.digest)
    return UnitChanges(changed, tuple(sorted(known.keys() - units.keys() - kept)))


def unit_id(user_id: str, kind: UnitKind, chat_id: str, message_id: str) -> str:
    """The UUID of a unit; the same for the same user, kind, chat and message."""
    return str(uuid.uuid5(_UNIT_NAMES, "\0".join((user_id, kind, chat_id, message_id))))


def _history_unit(
    user_id: str, kind: UnitKind, message: PastMessage, text: str, *, first: bool = False
) -> HistoryUnit:
    marked = f"first\n{text}" if first else text
    digest = hashlib.blake2b(marked.encode(errors="replace"), digest_size=12).hexdigest()
    return HistoryUnit(
        unit_id(user_id, kind, message.chat_id, message.id),
        kind,
        message.chat_id,
        message.id,
        message.role,
        message.said_at,
        text,
        digest,
        first,
    )
