"""What of a user's archive comes back when they ask for it, and what stays there and why.

Nothing comes back that would say a fact twice: what the store says already, and what a summary
stands for. Nor does more than the store has room for: it would only be archived again.
"""

from __future__ import annotations

import asyncio
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from adaptive.errors import AdaptiveMemoryError, MemoryUnavailable, TablesUnavailable
from adaptive.learn.archive import UserStore, restore_memory
from adaptive.model import Memory
from adaptive.plain_markdown import clipped_line
from adaptive.privacy.retention import made_of
from adaptive.search.tokens import comparable
from adaptive.table_ports import ArchivedMemory

# The host reads the whole store for each row that is written and read back.
MOST_RESTORED_AT_ONCE = 50
_MOST_RESTORED_NAMED = 10
_LONGEST_RESTORED_NAMED = 120

_LONGEST_RESTORE_REQUEST = 160
# How words of a request begin, in small letters without accents: one of each column must be there.
_RESTORE_TEXT = """
    restor recover reinstat retriev unarchiv return bring get put give
    wiederherstell stell hol bring restaur recuper retabl ramen rend
    devuelv devolv traz ripristin riport back zuruck revenir vuelta volta ridam un-archiv
"""
_RESTORE = tuple(_RESTORE_TEXT.split())
_ARCHIVED = ("archiv", "arquiv", "unarchiv", "un-archiv")
_MEMORIES = ("memo", "erinnerung", "souvenir", "recuerdo", "lembranca", "recordac", "ricord")
# What is negated, or told of somebody, is no request.
_OTHERWISE_TEXT = """
    not never don't dont did didn't he she they if nicht nie kein pas jamais no nunca nao non mai
    how why when wie warum wann comment pourquoi quand como cuando quando perche
"""
_QUOTING = frozenset('"`>:')
_OTHERWISE = frozenset(_OTHERWISE_TEXT.split())


def asks_to_restore(words: str) -> bool:
    """Whether a short message asks to bring archived memories back; a false hit costs a dialog."""
    if len(words) > _LONGEST_RESTORE_REQUEST or not _QUOTING.isdisjoint(words):
        return False
    plain = unicodedata.normalize("NFKD", words.casefold().replace("\u2019", "'"))
    folded = "".join(sign for sign in plain if not unicodedata.combining(sign))
    said = [word.strip(".,;:!?\u2026") for word in folded.split()]
    columns = (_RESTORE, _ARCHIVED, _MEMORIES)
    asked = all(any(word.startswith(column) for word in said) for column in columns)
    return asked and _OTHERWISE.isdisjoint(said)


@dataclass(frozen=True, slots=True)
class RestorationPlan:
    """Which archived memories would come back, and a sentence for each reason why others stay."""

    chosen: tuple[Memory, ...]
    staying: tuple[str, ...] = ()


def plan_restoration(
    archived: Sequence[ArchivedMemory], rows: Sequence[Memory], limit: int
) -> RestorationPlan:
    """What would come back into a store of these rows: the last archived first.

    Of those archived at the same time the most important come first. ``limit`` is
    ``max_total_memories``, 0 for none.
    """
    known = {row.id for row in rows} | {str(row.meta.get("restored_from")) for row in rows}
    said = {comparable(row.content) for row in rows}
    absent: list[ArchivedMemory] = []
    for one in sorted(archived, key=lambda one: (-one.archived_at, -one.memory.importance)):
        words = comparable(one.memory.content)
        if one.memory.id not in known and words not in said:
            said.add(words)
            absent.append(one)
    # A summary that was archived itself comes back in the place of its originals.
    everything = (*rows, *(one.memory for one in absent))
    originals = {id for memory in everything for id in made_of(memory)}
    single = [
        one.memory
        for one in absent
        if one.memory.id not in originals
        if not one.summary or comparable(one.summary) not in said
    ]
    fitting = single[: max(limit - len(rows), 0)] if limit else single
    chosen = fitting[:MOST_RESTORED_AT_ONCE]
    reasons = (
        (len(single) - len(fitting), f"the limit is {_memories_counted(limit)}"),
        (len(fitting) - len(chosen), f"at most {MOST_RESTORED_AT_ONCE} come back at once"),
        (len(absent) - len(single), "a summary says the same, as long as it is not deleted"),
    )
    staying = (f"Still archived: {number} ({why})." for number, why in reasons if number)
    return RestorationPlan(tuple(chosen), tuple(staying))


def restoration_question(plan: RestorationPlan) -> str:
    """What to ask before memories come back: how many, the first ten of them, and what stays."""
    more = len(plan.chosen) - _MOST_RESTORED_NAMED
    lines = [
        f"This would come back from the archive: {_memories_counted(len(plan.chosen))}.\n",
        *(
            f"- {clipped_line(one.content, _LONGEST_RESTORED_NAMED)}"
            for one in plan.chosen[:_MOST_RESTORED_NAMED]
        ),
        *([f"… and {more} more"] if more > 0 else []),
        *(["", *plan.staying] if plan.staying else []),
    ]
    return "\n".join(lines)


async def restored_line(
    room: UserStore, plan: RestorationPlan, writing: asyncio.Semaphore, now: int
) -> str:
    """Bring memories back, ``writing`` held for each alone, and return what to tell.

    Raises nothing of ours: what fails stays in the archive. Where the host or our tables refuse
    altogether, the others are not tried. ``now`` is in epoch seconds.
    """
    restored = 0
    failed: Counter[str] = Counter()
    for memory in plan.chosen:
        try:
            async with writing:
                restored += await restore_memory(room, memory.id, now) is not None
        except AdaptiveMemoryError as error:
            failed[str(error)] += 1
            if isinstance(error, MemoryUnavailable | TablesUnavailable):
                break
    line = [f"Restored: {_memories_counted(restored)}." if restored else "Nothing restored."]
    if failed:
        line.append(f"Not restored, still archived: {', '.join(failed)}.")
    return " ".join([*line, *plan.staying])


def _memories_counted(number: int) -> str:
    return f"{number} {'memory' if number == 1 else 'memories'}"
