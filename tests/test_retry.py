"""Trying again: how often, how long between, and what is never tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.errors import ModelBusy, ModelError, ModelRejected, ReplyUnusable
from adaptive.retry import RetryPolicy, with_retry


class Attempts:
    """A call that fails with each of ``failures`` in turn, then succeeds; it writes down pauses."""

    def __init__(self, *failures: Exception) -> None:
        self.calls = 0
        self.pauses: list[float] = []
        self._failures = list(failures)

    async def call(self) -> str:
        """One try."""
        self.calls += 1
        if self._failures:
            raise self._failures.pop(0)
        return "done"

    async def sleep(self, seconds: float) -> None:
        """A pause that takes no time."""
        self.pauses.append(seconds)

    async def run(self, policy: RetryPolicy, chance: float = 1.0) -> str:
        """The call under a policy."""
        return await with_retry(self.call, policy, sleep=self.sleep, chance=lambda: chance)


@dataclass(frozen=True)
class Case:
    """How busy the model is, and the pauses that come of it."""

    id: str
    failures: tuple[ModelBusy, ...]
    policy: RetryPolicy
    chance: float
    pauses: list[float]


BUSY = ModelBusy("busy")

CASES = [
    Case("at once", (), RetryPolicy(3, 1.0), 1.0, []),
    Case("doubling", (BUSY,) * 4, RetryPolicy(4, 1.0), 1.0, [1, 2, 4, 8]),
    Case("half of it at least", (BUSY,) * 3, RetryPolicy(3, 1.0), 0.0, [0.5, 1, 2]),
    Case("first pause", (BUSY,) * 2, RetryPolicy(2, 3.0), 1.0, [3, 6]),
    Case("no pause", (BUSY,) * 2, RetryPolicy(2, 0.0), 1.0, [0, 0]),
    Case("never longer than 30 s", (BUSY,) * 8, RetryPolicy(8, 5.0), 1.0, [5, 10, 20, *[30] * 5]),
    Case("asked for more", (ModelBusy("b", 7.0),), RetryPolicy(1, 1.0), 1.0, [7]),
    Case("asked for less", (ModelBusy("b", 0.1),), RetryPolicy(1, 1.0), 1.0, [1]),
    Case("asked for a minute", (ModelBusy("b", 60.0),), RetryPolicy(1, 1.0), 1.0, [60]),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
async def test_pauses(case: Case) -> None:
    """Pauses double from the first on, with jitter; what the provider asks for is a minimum."""
    attempts = Attempts(*case.failures)
    assert await attempts.run(case.policy, case.chance) == "done"
    assert attempts.pauses == case.pauses


async def test_last_failure_is_raised() -> None:
    """When the retries are used up, the last failure comes through, with no pause after it."""
    last = ModelBusy("still busy")
    attempts = Attempts(BUSY, BUSY, last)
    with pytest.raises(ModelBusy) as raised:
        await attempts.run(RetryPolicy(2, 1.0))
    assert raised.value is last
    assert (attempts.calls, attempts.pauses) == (3, [1, 2])


@pytest.mark.parametrize(
    "failure", [ModelRejected("no", 400), ReplyUnusable("prose"), ModelError("?"), KeyError("x")]
)
async def test_other_failures_are_not_tried_again(failure: Exception) -> None:
    """Only a busy model is asked again; any other failure would come again."""
    attempts = Attempts(failure)
    with pytest.raises(type(failure)):
        await attempts.run(RetryPolicy(5, 1.0))
    assert (attempts.calls, attempts.pauses) == (1, [])


def sleeping(started: asyncio.Event) -> Callable[[float], Awaitable[None]]:
    """A pause that lasts until it is cancelled."""

    async def sleep(_seconds: float) -> None:
        """Sleep on."""
        started.set()
        await asyncio.Event().wait()

    return sleep


async def test_cancellation_during_a_pause() -> None:
    """A cancellation ends the pause at once, and nothing is tried after it."""
    attempts, started = Attempts(BUSY, BUSY), asyncio.Event()
    work = with_retry(attempts.call, RetryPolicy(5, 1.0), sleep=sleeping(started))
    task = asyncio.create_task(work)
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert attempts.calls == 1


async def test_cancellation_during_a_call() -> None:
    """A cancellation of the call itself is no failure to try again after."""
    calls: list[int] = []

    async def call() -> None:
        """One try."""
        calls.append(1)
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await with_retry(call, RetryPolicy(5, 0.0))
    assert calls == [1]


@settings(deadline=None)
@given(
    st.integers(0, 10),
    st.none() | st.floats(0, 1000),
    st.floats(0, 1),
    st.floats(0, 60),
)
def test_pause_is_in_bounds(
    attempt: int, asked: float | None, chance: float, first_pause: float
) -> None:
    """No pause is negative, or longer than both 30 s and what the provider asked for."""
    pause = RetryPolicy(10, first_pause).pause(attempt, asked, chance)
    assert (asked or 0) <= pause <= max(30, asked or 0)
