"""Work behind the answers gives way to turns that somebody waits for."""

from __future__ import annotations

import asyncio

import pytest

from adaptive.core.runtime import Foreground


async def test_work_waits_for_the_turns_in_hand() -> None:
    """Work goes on a moment after the last of several turns, one of which fails, and not before.

    On a server that always has a turn in hand it goes on all the same.
    """
    foreground = Foreground()
    await asyncio.wait_for(foreground.give_way(), 1)
    with foreground.turn():
        with pytest.raises(LookupError), foreground.turn():
            raise LookupError
        working = asyncio.ensure_future(foreground.give_way(50))
        await asyncio.sleep(0.3)
        assert not working.done()
    await asyncio.sleep(0)
    assert not working.done()
    await asyncio.wait_for(working, 40)
    with foreground.turn():
        await foreground.give_way(0.15)
