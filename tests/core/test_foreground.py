"""Work behind the answers gives way to turns that somebody waits for."""

from __future__ import annotations

import asyncio
import time

import pytest

from adaptive.core import foreground as module
from adaptive.core.foreground import Foreground


async def test_work_waits_for_the_turns_in_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work goes on a moment after the last of several turns, one of which fails, and not before."""
    monkeypatch.setattr(module, "_MOST_GIVEN_WAY_SECONDS", 60)
    monkeypatch.setattr(module, "_STILL_WAITING_SECONDS", 0.05)
    foreground = Foreground()
    await asyncio.wait_for(foreground.give_way(), 1)
    with foreground.turn():
        with pytest.raises(LookupError), foreground.turn():
            raise LookupError
        first, working = (asyncio.ensure_future(foreground.give_way()) for _ in range(2))
        await asyncio.sleep(0.1)
        first.cancel()
        assert not working.done()
    await asyncio.sleep(0)
    assert not working.done()
    await asyncio.wait_for(working, 60)
    assert first.cancelled()


async def test_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a server that always has a turn in hand, work goes on all the same."""
    monkeypatch.setattr(module, "_MOST_GIVEN_WAY_SECONDS", 0.02)
    foreground, started = Foreground(), time.monotonic()
    with foreground.turn():
        await foreground.give_way()
        assert 0.01 < time.monotonic() - started < 30
