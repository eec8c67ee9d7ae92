"""The seam at which whatever the host raises becomes an error of ours."""

from __future__ import annotations

import asyncio

import pytest
from fastapi import HTTPException

from adaptive.errors import HostError, ModelBusy, ModelRejected, StoreError
from adaptive.host.faults import HostFaults, describe_fault
from tests.rates import over


@pytest.mark.parametrize(
    "raised", [Exception("Model not found"), KeyError("x"), TimeoutError(), RuntimeError("a\n b")]
)
def test_any_exception_of_the_host(raised: Exception) -> None:
    """Whatever is raised becomes one error, which says what was being done and keeps the cause."""
    with (
        pytest.raises(HostError, match=r"^reading the chat: .") as error,
        HostFaults("reading the chat"),
    ):
        raise raised
    assert error.value.__cause__ is raised


def test_chosen_error() -> None:
    """The caller says which error it is to become."""
    with (
        pytest.raises(StoreError, match=r"^writing: disk full$"),
        HostFaults("writing", StoreError),
    ):
        raise OSError("disk full")


def test_own_errors_pass() -> None:
    """An error of ours, and what it carries, passes unchanged."""
    own = ModelRejected("no credits", 402)
    with pytest.raises(ModelRejected) as raised, HostFaults("asking", ModelBusy):
        raise own
    assert raised.value is own


@pytest.mark.parametrize("passing", [asyncio.CancelledError, KeyboardInterrupt, SystemExit])
def test_what_is_no_failure_passes(passing: type[BaseException]) -> None:
    """Cancellation and the end of the process are nobody's failure."""
    with pytest.raises(passing), HostFaults("asking"):
        raise passing


async def test_time_limit_of_ours() -> None:
    """A time limit of ours ends what the host does, and stays a time-out."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            with HostFaults("asking"):
                await asyncio.sleep(60)


def test_nothing_raised() -> None:
    """Where nothing is raised nothing happens."""
    with HostFaults("asking"):
        done = True
    assert done


@over(
    "raised, words",
    [
        (Exception("Model not found"), "Model not found"),
        (Exception("several\n  lines"), "several lines"),
        (Exception(), "Exception"),
        (TimeoutError(), "TimeoutError"),
        (HTTPException(403, "Not allowed"), "Not allowed"),
        (HTTPException(403, {"error": "Not allowed"}), "{'error': 'Not allowed'}"),
        (HTTPException(404), "Not Found"),
        (Exception("x" * 5000), "x" * 200),
    ],
)
def test_describe_fault(raised: Exception, words: str) -> None:
    """An exception is told in few words, those of FastAPI's detail where there is one."""
    assert describe_fault(raised) == words
