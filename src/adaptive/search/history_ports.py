"""What is asked of past conversation, and where that comes from, as ``history`` sees the host."""

import uuid
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Sequence,
)
from typing import Protocol

from adaptive.core import JsonMapping, Message, Vectors, frozen

# The id of a chat, and of a message in it.
MessageKey = tuple[str, str]
# The same, and a digest of the words that were quoted of the message.
Quotation = tuple[str, str, str]

_UNIT_NAMES = uuid.UUID("6f0f5f0a-7c1c-5b7e-9a46-2f1de0a7c0d3")


@frozen
class PastQuestion:
    """The newest message, the user's message before it, and all that is sent to the model.

    Messages of the past that the chat has ``shown`` already don't come again.
    """

    text: str
    previous: str
    first: bool  # the chat holds no earlier message of the user
    messages: Sequence[Message]
    # Brings the question in words that need no earlier message, where a model makes it so.
    complete: Callable[[], Awaitable[str]] | None
    tokens: int  # those that the window leaves for the past
    shown: Collection[MessageKey] = ()


@frozen
class HistoryUnit:
    """What is embedded as one: a message of a chat with the message before it."""

    chat_id: str
    message_id: str
    previous_id: str  # empty for the first message of a chat
    texts: Sequence[str]  # that of the message before it, and its own
    digest: str  # changes with the texts and with the embedder

    @property
    def id(self) -> str:
        """A UUID, which Qdrant asks for."""
        name = f"{self.chat_id}\0{self.message_id}"
        return str(uuid.uuid5(_UNIT_NAMES, name))


@frozen
class HistoryHit:
    """A unit that a search brought, with the cosine of its vector and the one that was searched."""

    chat_id: str
    message_id: str
    previous_id: str
    cosine: float


@frozen
class UnlearnedChat:
    """A chat with messages that were not learned from; it was last changed at an epoch second."""

    id: str
    changed_at: int
    message_ids: Sequence[str]


@frozen
class ListedChat:
    """A chat by its title, with a time at which something was said in it."""

    id: str
    title: str
    said_at: int


class HistoryVectors(Protocol):
    """A user's units in a vector database, all of one embedder.

    Some clients of the host tell an outage from nothing there only when something is written, so
    that nothing is found is no proof of anything (host: retrieval/vector/dbs).
    """

    async def digests(self, user_id: str, chat_id: str) -> dict[str, str]:
        """Digests of a chat's units, by their ids."""
        ...

    async def standing_embedder(self, user_id: str, chat_id: str = "") -> str:
        """The hash of the name of whose units are there, of a chat or of any; empty for none."""
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
    ) -> Sequence[HistoryHit]:
        """The nearest units to a vector of shape (d,), best first; of one chat if it is named."""
        ...

    async def delete(self, user_id: str, ids: Collection[str]) -> None:
        """Remove units by their ids; unknown ones are passed over."""

    async def delete_all(self, user_id: str) -> None:
        """Remove everything of a user."""


class PastChats(Protocol):
    """A user's own saved chats in the host's tables, without those that the host keeps itself."""

    async def scopes(
        self, user_id: str, chat_ids: Collection[str]
    ) -> dict[str, set[str]]:
        """The scopes of the folder and the models of each chat that is the user's, by its id."""
        ...

    async def messages(
        self, user_id: str, chat_id: str, *, words: bool = True
    ) -> Sequence[JsonMapping]:
        """A chat's messages of all branches; without ``words`` their places and roles alone."""
        ...

    async def current(
        self, user_id: str, keys: Collection[MessageKey]
    ) -> dict[MessageKey, JsonMapping]:
        """Those of the messages that still stand, as they stand, by chat and message id.

        Each has the title of its chat as ``chat_title``.
        """
        ...

    async def to_index(
        self, user_id: str, chat_id: str = ""
    ) -> dict[str, int]:
        """Chats that have changed since their entries of kind ``history``, the last changed first.

        An entry of kind ``erased_history`` counts as well; one without a key is about all chats.
        They come with the time of their last change, which is 0 for one that has an entry and is
        gone. Where a chat is named, the others that have no entry are left out.
        """
        ...

    async def unlearned(
        self, user_id: str, since: float, until: float
    ) -> Sequence[UnlearnedChat]:
        """Chats with messages of the user's own that nothing was learned from, the newest first.

        They were said from one epoch second on to before another. What waits to be learned from
        counts as learned, and so does a chat from which everything learned was erased.
        """
        ...

    async def listed(
        self, user_id: str, since: float, until: float
    ) -> Sequence[ListedChat]:
        """Chats in which the user has said something of that time, the last said first."""
        ...
