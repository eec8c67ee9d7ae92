"""Commands about past chats: to learn from them, and to find them."""

import math
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from typing import Protocol

from adaptive.control.turn import Command, for_example
from adaptive.core import clipped_line, local_time, phrase, plain_line
from adaptive.memory import period_of
from adaptive.search import ListedChat
from adaptive.settings import Hook

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
            return for_example(
                "/memory chats 2026-10 budget",
                "/memory chats on",
                "/memory chats off",
            )
        is_indexed = hook.settings.history_recall == "all"
        note = ""
        if words and is_indexed:
            found = await self.finder.about(hook, words, since, until)
        else:
            found = await self.finder.titled(hook, words, since, until)
            if words:
                note = phrase("titles_alone")
        if not found:
            return f"{phrase('none_found')} {note}".strip()
        shown = min(len(found), _MOST_CHATS)
        lines = [phrase("chats_found", shown=shown, n=len(found))]
        for chat in found[:_MOST_CHATS]:
            title = plain_line(clipped_line(chat.title, _LONGEST_TITLE))
            day = local_time(chat.said_at, *hook.time_zones).date()
            lines.append(f"- [{title or '-'}](/c/{chat.id}) ({day})")
        return "\n".join([lines[0], "", *lines[1:], "", note]).strip()

    async def _switch(self, hook: Hook, wanted: str) -> str:
        """Switch the user's own recall of past conversation."""
        if wanted == "off":
            await hook.choose(history_recall="off", index_past_chats=False)
            return phrase("chats_off")
        if hook.settings.allowed_history != "all":
            return phrase("not_allowed")
        await hook.choose(history_recall="all", index_past_chats=True)
        return phrase("chats_on")

    async def learn(self, hook: Hook, command: Command) -> str:
        """Tell what learning from past chats would take, begin it, or end it."""
        this_year = local_time(time.time(), *hook.time_zones).year
        asked = _LEARN.fullmatch(command.words.strip(" .!"))
        if asked is None:
            return phrase("how_to_learn", year=this_year)
        action = (asked[1] or "").lower()
        year = int(asked[2]) if asked[2] else None
        if action == "stop":
            stopped = await self.learner.stop(hook.user_id)
            return phrase("learning_stopped" if stopped else "already_so")
        if hook.settings.save_mode != "auto":
            return phrase("only_suggested")
        if action == "start":
            return await self.learner.start(hook, year)
        told = await self.learner.estimate(hook, year)
        return f"{told} {phrase('how_to_learn', year=year or this_year)}"
