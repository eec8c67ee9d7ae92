"""What was injected into each chat, kept for its next turn, and for how long."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass

from adaptive.errors import TablesUnavailable
from adaptive.table_ports import ChatTable, RetainedChats

log_chat_states = logging.getLogger("adaptive_memory.recall")

_REMEMBERED_CHATS = 2000
# The host makes the model's request first: that is what the user waits for.
_WRITE_AFTER_SECONDS = 0.3
_LET_GO_AGAIN_SECONDS = 300


@dataclass(frozen=True, slots=True)
class ChatRetention:
    """Of how many chats per user a state is kept, and for how many seconds after its last turn."""

    chats: int = 3
    seconds: float = 24 * 3600.0

    @property
    def outside(self) -> bool:
        """Whether anything is kept outside of this process."""
        return self.chats > 0 and self.seconds > 0


_USUAL_RETENTION = ChatRetention()


class ChatStates:
    """What was injected into each chat: in the host's database, or in this process without it.

    Where nothing may be kept outside, this process keeps each user's newest chat alone.
    """

    def __init__(self, write_after: float = _WRITE_AFTER_SECONDS) -> None:
        # State and time of writing by user and chat, the last written last.
        self._local: OrderedDict[tuple[str, str], tuple[str, int]] = OrderedDict()
        self._unwritten: set[tuple[str, str]] = set()
        self._let_go_at: OrderedDict[str, int] = OrderedDict()
        self._write_after = write_after

    async def read(self, table: ChatTable, user_id: str, chat_id: str) -> str:
        """The state of a chat, empty where there is none."""
        if not chat_id:
            return ""
        if (user_id, chat_id) in self._unwritten:
            return self._held(user_id, chat_id)
        try:
            return await table.read(user_id, chat_id) or ""
        except TablesUnavailable as error:
            log_chat_states.info("blocks are kept in place by this process only: %s", error)
            return self._held(user_id, chat_id)

    async def write(
        self,
        table: ChatTable,
        user_id: str,
        chat_id: str,
        state: str,
        now: int,
        retention: ChatRetention = _USUAL_RETENTION,
    ) -> None:
        """Keep the state of a chat for its next turn, in the database after a moment."""
        chat, entry = (user_id, chat_id), (state, now)
        self._local[chat] = entry
        self._local.move_to_end(chat)
        self._unwritten.add(chat)
        self._let_go_here(user_id, now, retention)
        try:
            await asyncio.sleep(self._write_after)
            # A newer one is written by its own turn.
            if self._local.get(chat) == entry and retention.outside:
                await table.write(user_id, chat_id, state, now)
        except TablesUnavailable as error:
            log_chat_states.debug("the chat's block is not kept in place: %s", error)
        finally:
            # What stands nowhere else goes on being read here.
            if self._local.get(chat) in (entry, None) and retention.outside:
                self._unwritten.discard(chat)

    async def keep(
        self,
        table: RetainedChats,
        user_id: str,
        chat_id: str,
        state: str,
        now: int,
        retention: ChatRetention,
    ) -> None:
        """Write as ``write`` does, then let go of what is kept no longer, in the database too.

        That is done at once where the chat is new to this process, else once in some minutes.
        """
        new = (user_id, chat_id) not in self._local
        await self.write(table, user_id, chat_id, state, now, retention)
        last = self._let_go_at.get(user_id)
        if not new and last is not None and 0 <= now - last < _LET_GO_AGAIN_SECONDS:
            return
        self._let_go_at[user_id] = now
        self._let_go_at.move_to_end(user_id)
        while len(self._let_go_at) > _REMEMBERED_CHATS:
            self._let_go_at.popitem(last=False)
        try:
            chats = retention.chats if retention.outside else 0
            await table.keep_newest(user_id, chats, int(now - retention.seconds))
            await table.drop_deleted(user_id, chat_id)
        except TablesUnavailable as error:
            log_chat_states.debug("states of chats are not let go of yet: %s", error)

    def forget(self, user_id: str) -> None:
        """Let go of all chats of a user; what was about to be written is not."""
        for chat in [chat for chat in self._local if chat[0] == user_id]:
            self._drop(chat)

    def _held(self, user_id: str, chat_id: str) -> str:
        return self._local.get((user_id, chat_id), ("", 0))[0]

    def _drop(self, chat: tuple[str, str]) -> None:
        del self._local[chat]
        self._unwritten.discard(chat)

    def _let_go_here(self, user_id: str, now: int, retention: ChatRetention) -> None:
        """Keep within the limits what this process holds."""
        mine = [chat for chat in self._local if chat[0] == user_id]
        for chat in mine[: -max(retention.chats, 1)]:
            self._drop(chat)
        while len(self._local) > _REMEMBERED_CHATS:
            self._drop(next(iter(self._local)))
        while (oldest := next(iter(self._local.items())))[1][1] < now - retention.seconds:
            self._drop(oldest[0])
