"""Lines that a user is shown with an answer: what was recalled for it and learned from its turn."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from dataclasses import replace

from adaptive.host.answer_note import stored_answer
from adaptive.host.events import emitter_to
from adaptive.host.hook import Hook
from adaptive.learn.report import NOTHING_NEW, failure_line
from adaptive.learn.waiting_turn import read_pending
from adaptive.table_ports import PendingTurn
from adaptive.turn_state import turn_state

log_answer_lines = logging.getLogger("adaptive_memory")

_REFUSALS_REMEMBERED = 1000


class AnswerLines:
    """Shows lines with answers, each below its own, one write into a chat at a time."""

    def __init__(self, writing: asyncio.Semaphore) -> None:
        self._writing = writing
        # Hooks of turns that wait, so that their lines are shown with their own answers.
        self._hooks: dict[tuple[str, str], Hook] = {}
        self._refusals: OrderedDict[tuple[str, str], None] = OrderedDict()

    def expect(self, pending: PendingTurn, hook: Hook) -> None:
        """Keep the page of a turn that waits, until ``done_with`` it."""
        self._hooks[pending.user_id, pending.message_id] = hook

    def done_with(self, pending: PendingTurn) -> None:
        """Let go of the page of a turn."""
        self._hooks.pop((pending.user_id, pending.message_id), None)

    def forget(self, user_id: str) -> None:
        """Let go of a user's pages, and of what they were told."""
        for held in (self._hooks, self._refusals):
            for key in [key for key in held if key[0] == user_id]:
                del held[key]

    async def hook_of(self, pending: PendingTurn, serving: Hook) -> Hook | None:
        """The hook that shows lines with the answer to a turn, ``None`` if its page is not known.

        ``serving`` is the hook of the same user that serves now; the turn may be another process's.
        """
        own = self._hooks.get((pending.user_id, pending.message_id))
        return own or await _hook_of_another(serving, pending)

    async def show(self, hook: Hook | None, line: str, *, failed: bool = False) -> None:
        """Show a line with the answer, after what was recalled for it, as the admin wants it.

        A line that tells of a failure is shown whatever is confirmed.
        """
        if hook is None:
            log_answer_lines.info("nobody is told of a turn whose page is not known any more")
            return
        confirmation = hook.settings.confirmation
        if confirmation == "off" and not failed:
            line = ""
        if confirmation == "message" and line not in ("", NOTHING_NEW):
            async with self._writing:
                line = "" if await _noted(hook, line) else line
        # One status line at the end costs one write of the stored chat instead of two.
        recalled = turn_state(hook.metadata).pop("recalled", "")
        if told := " · ".join(part for part in (recalled, line) if part):
            async with self._writing:  # the host stores the line with the chat
                await hook.notifier.status(told)

    async def refuse(self, serving: Hook, own: Hook | None, reason: str) -> None:
        """Tell a chat once that memory is not allowed."""
        if self._first_refusal(serving):
            await self.show(own, failure_line(reason), failed=True)

    def _first_refusal(self, hook: Hook) -> bool:
        """Whether this chat has not been told yet that memory is not allowed."""
        key = (hook.user_id, hook.chat_id)
        first = key not in self._refusals
        self._refusals[key] = None
        while len(self._refusals) > _REFUSALS_REMEMBERED:
            self._refusals.popitem(last=False)
        return first


async def _noted(hook: Hook, line: str) -> bool:
    """Whether a line stands below the answer itself now."""
    if hook.told_kind != "saved" or not hook.settings.show_status:
        return False
    return await stored_answer(hook).add_note(line)


async def _hook_of_another(serving: Hook, pending: PendingTurn) -> Hook | None:
    """A hook that shows lines with the answer to a turn that another process has put."""
    waiting = read_pending(pending)
    if waiting is None or waiting.turn.kind != "saved" or not waiting.answer_id:
        return None
    chat_id = waiting.turn.source.chat_id
    emitter = await emitter_to(pending.user_id, chat_id, waiting.answer_id)
    metadata = {
        "chat_id": chat_id,
        "message_id": waiting.answer_id,
        "session_id": str(serving.metadata.get("session_id") or ""),
        "direct": serving.metadata.get("direct"),
    }
    return replace(serving, metadata=metadata, emitter=emitter, caller=None)
