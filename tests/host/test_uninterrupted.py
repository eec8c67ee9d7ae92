"""Work on the host's database is carried to its end, whoever stops waiting for it."""

from __future__ import annotations

import asyncio

import pytest

from adaptive.errors import HostError
from adaptive.host.uninterrupted import uninterrupted


class Statement:
    """A statement that runs until it is let go, and then may fail."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.begun, self.go, self.ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._failure = failure

    @uninterrupted
    async def run(self, answer: str) -> str:
        """Give the answer back, or fail."""
        self.begun.set()
        await self.go.wait()
        self.ended.set()
        if self._failure:
            raise self._failure
        return answer


async def test_result_and_failure_reach_the_caller() -> None:
    """Who waits gets the result, or the error."""
    statement, broken = Statement(), Statement(HostError("locked"))
    statement.go.set()
    broken.go.set()
    assert await statement.run("rows") == "rows"
    with pytest.raises(HostError, match="locked"):
        await broken.run("rows")


@pytest.mark.parametrize("failure", [None, HostError("locked")], ids=["well", "badly"])
async def test_cancelled_caller_leaves_the_work_alone(failure: Exception | None) -> None:
    """A cancelled caller stops at once; the work ends, and its failure disturbs nobody."""
    statement = Statement(failure)
    caller = asyncio.create_task(statement.run("rows"))
    await statement.begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert not statement.ended.is_set()
    statement.go.set()
    await statement.ended.wait()
    await asyncio.sleep(0)
