"""The turn of a command: carried out once, and answered in the model's place.

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
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from adaptive.core.messages import folded_away
from adaptive.core.model import TablesUnavailable, with_detail
from adaptive.core.queued_turns import Leases
from adaptive.memory.tables import CommandAnswer, CommandTable

log_turn = logging.getLogger("adaptive_memory.control")

# So long a turn waits for its command to be carried out, questions to the user not counted.
_COMMAND_SECONDS = 5.0
_TURN_LOOK_SECONDS = 0.25
# Who takes a lease on a message holds it for good: its command is never carried out again.
_FOR_GOOD_SECONDS = 100 * 365 * 24 * 3600.0
# How long a command may go on behind, for whoever waits for it, and how often to look.
_LONGEST_WAIT_SECONDS = 300.0
_LOOK_SECONDS = 0.5
_GOES_ON = (
    "This takes a while and goes on behind: its result will stand here once it is done "
    "(open the chat anew to see it), and `/memory log` tells what has been changed so far."
)
BROKEN_OFF = "This was broken off, since the plug-in was loaded anew: `/memory log` shows what was changed."
NOT_KNOWN = (
    "This was begun before, and how it ended is not known: `/memory log` shows what was "
    "changed. Send it as a new message to have it done again."
)

# Asks the page for something; what it answers to an event.
AskPage = Callable[[dict[str, Any]], Awaitable[Any]]


class CommandAnswerPlace(Protocol):
    """Where the answer to a command stands: in the database and on the page; never raises."""

    async def give(self, text: str, title: str = "") -> None:
        """Make a text the whole answer; a stored chat without a title gets one, if there is one."""
        ...

    async def give_late(self, text: str, announced: str) -> None:
        """Make a text the answer in place of what ``announced`` it, wherever the chat is by now."""
        ...


@dataclass(slots=True)
class CommandTurn:
    """A turn that is answered in the model's place, though the answer may come after its end.

    ``asking`` asks the page, which stops the clock: nobody hurries a user.
    """

    place: CommandAnswerPlace
    title: str
    asking: AskPage | None
    _giving: asyncio.Lock = field(default_factory=asyncio.Lock)
    _open_questions: int = 0
    _is_answered: bool = False
    _is_put_off: bool = False

    @property
    def questions(self) -> AskPage | None:
        """What asks the page, if anything can."""
        return (
            None if self.asking is None else partial(self._asked, self.asking)
        )

    async def give(self, text: str) -> None:
        """Make a Markdown text the answer, or put it in the place of what said that it comes."""
        answer = folded_away(text)
        async with self._giving:
            self._is_answered = True
            if self._is_put_off:
                await self.place.give_late(answer, folded_away(_GOES_ON))
            else:
                await self.place.give(answer, self.title)

    async def wait_for(self, answering: asyncio.Task[None]) -> None:
        """Wait a few seconds for the answer, then say that it comes.

        Who presses Stop ends the waiting and not the work. That is said at once, since the chat may
        have gone on by the time of the answer.
        """
        waited = 0.0
        try:
            while not answering.done() and waited < _COMMAND_SECONDS:
                await asyncio.wait({answering}, timeout=_TURN_LOOK_SECONDS)
                if not self._open_questions:
                    waited += _TURN_LOOK_SECONDS
        finally:
            await self._put_off()

    async def _put_off(self) -> None:
        """Say that the answer comes, unless it is there."""
        async with self._giving:
            if not self._is_answered:
                self._is_put_off = True
                await self.place.give(folded_away(_GOES_ON), self.title)

    async def _asked(self, asking: AskPage, event: dict[str, Any]) -> Any:
        """What the page answers to an event, the clock standing still."""
        self._open_questions += 1
        try:
            return await asking(event)
        finally:
            self._open_questions -= 1


class OncePerMessage:
    """Carries out commands; nothing in it belongs to one user."""

    def __init__(
        self,
        table: CommandTable,
        leases: Leases,
        clock: Callable[[], float] = time.time,
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
        if not await self._is_first(user_id, message_id):
            return await self._given(user_id, message_id)
        begun_at = int(self._clock())
        under_way = CommandAnswer(text="", begun_at=begun_at)
        await self._table.write(
            user_id, chat_id, under_way, begun_at, message_id
        )
        # Stands where it breaks off: whoever asks again would wait for what never comes.
        text = NOT_KNOWN
        try:
            text = await carry_out()
        finally:
            answer = CommandAnswer(text=text, begun_at=begun_at)
            await self._keep(user_id, chat_id, message_id, answer)
        return text

    async def _keep(
        self,
        user_id: str,
        chat_id: str,
        message_id: str,
        answer: CommandAnswer,
    ) -> None:
        """Keep an answer for whoever asks again, as far as the table can be written."""
        try:
            await self._table.write(
                user_id, chat_id, answer, answer.begun_at, message_id
            )
        except TablesUnavailable as error:
            detail = with_detail(error)
            log_turn.warning(
                "the answer to a command is not remembered: %s", detail
            )

    async def _is_first(self, user_id: str, message_id: str) -> bool:
        """Whether a message's command was never carried out; it is the caller's to do so then."""
        if await self._table.read(user_id, message_id) is not None:
            return False
        return await self._leases.acquire(
            f"command:{message_id}:{user_id}",
            uuid.uuid4().hex,
            self._clock(),
            _FOR_GOOD_SECONDS,
        )

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
