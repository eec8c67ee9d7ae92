"""The kind of a conversation, titles and what to ask next in it, and the user's switch."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import chain, repeat
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest
from fastapi import FastAPI, Request

from adaptive.core import phrase
from adaptive.core.messages import mapping
from adaptive.core.model import ConversationKind
from adaptive.core.providers import ModelBusy
from adaptive.host import application, page
from adaptive.host import hook as hook_module
from adaptive.host.application import (
    allows_memory,
    has_memory_on,
    memory_switch,
    process_state,
)
from adaptive.host.audience import conversation_kind
from adaptive.host.tables import HostLeases
from tests.answer.hooks import Shelf
from tests.fakes import hook_settings
from tests.host.databases import Worker
from tests.host.test_application import hook_on_host, running_request

CHAT = "3f1c8a5e-0000-4000-8000-000000000000"
PAGE: dict[str, Any] = {
    "chat_id": CHAT,
    "session_id": "socket-1",
    "message_id": "m",
}
BY_HOST = {
    "user_message": {
        "role": "user",
        "meta": {"internal": True, "type": "timer"},
    }
}


@pytest.mark.parametrize(
    ("metadata", "kind"),
    [
        (
            {
                **PAGE,
                "direct": True,
                "internal": False,
                "user_message": {"meta": {}},
            },
            "saved",
        ),
        ({**PAGE, "chat_id": "locality", "user_message": None}, "saved"),
        ({**PAGE, "chat_id": "local"}, "temporary"),
        ({**PAGE, "chat_id": "local:socket-1"}, "temporary"),
        ({**PAGE, "chat_id": f"temporary:{CHAT}"}, "temporary"),
        ({"chat_id": "channel:general"}, "channel"),
        (
            {
                "chat_id": 7,
                "session_id": [],
                "user_message": [7],
                "internal": "x",
            },
            "api",
        ),
        ({"chat_id": CHAT, "session_id": None}, "api"),
        ({**PAGE, "session_id": "automation:1"}, "automation"),
        ({"chat_id": "channel:c", "automation_id": "a"}, "automation"),
        ({**PAGE, "internal": True}, "subagent"),
        ({**PAGE, "chat_id": "local:s", **BY_HOST}, "timer"),
    ],
)
def test_conversation_kind(
    metadata: dict[str, Any], kind: ConversationKind
) -> None:
    """Metadata of every release tells the kind of conversation."""
    assert conversation_kind(metadata) == kind


def test_time_zones() -> None:
    """A user's own choice comes first, then the browser's zone, then the admin's."""
    settings = hook_settings(timezone="Europe/Prague").model_copy(
        update={"user_timezone": "Asia/Tokyo"}
    )
    told = {**PAGE, "variables": {"{{CURRENT_TIMEZONE}}": "Europe/Lisbon"}}
    hook = hook_on_host(
        settings, {"id": "ada"}, told, running_request(), None, None
    )
    assert hook.time_zones == ("Asia/Tokyo", "Europe/Lisbon", "Europe/Prague")
    bare = hook_on_host(
        hook_settings(), {"id": "ada"}, {**PAGE}, running_request(), None, None
    )
    assert bare.time_zones == ("", "", "UTC")


async def test_typed_to_another_model() -> None:
    """What was typed to another model is learned as in its chat; the host lists one not known."""
    request = running_request()
    request.app.state.MODELS = {
        "local": {"id": "local", "connection_type": "local"}
    }
    metadata = {**PAGE, "direct": True}
    hook = hook_on_host(
        hook_settings(),
        {"id": "ada"},
        metadata,
        request,
        None,
        {"id": "cloud"},
    )
    assert (hook.chat_model_id, hook.is_direct) == ("cloud", True)
    local = await hook.typed_to("local", is_direct=False)
    assert local.chat_model == {"id": "local", "connection_type": "local"}
    assert not local.is_direct
    assert hook.is_direct
    assert (await hook.typed_to("", is_direct=False)).chat_model_id == ""
    with pytest.raises(
        ModelBusy, match="does not answer"
    ):  # there is no host here
        await hook.typed_to("not listed yet", is_direct=False)
    mine = await hook.typed_to("mine", is_direct=True)
    assert (mine.chat_model_id, mine.is_direct) == ("mine", True)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    ("internal", "kind"), [(True, "timer"), (False, "saved")]
)
async def test_chat_that_others_read(
    internal: bool, kind: str, shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chat that others may read is a shared one, also where a timer goes off in it."""
    read = AsyncMock(return_value=shared)
    monkeypatch.setattr(hook_module, "is_read_by_others", read)
    chats = SimpleNamespace(
        Chats=SimpleNamespace(get_accessible_chat_by_id=None)
    )
    monkeypatch.setitem(sys.modules, "open_webui.models.chats", chats)
    told: dict[str, Any] = {**PAGE, "chat_id": "c"}
    told["user_message"] = {"meta": {"internal": internal}}
    hook = hook_on_host(
        hook_settings(), {"id": "ada"}, told, running_request(), None, None
    )
    assert hook.told_kind == kind
    assert [await hook.kind() for _ in range(2)] == [
        "shared" if shared else kind
    ] * 2
    assert read.await_count == 1


ASKED = "When did I move to Porto, and was my sister there?"
OURS = "Moving to Porto"


NONE_WANTED = {"title": {"auto": False}, "autoFollowUps": False}
Host = dict[str, Any]


@pytest.mark.parametrize(
    ("host", "titled", "suggested"),
    [
        ({"titles": ["New Chat", ASKED]}, True, True),
        ({"titles": ["New Chat"]}, True, True),
        ({"titles": ["New Chat", "My trip"]}, False, True),
        ({"titles": [None]}, False, True),
        ({"makes them": True}, False, False),
        ({"makes them": None}, False, False),
        ({"interface": NONE_WANTED}, False, False),
        ({"owner": "bob"}, False, True),
    ],
    ids=str,
)
async def test_titles_and_what_to_ask_next(
    host: Host, titled: bool, suggested: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours are stored and shown where nobody else makes any, and the user refuses none."""
    standing: list[str | None] = host.get("titles", ["New Chat"])
    shared = AsyncMock(return_value="owner" in host)
    monkeypatch.setattr(hook_module, "is_read_by_others", shared)
    chats = SimpleNamespace(
        get_accessible_chat_by_id=None,
        get_chat_title_by_id=AsyncMock(
            side_effect=chain(standing, repeat(standing[-1]))
        ),
        update_chat_title_by_id=AsyncMock(),
    )
    monkeypatch.setitem(
        sys.modules, "open_webui.models.chats", SimpleNamespace(Chats=chats)
    )
    monkeypatch.setattr(page, "_TITLE_PAUSES", (0, 0, 0))
    shelf, request, makes = (
        Shelf(ASKED),
        running_request(),
        host.get("makes them", False),
    )
    request.app.state.config = SimpleNamespace(
        ENABLE_TITLE_GENERATION=makes, ENABLE_FOLLOW_UP_GENERATION=makes
    )

    user = {"id": "ada", "settings": {"ui": host.get("interface", {})}}
    told = {**PAGE, "chat_id": "c"}
    hook = hook_on_host(hook_settings(), user, told, request, shelf.emit, None)
    answer = page.HostAnswer("c", "a", shelf.emit, shelf.change)
    hook = replace(hook, stored_answer=answer)
    await hook.name_chat(OURS, [{"role": "user", "content": ASKED}])
    given = [
        call.args for call in chats.update_chat_title_by_id.await_args_list
    ]
    assert given == ([("c", OURS)] if titled else [])
    assert shelf.events == (
        [{"type": "chat:title", "data": OURS}] if titled else []
    )
    await hook.suggest(["And then?"])
    assert shelf.message.get("followUps") == (
        ["And then?"] if suggested else None
    )


OFF: dict[str, Any] = {"ui": {"memory": False}}
ON: dict[str, Any] = {"ui": {"memory": True}}
SAVED = {"chat_id": "c", "session_id": "s", "message_id": "m"}
Say = Callable[..., Awaitable[list[str]]]


@pytest.fixture
def say(workers: tuple[Worker, Worker]) -> Say:
    """A turn of a user with these settings, through one of the workers: all lines shown so far."""
    tables = [HostLeases(one.database) for one in workers]
    lines: list[str] = []

    async def emit(event: dict[str, Any]) -> None:
        lines.append(event["data"]["description"])

    async def turn(
        settings: object, worker: int = 0, **more: Any
    ) -> list[str]:
        request = Request({"type": "http", "headers": [], "app": FastAPI()})
        user = {"id": more.pop("user_id", "ada"), "settings": settings}
        page = emit if more.pop("page", True) else None
        told = SAVED | {name: more.pop(name) for name in SAVED if name in more}
        hook = hook_on_host(
            hook_settings(**more), user, told, request, page, None
        )
        await hook.tell_switched_off(tables[worker])
        return lines

    return turn


@pytest.mark.parametrize(
    "settings",
    [
        None,
        {},
        {"ui": []},
        ON,
        {"ui": {"memory": 0}},
        {"ui": {"memory": "false"}},
        [OFF],
        "off",
    ],
    ids=str,
)
async def test_switch(settings: object) -> None:
    """Only a stored ``false`` is off; where the host can't be asked, it is as it was."""
    assert memory_switch(mapping(settings, "ui")) is not False
    assert memory_switch(mapping(OFF, "ui")) is False
    request = Request({"type": "http", "headers": [], "app": FastAPI()})
    hook = hook_on_host(
        hook_settings(), {"id": "ada"}, {}, request, None, None
    )
    assert await hook.wants_memory()


@pytest.mark.parametrize(
    ("own", "default", "on"),
    [
        (None, None, True),
        (None, {}, True),
        (None, {"memory": True}, True),
        (None, {"memory": False}, False),
        ({"ui": {"memory": None}}, {"memory": False}, False),
        (None, {"memory": "false"}, True),
        (None, "off", True),
        (ON, {"memory": False}, True),
        (OFF, {"memory": True}, False),
    ],
    ids=str,
)
async def test_default_of_the_switch(
    own: object, default: object, on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who never touched the switch has it as the admin wants, which is asked for now and then."""
    asked: list[object] = []

    async def settings() -> dict[str, object]:
        asked.append(default)
        return {"interface_defaults": default}

    monkeypatch.setattr(application, "host_settings", settings)
    request = running_request()
    for _ in range(3):
        assert await has_memory_on(request, own) is on
    assert len(asked) == (own not in (ON, OFF))
    process_state(request).clear()
    assert await has_memory_on(request, own) is on


@pytest.mark.parametrize(
    ("model", "allowed"),
    [
        ({"info": {"meta": {"capabilities": {"memory": False}}}}, False),
        ({"info": {"meta": {"capabilities": {"memory": True}}}}, True),
        ({"info": {"meta": {"capabilities": None}}}, True),
        ({"id": "gpt"}, True),
        (None, True),
    ],
    ids=str,
)
def test_memory_capability(
    model: object, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model's capability counts where the host has it, as the host itself reads it."""
    assert allows_memory(model)

    def read(one: Host) -> object:
        return (
            one.get("info", {}).get("meta", {}).get("capabilities") or {}
        ).get("memory", True)

    host = SimpleNamespace(model_allows_memory=read)
    monkeypatch.setitem(sys.modules, "open_webui.utils.memory", host)
    assert allows_memory(model) is allowed


async def test_told_once(say: Say) -> None:
    """Of several chats and two workers one is told, once; so are others."""
    await asyncio.gather(*(say(OFF, worker=one) for one in (0, 1, 0, 1)))
    assert await say(OFF, chat_id="another") == [phrase("switched_off")]
    assert (
        await say(OFF, worker=1, user_id="bob") == [phrase("switched_off")] * 2
    )
    assert (
        await say(ON, worker=1)
        == await say(OFF)
        == [phrase("switched_off")] * 2
    )


async def test_nobody_looks(say: Say) -> None:
    """Where no page shows the line, or none is wanted, it is told another time."""
    await say(OFF, page=False)
    await say(OFF, chat_id="", session_id=None)
    await say(OFF, chat_id="channel:general")
    assert await say(OFF, show_status=False) == []
    assert await say(OFF, chat_id="local:s") == [phrase("switched_off")]
