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
from adaptive.learn.testimony import is_borne_out
from adaptive.model import Operation, Turn
from adaptive.privacy.policy import gate_policy
from adaptive.settings import Settings

log_findings = logging.getLogger("adaptive_memory.learn")


async def learn_findings(
    room: Classroom, turn: Turn, findings: Sequence[Operation], settings: Settings, held: Held
) -> str:
    """Write facts of a turn that the store does not have yet; the line for the user, or none.

    They go the way of all candidates: gate, screen, reconciling with what is stored by now, audit,
    with the turn's provenance. Whoever found them has seen the answer, too, so a fact that what the
    user typed does not bear out is left. Nothing is told of what was not written.

    Raises:
        MemoryUnavailable: the host allows this user no memories.
        LeaseLost: another worker is at the user's store by now.
        HostError: the memories can't be read.
    """
    found = await asyncio.to_thread(_admitted_findings, turn.words, findings, settings)
    if not found.operations:
        return ""
    outcomes, _ = await write_extraction(room, turn, found, settings, held)
    written = [one for one in outcomes if one.status in ("saved", "updated", "archived")]
    return report_line(written) if written else ""


def _admitted_findings(words: str, findings: Sequence[Operation], settings: Settings) -> Extraction:
    """Those that add a fact of the user's own words, as they may be written."""
    typed = quoted_sentences(message_parts(words).typed)[0]
    borne_out = tuple(
        one for one in findings if one.kind == "NEW" and is_borne_out(one.draft.content, typed)
    )
    if len(borne_out) < len(findings):
        log_findings.info("facts that the user did not type: %d", len(findings) - len(borne_out))
    return admitted(Extraction(borne_out, ()), (), words, gate_policy(settings))
