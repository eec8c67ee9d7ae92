"""Memories that are proposed to the user in place of being saved without a word.

What extraction has found waits in a table until the user is asked, in one dialog for all. What the
user has rejected once is never proposed again; of that only a hash is kept.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from weakref import WeakValueDictionary

from adaptive.core.errors import LeaseLost
from adaptive.core.model import Operation, Turn
from adaptive.privacy.kept import KeepSuggestion, Suggestion, SuggestionTable, WaitingSuggestion
from adaptive.search.tokens import comparable
from adaptive.settings.hook import Dialog
from adaptive.settings.merged import Settings

# Of one turn, and in one dialog.
_MOST_PROPOSED = 3
_MOST_ASKED = 9
_LONGEST_TITLE = 80
_HOW_TO_ANSWER = (
    "Confirm keeps the numbers below. Take a number out to decide later; put a minus before it "
    "(-1) never to be asked about it again. Cancel: not now."
)
# Nothing else may stand in an answer: whoever was typing a message meant no suggestion.
_NUMBERS_ONLY = re.compile(r"[\s\d,;.\-\u2212\u2013]*")
_NUMBER = re.compile(r"([\-\u2212\u2013]?)\s*(\d+)")


class Suggestions:
    """What an instance of the plug-in needs to propose; nothing in it belongs to one user."""

    def __init__(self, table: SuggestionTable, clock: Callable[[], float] = time.time) -> None:
        self._table, self._clock = table, clock
        # The page shows one dialog at a time: of two the first would never be answered.
        self._dialogs: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def propose(
        self,
        turn: Turn,
        operations: Sequence[Operation],
        settings: Settings,
        held: Callable[[], Awaitable[bool]],
    ) -> int:
        """Let at most three changes of a turn wait that do not wait yet; how many do.

        What was rejected before is left out.

        Raises:
            LeaseLost: another worker is at the user's turns by now.
            TablesUnavailable: nobody can tell what was rejected.
        """
        user_id = turn.user_id
        made = [suggestion_of(one, settings) for one in operations[:_MOST_PROPOSED]]
        found = [WaitingSuggestion(suggestion_digest(one), one, turn.source) for one in made]
        rejected = await self._table.rejected(user_id, [one.digest for one in found])
        waiting = await self._table.waiting(user_id)
        said = {comparable(one.suggestion.content) for one in waiting}
        fresh = [
            one
            for one in found
            if one.digest not in rejected and comparable(one.suggestion.content) not in said
        ]
        if fresh:
            if not await held():
                raise LeaseLost("another worker has taken over")
            await self._table.put(user_id, fresh, int(self._clock()))
        return len(fresh)

    async def asking(self, user_id: str, questions: Awaitable[object]) -> None:
        """Ask a user something, while nothing else is asked or offered."""
        async with self._dialogs.setdefault(user_id, asyncio.Lock()):
            await questions

    async def offer(self, dialog: Dialog, user_id: str, chat_id: str, keep: KeepSuggestion) -> str:
        """Ask a user about all that waits, in one dialog; a line where it is left unanswered.

        What is not decided, or can't be saved, waits on; it is not asked about again in this chat
        for a while. While another question stands in the page nobody is asked: it waits.

        Raises:
            TablesUnavailable: the table can't be used.
        """
        table, standing = self._table, self._dialogs.setdefault(user_id, asyncio.Lock())
        if standing.locked():
            return ""
        async with standing:
            # What has come while one dialog stood is asked about in another one.
            while waiting := await table.claim(user_id, chat_id, int(self._clock()), _MOST_ASKED):
                title = "Keep this?" if len(waiting) == 1 else "Keep these?"
                numbers = ", ".join(str(number) for number, _ in enumerate(waiting, 1))
                answer = await dialog.ask(title, _offer_text(waiting), "", numbers)
                kept, rejected = read_answer(answer or "", len(waiting))
                for number in rejected:
                    await table.reject(user_id, waiting[number - 1].digest, int(self._clock()))
                saved = [one.digest for one in (waiting[at - 1] for at in kept) if await keep(one)]
                await table.discard(user_id, saved)
                # Who has cancelled is left in peace in other chats, too, for a while.
                if answer == "":
                    return ""
                await table.release(user_id, chat_id, [one.digest for one in waiting])
                if answer is None:
                    return await self.left(user_id)
        return ""

    async def left(self, user_id: str) -> str:
        """The line that tells how much of a user waits, empty for nothing.

        Raises:
            TablesUnavailable: the table can't be read.
        """
        number = len(await self._table.waiting(user_id))
        told = "1 suggestion waits" if number == 1 else f"{number} suggestions wait"
        return f"{told} for your answer" if number else ""

    async def waits(self, user_id: str, digest: str) -> bool:
        """Whether a suggestion waits still; raises ``TablesUnavailable``."""
        return any(one.digest == digest for one in await self._table.waiting(user_id))


def suggestion_of(operation: Operation, settings: Settings) -> Suggestion:
    """A fact as it is proposed: its own words are the title; its first tag is the category."""
    draft = operation.draft
    title = draft.content.removeprefix("User ")[:_LONGEST_TITLE].strip(" .")
    category = draft.tags[0] if draft.tags else "fact"
    bank = draft.bank or settings.default_bank
    return Suggestion(category, title, bank, draft.tags, draft.content, draft.until, operation.id)


def suggestion_digest(suggestion: Suggestion) -> str:
    """SHA-256 of ``bank:category:title`` in lower case, as hexadecimal digits."""
    named = f"{suggestion.bank}:{suggestion.category}:{suggestion.title}".lower()
    return hashlib.sha256(named.encode(errors="replace")).hexdigest()


def _offer_text(waiting: Sequence[WaitingSuggestion]) -> str:
    """What the user is asked: each sentence with its number and where it would be kept."""
    lines = [
        f"{number}. {one.content} ({one.bank}; {', '.join(one.tags or (one.category,))})"
        for number, one in enumerate((each.suggestion for each in waiting), 1)
    ]
    return "\n".join([*lines, _HOW_TO_ANSWER])


def read_answer(answer: str, most: int) -> tuple[list[int], list[int]]:
    """The numbers to keep and those to reject of an answer, each from 1 to ``most``.

    None of an answer that holds anything else, or a number that was not asked about.
    """
    found = {int(number): bool(minus) for minus, number in _NUMBER.findall(answer)}
    if not _NUMBERS_ONLY.fullmatch(answer) or not all(0 < one <= most for one in found):
        return [], []
    return [one for one in found if not found[one]], [one for one in found if found[one]]
