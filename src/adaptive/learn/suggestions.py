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

from adaptive.core.messages import clipped_line
from adaptive.core.model import Draft, LeaseLost, Proposal, Turn, each_open
from adaptive.core.runtime import UserCache
from adaptive.memory.tables import (
    ASKED_REST_SECONDS,
    MOST_WAITING_SUGGESTIONS,
    KeepSuggestion,
    SuggestionTable,
    WaitingSuggestion,
)
from adaptive.search.tokens import comparable
from adaptive.settings.hook import Dialog

_MOST_ASKED = 9  # in one dialog
_MOST_CHATS = 5000
# Of the nine together and the text below them the page shows 4,000 characters.
_LONGEST_ASKED = 300
NO_ROOM = (
    f"{MOST_WAITING_SUGGESTIONS} suggestions wait for your answer already"
)
WAITS = "it waits for your answer"
WAITS_ALREADY = "it waits for your answer already"
REJECTED_BEFORE = "you have rejected it before"
_HOW_TO_ANSWER = (
    "Confirm keeps the numbers below. Take a number out to decide later; put a minus before it "
    "(-1) never to be asked about it again. Cancel: not now."
)
# Nothing else may stand in an answer: whoever was typing a message meant no number.
_NUMBERS_ONLY = re.compile(r"[\s\d,;.\-\u2212\u2013]*")
_NUMBER = re.compile(r"(?:([\-\u2212\u2013])\s*+)?(\d{1,9})")


class Suggestions:
    """What an instance needs to propose; any method may raise ``TablesUnavailable``."""

    def __init__(
        self, table: SuggestionTable, clock: Callable[[], float] = time.time
    ) -> None:
        self._table = table
        self._clock = clock
        # By user and chat, the digests that nobody has answered there lately.
        self._unanswered = UserCache[frozenset[str]](
            _MOST_CHATS, seconds=ASKED_REST_SECONDS
        )
        # The page shows one dialog at a time: of two the first would never be answered.
        self._dialogs: WeakValueDictionary[str, asyncio.Lock] = (
            WeakValueDictionary()
        )

    async def propose(
        self,
        turn: Turn,
        proposals: Sequence[Proposal],
        held: Callable[[], Awaitable[bool]],
    ) -> list[Proposal]:
        """Let new facts and updates of a turn wait; what is to be removed stays as it is.

        What waits already, or was rejected, is not proposed again. Raises ``LeaseLost`` where
        another worker is at the user's turns by now.
        """
        digests = {
            suggestion_digest(one.draft) for one in proposals if one.is_open
        }
        rejected = await self._table.rejected(turn.user_id, digests)
        waiting = await self._table.waiting(turn.user_id)
        contents = {comparable(one.draft.content) for one in waiting}
        fresh: list[WaitingSuggestion] = []

        def step(proposal: Proposal) -> Proposal:
            """Let one change wait, or say why it does not."""
            draft = proposal.draft
            if proposal.is_removal:
                return proposal
            digest = suggestion_digest(draft)
            if digest in rejected:
                return proposal.decided("superseded", REJECTED_BEFORE)
            if comparable(draft.content) in contents:
                return proposal.decided("superseded", WAITS_ALREADY)
            if len(waiting) + len(fresh) >= MOST_WAITING_SUGGESTIONS:
                return proposal.decided("rejected", NO_ROOM)
            fresh.append(
                WaitingSuggestion(
                    digest, draft, proposal.memory_id, turn.source
                )
            )
            contents.add(comparable(draft.content))
            return proposal.decided("suggested", WAITS)

        decided = each_open(proposals, step)
        if fresh:
            if not await held():
                raise LeaseLost("another worker has taken over")
            await self._table.put(turn.user_id, fresh)
        return decided

    async def asking(self, user_id: str, questions: Awaitable[object]) -> None:
        """Ask a user something, while nothing else is asked or offered."""
        async with self._dialogs.setdefault(user_id, asyncio.Lock()):
            await questions

    async def offer(
        self, dialog: Dialog, user_id: str, chat_id: str, keep: KeepSuggestion
    ) -> str:
        """Ask a user about all that waits, in one dialog; a line where it is left unanswered.

        What is not decided, or can't be saved, waits on; it is not asked about again for a while,
        but in other chats where nobody has answered: the page may be closed. While another
        question stands in the page nobody is asked: it waits.
        """
        table, standing = (
            self._table,
            self._dialogs.setdefault(user_id, asyncio.Lock()),
        )
        if standing.locked():
            return ""
        async with standing:
            # What has come while one dialog stood is asked about in another one.
            while waiting := await table.claim(
                user_id,
                self._unanswered.get((user_id, chat_id)) or (),
                int(self._clock()),
                _MOST_ASKED,
            ):
                numbered = dict(enumerate(waiting, 1))
                title = "Keep this?" if len(waiting) == 1 else "Keep these?"
                shown = [
                    f"{at}. {_shown(one.draft)}"
                    for at, one in numbered.items()
                ]
                text, numbers = (
                    "\n".join([*shown, _HOW_TO_ANSWER]),
                    ", ".join(map(str, numbered)),
                )
                answer = await dialog.ask(title, text, "", numbers)
                kept, rejected = read_answer(answer or "", len(waiting))
                for number in rejected:
                    await table.reject(
                        user_id, numbered[number].digest, int(self._clock())
                    )
                saved = [
                    numbered[at].digest
                    for at in kept
                    if await keep(numbered[at])
                ]
                await table.discard(user_id, saved)
                if answer == "":
                    return ""
                if answer is None:
                    digests = frozenset(one.digest for one in waiting)
                    self._unanswered.put((user_id, chat_id), digests)
                    await table.release(user_id, digests)
                    return await self.left(user_id)
        return ""

    async def left(self, user_id: str) -> str:
        """The line that tells how much of a user waits, empty for nothing."""
        number = len(await self._table.waiting(user_id))
        told = (
            "1 suggestion waits"
            if number == 1
            else f"{number} suggestions wait"
        )
        return f"{told} for your answer" if number else ""

    async def waits(self, user_id: str, digest: str) -> bool:
        """Whether a suggestion waits still."""
        return any(
            one.digest == digest for one in await self._table.waiting(user_id)
        )


def _shown(draft: Draft) -> str:
    """A fact as it is asked about, with where it would stand."""
    labels = "; ".join(filter(None, (draft.bank, ", ".join(draft.tags))))
    return f"{clipped_line(draft.content, _LONGEST_ASKED)} ({labels})"


def suggestion_digest(draft: Draft) -> str:
    """SHA-256 of bank, category and sentence in lower case, as hexadecimal digits."""
    category, said = (
        (*draft.tags, "fact")[0],
        draft.content.removeprefix("User "),
    )
    named = f"{draft.bank}:{category}:{comparable(said)}".lower()
    return hashlib.sha256(named.encode(errors="replace")).hexdigest()


def read_answer(answer: str, most: int) -> tuple[list[int], list[int]]:
    """The numbers to take and those to reject of an answer, each from 1 to ``most``.

    None of an answer that holds anything else, or a number that was not asked about.
    """
    found = {
        int(number): bool(minus) for minus, number in _NUMBER.findall(answer)
    }
    if not _NUMBERS_ONLY.fullmatch(answer) or not all(
        0 < one <= most for one in found
    ):
        return [], []
    return [one for one in found if not found[one]], [
        one for one in found if found[one]
    ]
