"""Keeping the memory block of a chat in place, so that a provider's prompt cache keeps its prefix.

What a chat was given stays where it stands, and new entries are appended, until they no longer
fit: then the block is built anew.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterable, Mapping, Sequence

from adaptive.core.cache import UserCache
from adaptive.core.errors import TablesUnavailable
from adaptive.core.kept import ChatTable
from adaptive.core.shapes import mapping
from adaptive.recall.layout import BlockEntry

log_chat_block = logging.getLogger("adaptive_memory.recall")

# A block that is built anew takes along what fills a quarter of it: one that were full again at
# once would have to be rebuilt on the next turn, too.
_KEPT_ON_REBUILD = 0.25
_RETAINED_SECONDS = 24 * 3600
_HELD_CHATS = 2000
# The host makes the model's request first: that is what the user waits for.
_WRITE_AFTER_SECONDS = 0.3

# What stands in a chat's block: ids in their order; a number is greater the more recently a
# message asked for its entry.
ChatEntries = dict[str, int]


def placed_entries(
    former: ChatEntries, fitting: Sequence[str], existing: Mapping[str, BlockEntry], room: int
) -> tuple[list[BlockEntry], ChatEntries]:
    """The entries of a chat's block for a message that ``fitting`` fit, and the state to keep.

    ``fitting`` are ids, best first. ``existing`` holds every entry that may stand there, by id:
    what is missing in it drops out, and what was edited changes in its place. Former entries stay,
    also when none fits this message, and those that fit but do not stand there yet are appended,
    oldest first. Where that exceeds the room (in tokens), the block is made of the fitting ones
    (best first, as many as there is room for) and then of former ones, most recently used first,
    oldest first.

    The same ids again bring the same list and the same state.
    """
    standing = [existing[one] for one in former if one in existing]
    wanted = _filled_up([], [existing[one] for one in fitting if one in existing], room)
    order = [*standing, *_by_age(one for one in wanted if one.memory.id not in former)]
    if sum(one.tokens for one in order) > room:
        recent = sorted(standing, key=lambda one: -former[one.memory.id])
        order = _by_age(_filled_up(wanted, recent, int(room * _KEPT_ON_REBUILD)))
    return order, _next_state(former, order, {one.memory.id for one in wanted})


def read_entries(state: str) -> ChatEntries:
    """What stood in a chat's block, by its kept state; what is not understood is left out."""
    try:
        kept = mapping(json.loads(state or "{}"))
    except (ValueError, RecursionError):
        return {}
    return {id_: used for id_, used in kept.items() if isinstance(used, int)}


class ChatStates:
    """What was injected into each chat: in the host's database, or in this process without it."""

    def __init__(self, table: ChatTable, write_after: float = _WRITE_AFTER_SECONDS) -> None:
        self._table, self._write_after = table, write_after
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
        """Keep the state of a chat for its next turn, in the database after a moment."""
        self._unwritten.put((user_id, chat_id), state)
        await asyncio.sleep(self._write_after)
        if self._unwritten.get((user_id, chat_id)) is not state:
            return  # a newer one is written by its own turn
        try:
            await self._table.write(user_id, chat_id, state, now)
            if self._unwritten.get((user_id, chat_id)) is state:
                self._unwritten.pop((user_id, chat_id))
        except TablesUnavailable as error:
            log_chat_block.debug("the chat's block is kept by this process only: %s", error)

    def forget(self, user_id: str) -> None:
        """Let go of all chats of a user; what was about to be written is not."""
        self._unwritten.forget(user_id)


def _filled_up(
    taken: Sequence[BlockEntry], more: Iterable[BlockEntry], room: int
) -> list[BlockEntry]:
    """What is taken, and of the rest, one after the other, what there is room for."""
    chosen = {one.memory.id: one for one in taken}
    spent = sum(one.tokens for one in taken)
    for entry in more:
        if entry.memory.id not in chosen and spent + entry.tokens <= room:
            chosen[entry.memory.id] = entry
            spent += entry.tokens
    return list(chosen.values())


def _by_age(entries: Iterable[BlockEntry]) -> list[BlockEntry]:
    return sorted(entries, key=lambda one: (one.memory.created_at, one.memory.id))


def _next_state(former: ChatEntries, order: Sequence[BlockEntry], used: set[str]) -> ChatEntries:
    """The chat's state; uses are numbered from 0 on without gaps, so that it does not drift."""
    now = max(former.values(), default=0) + 1
    turns = {one.memory.id: former[one.memory.id] for one in order if one.memory.id not in used}
    turns = {one.memory.id: turns.get(one.memory.id, now) for one in order}
    ranks = {turn: rank for rank, turn in enumerate(sorted(set(turns.values())))}
    return {id_: ranks[turn] for id_, turn in turns.items()}
