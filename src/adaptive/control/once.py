"""Carrying out a command once for its message, however often its answer is asked for.

Two models that are asked side by side, an answer made anew or continued, and a process that starts
again all bring the same message. Who comes first takes a lease on it and carries the command out;
everybody else gets the answer that was given.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable

from adaptive.core.errors import TablesUnavailable, with_detail
from adaptive.memory.tables import CommandAnswer, CommandTable
from adaptive.privacy.pending import Leases

log_once = logging.getLogger("adaptive_memory.control")

# Who takes a lease on a message holds it for good: its command is never carried out again.
_FOR_GOOD_SECONDS = 100 * 365 * 24 * 3600.0
# How long a command may go on behind, for whoever waits for it, and how often to look.
_LONGEST_WAIT_SECONDS = 300.0
_LOOK_SECONDS = 0.5
NOT_KNOWN = (
    "This was begun before, and how it ended is not known: `/memory log` shows what was changed. "
    "Send it as a new message to have it done again."
)


class OncePerMessage:
    """Carries out commands; nothing in it belongs to one user."""

    def __init__(
        self, table: CommandTable, leases: Leases, clock: Callable[[], float] = time.time
    ) -> None:
        self._table = table
        self._leases = leases
        self._clock = clock

    async def answer(
        self,
        user_id: str,
        chat_id: str,
        message_id: str,
        carry_out: Callable[[], Awaitable[str]],
    ) -> str:
        """The answer to a message's command, which is carried out if it never was.

        Raises:
            TablesUnavailable: it can't be known whether it was; nothing is carried out.
        """
        if not message_id:  # an older page that names no message
            return await carry_out()
        former = await self._table.read(user_id, message_id)
        lease = f"command:{message_id}:{user_id}"
        owner = uuid.uuid4().hex
        now = self._clock()
        if former is None and await self._leases.acquire(lease, owner, now, _FOR_GOOD_SECONDS):
            return await self._carried_out(user_id, chat_id, message_id, carry_out)
        return await self._given(user_id, message_id)

    async def _carried_out(
        self,
        user_id: str,
        chat_id: str,
        message_id: str,
        carry_out: Callable[[], Awaitable[str]],
    ) -> str:
        """The answer to a command that is carried out now, and is kept for whoever asks again."""
        begun_at = int(self._clock())
        under_way = CommandAnswer(text="", begun_at=begun_at)
        await self._table.write(user_id, chat_id, message_id, under_way)
        text = await carry_out()
        try:
            answer = CommandAnswer(text=text, begun_at=begun_at)
            await self._table.write(user_id, chat_id, message_id, answer)
        except TablesUnavailable as error:
            log_once.warning("the answer to a command is not remembered: %s", with_detail(error))
        return text

    async def _given(self, user_id: str, message_id: str) -> str:
        """The answer that somebody else gives to a message's command, once it is there."""
        begun_at = self._clock()
        while self._clock() - begun_at <= _LONGEST_WAIT_SECONDS:
            answer = await self._table.read(user_id, message_id)
            if answer is not None and answer.text:
                return answer.text
            if answer is not None:
                begun_at = answer.begun_at
            await asyncio.sleep(_LOOK_SECONDS)
        return NOT_KNOWN
