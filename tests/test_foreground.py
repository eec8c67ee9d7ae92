"""Work behind the answers gives way to turns that somebody waits for."""

from __future__ import annotations

import asyncio

from adaptive.foreground import Foreground, no_way_to_give


async def test_nobody_is_waited_for_without_a_turn() -> None:
    """Where no turn is in hand, work goes on within the same step of the loop."""
    foreground = Foreground(patience=60)
    working = asyncio.ensure_future(foreground.give_way())
    await asyncio.sleep(0)
    assert working.done()


async def test_work_waits_for_the_turns_in_hand() -> None:
    """Work goes on when the last of several turns has left its hook, and not before."""
    foreground = Foreground(patience=60, still_waiting=0)
    with foreground.turn():
        with foreground.turn():
            working = asyncio.ensure_future(foreground.give_way())
            await asyncio.sleep(0.02)
            assert not working.done()
        await asyncio.sleep(0.02)
        assert not working.done()
    await asyncio.wait_for(working, 60)


async def test_a_turn_is_waited_for_a_moment_longer() -> None:
    """Behind the hook the host has work of its own that the user waits for."""
    foreground = Foreground(patience=60, still_waiting=0.05)
    with foreground.turn():
        pass
    working = asyncio.ensure_future(foreground.give_way())
    await asyncio.sleep(0)
    assert not working.done()
    await asyncio.wait_for(working, 60)


async def test_patience_ends() -> None:
    """On a server that always has a turn in hand, work goes on all the same."""
    foreground = Foreground(patience=0.01)
    with foreground.turn():
        await asyncio.wait_for(foreground.give_way(), 60)


async def test_a_turn_that_fails_is_over_as_well() -> None:
    """A hook that raises keeps nobody waiting."""
    foreground = Foreground(patience=60, still_waiting=0)
    try:
        with foreground.turn():
            raise LookupError
    except LookupError:
        pass
    await asyncio.wait_for(foreground.give_way(), 60)


async def test_cancelled_work_leaves_the_others_waiting() -> None:
    """Cancelling one that waits neither frees nor keeps the others."""
    foreground = Foreground(patience=60, still_waiting=0)
    with foreground.turn():
        first, second = (asyncio.ensure_future(foreground.give_way()) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0.01)
        assert not second.done()
    await asyncio.wait_for(second, 60)
    assert first.cancelled()


async def test_no_way_to_give() -> None:
    """What is given no foreground waits for nobody."""
    assert await no_way_to_give() is None
