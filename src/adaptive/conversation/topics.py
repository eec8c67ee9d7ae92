"""Topics: stretches of a chat that were said without a long pause."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from adaptive.conversation_ports import PastMessage

PAUSE_SECONDS = 5 * 3600
MOST_MESSAGES = 400


@dataclass(frozen=True, slots=True)
class Topic:
    """Messages of one chat, oldest first; ``closed`` says that no further one will join them."""

    messages: tuple[PastMessage, ...]
    closed: bool

    @property
    def id(self) -> str:
        """The id of its first message, by which it is known however long it grows."""
        return self.messages[0].id

    @property
    def digest(self) -> str:
        """Changes with every word of it, and with every message that joins or leaves it."""
        told = "\0".join(f"{one.id}\0{one.role}\0{one.text}" for one in self.messages)
        return hashlib.blake2b(told.encode(errors="replace"), digest_size=12).hexdigest()


def topics_of(
    messages: Sequence[PastMessage],
    now: float,
    pause: float = PAUSE_SECONDS,
    most: int = MOST_MESSAGES,
) -> tuple[Topic, ...]:
    """The topics of a chat's messages, which come oldest first; each message is in exactly one.

    A topic is closed by a pause of that many seconds, after its last message until ``now`` too, and
    by that many messages. A clock that was set back opens no topic.
    """
    groups: list[list[PastMessage]] = []
    latest = 0
    for message in messages:
        if not groups or message.said_at - latest >= pause or len(groups[-1]) >= most:
            groups.append([])
            latest = message.said_at
        groups[-1].append(message)
        latest = max(latest, message.said_at)
    last = len(groups) - 1
    return tuple(
        Topic(tuple(group), at < last or len(group) >= most or now - latest >= pause)
        for at, group in enumerate(groups)
    )
