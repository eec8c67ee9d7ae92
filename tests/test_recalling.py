"""Past conversation beside memories: below them, and never in their way."""

from __future__ import annotations

import asyncio

import pytest

from adaptive.errors import HostError
from adaptive.history.conversation import HISTORY_PREAMBLE
from adaptive.history.section import HistorySection
from adaptive.recall.block import CLOSE_MARKER, OPEN_MARKER, with_block
from adaptive.recall.recollection import Recollection
from adaptive.recalling import beside, block_with

BLOCK = f"{OPEN_MARKER}\nabout\n\n- User lives in Porto.\n{CLOSE_MARKER}"
PAST = "### Relevant past conversation\n2023-11-14\n- User: Ahoy"
SYSTEM = {"role": "system", "content": "Be kind."}


async def memories(block: str = BLOCK) -> Recollection:
    """What is found of memories."""
    return Recollection(block, count=1, note="one left out")


async def past(text: str = PAST, note: str = "1 past message recalled") -> HistorySection:
    """What is found of the past."""
    return HistorySection(text, note=note)


async def test_below_the_memories() -> None:
    """The section stands below the memories, or alone in a block that a later one replaces."""
    found = await beside(memories(), past())
    head, _, section = found.block.partition(HISTORY_PREAMBLE)
    assert head.startswith(BLOCK.removesuffix(CLOSE_MARKER))
    assert section == f"\n\n{PAST}\n{CLOSE_MARKER}"
    assert found.note == "one left out; 1 past message recalled"
    assert (await beside(memories(), past("", ""))) == await memories()
    alone = (await beside(memories(""), past())).block
    assert alone.startswith(f"{OPEN_MARKER}\n{HISTORY_PREAMBLE}\n\n###")
    assert with_block(with_block([SYSTEM], alone), "") == [SYSTEM]


async def test_failures(caplog: pytest.LogCaptureFixture) -> None:
    """A fault in the past leaves memories alone; where those fail the past is not waited for."""

    async def broken() -> HistorySection:
        raise RuntimeError("a bug")

    found = await beside(memories(), broken())
    assert found.block == BLOCK
    assert "past conversation left out: an unexpected error" in found.note
    assert "a bug" in caplog.text

    async def failing() -> Recollection:
        raise HostError("the database is away")

    async def hangs() -> HistorySection:
        await asyncio.sleep(60)
        return HistorySection()

    with pytest.raises(HostError):
        await beside(failing(), hangs())


def test_section_within_the_markers() -> None:
    """What stands for turns that gave way stands in the block, alone if need be."""
    both = block_with(BLOCK, "### Earlier\nThey spoke.")
    assert both == BLOCK.replace("Porto.\n", "Porto.\n\n### Earlier\nThey spoke.\n")
    alone = block_with("", "### Earlier\nThey spoke.")
    assert alone.startswith(f"{OPEN_MARKER}\n")
    assert block_with(BLOCK, "") == BLOCK
    assert with_block(with_block([SYSTEM], alone), "") == [SYSTEM]
