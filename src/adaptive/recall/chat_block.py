"""Keeping the memory block of a chat in place, so that a provider's prompt cache keeps its prefix.

What a chat was given stays where it stands, and new entries are appended, until they no longer
fit: then the block is built anew.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence

from adaptive.core.cache import UserCache
from adaptive.core.errors import TablesUnavailable
from adaptive.core.shapes import listing
from adaptive.privacy.kept import ChatTable
from adaptive.recall.block import BlockEntry

log_chat_block = logging.getLogger("adaptive_memory.recall")

_RETAINED_SECONDS = 24 * 3600
_HELD_CHATS = 2000


def placed_entries(
    former: Sequence[str], fitting: Sequence[str], existing: Mapping[str, BlockEntry], room: int
) -> list[BlockEntry]:
    """The entries of a chat's block, in their order, for a message that ``fitting`` fit.

    ``former`` and ``fitting`` are ids, the latter best first. ``existing`` holds every entry that
    may stand there, by id: what is missing in it drops out, and what was edited changes in its
    place. Former entries stay, also when none fits this message, and those that fit but do not
    stand there yet are appended, oldest first. Where that exceeds the room (in tokens), the block
    is made of the fitting ones alone, best first as many as there is room for, oldest first.
    """
    wanted: dict[str, BlockEntry] = {}
    for id_ in fitting:
        spent = sum(one.tokens for one in wanted.values())
        if id_ in existing and spent + existing[id_].tokens <= room:
            wanted[id_] = existing[id_]
    by_age = sorted(wanted.values(), key=lambda one: (one.memory.created_at, one.memory.id))
    standing = [existing[id_] for id_ in former if id_ in existing]
    order = [*standing, *(one for one in by_age if one.memory.id not in former)]
    return order if sum(one.tokens for one in order) <= room else by_age


def read_entries(state: str) -> list[str]:
    """The ids of what stood in a chat's block, by its kept state; none if it is not understood."""
    try:
        return [id_ for id_ in listing(json.loads(state or "[]")) if isinstance(id_, str)]
    except (ValueError, RecursionError):
        return []


class ChatStates:
    """What was injected into each chat: in the host's database, or in this process without it."""

    def __init__(self, table: ChatTable) -> None:
        self._table = table
        # States that do not stand in the database yet, or can't.
        self._unwritten = UserCache[str](_HELD_CHATS, seconds=_RETAINED_SECONDS)

    async def read(self, user_id: str, chat_id: str) -> str:
        """The state of a chat, empty where there is none."""
        if not chat_id:
            return ""
        if (state := self._unwritten.get((user_id, chat_id))) is not None:
            return state
        try:
            return await self._table.read(user_id, chat_id)
        except TablesUnavailable as error:
            log_chat_block.info("blocks are kept in place by this process only: %s", error)
            return ""

    async def keep(self, user_id: str, chat_id: str, state: str, now: int) -> None:
        """Keep the state of a chat for its next turn."""
        self._unwritten.put((user_id, chat_id), state)
        try:
            await self._table.write(user_id, chat_id, state, now)
            if self._unwritten.get((user_id, chat_id)) is state:
                self._unwritten.pop((user_id, chat_id))
        except TablesUnavailable as error:
            log_chat_block.debug("the chat's block is kept by this process only: %s", error)

    def forget(self, user_id: str) -> None:
        """Let go of all chats of a user."""
        self._unwritten.forget(user_id)
