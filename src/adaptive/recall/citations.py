"""Showing what an answer was given: as sources under it."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive.model import Candidate
from adaptive.ports import Notifier
from adaptive.privacy.escaping import escaped_entry

_SHOWN_CHARACTERS = 80


async def show_sources(notifier: Notifier, used: Sequence[Candidate]) -> None:
    """Show each memory as a source, with its relevance in percent; escaped as in the block.

    The page lists sources by the ``name`` of their metadata, and by their own where that is missing
    (host: the page of 0.9.6 to 0.12.4), so both are in it.
    """
    for one in used:
        text = escaped_entry(one.memory.content)
        title = text[:_SHOWN_CHARACTERS]
        name = f"{title} ({round(one.score * 100)} %)"
        meta = {"source": title, "name": name, "score": round(one.score, 3)}
        await notifier.source(title, [text], [meta])
