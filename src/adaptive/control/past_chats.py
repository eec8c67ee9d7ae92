"""Commands about past chats: to learn from them, and to find them."""

import re
import time
from dataclasses import dataclass
from typing import Protocol

from adaptive.control.turn import Command
from adaptive.core.messages import local_time
from adaptive.settings.hook import Hook

_HOW_TO_LEARN = "`/memory learn start` begins, `/memory learn start {}` with this year only."
_WHAT_TO_LEARN = (
    "`/memory learn` tells what it would take, `/memory learn start` begins, "
    "`/memory learn stop` ends it."
)
_ONLY_SUGGESTED = (
    "Nothing is learned from past chats while memories are only suggested: there would be too many "
    "to ask about."
)
_LEARN = re.compile(r"(start|stop)?\s*(\d{4})?", re.IGNORECASE)


class PastLearner(Protocol):
    """Learns from past chats, in the background."""

    async def estimate(self, hook: Hook, year: int | None) -> str:
        """What learning from all of them, or a year's, would take, in a sentence."""
        ...

    async def start(self, hook: Hook, year: int | None) -> str:
        """Begin; what to tell of it."""
        ...

    async def stop(self, user_id: str, step: str = "") -> bool:
        """End what goes on, or the step of this name; whether anything did."""
        ...

    async def progress(self, user_id: str) -> str:
        """How far it is, empty where nothing goes on."""
        ...


@dataclass(eq=False)
class PastChatCommands:
    """Answers commands about past chats; nothing in it belongs to one user."""

    learner: PastLearner

    async def learn(self, hook: Hook, command: Command) -> str:
        """Tell what learning from past chats would take, begin it, or end it."""
        asked = _LEARN.fullmatch(command.words.strip(" .!"))
        if asked is None:
            return _WHAT_TO_LEARN
        action = (asked[1] or "").lower()
        year = int(asked[2]) if asked[2] else None
        if action == "stop":
            stopped = await self.learner.stop(hook.user_id)
            return (
                "Stopped. What was learned stays, and `/undo` takes it back; `/memory learn start` "
                "goes on with the rest."
                if stopped
                else "Nothing is being learned from past chats."
            )
        if hook.settings.save_mode != "auto":
            return _ONLY_SUGGESTED
        if action == "start":
            return await self.learner.start(hook, year)
        this_year = local_time(time.time(), *hook.time_zones).year
        told = await self.learner.estimate(hook, year)
        return f"{told} {_HOW_TO_LEARN.format(year or this_year)}"
