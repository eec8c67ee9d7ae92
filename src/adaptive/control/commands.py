"""Commands: what a user says to the memory itself, answered without a model."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakValueDictionary

from adaptive.control.overview import Day, change_log, changes_told, listed, overview
from adaptive.control.requests import MemoryRequests, memories_counted, named_memories
from adaptive.control.transfer import exported, read_import
from adaptive.core.errors import AdaptiveMemoryError
from adaptive.core.markdown import plain_line
from adaptive.core.messages import (
    local_time,
    memory_is_off,
    message_text,
    newest_user_message,
    read_command,
    without_commands,
)
from adaptive.core.model import Draft, Operation, Proof
from adaptive.privacy.changes import read_steps, take_back
from adaptive.privacy.erasure import ErasureRequest, ErasureScope
from adaptive.privacy.gate import Refused, gate_policy, gated_draft
from adaptive.settings.hook import Hook

_STEPS_SHOWN = 10
_REFUSED_LATELY_SECONDS = 30 * 24 * 3600
_MOST_STEPS = 200
_MOST_TOLD = 10
_MOST_ASKED_ABOUT = 10
_SCOPES: dict[str, ErasureScope] = {"everything": "everything", "this chat": "chat", "today": "day"}
_HOW_TO_FIND = "Which words? For example: `/memory find coffee`."
_UNKNOWN = "Nothing is remembered about that."
_HOW_TO_IMPORT = "Put behind it an export, or a list with one memory on each line."
_OFF = (
    "Nothing saved: memory is off in your settings (Settings > Personalization > Memory, or "
    "`enabled` among your valves of this filter)."
)
_ELSEWHERE = "The memory answers on the web page only, in chats of your own."
_SAVING = ("remember", "import")
_ASKED = Proof(kind="ASKED")


@dataclass(frozen=True, slots=True)
class CommandInHand:
    """A command in hand: the messages up to it, and the words behind its name."""

    hook: Hook
    messages: list[dict[str, Any]]
    words: str


Answering = Callable[[CommandInHand], Awaitable[str]]


class MemoryCommands:
    """Answers commands; nothing in it belongs to one user.

    ``recall`` ranks memories for words and says why some came for a message, ``diagnosis`` says how
    the server stands, and the learner of ``requests`` does what is asked for.
    """

    def __init__(
        self, requests: MemoryRequests, recall: Any, diagnosis: Callable[[Any], Awaitable[str]]
    ) -> None:
        self._requests, self._learner = requests, requests.learner
        self._recall, self._diagnosis = recall, diagnosis
        # Of two models that are asked side by side each gets the command.
        self._users: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def answer(self, hook: Hook, messages: list[dict[str, Any]]) -> str | None:
        """The answer to the newest message, ``None`` where it is no command."""
        newest = newest_user_message(messages) or {}
        command = read_command(message_text(newest))
        if command is None or hook.told_kind not in ("saved", "temporary"):
            return None
        name, words = command
        if name == "memory":
            name, words = (*words.split(maxsplit=1), "", "")[:2]
        if name.lower() in _SAVING and not hook.settings.enabled:
            return _OFF
        try:
            if await hook.kind() not in ("saved", "temporary"):
                return _ELSEWHERE
            async with self._users.setdefault(hook.user_id, asyncio.Lock()):
                return await self._answering(name.lower())(CommandInHand(hook, messages, words))
        except AdaptiveMemoryError as error:
            return f"That did not work: {error}."

    def _answering(self, name: str) -> Answering:
        """What answers a command, by the word behind ``/memory`` or its own name."""
        answers: dict[str, Answering] = {
            "find": self._find,
            "why": self._why,
            "log": self._log,
            "undo": self._undo,
            "remember": self._remember,
            "forget": self._forget,
            "restore": lambda asked: self._requests.restore(asked.hook, asked.words),
            "export": self._export,
            "import": self._import,
            "on": self._switched,
            "off": self._switched,
            "doctor": lambda asked: self._diagnosis(asked.hook),
        }
        return answers.get(name, self._list)

    async def _list(self, asked: CommandInHand) -> str:
        """What is known, and what else there is; of words that are no command the commands."""
        room = await self._learner.user_store(asked.hook)
        memories = await room.store.read()
        noted = await self._learner.waiting(asked.hook)
        if archived := len(await room.archive.read(asked.hook.user_id)):
            noted.append(f"{archived} archived")
        since = time.time() - _REFUSED_LATELY_SECONDS
        changes = await room.trail.read(asked.hook.user_id)
        refused = [one for one in changes if one.kind == "refused" and one.changed_at >= since]
        if refused:
            noted.append(f"{len(refused)} refused in a month (the last: {refused[0].reason})")
        return overview(memories, _day_of(asked.hook), noted)

    async def _find(self, asked: CommandInHand) -> str:
        found = await self._recall.found(asked.hook, asked.words) if asked.words else ()
        if not found:
            return _UNKNOWN if asked.words else _HOW_TO_FIND
        day = _day_of(asked.hook)
        row = "- {} ({:.0f} %, {})".format
        rows = (row(listed(one.memory), one.score, day(one.memory.updated_at)) for one in found)
        return "\n".join(rows)

    async def _why(self, asked: CommandInHand) -> str:
        said = without_commands(asked.messages)
        if newest_user_message(said) is None:
            return "There is no answer yet in this chat."
        return await self._recall.why(asked.hook, said)

    async def _log(self, asked: CommandInHand) -> str:
        steps = await read_steps(await self._learner.user_store(asked.hook))
        most = int(asked.words) if asked.words.isdecimal() else _STEPS_SHOWN
        return change_log(steps, _day_of(asked.hook, "%Y-%m-%d %H:%M"), min(most, _MOST_STEPS))

    async def _undo(self, asked: CommandInHand) -> str:
        room = await self._learner.user_store(asked.hook)
        steps = await read_steps(room)
        if asked.words.isdecimal():
            chosen = steps[int(asked.words) - 1] if 0 < int(asked.words) <= len(steps) else None
        else:
            chosen = next((one for one in steps if not one.is_undo and one.standing), None)
        if chosen is None:
            return " ".join(f"There is no change {asked.words} to take back.".split())
        if not chosen.standing:
            return "That is taken back already; the log tells by what."
        async with self._learner.locks.of(asked.hook.user_id):
            made = await take_back(room, chosen)
        return "\n".join(["Taken back:", "", *changes_told(made, _MOST_TOLD)])

    async def _remember(self, asked: CommandInHand) -> str:
        policy = replace(gate_policy(asked.hook.settings), typed=True)
        draft = Draft(asked.words, bank=asked.hook.settings.default_bank)
        verdict = await asyncio.to_thread(gated_draft, draft, policy)
        if isinstance(verdict, Refused):
            return f"Not saved: {verdict.reason}."
        addition = Operation("NEW", "", verdict, _ASKED)
        return plain_line(await self._learner.do(asked.hook, [addition]))

    async def _forget(self, asked: CommandInHand) -> str:
        """Forget what is meant: one memory that has all the words goes at once."""
        if scope := _SCOPES.get(asked.words.casefold().strip(" .!")):
            today = local_time(time.time(), *asked.hook.time_zones).date()
            request = ErasureRequest(scope, today if scope == "day" else None)
            return await self._requests.erase(asked.hook, request)
        found = await self._recall.found(asked.hook, asked.words) if asked.words else ()
        exact = [one.memory for one in found if one.has_all_words]
        if len(exact) == 1:
            deletion = Operation("DELETE", exact[0].id, proof=_ASKED)
            line = plain_line(await self._learner.do(asked.hook, [deletion]))
            return f"{line}\n\n`/undo` takes it back."
        meant = exact or [one.memory for one in found[:_MOST_ASKED_ABOUT]]
        if not meant:
            return _UNKNOWN if asked.words else "Forget what? Add a few words."
        return plain_line(await self._learner.ask_deletion(asked.hook, meant))

    async def _export(self, asked: CommandInHand) -> str:
        room = await self._learner.user_store(asked.hook)
        memories = await room.store.read()
        text = exported(memories, now := time.time())
        name = f"memories-{_day_of(asked.hook)(now)}.json"
        counted = memories_counted(len(memories))
        if await asked.hook.dialog.download(name, text):
            return f"{counted} in the file `{name}`."
        fence = "`" * (max(map(len, re.findall("`+", text)), default=2) + 1)
        return f"{counted}:\n\n{fence}json\n{text}\n{fence}"

    async def _import(self, asked: CommandInHand) -> str:
        found, now = await asyncio.to_thread(read_import, asked.words), time.time()
        if not found.memories:
            return _HOW_TO_IMPORT
        carried = [(one.draft, one.source(now), one.extra) for one in found.memories]
        shown = named_memories([draft for draft, _, _ in carried])
        question = f"This would be saved: {memories_counted(len(carried))}.\n\n{shown}"
        if not await asked.hook.dialog.confirm("Import memories?", question):
            return "Nothing imported: you did not confirm it."
        line = await self._learner.bring_in(asked.hook, carried)
        unread = f" · {found.left_out} could not be read" if found.left_out else ""
        return f"{plain_line(line)}{unread}"

    async def _switched(self, asked: CommandInHand) -> str:
        # The chat itself tells it from now on, to whoever reads it.
        if memory_is_off(asked.messages):
            return "Memory is off in this chat: nothing is recalled or saved until `/memory on`."
        return "Memory is on in this chat."


def _day_of(hook: Hook, form: str = "%Y-%m-%d") -> Day:
    """Writes times as days where the user lives."""
    zones = hook.time_zones
    return lambda seconds: f"{local_time(seconds, *zones):{form}}"
