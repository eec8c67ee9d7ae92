"""Writing proposals, and taking changes back, exactly.

Each proposal comes out with what became of it, and none spoils another.
"""

import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from adaptive.core import (
    CHANGED_MEANWHILE,
    QUIET,
    Draft,
    HostError,
    LeaseLost,
    Memory,
    MemoryUnavailable,
    NewMemory,
    Proposal,
    ProposalKind,
    Provenance,
    WriteRefused,
    frozen,
    log,
    marked,
    staged,
    with_detail,
)
from adaptive.memory.archive import exchange, source_of
from adaptive.memory.audit import AuditEntry, ChangeKey, Step, UserStore
from adaptive.memory.gate import draft_of
from adaptive.memory.tables import ArchivedMemory
from adaptive.privacy import UNDER_FORMER_KEY
from adaptive.search import holds_words_of

# Whether whoever writes may go on.
Held = Callable[[], Awaitable[bool]]
NO_LONGER_TRUE = "no longer true"
ASKED = "asked"  # the reason of what a user does by a command
# What is added to a row where the host keeps no history.
FORMER_CONTENT = re.compile(r"(?<!\s)\s*+\(until \d{4}-\d\d: [^()]*\)\s*$")
_DONE: Mapping[
    ProposalKind, Literal["saved", "updated", "quieted", "deleted", "ended"]
] = {
    "NEW": "saved",
    "UPDATE": "updated",
    "QUIET": "quieted",
    "DELETE": "deleted",
    "END": "ended",
}
_PLAIN_BRACKETS = str.maketrans("()", "[]")


@staged("apply")
async def apply_proposals(
    proposals: Sequence[Proposal],
    memories: Sequence[Memory],
    user: UserStore,
    source: Provenance,
    held: Held,
) -> list[Proposal]:
    """Carry out open proposals, each memory's once; ``LeaseLost`` once they are not held."""
    by_id = {memory.id: memory for memory in memories}
    outcomes: list[Proposal] = []
    changes: list[AuditEntry] = []
    try:
        for proposal in proposals:
            if not proposal.is_open:
                outcomes.append(proposal)
                continue
            if not await held():
                raise LeaseLost("another worker has taken over")
            memory = by_id.pop(proposal.memory_id, None)
            if memory is not None:
                proposal = replace(proposal, before=memory.content)
            elif proposal.kind != "NEW":
                outcomes.append(
                    proposal.decided("rejected", CHANGED_MEANWHILE)
                )
                continue
            try:
                change = await _written(proposal, memory, user, source)
            except WriteRefused as refusal:  # trying again would not help, and nothing repeats it
                untold = replace(proposal, draft=Draft(""), before="")
                outcomes.append(untold.decided("rejected", refusal.args[0]))
            except HostError as error:
                if isinstance(error, MemoryUnavailable) and not changes:
                    raise
                log.warning("%s failed: %s", proposal.kind, with_detail(error))
                outcomes.append(proposal.decided("failed", str(error)))
            else:
                done = replace(
                    proposal,
                    status=_DONE[proposal.kind],
                    memory_id=change.memory_id,
                    draft=proposal.draft if change.after else Draft(""),
                )
                outcomes.append(done)
                changes.append(change)
    finally:
        await user.record(*changes, source=source)
    return outcomes


async def _written(
    proposal: Proposal,
    memory: Memory | None,
    user: UserStore,
    source: Provenance,
) -> AuditEntry:
    """Write one proposal and give the change; what ENDs without a new text or date is archived."""
    draft = proposal.draft
    if memory is not None and proposal.kind == "QUIET":
        quiet = marked(memory.marks, QUIET)
        return await mark_memory(user, memory, quiet, "quieted")
    if memory is not None:
        # Its user has marked it since the draft was made, maybe.
        draft = replace(draft, tags=(*draft.topics, *memory.marks))
    changed = NewMemory(draft, source, former=memory)
    archived: ArchivedMemory | None = None
    row: Memory | None = None
    reason = proposal.fact_kind.lower()
    if memory is not None and proposal.kind == "DELETE":
        await exchange(user, gone=[memory])
    elif (
        memory is not None
        and proposal.kind == "END"
        and draft.content == memory.content
        and draft.until == memory.until
    ):
        archived = ArchivedMemory(memory, NO_LONGER_TRUE, int(time.time()))
        await exchange(user, gone=[memory], into_archive=[archived])
    elif memory is not None and proposal.kind == "UPDATE" and reason != ASKED:
        row = await _updated(changed, memory, user)
    else:
        (row,) = await exchange(user, changed)
    return AuditEntry(
        kind=_DONE[proposal.kind],
        memory_id=row.id if row else proposal.memory_id,
        before=memory,
        after=_content(row),
        reason=proposal.reason or reason,
        archived=archived,
    )


async def mark_memory(
    user: UserStore,
    memory: Memory,
    marks: Sequence[str],
    kind: Literal["updated", "quieted"] = "updated",
) -> AuditEntry:
    """Give a memory these marks in place of those that it has; the change is to be recorded.

    Raises:
        HostError: it is gone meanwhile, or could not be written.
        WriteRefused: what it says may not be written by today's rules.
    """
    marked = replace(draft_of(memory), tags=(*memory.topics, *marks))
    (row,) = await exchange(
        user, NewMemory(marked, source_of(memory), former=memory)
    )
    return AuditEntry(
        kind=kind,
        memory_id=row.id,
        before=memory,
        after=row.content,
        reason=ASKED,
    )


async def _updated(
    changed: NewMemory, memory: Memory, user: UserStore
) -> Memory:
    """Where the store keeps no history, let the row tell what it said before, if that may be."""
    draft = changed.draft
    if not user.store.keeps_history and not holds_words_of(
        draft.content, memory.content
    ):
        when = datetime.fromtimestamp(changed.source.said_at, UTC)
        former = FORMER_CONTENT.sub("", memory.content).strip().rstrip(".。")
        bare = FORMER_CONTENT.sub("", draft.content).rstrip()
        content = (
            f"{bare} (until {when:%Y-%m}: {former.translate(_PLAIN_BRACKETS)})"
        )
        # What another tool has put there may be what the gate lets not pass.
        with suppress(WriteRefused):
            telling = replace(draft, content=content)
            (row,) = await exchange(user, replace(changed, draft=telling))
            return row
    (row,) = await exchange(user, changed)
    return row


# --- taking back ---


@frozen
class PlannedUndo:
    """A change that is to be taken back, and the row as it stands."""

    change: AuditEntry
    row: Memory | None

    @property
    def is_undone(self) -> bool:
        """Whether the row says what it said before the change; if the words stayed, all of it."""
        row = self.row
        before = self.change.before
        if row and before and before.content == self.change.after:
            return draft_of(row) == draft_of(before)
        return _content(row) == _content(before)

    @property
    def coming(self) -> Memory | None:
        """The row that is to be put back, if any."""
        return None if self.is_undone else self.change.before

    @property
    def archived_id(self) -> str:
        """The id of the memory that the change has put into the archive, if any."""
        archived = self.change.archived
        return archived.memory.id if self.change.before and archived else ""


async def plan_undo(
    user: UserStore, step: Step, keys: Sequence[ChangeKey]
) -> list[PlannedUndo]:
    """Changes of a step that can be taken back, with the rows that they are about.

    What was changed since is left out, unless it belongs together as a summary does.

    Raises:
        WriteRefused: another secret has sealed a change, what belongs together was changed since,
            or what was there before may not be written today.
    """
    changes = await user.changes(keys)
    if len(changes) < len(keys):
        raise WriteRefused(UNDER_FORMER_KEY)
    ids = [change.memory_id for change in changes]
    rows = {row.id: row for row in await user.store.read(ids)}
    planned = [
        PlannedUndo(change, rows.get(change.memory_id)) for change in changes
    ]
    archived = await user.archive.read(user.user_id, _archived_ids(planned))
    lost = {*_archived_ids(planned)} - {copy.memory.id for copy in archived}

    def is_possible(undo: PlannedUndo) -> bool:
        """Whether a memory is as the change has left it, or as it was before."""
        change = undo.change
        stands = _content(undo.row) == change.after
        is_as_left = stands and undo.archived_id not in lost
        return change.key in step.latest and (is_as_left or undo.is_undone)

    possible = list(filter(is_possible, planned))
    is_summary = any(key.kind == "summarised" for key in step.changes)
    if is_summary and len(possible) < len(planned):
        raise WriteRefused(CHANGED_MEANWHILE)
    await user.gate.allowed(*filter(None, (undo.coming for undo in possible)))
    return possible


async def take_back(
    user: UserStore, step: Step, keys: Sequence[ChangeKey], together: str = ""
) -> list[AuditEntry]:
    """Take a portion of a step's changes back; the changes that this made, as one step by a name.

    What an undo that broke off has taken back, but not written down, counts as taken back now.

    Raises:
        WriteRefused: as ``plan_undo``; nothing is written.
        HostError: a write has failed; the same may be tried again.
    """
    planned = await plan_undo(user, step, keys)
    added = [undo for undo in planned if undo.change.before is None]
    rows = await exchange(
        user,
        back=[undo.coming for undo in planned if undo.coming],
        gone=[undo.row for undo in added if undo.row],
        into_archive=[
            undo.change.archived for undo in added if undo.change.archived
        ],
        out_of_archive=_archived_ids(planned),
    )
    back = {row.id: row for row in rows}
    made: list[AuditEntry] = []
    for undo in planned:
        change = undo.change
        is_added = change.before is None
        standing = None if is_added else undo.row
        entry = AuditEntry(
            kind="undone",
            memory_id=change.memory_id,
            before=undo.row if is_added or change.memory_id in back else None,
            after=_content(back.get(change.memory_id, standing)),
            archived=change.archived,
            step=together,
            undoes=change.key,
        )
        made.append(entry)
    await user.record(*made)
    return made


def _archived_ids(planned: Sequence[PlannedUndo]) -> list[str]:
    return [undo.archived_id for undo in planned if undo.archived_id]


def _content(memory: Memory | None) -> str:
    return memory.content if memory is not None else ""
