"""Database work that is carried on to its end when nobody waits for it any more."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from types import CoroutineType
from typing import Any, ParamSpec, TypeVar

_RUNNING: set[asyncio.Task[Any]] = set()

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def uninterrupted(
    work: Callable[Parameters, CoroutineType[Any, Any, Returned]],
) -> Callable[Parameters, CoroutineType[Any, Any, Returned]]:
    """A coroutine function whose work goes on when its caller is cancelled.

    A turn is cancelled by its time limit and by the user's Stop. In the middle of a statement that
    would tear a connection out of the host's pool, which all its users share.
    """

    @functools.wraps(work)
    async def shielded(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        """The work, in a task that a cancellation does not reach."""
        task = asyncio.create_task(work(*args, **kwargs))
        _RUNNING.add(task)
        task.add_done_callback(_over)
        return await asyncio.shield(task)

    return shielded


def _over(task: asyncio.Task[Any]) -> None:
    _RUNNING.discard(task)
    if not task.cancelled():
        task.exception()  # its caller may be gone, and nobody else would look at it
