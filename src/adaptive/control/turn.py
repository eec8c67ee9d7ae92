"""Commands as they are read in a chat, and the turn of one, answered in the model's place.

They are read in conversations in which commands are answered: elsewhere a text that begins like one
is a message like any other. Two models that are asked side by side, an answer made anew or
continued, and a process that starts again all bring the same message. Who comes first takes a lease
on it and carries the command out; everybody else gets the answer that was given.
"""

import asyncio
import re
import time
from collections.abc import (
    Awaitable,
    Callable,
    Coroutine,
    Sequence,
)
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from adaptive.core import (
    JsonMapping,
    JsonObject,
    Message,
    TablesUnavailable,
    clipped_line,
    folded_away,
    frozen,
    is_of_user,
    log_failure,
    mapping,
    message_text,
    messages_of,
    newest_user_message,
    phrase,
    without_spans,
)
from adaptive.memory import CommandTable, Leases

# So long a turn waits for its command to be carried out, questions to the user not counted.
_COMMAND_SECONDS = 5.0
_TURN_LOOK_SECONDS = 0.25
# Who takes a lease on a message holds it for good: its command is never carried out again.
_FOR_GOOD_SECONDS = 100 * 365 * 24 * 3600.0
# How long others wait for the answer of who carries a command out, and how often they look.
_LONGEST_WAIT_SECONDS = 300.0
_LOOK_SECONDS = 0.5

AnyMessage = TypeVar("AnyMessage", bound=JsonMapping)

# What the user says to the memory itself, the same in every language.
_COMMAND = re.compile(
    r"/(memory|undo|remember|forget)(?:(?:\s|(?=#))(.*))?\Z",
    re.IGNORECASE | re.DOTALL,
)
# Keyboards of scripts that are written from right to left, and pasting, put them around a text.
_UNSEEN_AROUND = (
    "\u200b\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069\ufeff"
)
# What is so from now on: the chat itself tells it to whoever reads it.
SWITCHES = {
    "on": "on_here",
    "off": "off_here",
}
_LONGEST_TITLE = 60


def for_example(*commands: str) -> str:
    """What to type in place of a command that leaves open what is meant."""
    listed = ", ".join(map("`{}`".format, commands))
    return phrase("for_example", commands=listed)


# Asks the page for something; what it answers to an event.
AskPage = Callable[[JsonObject], Awaitable[object]]


@frozen
class Command:
    """A command: its name, the words behind it, and the chat's messages up to it.

    The name of ``/memory find`` is *find*, that of ``/memory`` alone is empty.
    """

    name: str
    words: str
    typed: str
    messages: Sequence[JsonObject] = ()

    @property
    def title(self) -> str:
        """What a chat is called that begins with it."""
        return clipped_line(self.typed, _LONGEST_TITLE)


def read_command(
    typed: str, messages: Sequence[JsonObject] = ()
) -> Command | None:
    """The command that a text is, below these messages; ``None`` where it is none."""
    # Since 0.12 the host names attached files there (utils/middleware.py, add_file_context).
    typed = without_spans(typed, "attached_files")
    match = _COMMAND.match(typed.strip().strip(_UNSEEN_AROUND).strip())
    if match is None:
        return None
    name = match[1].lower()
    words = (match[2] or "").strip()
    if name == "memory":
        parts = words.split(maxsplit=1)
        name = parts[0].lower().rstrip(".,;:!?") if parts else ""
        words = "".join(parts[1:])
    return Command(name, words, typed, messages)


def command_in(messages: list[JsonObject]) -> Command | None:
    """The command that the newest message of the user is, ``None`` where it is none."""
    newest = newest_user_message(messages) or {}
    return read_command(message_text(newest), messages)


def without_commands(
    messages: Sequence[AnyMessage], *, said_while_off: bool = True
) -> list[AnyMessage]:
    """Messages without commands and their answers, or without what was said while off, too."""
    remaining: list[AnyMessage] = []
    command: Command | None = None
    is_off = False
    for message in messages:
        if is_of_user(message):
            command = read_command(message_text(message))
            if command is not None and command.name in SWITCHES:
                is_off = command.name == "off"
        is_left_out = command is not None or (is_off and not said_while_off)
        if message.get("role") == "system" or not is_left_out:
            remaining.append(message)
    return remaining


def rememberable_messages(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Messages without commands, and without what was said while memory was off."""
    return without_commands(messages, said_while_off=False)


def memory_is_off(messages: Sequence[Message]) -> bool:
    """Whether the last ``/memory off`` or ``/memory on`` of a chat says off."""
    for message in filter(is_of_user, reversed(messages)):
        command = read_command(message_text(message))
        if command is not None and command.name in SWITCHES:
            return command.name == "off"
    return False


def without_former_commands(body: JsonObject) -> JsonObject:
    """A request as if no command had been given, and without the host's memory after *off*.

    The newest message stays, whoever wrote it: no request is empty.
    """
    messages = messages_of(body)
    remaining = [*without_commands(messages[:-1]), *messages[-1:]]
    if len(remaining) == len(messages):
        return body
    body = {**body, "messages": remaining}
    if memory_is_off(messages):
        body["features"] = {**mapping(body.get("features")), "memory": False}
    return body


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
    _open_questions: int = 0

    @property
    def questions(self) -> AskPage | None:
        """What asks the page, if anything can."""
        return (
            None if self.asking is None else partial(self._asked, self.asking)
        )

    async def answer(
        self,
        answering: asyncio.Task[str],
        start: Callable[[Coroutine[None, None, None]], object],
    ) -> None:
        """Make a task's Markdown text the answer, or say after a few seconds that it comes.

        Who presses Stop ends the waiting and not the work. That is said at once, since the chat may
        have gone on by the time of the answer, for which ``start`` runs a task.
        """
        waited = 0.0
        try:
            while not answering.done() and waited < _COMMAND_SECONDS:
                await asyncio.wait({answering}, timeout=_TURN_LOOK_SECONDS)
                if not self._open_questions:
                    waited += _TURN_LOOK_SECONDS
        finally:
            is_late = not answering.done()
            text = phrase("goes_on")
            if not is_late:
                text = (
                    phrase("end_unknown")
                    if answering.cancelled()
                    else answering.result()
                )
            try:
                await self.place.give(folded_away(text), self.title)
            finally:
                if is_late:
                    start(self._answer_late(answering))

    async def _answer_late(self, answering: asyncio.Task[str]) -> None:
        """Put the answer, be it that it broke off, in the place of what said that it comes."""
        text = phrase("end_unknown")
        try:
            text = await answering
        finally:
            await self.place.give_late(
                folded_away(text), folded_away(phrase("goes_on"))
            )

    async def _asked(self, asking: AskPage, event: JsonObject) -> object:
        """What the page answers to an event, the clock standing still."""
        self._open_questions += 1
        try:
            return await asking(event)
        finally:
            self._open_questions -= 1


@dataclass
class OncePerMessage:
    """Carries out commands; nothing in it belongs to one user."""

    table: CommandTable
    leases: Leases

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
        text = await self.table.read(user_id, message_id)
        if text:
            return text
        now = time.time()
        is_first = await self.leases.acquire(
            f"command:{message_id}:{user_id}",
            now,
            _FOR_GOOD_SECONDS,
        )
        if not is_first:
            return await self._given(user_id, message_id)
        # Stands where it breaks off: whoever asks again would wait for what never comes.
        text = phrase("end_unknown")
        try:
            text = await carry_out()
        finally:
            try:
                await self.table.write(
                    user_id, chat_id, text, int(now), message_id
                )
            except TablesUnavailable as error:
                log_failure("the answer to a command is not remembered", error)
        return text

    async def _given(self, user_id: str, message_id: str) -> str:
        """The answer that somebody else gives to a message's command, once it is there."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_LONGEST_WAIT_SECONDS):
                while True:
                    text = await self.table.read(user_id, message_id)
                    if text:
                        return text
                    await asyncio.sleep(_LOOK_SECONDS)
        return phrase("end_unknown")
