"""A user's chats as far as they are indexed: what was never indexed is not recalled by keywords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adaptive.conversation_ports import ChatHead, HistoryStamp, HistoryVectors, PastChats


@dataclass(frozen=True, slots=True)
class IndexedChats:
    """``PastChats`` without those that have no unit in the vector database.

    Chats of the time before recall was switched on come in by a backfill that the user asks for,
    and what was erased from the index stays away until the user goes on in its chat.
    """

    past: PastChats
    vectors: HistoryVectors

    async def stamp(self, user_id: str) -> HistoryStamp:
        """How all of the user's messages stand."""
        return await self.past.stamp(user_id)

    async def chats(self, user_id: str, skip: int, limit: int) -> tuple[ChatHead, ...]:
        """Those of a page that are indexed."""
        heads = await self.past.chats(user_id, skip, limit)
        indexed = await self.vectors.chats(user_id) if heads else frozenset[str]()
        return tuple(head for head in heads if head.id in indexed)

    async def standing(self, user_id: str, chat_ids: Sequence[str]) -> frozenset[str]:
        """Those that the user still has, and that are indexed."""
        indexed = await self.vectors.chats(user_id)
        return await self.past.standing(user_id, [one for one in chat_ids if one in indexed])

    async def messages(self, user_id: str, chat_id: str) -> tuple[Mapping[str, Any], ...]:
        """Those of a chat that is indexed."""
        if chat_id not in await self.vectors.chats(user_id):
            return ()
        return await self.past.messages(user_id, chat_id)

    async def newest_messages(self, user_id: str, limit: int) -> tuple[Mapping[str, Any], ...]:
        """Those of chats that are indexed, among so many of all."""
        found = await self.past.newest_messages(user_id, limit)
        indexed = await self.vectors.chats(user_id) if found else frozenset[str]()
        return tuple(one for one in found if one.get("chat_id") in indexed)

    async def current(
        self, user_id: str, keys: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], Mapping[str, Any]]:
        """As they stand; they have been found in an index."""
        return await self.past.current(user_id, keys)
