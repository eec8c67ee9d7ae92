"""What is asked of past conversation, and where that comes from, as ``history`` sees the host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from adaptive.core.messages import Message
from adaptive.core.model import Vectors


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """The newest message, the user's message before it, and all that is sent to the model."""

    text: str
    previous: str
    first: bool  # the chat holds no earlier message of the user
    messages: Sequence[Message]
    # Brings the question in words that need no earlier message, where a model makes it so.
    complete: Callable[[], Awaitable[str]] | None
    tokens: int  # those that the window leaves for the past


UnitKind = Literal["message", "exchange", "topic"]
# What kind of unit it is, and the id of its message; unique within a chat.
UnitKey = tuple[UnitKind, str]


@dataclass(frozen=True, slots=True)
class HistoryUnit:
    """What is embedded as one: a message, a message with the one before it, a topic's summary."""

    kind: UnitKind
    chat_id: str
    message_id: str  # that is found by it, of a topic the first one
    text: str
    digest: str  # tells whether what it stands for has changed
    first: bool = False  # one unit of each chat is

    @property
    def key(self) -> UnitKey:
        return self.kind, self.message_id


@dataclass(frozen=True, slots=True)
class HistoryHit:
    """A unit that a search brought; ``score`` is the engine's own, the higher the nearer."""

    kind: UnitKind
    chat_id: str
    message_id: str
    score: float
    text: str = ""

    @property
    def message_key(self) -> tuple[str, str]:
        """The message that it is found as, by chat and id."""
        return self.chat_id, self.message_id


class HistoryVectors(Protocol):
    """A user's units in a vector database; those of different embedders are never mixed."""

    async def known(
        self, user_id: str, embedder: str, chat_id: str
    ) -> dict[UnitKey, str]:
        """Digests of a chat's units."""
        ...

    async def chats(self, user_id: str) -> frozenset[str]:
        """Ids of the chats that have units, whoever embedded them."""
        ...

    async def upsert(
        self,
        user_id: str,
        embedder: str,
        units: Sequence[HistoryUnit],
        vectors: Vectors,
    ) -> None:
        """Store units with their vectors, of shape (len(units), d), in place of former ones."""

    async def search(
        self,
        user_id: str,
        embedder: str,
        vector: Vectors,
        limit: int,
        chat_id: str = "",
    ) -> tuple[HistoryHit, ...]:
        """The nearest units to a vector of shape (d,), best first; of one chat if it is named."""
        ...

    async def delete(
        self, user_id: str, chat_id: str, keys: Sequence[UnitKey] | None = None
    ) -> None:
        """Remove units of a chat, those named or all; unknown ones are passed over."""

    async def delete_all(self, user_id: str) -> None:
        """Remove everything of a user."""


@dataclass(frozen=True, slots=True)
class ChatHead:
    """A saved chat without its messages."""

    id: str
    title: str
    updated_at: int


class PastChats(Protocol):
    """A user's own saved chats in the host's tables, without those that the host keeps itself."""

    async def heads(
        self, user_id: str, chat_ids: Sequence[str] | None = None
    ) -> dict[str, ChatHead]:
        """The user's chats by id, the newest first; of those named, or all."""
        ...

    async def messages(
        self, user_id: str, chat_id: str, *, words: bool = True
    ) -> tuple[Mapping[str, Any], ...]:
        """A chat's messages of all branches; without ``words`` their places and roles alone."""
        ...

    async def current(
        self, user_id: str, keys: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], Mapping[str, Any]]:
        """Those of the messages that still stand, as they stand, by chat and message id."""
        ...
