"""Facts that were found beside the extraction: the same gate, and only what the user has typed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from adaptive.learn.admission import admitted
from adaptive.learn.apply import Held
from adaptive.learn.lesson import Classroom, write_extraction
from adaptive.learn.operations import Extraction
from adaptive.learn.parts import message_parts, quoted_sentences
from adaptive.learn.report import report_line
from adaptive.learn.testimony import adds_nothing_to, is_borne_out
from adaptive.model import Memory, Operation, Turn
from adaptive.privacy.policy import gate_policy
from adaptive.settings import Settings

log_findings = logging.getLogger("adaptive_memory.learn")


async def learn_findings(
    room: Classroom, turn: Turn, findings: Sequence[Operation], settings: Settings, held: Held
) -> str:
    """Write facts of a turn that the store does not have yet; the line for the user, or none.

    They go the way of all candidates: gate, screen, reconciling with what is stored by now, audit,
    with the turn's provenance. Whoever found them has seen the answer, too, so a fact that what the
    user typed does not bear out is left, and so is one that says no more than what was learned of
    this very message. Nothing is told of what was not written.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        LeaseLost: another worker is at the user's store by now.
        HostError: the memories can't be read.
    """
    found = await new_findings(room, turn, findings, settings)
    if not found.operations:
        return ""
    outcomes, _ = await write_extraction(room, turn, found, settings, held)
    written = [one for one in outcomes if one.status in ("saved", "updated", "archived")]
    return report_line(written) if written else ""


async def new_findings(
    room: Classroom, turn: Turn, findings: Sequence[Operation], settings: Settings
) -> Extraction:
    """What of the findings may be learned, and says more than is learned of the message by now.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        HostError: the memories can't be read.
    """
    index = await room.indexes.current(room.sources, settings.index_cache_bytes, patience=0)
    learned = [one.content for one in index.memories if _is_of_turn(one, turn)]
    return await asyncio.to_thread(_admitted_findings, turn.words, findings, learned, settings)


def _admitted_findings(
    words: str, findings: Sequence[Operation], learned: Sequence[str], settings: Settings
) -> Extraction:
    """Those that add a fact of the user's own words, as they may be written."""
    typed = quoted_sentences(message_parts(words).typed)[0]
    new = [one for one in findings if one.kind == "NEW"]
    borne_out = [one for one in new if is_borne_out(one.draft.content, typed)]
    if len(borne_out) < len(findings):
        log_findings.info("facts that the user did not type: %d", len(findings) - len(borne_out))
    more = tuple(one for one in borne_out if not adds_nothing_to(one.draft.content, *learned))
    return admitted(Extraction(more, ()), (), words, gate_policy(settings))


def _is_of_turn(memory: Memory, turn: Turn) -> bool:
    """Whether a memory was written for a turn, or behind it where the host keeps no provenance."""
    source = turn.source
    return memory.meta.get("message_id") == source.message_id or memory.updated_at >= source.said_at
