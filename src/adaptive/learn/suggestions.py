"""Memories that are proposed to the user in place of being saved without a word.

What extraction has found waits in a table until the user is asked, in one dialog for all. What the
user has rejected once is never proposed again; of that only a hash is kept.
"""

import hashlib
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from adaptive.core import (
    QUIET,
    Draft,
    KeyedLocks,
    LeaseLost,
    Phrase,
    Proposal,
    ProposalStatus,
    Turn,
    UserCache,
    clipped_line,
    each_open,
    phrase,
)
from adaptive.memory import (
    ASKED_REST_SECONDS,
    MOST_WAITING_SUGGESTIONS,
    KeepSuggestion,
    SuggestionTable,
    WaitingSuggestion,
)
from adaptive.privacy import escaped_entry, excerpt_without_secrets
from adaptive.search import comparable
from adaptive.settings import Hook, PageQuestion, Report

# What became of proposals, in the order in which it is told; nobody is told of the others.
_TOLD: tuple[ProposalStatus, ...] = (
    "saved",
    "updated",
    "quieted",
    "deleted",
    "ended",
    "failed",
    "rejected",
    "asked",
    "kept",
    "archived",
    "unchanged",
)
_EXPLAINED = ("kept", "rejected", "failed")  # whose words leave open why
_LONGEST_TOLD = 160
_LONGEST_LINE = 600


def report_of(
    outcomes: Sequence[Proposal],
    line: str,
    kind: Literal["news", "reply"] = "news",
) -> Report:
    """What a user is told of these outcomes in a line."""
    texts_by_words = _texts_by_words(outcomes)
    stati = {one.status for one in outcomes}
    counts = [
        f"{words}: {phrase('facts', n=len(texts))}"
        for words, texts in texts_by_words.items()
    ]
    facts = [
        f"{words}: {text}"
        for words, texts in texts_by_words.items()
        for text in texts
    ]
    # The line names them all where each thing happened to one, and it is not cut.
    is_told = " · ".join(facts) == report_line(outcomes)
    return Report(
        line=line,
        kind=kind,
        details=() if is_told else tuple(map(escaped_entry, facts)),
        counts=" · ".join(counts),
        changes_memory=not stati.isdisjoint(
            ("saved", "updated", "quieted", "deleted", "ended")
        ),
    )


def report_line(outcomes: Sequence[Proposal]) -> str:
    """The status line: what was written, then what was not and why."""
    parts: list[str] = []
    for words, texts in _texts_by_words(outcomes).items():
        if len(texts) > 1:
            parts.append(f"{words} ({len(texts)}): {texts[0]} …")
        else:
            parts.append(f"{words}: {texts[0]}")
    return clipped_line(" · ".join(parts), _LONGEST_LINE) or phrase(
        "nothing_new"
    )


def failure_line(reason: str) -> str:
    """The status line of a turn that could not be learned."""
    return clipped_line(f"{phrase('nothing_saved')}: {reason}", _LONGEST_LINE)


def joined_lines(*lines: str) -> str:
    """Lines as one; that there is nothing new is told only where there is nothing else."""
    told = [line for line in lines if line]
    return " · ".join(
        [line for line in told if line != phrase("nothing_new")] or told[:1]
    )


def _texts_by_words(outcomes: Sequence[Proposal]) -> dict[str, list[str]]:
    """What became of proposals, by the words for it, in the order in which it is told."""
    told = {
        phrase(status): [
            _told(one) for one in outcomes if one.status == status
        ]
        for status in _TOLD
    }
    return {words: texts for words, texts in told.items() if texts}


def _told(outcome: Proposal) -> str:
    content = outcome.draft.content
    # A row that another tool has written may hold a secret when it is deleted or archived.
    told = (outcome.before or content) if outcome.is_removal else content
    text = clipped_line(
        excerpt_without_secrets(told, 2 * _LONGEST_TOLD), _LONGEST_TOLD
    )
    if not outcome.reason or outcome.status not in _EXPLAINED:
        return text
    reason = clipped_line(str(outcome.reason), _LONGEST_TOLD)
    return f"{text} ({reason})" if text else reason


_MOST_ASKED = 9  # in one dialog
_MOST_CHATS = 5000
# Of the nine together and the text below them the page shows 4,000 characters.
_LONGEST_ASKED = 300
NO_ROOM = Phrase("suggestions_wait", n=MOST_WAITING_SUGGESTIONS)
WAITS = "it waits for your answer"
WAITS_ALREADY = "it waits for your answer already"
REJECTED_BEFORE = "you have rejected it before"
_LATER, _KEEP, _NEVER = range(3)


@dataclass(eq=False)
class Suggestions:
    """What an instance needs to propose; any method may raise ``TablesUnavailable``."""

    table: SuggestionTable
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        # By user and chat, the digests that nobody has answered there lately.
        self._unanswered = UserCache[frozenset[str]](
            _MOST_CHATS, seconds=ASKED_REST_SECONDS
        )
        # The page shows one dialog at a time: of two the first would never be answered.
        self._dialogs = KeyedLocks()

    async def propose(
        self,
        turn: Turn,
        proposals: Sequence[Proposal],
        held: Callable[[], Awaitable[bool]],
        *,
        changes: bool = True,
    ) -> list[Proposal]:
        """Let what a turn wants quiet wait, and its ``changes``, which are new facts and updates.

        What is to be removed stays as it is. What waits already, or was rejected, is not proposed
        again. Raises ``LeaseLost`` where
        another worker is at the user's turns by now.
        """
        digests = {
            suggestion_digest(one.draft) for one in proposals if one.is_open
        }
        rejected = await self.table.rejected(turn.user_id, digests)
        waiting = await self.table.waiting(turn.user_id)
        said = {_said(one.draft) for one in waiting}
        fresh: list[WaitingSuggestion] = []

        def step(proposal: Proposal) -> Proposal:
            """Let one change wait, or say why it does not."""
            draft = proposal.draft
            is_change = proposal.kind in ("NEW", "UPDATE")
            if not (changes and is_change) and proposal.kind != "QUIET":
                return proposal
            digest = suggestion_digest(draft)
            if digest in rejected:
                return proposal.decided("superseded", REJECTED_BEFORE)
            if _said(draft) in said:
                return proposal.decided("superseded", WAITS_ALREADY)
            if len(waiting) + len(fresh) >= MOST_WAITING_SUGGESTIONS:
                return proposal.decided("rejected", NO_ROOM)
            fresh.append(
                WaitingSuggestion(
                    digest, draft, proposal.memory_id, turn.source
                )
            )
            said.add(_said(draft))
            return proposal.decided("suggested", WAITS)

        decided = each_open(proposals, step)
        if fresh:
            if not await held():
                raise LeaseLost("another worker has taken over")
            await self.table.put(turn.user_id, fresh)
        return decided

    async def asking(self, user_id: str, questions: Awaitable[object]) -> None:
        """Ask a user something, while nothing else is asked or offered."""
        async with self._dialogs.of(user_id):
            await questions

    async def offer(self, hook: Hook, keep: KeepSuggestion) -> str:
        """Ask a user about all that waits, in one dialog; a line where it is left unanswered.

        What is not decided, or can't be saved, waits on; it is not asked about again for a while,
        but in other chats where nobody has answered: the page may be closed. While another
        question stands in the page nobody is asked: it waits.
        """
        table = self.table
        user_id = hook.user_id
        place = (user_id, hook.chat_id)
        standing = self._dialogs.of(user_id)
        if standing.locked():
            return ""
        async with standing:
            # What has come while one dialog stood is asked about in another one.
            while waiting := await table.claim(
                user_id,
                self._unanswered.get(place) or (),
                int(self.clock()),
                _MOST_ASKED,
                hook.place,
            ):
                title = phrase("keep_this")
                if any(one.draft.is_quiet for one in waiting):
                    title = phrase("is_wanted")
                options = map(phrase, ("decide_later", "keep", "never_again"))
                question = PageQuestion(
                    title=title,
                    entries=[_shown(one.draft) for one in waiting],
                    options=[*options],
                    preset=_KEEP,
                    how_to_type=phrase("how_to_keep"),
                )
                chosen = await hook.dialog.choose(question)
                saved = list[str]()
                for one, option in zip(waiting, chosen or (), strict=False):
                    if option == _NEVER:
                        await table.reject(
                            user_id, one.digest, int(self.clock())
                        )
                    if option == _KEEP and await keep(one):
                        saved.append(one.digest)
                await table.discard(user_id, saved)
                if chosen is None:
                    digests = frozenset(one.digest for one in waiting)
                    self._unanswered.put(place, digests)
                    await table.release(user_id, digests)
                    return await self.left(user_id)
                if not chosen:
                    return ""
        return ""

    async def left(self, user_id: str) -> str:
        """The line that tells how much of a user waits, empty for nothing."""
        number = len(await self.table.waiting(user_id))
        return phrase("suggestions_wait", n=number) if number else ""

    async def waits(self, user_id: str, digest: str) -> bool:
        """Whether a suggestion waits still."""
        return any(
            one.digest == digest for one in await self.table.waiting(user_id)
        )


def _said(draft: Draft) -> tuple[str, str]:
    """What a fact says, and where."""
    return draft.scope, comparable(draft.content)


def _shown(draft: Draft) -> str:
    """A fact as it is asked about, with where it would stand."""
    if draft.is_quiet:
        words = clipped_line(draft.content, _LONGEST_ASKED)
        return phrase("never_bring_up", words=words)
    labels = "; ".join(filter(None, (draft.bank, ", ".join(draft.topics))))
    return f"{clipped_line(draft.content, _LONGEST_ASKED)} ({labels})"


def suggestion_digest(draft: Draft) -> str:
    """SHA-256 of bank, category, sentence and scope in lower case, as hexadecimal digits."""
    category = QUIET if draft.is_quiet else (*draft.topics, "fact")[0]
    said = draft.content.removeprefix("User ")
    named = f"{draft.bank}:{category}:{comparable(said)}{draft.scope}".lower()
    return hashlib.sha256(named.encode(errors="replace")).hexdigest()
