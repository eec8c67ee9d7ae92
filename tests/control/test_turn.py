"""The turn of a command: carried out once for its message, and answered in time or later."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Coroutine
from typing import Any

import pytest

from adaptive.control.turn import (
    CommandTurn,
    OncePerMessage,
)
from adaptive.core.messages import folded_away
from adaptive.core.model import TablesUnavailable
from adaptive.core.texts import Phrase, phrase
from tests.fakes import ListedEntries, command_answers
from tests.learn.virtual_time import VirtualTimeLoop
from tests.learn.world import HeldLeases
from tests.rates import over

ORDERS = 1000
MESSAGES = ("m1", "m2", "m3")


class Server:
    """The tables of a host, and what was carried out for each message."""

    def __init__(self) -> None:
        self.entries = ListedEntries()
        self.leases = HeldLeases()
        self.begun = Counter[str]()
        self.ended = Counter[str]()

    def worker(self) -> OncePerMessage:
        """A process of the server that has just started."""
        return OncePerMessage(command_answers(self.entries), self.leases)

    async def ask(
        self, worker: OncePerMessage, message: str, seconds: float = 0.0
    ) -> str:
        """The answer to a message's command, which takes some seconds to carry out."""

        async def carry_out() -> str:
            self.begun[message] += 1
            await asyncio.sleep(seconds)
            self.ended[message] += 1
            return f"done: {message}"

        return await worker.answer("ada", "c", message, carry_out)


async def lived(chance: random.Random) -> Server:
    """Some messages' commands in any order: side by side, made anew, stopped, on a new process."""
    server = Server()
    worker = server.worker()
    running: list[asyncio.Task[str]] = []
    for _ in range(chance.randrange(3, 12)):
        message = chance.choice(MESSAGES)
        match chance.randrange(5):
            case 0:  # another worker has the same message
                asked = server.ask(
                    server.worker(), message, chance.choice((0.0, 0.3, 5.0))
                )
                running.append(asyncio.create_task(asked))
            case 1 if running:  # its process is killed
                chance.choice(running).cancel()
                worker = server.worker()
            case _:
                asked = server.ask(
                    worker, message, chance.choice((0.0, 0.3, 5.0))
                )
                running.append(asyncio.create_task(asked))
        await asyncio.sleep(chance.choice((0.0, 0.0, 0.2, 3.0)))
    answers = await asyncio.gather(*running, return_exceptions=True)
    for answer in answers:
        assert isinstance(answer, asyncio.CancelledError) or answer in (
            Phrase("end_unknown"),
            *(f"done: {message}" for message in MESSAGES),
        )
    return server


def test_random_orders() -> None:
    """In a thousand random orders no command is carried out more than once for its message."""
    chance = random.Random(12)
    for _ in range(ORDERS):
        with contextlib.closing(VirtualTimeLoop()) as loop:
            server = loop.run_until_complete(lived(chance))
        assert set(server.begun.values()) <= {1}


async def test_the_same_answer_for_all() -> None:
    """Whoever asks for a message's command again gets the answer that was given."""
    server = Server()
    first, second = server.worker(), server.worker()
    answers = await asyncio.gather(
        server.ask(first, "m1", 0.1), server.ask(second, "m1")
    )
    assert set(answers) == {"done: m1"}
    assert await server.ask(server.worker(), "m1") == "done: m1"
    assert await server.ask(first, "m2") == "done: m2"
    assert server.ended == {"m1": 1, "m2": 1}


async def test_nothing_is_done_that_cannot_be_remembered() -> None:
    """Where it can't be known whether a command was carried out it is not; later it is told."""
    server = Server()
    server.entries.unavailable = True
    with pytest.raises(TablesUnavailable):
        await server.ask(server.worker(), "m1")
    assert not server.begun


@over("ending", [RuntimeError("a bug"), asyncio.CancelledError()])
async def test_broken_off(ending: BaseException) -> None:
    """Whoever asks again for what has broken off is told so at once, and it is not begun again."""
    server, asked = Server(), 0

    async def carry_out() -> str:
        nonlocal asked
        asked += 1
        raise ending

    with pytest.raises(type(ending)):
        await server.worker().answer("ada", "c", "m1", carry_out)
    async with asyncio.timeout(1):
        assert await server.worker().answer(
            "ada", "c", "m1", carry_out
        ) == Phrase("end_unknown")
    assert asked == 1


async def test_an_answer_that_cannot_be_kept_is_given() -> None:
    """What was done is answered, also where the answer can't be written down."""
    server = Server()

    async def carry_out() -> str:
        server.entries.unavailable = True
        return "done"

    assert await server.worker().answer("ada", "c", "m1", carry_out) == "done"


class Answer:
    """Where the answer to a command stands, and what it has said so far."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.titles: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run what goes on behind."""
        self.tasks.append(asyncio.create_task(work))

    async def give(self, text: str, title: str = "") -> None:
        """Make a text the answer."""
        self.said.append(text)
        self.titles.append(title)

    async def give_late(self, text: str, announced: str) -> None:
        """Make a text the answer in place of what announced it."""
        assert self.said == [announced]
        self.said.append(text)


@pytest.fixture
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn of a command waits for a moment only."""
    monkeypatch.setattr("adaptive.control.turn._COMMAND_SECONDS", 0.02)
    monkeypatch.setattr("adaptive.control.turn._TURN_LOOK_SECONDS", 0.01)


async def says(text: str, after: asyncio.Event | None = None) -> str:
    """The answer to a command, once it is carried out."""
    if after is not None:
        await after.wait()
    return text


async def test_command_in_time() -> None:
    """A command that is quick is answered before its turn ends, and the chat gets a title."""
    page: Any = Answer()
    turn = CommandTurn(page, "/undo", None)
    await turn.answer(asyncio.create_task(says("Taken back")), page.start)
    assert (page.said, page.titles) == ([folded_away("Taken back")], ["/undo"])


@pytest.mark.usefixtures("no_patience")
async def test_command_that_takes_long() -> None:
    """A turn ends with the word that its command goes on, in whose place the result comes."""
    page: Any = Answer()
    turn = CommandTurn(page, "/undo", None)
    done = asyncio.Event()
    result = "That did not work: the database is away."
    answering = asyncio.create_task(says(result, done))
    await turn.answer(answering, page.start)
    assert page.said == [folded_away(phrase("goes_on"))]
    done.set()
    await asyncio.gather(*page.tasks)
    assert page.said[1:] == [folded_away(result)]
    assert page.titles == ["/undo"]


async def test_stopped() -> None:
    """After Stop the chat may go on: the answer takes the place of what then said that it comes."""
    page: Any = Answer()
    turn = CommandTurn(page, "/undo", None)
    done = asyncio.Event()
    answering = asyncio.create_task(says("Taken back", done))
    waiting = asyncio.create_task(turn.answer(answering, page.start))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert page.said == [folded_away(phrase("goes_on"))]
    done.set()
    await asyncio.gather(*page.tasks)
    assert page.said[1:] == [folded_away("Taken back")]
    assert page.titles == ["/undo"]


@pytest.mark.usefixtures("no_patience")
@pytest.mark.parametrize("cut_off", ["command", "both"])
async def test_broken_off_behind(cut_off: str) -> None:
    """Where the plug-in is dropped while a command goes on, nothing says any more that it comes."""
    page: Any = Answer()
    turn = CommandTurn(page, "/undo", None)
    answering = asyncio.create_task(says("Taken back", asyncio.Event()))
    await turn.answer(answering, page.start)
    await asyncio.sleep(0)
    answering.cancel()
    if cut_off == "both":
        page.tasks[0].cancel()
    await asyncio.wait(page.tasks)
    assert page.said[1:] == [folded_away(Phrase("end_unknown"))]


@pytest.mark.usefixtures("no_patience")
async def test_questions_are_not_hurried() -> None:
    """While a user is asked something, the turn of a command waits on."""
    page: Any = Answer()

    async def answered(_: dict[str, Any]) -> bool:
        await asyncio.sleep(0.2)
        return True

    turn = CommandTurn(page, "/memory import", answered)
    assert turn.questions is not None
    ask = turn.questions

    async def carry_out() -> str:
        assert await ask({"type": "confirmation"})
        return "Imported"

    await turn.answer(asyncio.create_task(carry_out()), page.start)
    assert page.said == [folded_away("Imported")]
