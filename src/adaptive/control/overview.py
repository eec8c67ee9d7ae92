"""What a user is told of the memory: what is known, and what was changed, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet

from adaptive.core.messages import clipped_line, plain_line
from adaptive.core.model import CATEGORIES, Memory
from adaptive.core.texts import PROMPTS
from adaptive.memory.audit import AuditEntry, ChangeKey, Step
from adaptive.privacy.sealing import UNDER_FORMER_KEY
from adaptive.settings.merged import LocalOnlyBanks

_MOST_LISTED = 300
_LONGEST_LISTED = 400
_MOST_OF_A_STEP = 5
_DONE_BY = {
    "ended": "no longer true",
    "pruned": "upkeep",
    "summarised": "upkeep",
    "restored": "restored",
    "imported": "imported",
    "undone": "taken back",
}
ASKED = "asked"
_NOT_REPEATED = "a memory that is kept from this chat's model"

# From epoch seconds to a day, or to a day with its time, where the user lives.
Day = Callable[[float], str]


def listed(memory: Memory) -> str:
    """A memory's words on one line that no markup breaks."""
    return plain_line(clipped_line(memory.content, _LONGEST_LISTED))


def overview(
    counted: str,
    memories: Sequence[Memory],
    day: Day,
    noted: Sequence[str],
) -> str:
    """Memories by bank and category, the newest first, below how many there are and what else."""
    newest_first = sorted(
        memories, key=lambda memory: (-memory.updated_at, memory.id)
    )
    groups: dict[tuple[str, str], list[str]] = {}
    for memory in newest_first[:_MOST_LISTED]:
        category = next(
            (tag for tag in memory.tags if tag in CATEGORIES), "other"
        )
        until = f", until {memory.until}" if memory.until else ""
        line = f"- {listed(memory)} ({day(memory.updated_at)}{until})"
        groups.setdefault((memory.bank or "no bank", category), []).append(
            line
        )
    parts = [" · ".join([f"**{counted}**", *noted])]
    for (bank, category), lines in sorted(groups.items()):
        title = f"**{plain_line(bank)} · {category}**"
        parts.append("\n".join([title, "", *lines]))
    older = len(memories) - _MOST_LISTED
    if older > 0:
        parts.append(f"… and {older} older ones: `/memory find WORDS`")
    parts.append(PROMPTS["commands"].strip())
    return "\n\n".join(parts)


def shown_of_steps(steps: Sequence[Step]) -> list[ChangeKey]:
    """The changes of steps that their list shows: the newest of each."""
    return [key for step in steps for key in step.changes[:_MOST_OF_A_STEP]]


def change_log(
    shown: Sequence[Step],
    changes: Sequence[AuditEntry],
    number: int,
    day: Day,
    withheld: AbstractSet[str] = frozenset(),
) -> str:
    """Steps, the last ones of a number: when, by whom, in which chat, before and after.

    ``changes`` are those of ``shown_of_steps``.
    """
    if not shown:
        return "Nothing was changed yet."
    lines = [
        f"**The last {len(shown)} of {number} changes**; `/undo N` takes number N back",
        "",
    ]
    by_key = {change.key: change for change in changes}
    unopened = 0
    for step in shown:
        keys = [key.text for key in shown_of_steps([step])]
        newest_first = [by_key[key] for key in keys if key in by_key]
        if not newest_first:
            unopened += 1
            continue
        newest = newest_first[0]
        chat = (
            f", [in this chat](/c/{newest.chat_id})" if newest.chat_id else ""
        )
        undone = "" if step.standing else " · *taken back since*"
        by = _DONE_BY.get(newest.kind, "learned")
        if newest.reason == ASKED:
            by = ASKED
        lines.append(
            f"{step.number}. {day(newest.changed_at)}, {by}{chat}{undone}"
        )
        items = changes_told(newest_first, len(step.changes), withheld)
        lines += [f"   {item}" for item in items]
    if unopened:
        lines += ["", f"{unopened} of them {UNDER_FORMER_KEY}"]
    return "\n".join(lines)


def changes_told(
    changes: Sequence[AuditEntry],
    number: int,
    withheld: AbstractSet[str] = frozenset(),
) -> list[str]:
    """The first changes of a number, an item of a list each, and how many more there are."""
    lines = list[str]()
    for change in changes:
        is_withheld = change.memory_id in withheld
        lines.append(
            f"- {_NOT_REPEATED if is_withheld else _told_change(change)}"
        )
    more = number - len(changes)
    if more:
        lines.append(f"- … and {more} more")
    return lines


def withheld_ids(
    changes: Collection[AuditEntry],
    memories: Sequence[Memory],
    hidden: LocalOnlyBanks,
) -> frozenset[str]:
    """The ids of changed memories that a model may not see, as far as their bank is known.

    One whose bank is not known any more counts as such.
    """
    may_be_seen = {
        memory.id for memory in memories if not hidden.holds(memory)
    }
    may_not = set[str]()
    for change in changes:
        former = change.before
        if former is None and change.archived:
            former = change.archived.memory
        if former is not None:
            ids = may_not if hidden.holds(former) else may_be_seen
            ids.add(change.memory_id)
    changed = {change.memory_id for change in changes}
    return frozenset(changed - (may_be_seen - may_not))


def _told_change(change: AuditEntry) -> str:
    """One change in words: before and after."""
    before = listed(change.before) if change.before is not None else ""
    after = plain_line(clipped_line(change.after, _LONGEST_LISTED))
    if before and after and before != after:
        return f"{before} → {after}"
    if before == after:
        return f"{after}, with its details"
    if after:
        return f"new: {after}"
    return f"{'archived' if change.archived else 'gone'}: {before}"
