"""The filter's two hooks, as far as they go without a host: whatever happens, the chat goes on.

Open WebUI is not installed here. So the filter fails at the first thing that it asks of the host,
which is what an upgrade that moved everything would do.
"""

from __future__ import annotations

import asyncio
import copy
import logging
from collections.abc import Callable, Coroutine
from typing import Any
from unittest.mock import AsyncMock

import pytest
from fastapi import FastAPI, Request

from adaptive.core.marks import Place
from adaptive.core.model import (
    HindranceLine,
    HostError,
    TablesUnavailable,
)
from adaptive.core.texts import phrase
from adaptive.filter import Filter
from adaptive.host import hook as hook_module
from adaptive.host.audience import LocatedChat
from adaptive.host.hook import HookArguments, HostHook
from adaptive.host.page import TurnAnswered
from adaptive.memory.turn_table import TurnTable
from adaptive.recall.block import CLOSE_MARKER, OPEN_MARKER
from adaptive.recall.request import message_tokens
from adaptive.settings.valves import UserValves
from tests.rates import over

OLD_BLOCK = f"{OPEN_MARKER}\nold\n{CLOSE_MARKER}"
API: dict[str, Any] = {"chat_id": "", "session_id": None}
SAVED: dict[str, Any] = {
    "chat_id": "c",
    "session_id": "s",
    "user_message_id": "m",
}
TEMPORARY: dict[str, Any] = {**SAVED, "chat_id": "temporary:c"}
CHANNEL: dict[str, Any] = {**SAVED, "chat_id": "channel:general"}
UNEXPECTED = "an unexpected error; the server's log tells more"

Hooked = Callable[..., Coroutine[Any, Any, dict[str, Any]]]


class Page:
    """An emitter that writes down the lines it is to show."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def emit(self, event: dict[str, Any]) -> None:
        """Show a line."""
        self.lines.append(event["data"]["description"])


@pytest.fixture(autouse=True)
def somewhere(monkeypatch: pytest.MonkeyPatch) -> AsyncMock:
    """Where the chat is can be read, though nothing else of the host can."""
    reading = AsyncMock(return_value=LocatedChat(Place()))
    monkeypatch.setattr(hook_module, "located_chat", reading)
    return reading


def request() -> Request:
    """The request of a turn."""
    return Request({"type": "http", "headers": [], "app": FastAPI()})


def a_body(words: Any = "I live in Lisbon.") -> dict[str, Any]:
    """What the host hands to a hook."""
    messages = [
        {"role": "system", "content": f"Be kind.\n\n{OLD_BLOCK}"},
        {"id": "m", "role": "user", "content": words},
    ]
    return {"model": "gpt", "messages": messages, "features": {"memory": True}}


async def run(
    hook: Hooked,
    body: dict[str, Any],
    metadata: Any,
    page: Page | None = None,
    user: Any = None,
) -> dict[str, Any]:
    """A hook as the host calls it, with what it leaves to be done in the background."""
    changed = await hook(
        body,
        __user__={"id": "ada"} if user is None else user,
        __metadata__=metadata,
        __request__=request(),
        __event_emitter__=page.emit if page else None,
        __model__={"id": "gpt"},
    )
    await settled()
    return changed


async def settled() -> None:
    """Wait for what runs in the background."""
    background = asyncio.all_tasks() - {asyncio.current_task()}
    # What fails there was looked at by somebody, or the loop would say so, which fails a test.
    await asyncio.gather(*background, return_exceptions=True)  # type: ignore[arg-type]


def system_prompt(body: dict[str, Any]) -> str:
    """The content of the system message."""
    return body["messages"][0]["content"]


def test_names_that_mean_something_to_the_host() -> None:
    """The filter is no toggle, takes no files away, and has no hook that it does not need."""
    plugin = Filter()
    for name in ("toggle", "file_handler", "stream", "icon"):
        assert not hasattr(plugin, name)


async def test_lasting_trouble_is_told_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the database refuses for good is told to a user once, whichever hook meets it."""
    refused = TablesUnavailable(
        "the database refuses it", detail="no such column"
    )
    refused.lasting = True
    plugin, page = Filter(), Page()
    failing = AsyncMock(side_effect=refused)
    monkeypatch.setattr(TurnTable, "put", failing)
    monkeypatch.setattr(plugin._services.recall, "recalled", failing)
    for number in range(3):
        told = {**TEMPORARY, "user_message_id": f"m{number}"}
        for hook in (plugin.inlet, plugin.outlet):
            await run(hook, a_body(), told, page)
    assert page.lines == [HindranceLine(str(refused))]


async def test_unexpected_trouble_is_told_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An outlet that breaks says so once to each user, and the chat goes on."""
    plugin, page, body = Filter(), Page(), a_body()
    monkeypatch.setattr(
        plugin._services.correction,
        "cleaned",
        AsyncMock(side_effect=ValueError("x")),
    )
    for _ in range(3):
        assert await run(plugin.outlet, body, TEMPORARY, page) is body
    assert page.lines == [HindranceLine(phrase("unexpected"))]


@pytest.mark.parametrize("name", ["inlet", "outlet"])
@pytest.mark.parametrize(
    "user",
    [
        {},
        {"id": "ada", "valves": UserValves(enabled=False)},
        {"id": "ada", "settings": {"ui": {"memory": False}}},
    ],
)
async def test_nobody_to_serve(name: str, user: dict[str, Any]) -> None:
    """Without a user, or for one who wants no memory, nothing is done and nothing is said."""
    body, page = a_body(), Page()
    assert await run(getattr(Filter(), name), body, SAVED, page, user) is body
    assert page.lines == []


TYPED: dict[str, Any] = {**SAVED, "chat_id": "temporary:1", "message_id": "a"}


async def test_failing_command_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A command that fails, whatever the reason, is answered so, and never reaches a model."""
    plugin = Filter()
    failing = AsyncMock(side_effect=RuntimeError("a bug"))
    monkeypatch.setattr(plugin._services.commands, "answer", failing)
    shown: list[dict[str, Any]] = []

    async def emit(event: dict[str, Any]) -> None:
        """Show an event."""
        shown.append(event)

    with pytest.raises(TurnAnswered):
        await plugin.inlet(
            a_body("/forget everything"),
            __user__={"id": "ada"},
            __metadata__=dict(TYPED),
            __request__=request(),
            __event_emitter__=emit,
        )
    event = next(one for one in shown if one["type"] == "chat:completion")
    assert f"That did not work: {UNEXPECTED}." in event["data"]["content"]
    assert event["data"]["done"]


@over("metadata", [API, CHANNEL, {**TYPED, "message_id": ""}])
async def test_texts_like_commands(metadata: dict[str, Any]) -> None:
    """Where nobody answers commands, no message is taken out, however it begins."""
    body = a_body("/undo the knot, then")
    body["messages"] += [
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "/memory off the top of my head"},
    ]
    sent = await run(Filter().inlet, body, dict(metadata))
    assert [one["content"] for one in sent["messages"][1:]] == [
        one["content"] for one in body["messages"][1:]
    ]


TIMER: dict[str, Any] = {
    **TYPED,
    "chat_id": "c",
    "user_message": {"meta": {"internal": True}},
}


def a_body_after(command: str) -> dict[str, Any]:
    """A request whose chat began with a command, and goes on with something else."""
    body = a_body(command)
    body["messages"] += [
        {"role": "assistant", "content": "1 memory"},
        {"role": "user", "content": "Hello"},
    ]
    return body


@over("metadata", [TYPED, TIMER])
@over("failing", [True, False])
async def test_former_commands_go(
    metadata: dict[str, Any], failing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No model reads a former command or its answer, be it that nothing else works."""
    plugin, body = Filter(), a_body_after("/memory")
    if failing:
        monkeypatch.setattr(
            plugin, "_hook", AsyncMock(side_effect=RuntimeError("a bug"))
        )
    sent = await run(plugin.inlet, body, dict(metadata))
    assert [one["content"] for one in sent["messages"][1:]] == ["Hello"]


@over("metadata", [TYPED, TIMER])
@over("command, times", [("/memory off", 0), ("/memory on", 1)])
async def test_off_in_a_chat(
    metadata: dict[str, Any],
    command: str,
    times: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where memory is off in a chat, nothing is recalled in it, not for its timers either."""
    plugin, recalling = (
        Filter(),
        AsyncMock(side_effect=HostError("it was tried")),
    )
    monkeypatch.setattr(plugin._services.recall, "window", recalling)
    sent = await run(plugin.inlet, a_body_after(command), dict(metadata))
    assert recalling.await_count == times
    assert sent["features"]["memory"] is bool(times)


async def test_timer_that_reads_like_a_command() -> None:
    """A timer's own words reach the model, however they begin."""
    sent = await run(Filter().inlet, a_body("/undo the knot"), dict(TIMER))
    assert sent["messages"][-1]["content"] == "/undo the knot"


@over("words", ["Hello", "", "?!", None, [], [{"type": "image_url"}]])
async def test_old_block_goes(words: Any) -> None:
    """Where no memories come, an old block goes from a copy, and the rest of the prompt stays."""
    body = a_body(words)
    before = copy.deepcopy(body)
    changed = await run(Filter().inlet, body, CHANNEL)
    assert system_prompt(changed) == "Be kind."
    assert changed["messages"][1:] == before["messages"][1:]
    assert body == before


@pytest.mark.parametrize(
    ("failure", "name", "reason"),
    [
        (
            HostError("the database is locked"),
            "HostError",
            "the database is locked",
        ),
        (TimeoutError(), "TimeoutError", "it took too long"),
        (RuntimeError("a bug"), "RuntimeError", UNEXPECTED),
        # The host's modules are not where they were.
        (None, "ModuleNotFoundError", UNEXPECTED),
    ],
)
@pytest.mark.parametrize("metadata", [SAVED, API], ids=["saved", "api"])
async def test_recall_fails(
    metadata: dict[str, Any],
    failure: Exception | None,
    name: str,
    reason: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever fails, the message goes on, the user is told the reason, and it is measured."""
    body, page = a_body(), Page()
    if failure is not None:
        monkeypatch.setattr(
            HostHook, "sources", AsyncMock(side_effect=failure)
        )
    before = copy.deepcopy(body)
    caplog.set_level(logging.DEBUG, "adaptive_memory.measures")
    sent = await run(Filter().inlet, body, copy.copy(metadata), page)
    assert system_prompt(sent) == "Be kind."
    assert sent["messages"][1:] == body["messages"][1:]
    assert sent["features"] == {"memory": False}
    assert body == before
    assert page.lines == [f"Answered without memories: {reason}"]
    assert (
        f'{{"part": "inlet", "outcome": "failed", "reason": "{name}"'
        in caplog.text
    )


async def test_chat_fits_whatever_fails() -> None:
    """Where recall fails, a long chat is cut to its window all the same, and warned of."""
    plugin, body = Filter(), a_body()
    turns = [
        {"role": role, "content": f"{role} {number} " + "word " * 40}
        for number in range(50)
        for role in ("user", "assistant")
    ]
    body["messages"][1:1] = turns
    before = copy.deepcopy(body)
    plugin.valves = plugin.Valves(max_context_tokens=1500)
    metadata = {**SAVED, "adaptive_memory": {"warnings": ["Beware"]}}
    changed = await run(plugin.inlet, body, metadata)
    assert body == before
    sent = changed["messages"]
    assert len(sent) < 40
    assert sum(map(message_tokens, sent)) < 1500
    newest = before["messages"][-1]["content"]
    assert sent[-1]["content"].startswith(newest)
    assert "Beware" in sent[-1]["content"]


async def test_fitting_fails(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where even the cutting fails, the chat goes on as it came."""
    plugin, body = Filter(), a_body()

    def breaks(*_: Any) -> dict[str, Any]:
        raise RuntimeError("a bug")

    monkeypatch.setattr(plugin._services.recall, "sent", breaks)
    sent = await run(plugin.inlet, body, dict(SAVED))
    assert sent["messages"] == body["messages"]
    assert "sent as it came" in caplog.text


async def test_cancelled_recall(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that is stopped is stopped: cancellation is no failure."""
    monkeypatch.setattr(
        HostHook, "sources", AsyncMock(side_effect=asyncio.CancelledError())
    )
    with pytest.raises(asyncio.CancelledError):
        await run(Filter().inlet, a_body(), dict(SAVED))


@pytest.mark.parametrize(
    "body", [{}, {"messages": None}, {"messages": "x"}, {"messages": [None]}]
)
@pytest.mark.parametrize("name", ["inlet", "outlet"])
async def test_odd_bodies(name: str, body: dict[str, Any]) -> None:
    """A body of another shape than ever seen comes back, and raises nothing."""
    assert isinstance(await run(getattr(Filter(), name), body, API), dict)


async def test_outlet_returns_at_once() -> None:
    """The outlet hands the body back and learns afterwards: nobody waits for it."""
    plugin, body, page = Filter(), a_body(), Page()
    returned = await plugin.outlet(
        body,
        __user__={"id": "ada"},
        __metadata__=SAVED,
        __request__=request(),
        __event_emitter__=page.emit,
    )
    assert returned is body
    assert page.lines == []
    await settled()
    assert page.lines == [
        "Nothing saved: Open WebUI's database can't be used right now"
    ]


@over(
    "metadata",
    [
        CHANNEL,
        {**SAVED, "chat_id": "local:s"},
        {**SAVED, "internal": True},
        API,
    ],
)
async def test_conversations_that_are_not_learned(
    metadata: dict[str, Any],
) -> None:
    """Where the words may not be the user's own, nothing is learned and nothing is said."""
    page = Page()
    await run(Filter().outlet, a_body(), metadata, page)
    assert page.lines == []


def noted_work(
    plugin: Filter, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """What is begun behind answers from now on, by its name, with its first argument."""
    begun: dict[str, Any] = {}

    def noting(name: str) -> Hooked:
        async def work(*given: Any) -> Any:
            begun[name] = given[0]
            return {}

        return work

    services = plugin._services
    works = [
        (HostHook, "name_chat"),
        (services.history, "keep"),
        (services.learning, "put"),
        (services.learning, "learn"),
        (services.correction, "correct_links"),
        (services.postprocessor, "process"),
    ]
    for owner, name in works:
        monkeypatch.setattr(owner, name, noting(name))
    return begun


LINKED = [
    {"id": "m", "role": "user", "content": "I live in Lisbon."},
    {
        "id": "a",
        "role": "assistant",
        "content": "[Nice](https://example.com/gone)",
    },
]
EVERYTHING = {
    "validate_links": True,
    "enable_postprocessing": True,
    "history_recall_default": "all",
}


@pytest.mark.parametrize("on", [True, False])
async def test_what_follows_an_answer(
    monkeypatch: pytest.MonkeyPatch, *, on: bool
) -> None:
    """Links, title, notes and past conversation are seen to behind it, where they are wanted."""
    plugin = Filter()
    plugin.valves = plugin.Valves(**EVERYTHING if on else {})
    begun = noted_work(plugin, monkeypatch)
    told = {
        **SAVED,
        "message_id": "a",
        "adaptive_memory": {"title": "Lisbon"} if on else {},
    }
    await run(plugin.outlet, {"messages": LINKED}, told)
    more = {"correct_links", "process", "keep", "name_chat"}
    assert begun.keys() == {"put", "learn"} | (more if on else set())


@pytest.mark.parametrize("off", [{"admin": "off"}, {"user": "off"}], ids=str)
async def test_saving_is_off(
    off: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then no turn waits to be learned, and nothing that a later look at it finds is, either."""
    plugin, page = Filter(), Page()
    plugin.valves = plugin.Valves(
        **EVERYTHING, save_mode=off.get("admin", "auto")
    )
    begun = noted_work(plugin, monkeypatch)
    user = {
        "id": "ada",
        "valves": UserValves(save_mode=off.get("user", "auto")),
    }
    told = {**SAVED, "message_id": "a"}
    await run(plugin.outlet, {"messages": LINKED}, told, page, user)
    assert page.lines == []
    assert begun["process"].turn is None


async def test_warned_of() -> None:
    """A turn that was warned of is not learned, and a line says so to who wants to see lines."""
    page, reason = (
        Page(),
        "Nothing learned from this message: prompt injection is likely (95%)",
    )
    told = {**SAVED, "adaptive_memory": {"unlearned": reason}}
    await run(Filter().outlet, a_body(), told, page)
    assert page.lines[0] == reason
    assert not any("database" in one for one in page.lines)
    quiet = Page()
    user = {"id": "ada", "valves": UserValves(show_status=False)}
    await run(Filter().outlet, a_body(), told, quiet, user)
    assert quiet.lines == []


async def test_work_behind_an_answer(caplog: pytest.LogCaptureFixture) -> None:
    """What fails behind an answer is logged and measured, and told where the user waits for it."""
    caplog.set_level(logging.DEBUG, "adaptive_memory.measures")
    plugin, page = Filter(), Page()
    hook = await plugin._hook(
        HookArguments(
            user={"id": "ada"},
            metadata=dict(SAVED),
            request=request(),
            emitter=page.emit,
            chat_model=None,
            caller=None,
        )
    )
    assert hook is not None

    async def work() -> str:
        raise RuntimeError("a bug")

    plugin._behind(hook, work(), "trying", "Failed")
    plugin._behind(hook, work(), "trying in silence")
    await settled()
    assert page.lines == [f"Failed: {UNEXPECTED}"]
    assert "trying" in caplog.text
    assert '{"part": "trying in silence", "outcome": "failed"' in caplog.text
