"""The one seam at which whatever the host raises becomes an error of ours."""

from __future__ import annotations

import asyncio
import functools
import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import CoroutineType
from typing import Any, ParamSpec, TypeVar

from sqlalchemy.exc import DBAPIError, IntegrityError, ProgrammingError

from adaptive.core import (
    AdaptiveMemoryError,
    HostError,
    Phrase,
    frozen,
    log,
    look_at,
    with_detail,
)
from adaptive.privacy import without_secrets

# The lowest byte of an error's number says of which kind it is (SQLite: "Result and Error Codes").
_SQLITE_KIND = 0xFF
_SQLITE_REFUSALS = (
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CONSTRAINT,
)
_RUNNING: set[asyncio.Task[Any]] = set()

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


@frozen
class HostFaults:
    """Context that turns any exception of the host into ``error``, whose detail says what it was.

    People read the sentence of that kind of error; of what the database refuses for good they read
    that it does.

    The host raises bare ``Exception`` in places (utils/chat.py: "Model not found"), and its vector
    databases and embedding engines bring exception trees of their own, so no narrower catch would
    hold. Our own errors and cancellation pass unchanged; a time limit of ours arrives in here as a
    cancellation, so a ``TimeoutError`` is the host's.
    """

    doing: str
    error: type[AdaptiveMemoryError] = HostError

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: object, raised: BaseException | None, trace: object
    ) -> None:
        if isinstance(raised, Exception) and not isinstance(
            raised, AdaptiveMemoryError
        ):
            detail = without_secrets(f"{self.doing}: {describe_fault(raised)}")
            lasting = refused_for_good(raised)
            sentence = Phrase("database_refuses") if lasting else ""
            error = self.error(sentence, detail=detail)
            error.lasting = lasting
            raise error from raised


@contextmanager
def faults_logged(doing: str) -> Generator[None]:
    """Context that logs what the host raises in it, and leaves the rest of it out."""
    try:
        with HostFaults(doing):
            yield
    except HostError as error:
        log.warning("%s", with_detail(error))


def describe_fault(raised: BaseException) -> str:
    """What an exception says, without the statement that a database has refused.

    FastAPI's carries its text in ``detail``, SQLAlchemy's the database's own error in ``orig``.
    """
    source = (
        getattr(raised, "detail", None)
        or getattr(raised, "orig", None)
        or raised
    )
    return " ".join(str(source).split()) or type(raised).__name__


def refused_for_good(raised: BaseException) -> bool:
    """Whether the database lacks what a statement names, or forbids it: trying again won't help.

    Such are missing tables, columns, schemas and permissions, and columns of another release that
    must be filled. SQLite tells by a number, PostgreSQL by the class of the error.
    """
    if not isinstance(raised, DBAPIError):
        return False
    code: int | None = getattr(raised.orig, "sqlite_errorcode", None)
    if code is not None:
        return code & _SQLITE_KIND in _SQLITE_REFUSALS
    return isinstance(raised, ProgrammingError | IntegrityError)


def uninterrupted(
    work: Callable[Parameters, CoroutineType[Any, Any, Returned]],
) -> Callable[Parameters, CoroutineType[Any, Any, Returned]]:
    """A coroutine function whose database work goes on when its caller is cancelled.

    A turn is cancelled by its time limit and by the user's Stop. In the middle of a statement that
    would tear a connection out of the host's pool, which all its users share.
    """

    @functools.wraps(work)
    async def shielded(
        *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Returned:
        """The work, in a task that a cancellation does not reach."""
        task = asyncio.create_task(work(*args, **kwargs))
        _RUNNING.add(task)
        task.add_done_callback(_RUNNING.discard)
        task.add_done_callback(look_at)
        return await asyncio.shield(task)

    return shielded
