"""What the user is asked behind a lesson: whether memories go, and which suggestions are kept."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from adaptive.core.errors import AdaptiveMemoryError, LeaseLost, TablesUnavailable, with_detail
from adaptive.core.markdown import clipped_line
from adaptive.core.model import Memory, Proposal, Turn
from adaptive.learn.lesson import LessonResources, joined_lines, report_line, report_of, write
from adaptive.learn.queue import always
from adaptive.learn.suggestions import Suggestions, read_answer
from adaptive.memory.tables import WaitingSuggestion
from adaptive.settings.hook import Dialog
from adaptive.settings.status_line import Report

log_confirmation = logging.getLogger("adaptive_memory.learn")

_MOST_ASKED_ABOUT = 10
_LONGEST_SHOWN = 120
UNANSWERED = "the question was not answered"
DECLINED = "you did not confirm it"
CHANGED_MEANWHILE = "it was changed or deleted while you were asked"
_WOULD_DELETE = "Your message would delete:"
_HOW_TO_ANSWER = (
    'Type "all" to delete all of it, or the numbers of what to delete, as "1 3". '
    "Anything else deletes nothing."
)


async def delete_confirmed(
    room: LessonResources,
    turn: Turn,
    dialog: Dialog,
    memories: Sequence[Memory],
    reason: str = _WOULD_DELETE,
) -> Report:
    """Ask whether memories shall go, delete those that the user names, and tell what was done."""
    # Words have to be typed: Enter confirms a plain question, and the user may be typing just then.
    contents = [clipped_line(one.content, _LONGEST_SHOWN) for one in memories[:_MOST_ASKED_ABOUT]]
    shown = [f"{number}. {content}" for number, content in enumerate(contents, 1)]
    if len(memories) > _MOST_ASKED_ABOUT:
        shown.append(f"… and {len(memories) - _MOST_ASKED_ABOUT} more")
    text = "\n\n".join([reason, "\n".join(shown), _HOW_TO_ANSWER])
    answer = await dialog.ask("Delete memories?", text, "all, or 1 3")
    chosen = named_in(answer or "", memories)
    declined = UNANSWERED if answer is None else DECLINED
    async with room.memory.writing() as writer:
        stored = (await room.index()).memories
        proposals: list[Proposal] = []
        for memory in memories:
            proposal = Proposal("DELETE", memory.id, before=memory.content)
            if memory not in chosen:
                proposal = proposal.decided("kept", declined)
            elif memory not in stored:
                proposal = proposal.decided("kept", CHANGED_MEANWHILE)
            proposals.append(proposal)
        outcomes = await writer.apply(proposals, stored, turn.source, always)
    return report_of(outcomes, report_line(outcomes), kind="reply")


def named_in(answer: str, memories: Sequence[Memory]) -> Sequence[Memory]:
    """The memories that an answer names, by their numbers or all; none where it says more."""
    if answer.strip().casefold() == "all":
        return memories
    named, refused = read_answer(answer, min(len(memories), _MOST_ASKED_ABOUT))
    return [] if refused else [memories[number - 1] for number in sorted(named)]


async def offer_suggestions(
    suggestions: Suggestions,
    room_of: Callable[[], Awaitable[LessonResources]],
    dialog: Dialog,
    user_id: str,
    chat_id: str,
) -> Report:
    """Ask a user about what waits, and save what is accepted; raises nothing of ours."""
    outcomes = list[Proposal]()
    left = ""

    async def keep(accepted: WaitingSuggestion) -> bool:
        """Save one as a memory of the message that it came from; false where that failed."""
        proposal = Proposal(
            kind="UPDATE" if accepted.memory_id else "NEW",
            memory_id=accepted.memory_id,
            draft=accepted.draft,
        )
        # The words are not known any more; the user has said yes to the sentence itself.
        turn = Turn(user_id, "saved", "", (), accepted.source)
        still_waits = partial(suggestions.waits, user_id, accepted.digest)
        try:
            saved = await write(await room_of(), turn, [proposal], still_waits)
        except LeaseLost:
            log_confirmation.info("an accepted suggestion was erased or answered elsewhere")
            return False
        except AdaptiveMemoryError as error:
            told = with_detail(error)
            log_confirmation.warning("an accepted suggestion was not saved: %s", told)
            saved = [proposal.decided("failed", str(error))]
        outcomes.extend(saved)
        return all(one.status != "failed" for one in saved)

    try:
        left = await suggestions.offer(dialog, user_id, chat_id, keep)
    except TablesUnavailable as error:
        log_confirmation.warning("nobody is asked about suggestions: %s", with_detail(error))
    line = joined_lines(report_line(outcomes) if outcomes else "", left)
    if outcomes:
        return report_of(outcomes, line, kind="reply")
    # What is only counted is no news to write below an answer.
    return Report(line, kind="notice")
