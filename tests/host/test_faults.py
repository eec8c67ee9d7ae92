"""The seam to the host: its errors become ours, and its database work is never torn apart."""

from __future__ import annotations

import asyncio

import pytest
from fastapi import HTTPException

from adaptive.core.errors import HostError, ModelBusy, ModelRejected, StoreError
from adaptive.host.faults import HostFaults, describe_fault, uninterrupted


def test_any_exception_of_the_host() -> None:
    """Whatever is raised becomes one error, which says what was being done and keeps the cause."""
    raised = KeyError("x")
    with pytest.raises(HostError, match=r"^reading: 'x'$") as error, HostFaults("reading"):
        raise raised
    assert error.value.__cause__ is raised
    with pytest.raises(StoreError, match=r"^writing: a b$"), HostFaults("writing", StoreError):
        raise OSError("a\n b")
    assert describe_fault(HTTPException(403, {"error": "no"})) == "{'error': 'no'}"
    assert describe_fault(TimeoutError()) == "TimeoutError"
    assert describe_fault(Exception("x" * 5000)) == "x" * 200


@pytest.mark.parametrize("passing", [ModelRejected("no credits", 402), asyncio.CancelledError()])
def test_what_passes(passing: BaseException) -> None:
    """An error of ours and cancellation pass unchanged."""
    with pytest.raises(type(passing)) as raised, HostFaults("asking", ModelBusy):
        raise passing
    assert raised.value is passing


@pytest.mark.parametrize("failure", [None, HostError("locked")], ids=["well", "badly"])
async def test_cancelled_caller_leaves_the_work_alone(failure: Exception | None) -> None:
    """A cancelled caller stops at once; the work ends, and who waits gets its result or error."""
    begun, go, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @uninterrupted
    async def statement() -> str:
        begun.set()
        await go.wait()
        ended.set()
        if failure:
            raise failure
        return "rows"

    caller = asyncio.create_task(statement())
    await begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert not ended.is_set()
    go.set()
    await ended.wait()
    if failure is None:
        assert await statement() == "rows"
    else:
        with pytest.raises(HostError, match="locked"):
            await statement()
