"""Facts found beside the extraction, and those that the user has said yes to: the same gate."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from adaptive.learn.apply import Held
from adaptive.learn.grounding import beginnings
from adaptive.learn.lesson import LessonResources, write_extraction
from adaptive.learn.operations import Extraction
from adaptive.learn.report import report_line
from adaptive.learn.screening import screened
from adaptive.model import Draft, Memory, Operation, Outcome, Turn
from adaptive.privacy.policy import gate_policy, gated_draft
from adaptive.settings import Settings

# A fact of which less is new says no more than another one.
_LEAST_NEW = 0.3


async def learn_findings(
    room: LessonResources, turn: Turn, findings: Sequence[Operation], settings: Settings, held: Held
) -> str:
    """Write facts of a turn that the store does not have yet; the line for the user, or none.

    They go the way of all candidates: grounding, gate, reconciling with what is stored by now,
    audit, with the turn's provenance. What says no more than was learned of this very message is
    left. Nothing is told of what was not written.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        LeaseLost: another worker is at the user's store by now.
        HostError: the memories can't be read.
    """
    found = await asyncio.to_thread(screened_findings, findings, turn, settings)
    if not found.operations:
        return ""
    index = await room.indexes.current(room.sources, settings.index_cache_bytes, patience=0)
    learned = [one.content for one in index.memories if _is_of_turn(one, turn)]
    new = (one for one in found.operations if not says_no_more(one.draft.content, learned))
    found = replace(found, operations=tuple(new))
    outcomes, _ = await write_extraction(room, turn, found, settings, held)
    written = [one for one in outcomes if one.status in ("saved", "updated", "archived")]
    return report_line(written) if written else ""


def screened_findings(findings: Sequence[Operation], turn: Turn, settings: Settings) -> Extraction:
    """New facts that the newest message alone bears out: whoever found them saw the answer, too."""
    new = tuple(one for one in findings if one.kind == "NEW")
    return screened(Extraction(new, ()), replace(turn, earlier=()), {}, settings)


def says_no_more(content: str, said: Sequence[str]) -> bool:
    """Whether most of a fact's telling words stand in one of the sentences."""
    telling = beginnings(content)
    return any(len(telling - beginnings(one)) <= _LEAST_NEW * len(telling) for one in said)


def _is_of_turn(memory: Memory, turn: Turn) -> bool:
    """Whether a memory was written for a turn, or behind it where the host keeps no provenance."""
    source = turn.source
    return memory.meta.get("message_id") == source.message_id or memory.updated_at >= source.said_at


async def save_confirmed(
    room: LessonResources, turn: Turn, settings: Settings, operation: Operation, still_wanted: Held
) -> tuple[Outcome, ...]:
    """Save what the user has said yes to; ``still_wanted`` is asked right before it is written.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        LeaseLost: it is wanted no more.
        HostError: the memories can't be read.
    """
    draft = await asyncio.to_thread(gated_draft, operation.draft, gate_policy(settings))
    if not isinstance(draft, Draft):
        return (Outcome("rejected", "", draft.reason),)
    found = Extraction((replace(operation, draft=draft),), ())
    outcomes, _ = await write_extraction(room, turn, found, settings, still_wanted)
    return tuple(outcomes)
