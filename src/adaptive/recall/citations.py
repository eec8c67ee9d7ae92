"""Showing what an answer was given: as sources under it."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive.model import Candidate
from adaptive.ports import Notifier

_SHOWN_CHARACTERS = 80


async def show_sources(notifier: Notifier, used: Sequence[Candidate]) -> None:
    """Show each memory as a source, with its relevance in percent."""
    for one in used:
        title = one.memory.content[:_SHOWN_CHARACTERS]
        percent = f"{round(one.score * 100)} %"
        meta = {"source": title, "name": percent, "score": round(one.score, 3)}
        await notifier.source(title, [one.memory.content], [meta])
