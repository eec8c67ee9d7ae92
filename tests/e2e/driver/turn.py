"""One answer of one model: while it runs, and what came of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.e2e.driver.events import Event, Shown
from tests.e2e.driver.waiting import until

if TYPE_CHECKING:
    from tests.e2e.driver.conversation import Conversation

ANSWER_TIMEOUT = 60.0
SILENCE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Turn:
    """What the page has of an answer at the moment when its turn is over.

    ``done`` tells that the host has called the answer complete, which it does not for one that was
    ``stopped`` or that failed with an ``error``. ``answered`` and ``active_false`` are milliseconds
    after the page has sent the message, ``None`` for what never happened. ``since`` is where the
    turn begins in the page's events, for what comes later.
    """

    chat_id: str
    user_message_id: str
    message_id: str
    content: str
    done: bool
    stopped: bool
    error: str | None
    answered: float | None
    active_false: float | None
    since: int


@dataclass(slots=True)
class RunningTurn:
    """An answer under way; end it with ``finish``, which waits, or with ``stop``."""

    conversation: Conversation
    user_message_id: str
    message_id: str
    since: int
    started: float
    text_before: str = ""

    def shown(self) -> Shown:
        """What the page shows of this answer right now."""
        return Shown(self.text_before).take_all(
            self._events(), self.message_id
        )

    async def wait_for_text(self, timeout: float = ANSWER_TIMEOUT) -> str:
        """Wait until the first words of the answer are there and return them."""
        return await until(
            lambda: self.shown().content, timeout, "the answer's first words"
        )

    async def stop(self, timeout: float = ANSWER_TIMEOUT) -> Turn:
        """Press the Stop button and wait until the turn is over."""
        await self.conversation.stop()
        return await self.finish(timeout)

    async def finish(self, timeout: float = ANSWER_TIMEOUT) -> Turn:
        """Wait until the host says that nothing runs in this chat any more.

        Raises ``TimeoutError``, which lists what has arrived, when it does not.
        """

        def awaited() -> str:
            return f"the end of the turn after {[event.kind for event in self._events()]}"

        await until(self._is_over, timeout, awaited)
        shown = self.shown()
        turn = Turn(
            chat_id=self.conversation.id,
            user_message_id=self.user_message_id,
            message_id=self.message_id,
            content=shown.content,
            done=shown.done,
            stopped=shown.cancelled and shown.error is None,
            error=shown.error,
            answered=self._milliseconds(shown.done_at),
            active_false=self._milliseconds(self._inactive_at()),
            since=self.since,
        )
        self.conversation.keep(turn, shown.output)
        return turn

    def _events(self) -> list[Event]:
        return self.conversation.page.events[self.since :]

    def _inactive_at(self) -> float | None:
        """When the host said that the chat is idle: it comes once, after all models' answers."""
        times = [
            event.at
            for event in self._events()
            if event.kind == "chat:active"
            and event.chat_id == self.conversation.id
            and not event.data.get("active")
        ]
        return times[0] if times else None

    def _is_over(self) -> bool:
        inactive = self._inactive_at()
        if inactive is None:
            return False
        # Where the provider answers nonsense the host says neither "done" nor what went wrong.
        silent = time.perf_counter() - inactive > SILENCE_SECONDS
        return silent or self.shown().done_at is not None

    def _milliseconds(self, at: float | None) -> float | None:
        return None if at is None else (at - self.started) * 1000
