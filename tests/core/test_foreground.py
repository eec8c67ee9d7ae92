"""Work behind the answers gives way to turns that somebody waits for."""

from __future__ import annotations

import asyncio

import pytest

from adaptive.core.runtime import Foreground, GaveWay


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
    # What nobody waits for at all rests for longer.
    resting = asyncio.ensure_future(foreground.give_way(50, quiet=3600))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(resting, 0.6)


class Call:
    """A call of a model that runs until it is closed; ``ended`` says how."""

    def __init__(self, foreground: Foreground, machine: str) -> None:
        self.ended = ""
        self.task = asyncio.ensure_future(self._made(foreground, machine))

    async def _made(self, foreground: Foreground, machine: str) -> None:
        try:
            async with asyncio.timeout(30), foreground.call(machine):
                await asyncio.Event().wait()
        except GaveWay as gave_way:
            self.ended = f"gave way on {gave_way}"
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise


class Answer:
    """An answer on a machine, whose task goes on until it is ended."""

    def __init__(self, foreground: Foreground, machine: str) -> None:
        self.task = asyncio.ensure_future(self._given(foreground, machine))

    async def _given(self, foreground: Foreground, machine: str) -> None:
        foreground.begin_answer(machine)
        await asyncio.Event().wait()

    async def end(self) -> None:
        """Break it off, as an error or the Stop button does."""
        self.task.cancel()
        await asyncio.wait({self.task})
        await asyncio.sleep(0)


async def test_calls_give_way_to_answers_of_their_machine() -> None:
    """A message closes what runs on its machine, and nothing else; then nothing begins there."""
    foreground = Foreground()
    here, there, hosted = (
        Call(foreground, name) for name in ("gpu", "nas", "")
    )
    await asyncio.sleep(0)
    answers = [Answer(foreground, name) for name in ("", "gpu", "gpu")]
    await here.task
    late = Call(foreground, "gpu")
    await late.task
    assert here.ended == late.ended == "gave way on gpu"
    assert (there.ended, hosted.ended) == ("", "")
    waiting = asyncio.ensure_future(foreground.give_way(50, "gpu"))
    for answer in answers:
        assert not waiting.done()
        await answer.end()
    await asyncio.wait_for(waiting, 40)
    async with foreground.call("gpu"):
        pass
    for call in (there, hosted):
        call.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call.task
        assert call.ended == "cancelled"


async def test_time_limits_within_calls() -> None:
    """A call that takes too long has failed, which is not giving way."""
    for machine in ("gpu", ""):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01), Foreground().call(machine):
                await asyncio.sleep(30)
        with pytest.raises(TimeoutError):
            async with Foreground().call(machine), asyncio.timeout(0.01):
                await asyncio.sleep(30)
