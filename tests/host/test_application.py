"""The seam to the host: requests of our own, its errors as ours, and work that is never torn."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI, HTTPException, Request
from sqlalchemy.exc import OperationalError

from adaptive.core.marks import Place
from adaptive.core.model import HostError, TablesUnavailable, with_detail
from adaptive.core.providers import ModelBusy, ModelRejected
from adaptive.host.application import (
    isolated_request,
    process_state,
)
from adaptive.host.faults import HostFaults, describe_fault, uninterrupted
from adaptive.host.hook import HookArguments, HostHook
from adaptive.host.page import EventEmitter
from adaptive.host.tables import HostTables
from adaptive.privacy.sealing import Sealer
from adaptive.settings.merged import Settings


def running_request(**state: Any) -> Request:
    """The request of a turn, with what the host keeps on it."""
    headers = [(b"authorization", b"Bearer x"), (b"cookie", b"a=b")]
    return Request(
        {"type": "http", "headers": headers, "app": FastAPI(), "state": state}
    )


def hook_on_host(
    settings: Settings,
    user: dict[str, Any],
    metadata: dict[str, Any],
    request: Request | None = None,
    emitter: EventEmitter | None = None,
    chat_model: Any = None,
) -> HostHook:
    """The hook of these arguments."""
    request = request or running_request()
    arguments = HookArguments(
        user=user,
        metadata=metadata,
        request=request,
        emitter=emitter,
        chat_model=chat_model,
    )
    hook = HostHook.of(settings, arguments, request, HostTables(Sealer("")))
    return replace(hook, place=Place())


def test_isolated_request() -> None:
    """A call of ours has the app, headers and token of the turn, and shares no state with it."""
    turn = running_request(metadata={"chat_id": "c"}, direct=True, token="t")
    ours = isolated_request(turn)
    assert (ours.app, ours.headers, ours.cookies) == (
        turn.app,
        turn.headers,
        {"a": "b"},
    )
    assert ours.scope["state"] == {"token": "t"}
    ours.state.metadata = {"chat_id": "other"}
    assert turn.state.metadata == {"chat_id": "c"}


def test_process_state() -> None:
    """One mapping lives on the app, for every request and load."""
    turn = running_request()
    process_state(turn)["loaded"] = 1
    assert process_state(isolated_request(turn)) == {"loaded": 1}
    assert process_state(running_request()) == {}


def test_any_exception_of_the_host() -> None:
    """Whatever is raised becomes one error, which says what was being done and keeps the cause."""
    raised = KeyError("x")
    failed = "^an unexpected error; the server's log tells more$"
    with (
        pytest.raises(HostError, match=failed) as error,
        HostFaults("reading"),
    ):
        raise raised
    assert error.value.__cause__ is raised
    assert error.value.detail == "reading: 'x'"
    refused = HostFaults("writing", TablesUnavailable)
    away = "Open WebUI's database can't be used right now"
    with pytest.raises(TablesUnavailable, match=away) as error, refused:
        raise OSError("a\n b")
    assert with_detail(error.value) == f"{away} (writing: a b)"
    assert (
        describe_fault(HTTPException(403, {"error": "no"}))
        == "{'error': 'no'}"
    )
    refused = OperationalError(
        "INSERT", {"content": "Porto"}, Exception("database is locked")
    )
    assert describe_fault(refused) == "database is locked"
    assert describe_fault(TimeoutError()) == "TimeoutError"
    assert (
        with_detail(HostError("long", detail="x" * 5000))
        == f"long ({'x' * 500})"
    )


@pytest.mark.parametrize(
    "passing", [ModelRejected("no credits", 402), asyncio.CancelledError()]
)
def test_what_passes(passing: BaseException) -> None:
    """An error of ours and cancellation pass unchanged."""
    with (
        pytest.raises(type(passing)) as raised,
        HostFaults("asking", ModelBusy),
    ):
        raise passing
    assert raised.value is passing


@pytest.mark.parametrize(
    "failure", [None, HostError("locked")], ids=["well", "badly"]
)
async def test_cancelled_caller_leaves_the_work_alone(
    failure: Exception | None,
) -> None:
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
