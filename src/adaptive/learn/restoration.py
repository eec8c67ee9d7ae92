"""What of a user's archive comes back when they ask for it, and what stays there and why.

Nothing comes back that would say a fact twice: what the store says already, and what a summary
stands for. Nor does more than the store has room for: it would only be archived again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from adaptive.errors import AdaptiveMemoryError, MemoryUnavailable, TablesUnavailable
from adaptive.learn.archive import Storeroom, restore_memory
from adaptive.learn.screen import comparable
from adaptive.learn.summary import originals_of
from adaptive.model import Memory
from adaptive.plain_markdown import clipped_line
from adaptive.table_ports import ArchivedMemory

# The host reads the whole store for each row that is written and read back.
MOST_RESTORED_AT_ONCE = 50
_MOST_RESTORED_NAMED = 10
_LONGEST_RESTORED_NAMED = 120
_NOT_TRIED = "broken off before it"


@dataclass(frozen=True, slots=True)
class RestorationPlan:
    """Which archived memories would come back, and how many stay and why.

    ``limit`` is ``max_total_memories``, 0 for none, and ``stored`` how many there are. Of those
    that stay, ``over`` have no room, ``later`` are too many at once or were not asked about, and
    a summary stands for the ``summarised``.
    """

    chosen: tuple[Memory, ...]
    limit: int
    stored: int = 0
    over: int = 0
    later: int = 0
    summarised: int = 0

    @property
    def nothing_archived(self) -> bool:
        """Whether the archive holds nothing that the store does not say."""
        return not (self.chosen or self.over or self.later or self.summarised)


@dataclass(frozen=True, slots=True)
class RestorationReport:
    """How many came back; ``failed`` counts those that did not, by reason."""

    restored: int
    failed: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RestorationQuestion:
    """What to ask, in plain text."""

    title: str
    message: str


def plan_restoration(
    archived: Sequence[ArchivedMemory],
    rows: Sequence[Memory],
    limit: int,
    asked: AbstractSet[str] | None = None,
) -> RestorationPlan:
    """What would come back into a store of these rows: the last archived first.

    Of those archived at the same time the most important come first, then those that changed last.
    With ``asked`` only memories of these ids are chosen.
    """
    known = {row.id for row in rows} | {str(row.meta.get("restored_from")) for row in rows}
    said = {comparable(row.content) for row in rows}
    absent: list[ArchivedMemory] = []
    for one in sorted(archived, key=_place_in_restoration):
        words = comparable(one.memory.content)
        if one.memory.id not in known and words not in said:
            said.add(words)
            absent.append(one)
    # A summary that was archived itself comes back in the place of its originals.
    everything = (*rows, *(one.memory for one in absent))
    originals = {id for memory in everything for id in originals_of(memory)}
    single = [
        one.memory
        for one in absent
        if one.memory.id not in originals
        if not one.summary or comparable(one.summary) not in said
    ]
    room = max(limit - len(rows), 0) if limit else len(single)
    if asked is not None:
        single.sort(key=lambda one: one.id not in asked)
    fitting = single[:room]
    chosen = [one for one in fitting if asked is None or one.id in asked][:MOST_RESTORED_AT_ONCE]
    return RestorationPlan(
        tuple(chosen),
        limit,
        len(rows),
        over=len(single) - len(fitting),
        later=len(fitting) - len(chosen),
        summarised=len(absent) - len(single),
    )


async def restore_planned(
    room: Storeroom, memories: Sequence[Memory], writing: asyncio.Semaphore, now: int
) -> RestorationReport:
    """Bring memories back, one by one, ``writing`` held for each alone: others write in between.

    Raises nothing of ours: what fails stays in the archive. Where the host or our tables refuse
    altogether, the others are not tried. ``now`` is in epoch seconds.
    """
    restored = 0
    failed: Counter[str] = Counter()
    for place, memory in enumerate(memories):
        try:
            async with writing:
                restored += await restore_memory(room, memory.id, now) is not None
        except AdaptiveMemoryError as error:
            failed[str(error)] += 1
            if isinstance(error, MemoryUnavailable | TablesUnavailable):
                failed[_NOT_TRIED] += len(memories) - place - 1
                break
    return RestorationReport(restored, +failed)


def restoration_question(plan: RestorationPlan) -> RestorationQuestion:
    """What to ask before memories come back: how many, the first ten of them, and what stays."""
    number = len(plan.chosen)
    named = [
        f"- {clipped_line(one.content, _LONGEST_RESTORED_NAMED)}"
        for one in plan.chosen[:_MOST_RESTORED_NAMED]
    ]
    if number > _MOST_RESTORED_NAMED:
        named.append(f"… and {number - _MOST_RESTORED_NAMED} more")
    parts = [
        f"This would come back from the archive: {_memories_counted(number)}.",
        "\n".join(named),
        " ".join(_staying(plan)),
    ]
    title = f"Restore {'this memory' if number == 1 else f'these {number} memories'}?"
    return RestorationQuestion(title, "\n\n".join(part for part in parts if part))


def unrestored_line(plan: RestorationPlan) -> str:
    """What to tell where there is something in the archive, and nothing of it can come back."""
    line = ["Nothing restored.", *_staying(plan)]
    if plan.over:
        line.append("Delete some under Settings > Personalization, or ask the admin for more.")
    return " ".join(line)


def restoration_line(plan: RestorationPlan, report: RestorationReport) -> str:
    """What to tell once memories came back, or failed to."""
    restored = _memories_counted(report.restored)
    line = [f"Restored: {restored}." if report.restored else "Nothing restored."]
    if report.failed:
        reasons = ", ".join(f"{number} ({why})" for why, number in report.failed.items())
        line.append(f"Not restored, still archived: {reasons}.")
    line += _staying(plan)
    if plan.limit and plan.stored + report.restored >= plan.limit:
        line.append(
            f"The store is full ({_memories_counted(plan.limit)}): what is learned next moves"
            " others to the archive, unless the admin raises the limit."
        )
    return " ".join(line)


def _place_in_restoration(archived: ArchivedMemory) -> tuple[int, int, int, str]:
    memory = archived.memory
    return -archived.archived_at, -memory.importance, -memory.updated_at, memory.id


def _staying(plan: RestorationPlan) -> list[str]:
    """A sentence for each reason for which memories stay archived."""
    more = "more " if plan.chosen else ""
    reasons = (
        (plan.over, f"the limit is {_memories_counted(plan.limit)}"),
        (plan.later, f"ask again for more, at most {MOST_RESTORED_AT_ONCE} come back at once"),
        (plan.summarised, "a summary says the same, as long as it is not deleted"),
    )
    return [
        f"{number} {more}{'stays' if number == 1 else 'stay'} archived: {why}."
        for number, why in reasons
        if number
    ]


def _memories_counted(number: int) -> str:
    return f"{number} {'memory' if number == 1 else 'memories'}"
