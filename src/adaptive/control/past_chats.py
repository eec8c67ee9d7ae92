"""Commands about past chats: to learn from them, and to find them."""

import math
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from typing import Protocol

from adaptive.control.turn import Command
from adaptive.core import clipped_line, local_time, plain_line
from adaptive.memory import period_of
from adaptive.search import ListedChat
from adaptive.settings import Hook

_HOW_TO_LEARN = "`/memory learn start` begins, `/memory learn start {}` with this year only."
_WHAT_TO_LEARN = (
    "`/memory learn` tells what it would take, `/memory learn start` begins, "
    "`/memory learn stop` ends it."
)
_ONLY_SUGGESTED = (
    "Nothing is learned from past chats while memories are only suggested: there would be too many "
    "to ask about."
)
_HOW_TO_FIND_CHATS = (
    "Which chats? For example: `/memory chats budget`, `/memory chats 2026-10 budget`, "
    "`/memory chats 2026-10-05`. `/memory chats on` or `off` says whether they are recalled."
)
_TITLES_ALONE = (
    "Only titles were searched: what was said in your chats is found, and recalled where it "
    "helps, after `/memory chats on`."
)
_NOT_ALLOWED = "Nothing changed: an administrator has to allow it (the valve `history_recall`)."
_SWITCHED_ON = (
    "Past chats are recalled from your next message on. They are indexed behind your answers, "
    "which may take a while; `/memory chats off` ends it."
)
_MOST_CHATS = 20
_LONGEST_TITLE = 80
_CALENDAR = re.compile(r"20\d\d(-\d\d){0,2}")
_LEARN = re.compile(r"(start|stop)?\s*(20\d\d)?", re.IGNORECASE)


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


class ChatSearch(Protocol):
    """Finds past chats with something that was said from one epoch second on to before another."""

    async def titled(
        self, hook: Hook, words: str, since: float, until: float
    ) -> Sequence[ListedChat]:
        """Those whose titles share words, or all."""
        ...

    async def about(
        self, hook: Hook, words: str, since: float, until: float
    ) -> Sequence[ListedChat]:
        """Indexed ones that are about words."""
        ...


@dataclass
class PastChatCommands:
    """Answers commands about past chats; nothing in it belongs to one user."""

    learner: PastLearner
    finder: ChatSearch

    async def chats(self, hook: Hook, command: Command) -> str:
        """Find past chats, or switch the recall of what was said in them."""
        words = command.words.strip()
        if words.lower() in ("on", "off"):
            return await self._switch(hook, words.lower())
        zone = local_time(0, *hook.time_zones).tzinfo or UTC
        since, until = 0.0, math.inf
        first, _, others = words.partition(" ")
        if _CALENDAR.fullmatch(first):
            with suppress(ValueError):
                since, until = period_of(first, zone)
                words = others.strip()
        elif not words:
            return _HOW_TO_FIND_CHATS
        is_indexed = hook.settings.history_recall == "all"
        note = ""
        if words and is_indexed:
            found = await self.finder.about(hook, words, since, until)
        else:
            found = await self.finder.titled(hook, words, since, until)
            if words:
                note = _TITLES_ALONE
        if not found:
            return f"No past chat was found. {note}".strip()
        lines = [
            f"Found: {min(len(found), _MOST_CHATS)} of {len(found)} chats"
        ]
        for chat in found[:_MOST_CHATS]:
            title = plain_line(clipped_line(chat.title, _LONGEST_TITLE))
            day = local_time(chat.said_at, *hook.time_zones).date()
            lines.append(f"- [{title or 'untitled'}](/c/{chat.id}) ({day})")
        return "\n".join([lines[0], "", *lines[1:], "", note]).strip()

    async def _switch(self, hook: Hook, wanted: str) -> str:
        """Switch the user's own recall of past conversation."""
        if wanted == "off":
            await hook.choose(history_recall="off", index_past_chats=False)
            return "Past chats are not recalled any more."
        if hook.settings.allowed_history != "all":
            return _NOT_ALLOWED
        await hook.choose(history_recall="all", index_past_chats=True)
        return _SWITCHED_ON

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
