"""One answer of one model: while it runs, and what came of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.e2e.driver.events import Event, Shown

if TYPE_CHECKING:
    from tests.e2e.driver.conversation import Conversation

ANSWER_TIMEOUT = 60.0
SILENCE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds after the page has sent the message; ``None`` for what never happened."""

    accepted: float
    first_text: float | None
    answered: float | None
    active_false: float | None
    total: float


@dataclass(frozen=True, slots=True)
class Turn:
    """What the page has of an answer at the moment when its turn is over.

    ``done`` tells that the host has called the answer complete, which it does not for one that was
    ``stopped`` or that failed with an ``error``. ``since`` is where the turn begins in the page's
    events, for what comes later.
    """

    chat_id: str
    user_message_id: str
    message_id: str
    model: str
    content: str
    done: bool
    stopped: bool
    error: str | None
    statuses: tuple[dict[str, Any], ...]
    sources: tuple[dict[str, Any], ...]
    follow_ups: tuple[str, ...]
    events: tuple[Event, ...]
    timings: Timings
    since: int


@dataclass(slots=True)
class RunningTurn:
    """An answer under way; end it with ``finish``, which waits, or with ``stop``."""

    conversation: Conversation
    user_message_id: str
    message_id: str
    model: str
    since: int
    started: float
    text_before: str = ""
    accepted: float = 0.0

    def shown(self) -> Shown:
        """What the page shows of this answer right now."""
        shown = Shown(content=self.text_before)
        return shown.take_all(self._events(), self.message_id)

    async def wait_for_text(self, timeout: float = ANSWER_TIMEOUT) -> str:
        """Wait until the first words of the answer are there and return them."""
        await self.conversation.page.wait_until(
            lambda: self.shown().first_text_at is not None, timeout, "the answer's first words"
        )
        return self.shown().content

    async def stop(self, timeout: float = ANSWER_TIMEOUT) -> Turn:
        """Press the Stop button and wait until the turn is over."""
        await self.conversation.stop()
        return await self.finish(timeout)

    async def finish(self, timeout: float = ANSWER_TIMEOUT) -> Turn:
        """Wait until the host says that nothing runs in this chat any more.

        Raises ``TimeoutError``, which lists what has arrived, when it does not.
        """
        page = self.conversation.page
        await page.wait_until(self._is_over, timeout, "the end of the turn", self._arrived)
        turn = self._turn()
        self.conversation.keep(turn, self.shown().output)
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

    def _arrived(self) -> str:
        return ", ".join(event.kind for event in self._events()) or "nothing"

    def _turn(self) -> Turn:
        shown = self.shown()
        inactive = self._inactive_at()
        return Turn(
            chat_id=self.conversation.id,
            user_message_id=self.user_message_id,
            message_id=self.message_id,
            model=self.model,
            content=shown.content,
            done=shown.done,
            stopped=shown.cancelled and shown.error is None,
            error=shown.error,
            statuses=tuple(shown.statuses),
            sources=tuple(shown.sources),
            follow_ups=tuple(shown.follow_ups),
            events=tuple(
                event
                for event in self._events()
                if event.message_id == self.message_id or event.chat_id == self.conversation.id
            ),
            timings=Timings(
                accepted=self.accepted,
                first_text=self._milliseconds(shown.first_text_at),
                answered=self._milliseconds(shown.done_at),
                active_false=self._milliseconds(inactive),
                total=(time.perf_counter() - self.started) * 1000,
            ),
            since=self.since,
        )

    def _milliseconds(self, at: float | None) -> float | None:
        return None if at is None else (at - self.started) * 1000
