"""What the user is asked behind a lesson: whether memories go, and which suggestions are kept.

Memories go because a message would delete them, or because only its former words, which the user
has edited since, have taught them.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from adaptive.core import (
    CHANGED_MEANWHILE,
    AdaptiveMemoryError,
    LeaseLost,
    Memory,
    Phrase,
    Proposal,
    ProposalKind,
    Provenance,
    TablesUnavailable,
    Turn,
    clipped_line,
    log_failure,
    phrase,
)
from adaptive.learn.lesson import LessonResources, write
from adaptive.learn.queue import always
from adaptive.learn.suggestions import (
    Suggestions,
    joined_lines,
    report_line,
    report_of,
)
from adaptive.learn.support import says_no_more
from adaptive.memory import WaitingSuggestion
from adaptive.settings import Dialog, Hook, PageQuestion, Report

_MOST_ASKED_ABOUT = 10
_LONGEST_SHOWN = 120
UNANSWERED = Phrase("unanswered")
DECLINED = Phrase("declined")


async def delete_confirmed(
    room: LessonResources,
    source: Provenance,
    dialog: Dialog,
    memories: Sequence[Memory],
    reason: str = "would_delete",
) -> Report:
    """Ask whether memories shall go, delete those that the user names, and tell what was done.

    The ``reason`` is the phrase above them in the question.

    Another question may have stood before: what it has deleted is not asked about again.
    """
    standing = (await room.index()).memories
    memories = [memory for memory in memories if memory in standing]
    if not memories:
        line = f"{phrase('nothing_done')}: {CHANGED_MEANWHILE}"
        return Report(line, kind="reply")
    shown = memories[:_MOST_ASKED_ABOUT]
    entries = [clipped_line(one.content, _LONGEST_SHOWN) for one in shown]
    others = memories[_MOST_ASKED_ABOUT:]
    if others:
        entries.append(phrase("and_more", n=len(others)))
    # It has to be chosen: Enter confirms a question, and the user may be typing just then.
    question = PageQuestion(
        title=phrase("delete_title"),
        entries=entries,
        options=(phrase("keep"), phrase("delete_it")),
        reason=phrase(reason),
        how_to_type=phrase("how_to_delete"),
    )
    options = await dialog.choose(question)
    named = zip(
        [*([one] for one in shown), others], options or (), strict=False
    )
    # A minus before a number says nothing here.
    chosen = [one for group, option in named for one in group if option == 1]
    declined = UNANSWERED if options is None else DECLINED
    async with room.memory.lock:
        stored = (await room.index()).memories

        def step(memory: Memory) -> Proposal:
            """Delete a memory that is chosen and stands, or say why it is kept."""
            proposal = Proposal("DELETE", memory.id, before=memory.content)
            if memory not in chosen:
                return proposal.decided("kept", declined)
            if memory not in stored:
                return proposal.decided("kept", CHANGED_MEANWHILE)
            return proposal

        proposals = [*map(step, memories)]
        outcomes = await room.memory.apply(proposals, stored, source, always)
    return report_of(outcomes, report_line(outcomes), kind="reply")


async def offer_suggestions(
    suggestions: Suggestions,
    room_of: Callable[[], Awaitable[LessonResources]],
    hook: Hook,
) -> Report:
    """Ask a user about what waits, and save what is accepted; raises nothing of ours."""
    outcomes = list[Proposal]()
    left = ""

    async def keep(accepted: WaitingSuggestion) -> bool:
        """Save one as a memory of the message that it came from; false where that failed."""
        kind: ProposalKind = "UPDATE" if accepted.memory_id else "NEW"
        if accepted.draft.is_quiet:
            kind = "QUIET"
        proposal = Proposal(
            kind=kind,
            memory_id=accepted.memory_id,
            draft=accepted.draft,
        )
        still_waits = partial(suggestions.waits, hook.user_id, accepted.digest)
        try:
            saved = await write(
                await room_of(), accepted.source, [proposal], still_waits
            )
        except LeaseLost:
            return False
        except AdaptiveMemoryError as error:
            log_failure("an accepted suggestion was not saved", error)
            saved = [proposal.decided("failed", str(error))]
        outcomes.extend(saved)
        return all(one.status != "failed" for one in saved)

    try:
        left = await suggestions.offer(hook, keep)
    except TablesUnavailable as error:
        log_failure("nobody is asked about suggestions", error)
    line = joined_lines(report_line(outcomes) if outcomes else "", left)
    if outcomes:
        return report_of(outcomes, line, kind="reply")
    # What is only counted is no news to write below an answer.
    return Report(line, kind="notice")


def how_to_take_back(memories: Sequence[Memory]) -> str:
    """The line for a user who can't be asked about memories of a former version."""
    shown = clipped_line(memories[0].content, _LONGEST_SHOWN)
    if len(memories) > 1:
        shown += f" {phrase('and_more', n=len(memories) - 1)}"
    return f"{phrase('changed_message')} {shown} · /forget"


async def said_before_edit(
    room: LessonResources, turn: Turn, hook: Hook
) -> tuple[Memory, ...]:
    """Memories that only former versions of a message bear out, once it has been learned.

    Whoever edits a message makes another one of the same parent. The log tells from which message
    each memory was learned last, but for what was taken back.

    Raises:
        HostError: our tables or the chat can't be read.
    """
    # The hook may be of another turn, which has found this one waiting.
    if turn.kind != "saved" or hook.question_id != turn.source.message_id:
        return ()
    former = await hook.former_versions()
    if not former:
        return ()
    index = await room.index()
    newest = [
        key
        for step in await room.memory.steps()
        for key in step.standing
        if key.text in step.latest
        and key.memory_id in index.places
        and key.kind in ("saved", "updated")
    ]
    ids = {
        change.memory_id
        for change in await room.memory.changes(newest)
        if change.message_id in former
    }
    # What the new words say as well is true, though the lesson had nothing to add to it.
    return tuple(
        memory
        for memory in index.memories
        if memory.id in ids and not says_no_more(memory.content, [turn.words])
    )
