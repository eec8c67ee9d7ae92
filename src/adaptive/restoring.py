"""Restoring what was archived, where a user asks for it and confirms it in the page."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence

from adaptive.errors import AdaptiveMemoryError
from adaptive.host.dialog import PageDialog
from adaptive.host.hook import Hook
from adaptive.learn.restoration import (
    asks_to_restore,
    plan_restoration,
    restoration_question,
    restored_line,
)
from adaptive.learning import Learning
from adaptive.messages import Message
from adaptive.model import ConversationKind
from adaptive.typed_turns import typed_message

log_restoring = logging.getLogger("adaptive_memory")

# In the others nobody types, or other people do. In the last two it is told that nothing is done.
_RESTORING_KINDS: frozenset[ConversationKind] = frozenset({"saved", "temporary", "api"})

RESTORING_ASKED_FIRST = "You are asked before anything is restored"
NOTHING_ARCHIVED = "Nothing is archived"
RESTORING_UNANSWERED = "Nothing restored: the question was not answered"
RESTORING_DECLINED = "Nothing restored: you did not confirm it"
RESTORING_UNASKED = "Nothing restored: you can be asked in a chat of the page only"
RESTORING_IN_TEMPORARY_CHAT = "Nothing restored: ask for it in a chat that is not temporary"


class Restoring:
    """Asks, restores and tells; nothing in it belongs to one user.

    ``kind_of`` tells the kind of a hook's conversation, by the host unless a test says otherwise.
    """

    def __init__(
        self,
        learning: Learning,
        kind_of: Callable[[Hook], Awaitable[ConversationKind]] = Hook.kind,
    ) -> None:
        self._learning, self._kind_of = learning, kind_of

    async def restore(self, hook: Hook) -> None:
        """Bring back what is archived of a hook's user once it is confirmed, and tell of it.

        In a chat that somebody else owns nothing is done or told: other people read it.
        """
        line = ""
        if hook.told_kind == "temporary":
            line = RESTORING_IN_TEMPORARY_CHAT
        elif hook.told_kind != "saved" or hook.caller is None:
            log_restoring.info("somebody who can't be asked wants memories restored: none is")
            line = RESTORING_UNASKED
        else:
            try:
                if await self._kind_of(hook) == "saved":
                    line = await self._outcome(hook)
            except AdaptiveMemoryError as error:
                log_restoring.warning("a restoration failed: %s", error)
                line = f"Not restored: {error}"
        if line:
            await self._learning.tell(hook, line)

    async def _outcome(self, hook: Hook) -> str:
        """Ask, restore if it is confirmed, and return what to tell."""
        room = await self._learning.storeroom(hook)
        archived = await room.archive.read(room.user_id)
        rows = await room.store.read() if archived else ()
        plan = plan_restoration(archived, rows, hook.settings.max_total_memories)
        if not plan.chosen:
            kept = " ".join(plan.staying)
            return f"Nothing restored. {kept}" if kept else NOTHING_ARCHIVED
        await self._learning.tell(hook, RESTORING_ASKED_FIRST)
        question = restoration_question(plan)
        answer = await PageDialog(hook.caller).confirm("Restore archived memories?", question)
        if answer != "yes":
            return RESTORING_DECLINED if answer == "no" else RESTORING_UNANSWERED
        return await restored_line(room, plan, self._learning.writing, int(time.time()))


def asks_restoration(hook: Hook, messages: Sequence[Message]) -> bool:
    """Whether the user's newest message asks to restore what was archived."""
    if hook.told_kind not in _RESTORING_KINDS:
        return False
    found = typed_message(hook, messages)
    return found is not None and asks_to_restore(found[1])
