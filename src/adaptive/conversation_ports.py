"""The protocols of past conversation: messages, their index, notes of chats, and the turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from adaptive.model import ConversationKind
from adaptive.ports import Completer, Embedder, Vectors
from adaptive.settings import Settings

UnitKind = Literal["message", "exchange", "topic"]


@dataclass(frozen=True, slots=True)
class HistoryUnit:
    """What is embedded as one: a message, a message with those around it, or a topic's summary.

    ``message_id`` is the message that is found by it, for a topic the first one of it. ``text`` is
    what is embedded, and ``digest`` tells whether it has changed. ``id`` is a UUID, which Qdrant
    asks for, and the same for the same user, chat, message and kind. ``first`` marks one unit of
    each chat, by which the index can be asked for its chats.
    """

    id: str
    kind: UnitKind
    chat_id: str
    message_id: str
    role: str
    said_at: int
    text: str
    digest: str
    first: bool = False


@dataclass(frozen=True, slots=True)
class HistoryHit:
    """A unit that a search brought; ``closeness`` is 1 for the best of its search, 0 for the last.

    Vector databases answer in different measures, some of them the lower the better, so what they
    agree on is kept: the order, and the distances relative to each other. ``score`` is the engine's
    own measure, the higher the nearer; it compares with other searches of the same engine alone.
    """

    kind: UnitKind
    chat_id: str
    message_id: str
    closeness: float
    text: str = ""
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class HistoryStamp:
    """How a user's past messages stand: their number, and the epoch second of the newest."""

    count: int
    newest: int


@dataclass(frozen=True, slots=True)
class ChatHead:
    """A saved chat without its messages; ``updated_at`` is in epoch seconds."""

    id: str
    title: str
    updated_at: int


@dataclass(frozen=True, slots=True)
class ChatNotes:
    """What is noted of a chat from turn to turn: a summary of a few sentences, at most 10 tags.

    No contents of memories stand in them.
    """

    summary: str = ""
    tags: tuple[str, ...] = ()


class ChatNotesTable(Protocol):
    """Notes by user and chat, for all workers; any call may raise ``TablesUnavailable``.

    Times are epoch seconds.
    """

    async def read(self, user_id: str, chat_id: str) -> ChatNotes:
        """The notes of a chat, empty ones where there are none."""
        ...

    async def write(self, user_id: str, chat_id: str, notes: ChatNotes, now: int) -> None:
        """Replace the notes of a chat."""
        ...

    async def drop_deleted(self, user_id: str, current: str = "") -> int:
        """Drop notes of chats that the host has no more, the current one excepted; how many."""
        ...


class HistoryVectors(Protocol):
    """One user's units in a vector database; any call may raise ``HostError``.

    Vectors of another embedder than ``embedder`` are never mixed in: where the collection is of
    another one it is dropped before the first write, and searched by nobody.
    """

    async def holds(self, user_id: str) -> bool:
        """Whether anything of a user is indexed, by one cheap query."""
        ...

    async def known(self, user_id: str, embedder: str, chat_id: str) -> dict[str, str]:
        """Digests of a chat's units, by unit id."""
        ...

    async def chats(self, user_id: str) -> frozenset[str]:
        """Ids of the chats that have units, be it by another embedder."""
        ...

    async def upsert(
        self, user_id: str, embedder: str, units: Sequence[HistoryUnit], vectors: Vectors
    ) -> None:
        """Store units with their vectors, of shape (len(units), d), in place of former ones."""
        ...

    async def search(
        self, user_id: str, embedder: str, vector: Vectors, limit: int, chat_id: str = ""
    ) -> tuple[HistoryHit, ...]:
        """The nearest units to a vector of shape (d,), the best first; of one chat if it is named.

        None where nothing has been indexed.
        """
        ...

    async def delete(self, user_id: str, unit_ids: Sequence[str]) -> None:
        """Remove units; unknown ids are passed over."""
        ...

    async def delete_chat(self, user_id: str, chat_id: str) -> None:
        """Remove all units of a chat."""
        ...

    async def delete_all(self, user_id: str) -> None:
        """Remove everything of a user."""
        ...


class PastChats(Protocol):
    """A user's saved chats in the host's own tables; any call may raise ``HostError``.

    Chats of other users, and those that the host keeps for itself, are never read.
    """

    async def stamp(self, user_id: str) -> HistoryStamp:
        """How the user's messages stand, by one cheap query."""
        ...

    async def chats(self, user_id: str, skip: int, limit: int) -> tuple[ChatHead, ...]:
        """The user's chats, the newest first."""
        ...

    async def heads(self, user_id: str, chat_ids: Sequence[str]) -> dict[str, ChatHead]:
        """Those of the named chats that are still this user's, by id."""
        ...

    async def messages(self, user_id: str, chat_id: str) -> tuple[Mapping[str, Any], ...]:
        """A chat's messages of all branches as the host keeps them, with their ``id``.

        None where the chat is not this user's.
        """
        ...

    async def outline(self, user_id: str, chat_id: str) -> tuple[Mapping[str, Any], ...]:
        """``id``, ``parentId`` and ``role`` of a chat's messages of all branches."""
        ...

    async def newest_messages(self, user_id: str, limit: int) -> tuple[Mapping[str, Any], ...]:
        """The newest of the user's messages in all chats, with ``id`` and ``chat_id``."""
        ...

    async def current(
        self, user_id: str, keys: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], Mapping[str, Any]]:
        """Those of the named messages that still stand, as they stand, by chat and message id."""
        ...


@dataclass(frozen=True, slots=True)
class HistoryTurn:
    """The turn for which the past is wanted, or behind which it is indexed.

    ``told_kind`` is the kind of conversation as far as it can be told without the database, where
    it stands as ``kind``. Ids are empty where nothing is stored. ``completer`` brings the model for
    learning, ``None`` where banks are kept from it; ``compacts`` tells whether the host shortens
    long chats itself. What asks the host may raise errors of ours.
    """

    settings: Settings
    user_id: str
    chat_id: str
    question_id: str
    answer_id: str
    told_kind: ConversationKind
    time_zones: Sequence[str]
    kind: Callable[[], Awaitable[ConversationKind]]
    embedder: Callable[[], Awaitable[Embedder]]
    completer: Callable[[], Awaitable[Completer | None]]
    wants_memory: Callable[[], Awaitable[bool]]
    compacts: Callable[[], Awaitable[bool]]
    tell: Callable[[str], Awaitable[None]]
