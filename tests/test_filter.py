"""The filter's two hooks, as far as they go without a host: whatever happens, the chat goes on.

Open WebUI is not installed here. A filter that takes the host for a supported one therefore fails
at the first thing it asks of it, which is what an upgrade that moved everything would do.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from fastapi import FastAPI, Request
from pydantic import BaseModel

from adaptive.core.errors import HostError
from adaptive.filter import Filter
from adaptive.history.window import message_tokens
from adaptive.recall.block import CLOSE_MARKER, OPEN_MARKER
from adaptive.recall.recall import RequestInHand
from adaptive.settings.user_valves import UserValves
from tests.rates import over

OLD_BLOCK = f"{OPEN_MARKER}\nold\n{CLOSE_MARKER}"
API: dict[str, Any] = {"chat_id": "", "session_id": None}
SAVED: dict[str, Any] = {"chat_id": "c", "session_id": "s", "user_message_id": "m"}
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


class Faulty(dict[str, Any]):
    """Metadata that fails when the kind of conversation is first read from it."""

    def __init__(self, failure: BaseException) -> None:
        super().__init__()
        self._failure: BaseException | None = failure

    def get(self, name: str, default: Any = None) -> Any:
        """Fail once, or have nothing."""
        if name == "chat_id" and self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        return default


def on_a_host() -> Filter:
    """A filter that takes the host for a supported one."""
    plugin = Filter()
    plugin._supported = True
    return plugin


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
    hook: Hooked, body: dict[str, Any], metadata: Any, page: Page | None = None, user: Any = None
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


@pytest.mark.parametrize("name", ["inlet", "outlet"])
def test_hooks_as_the_host_reads_them(name: str) -> None:
    """Hooks are coroutines whose arguments all have defaults: no release supplies every one."""
    hook = getattr(Filter(), name)
    assert inspect.iscoroutinefunction(hook)
    body, *others = inspect.signature(hook).parameters.values()
    assert body.name == "body"
    assert all(one.default is None for one in others)
    assert all(one.name.startswith("__") and one.name.endswith("__") for one in others)


def test_names_that_mean_something_to_the_host() -> None:
    """The filter is no toggle, takes no files away, and has no hook that it does not need."""
    plugin = Filter()
    for name in ("toggle", "file_handler", "stream", "request", "icon"):
        assert not hasattr(plugin, name)
    assert isinstance(plugin.valves, plugin.Valves)
    assert issubclass(plugin.UserValves, BaseModel)


@pytest.mark.parametrize("name", ["inlet", "outlet"])
async def test_unsupported_host(name: str, caplog: pytest.LogCaptureFixture) -> None:
    """On a host that is too old the chat goes on without memory, and the log says so once."""
    plugin, body = Filter(), a_body()
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            assert await run(getattr(plugin, name), body, SAVED) is body
    assert len(caplog.records) == 1
    assert "older than 0.9.6" in caplog.text


@pytest.mark.parametrize("name", ["inlet", "outlet"])
@pytest.mark.parametrize(
    "user",
    [
        {},
        {"id": ""},
        {"id": None},
        {"id": "ada", "valves": UserValves(enabled=False)},
        {"id": "ada", "settings": {"ui": {"memory": False}}},
    ],
)
async def test_nobody_to_serve(name: str, user: dict[str, Any]) -> None:
    """Without a user, or for one who wants no memory, nothing is done and nothing is said."""
    body, page = a_body(), Page()
    assert await run(getattr(on_a_host(), name), body, SAVED, page, user) is body
    assert page.lines == []


@over("words", ["Hello", "", "?!", None, [], [{"type": "image_url"}]])
async def test_old_block_goes(words: Any) -> None:
    """Where no memories come, an old block goes from a copy, and the rest of the prompt stays."""
    body = a_body(words)
    before = copy.deepcopy(body)
    changed = await run(on_a_host().inlet, body, CHANNEL)
    assert system_prompt(changed) == "Be kind."
    assert changed["messages"][1:] == before["messages"][1:]
    assert body == before


@pytest.mark.parametrize("metadata", [SAVED, API], ids=["saved", "api"])
async def test_host_that_has_changed(
    metadata: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """When the host's modules are not where they were, the message goes on as it came."""
    body, page = a_body(), Page()
    before = copy.deepcopy(body)
    with caplog.at_level(logging.WARNING):
        assert await run(on_a_host().inlet, body, dict(metadata), page) is body
    assert body == before
    assert page.lines == [f"Answered without memories: {UNEXPECTED}"]
    assert "open_webui" in caplog.text


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (HostError("the database is locked"), "the database is locked"),
        (TimeoutError(), "they took too long"),
        (RuntimeError("a bug"), UNEXPECTED),
    ],
)
async def test_recall_fails(failure: Exception, reason: str) -> None:
    """Whatever fails, the message goes on, and the user is told the reason."""
    body, page = a_body(), Page()
    assert await run(on_a_host().inlet, body, Faulty(failure), page) is body
    assert page.lines == [f"Answered without memories: {reason}"]


async def test_chat_fits_whatever_fails() -> None:
    """Where recall fails, a long chat is cut to its window all the same, and warned of."""
    plugin, body = on_a_host(), a_body()
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
    assert sent[-1] == before["messages"][-1]
    assert "Beware" in system_prompt(changed)


async def test_fitting_fails(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where even the cutting fails, the chat goes on as it came."""
    plugin, body = on_a_host(), a_body()

    def breaks(_: RequestInHand) -> dict[str, Any]:
        raise RuntimeError("a bug")

    monkeypatch.setattr(plugin._recall, "without_memories", breaks)
    assert await run(plugin.inlet, body, dict(SAVED)) is body
    assert "sent as it came" in caplog.text


async def test_cancelled_recall() -> None:
    """A turn that is stopped is stopped: cancellation is no failure."""
    with pytest.raises(asyncio.CancelledError):
        await run(on_a_host().inlet, a_body(), Faulty(asyncio.CancelledError()))


@pytest.mark.parametrize("body", [{}, {"messages": None}, {"messages": "x"}, {"messages": [None]}])
@pytest.mark.parametrize("name", ["inlet", "outlet"])
async def test_odd_bodies(name: str, body: dict[str, Any]) -> None:
    """A body of another shape than ever seen comes back, and raises nothing."""
    assert isinstance(await run(getattr(on_a_host(), name), body, API), dict)


@pytest.mark.parametrize("name", ["inlet", "outlet"])
async def test_odd_valves_of_a_user(name: str) -> None:
    """What another filter left in the user's valves is passed over."""
    for left_behind in (None, "text", {"enabled": False}, object()):
        user = {"id": "ada", "valves": left_behind}
        assert await run(getattr(on_a_host(), name), a_body("?!"), API, None, user)


async def test_outlet_returns_at_once() -> None:
    """The outlet hands the body back and learns afterwards: nobody waits for it."""
    plugin, body, page = on_a_host(), a_body(), Page()
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
    assert page.lines == ["Nothing saved: queueing a turn: No module named 'open_webui'"]


@over(
    "metadata",
    [
        CHANNEL,
        {**SAVED, "chat_id": "local:s"},
        {**SAVED, "internal": True},
        {**SAVED, "automation_id": "a"},
        {**SAVED, "user_message": {"meta": {"internal": True}}},
        API,
    ],
)
async def test_conversations_that_are_not_learned(metadata: dict[str, Any]) -> None:
    """Where the words may not be the user's own, nothing is learned and nothing is said."""
    page = Page()
    await run(on_a_host().outlet, a_body(), metadata, page)
    assert page.lines == []


@pytest.mark.parametrize(
    ("error", "lines"),
    [(HostError("locked"), ["Failed: locked"]), (RuntimeError("x"), [f"Failed: {UNEXPECTED}"])],
)
async def test_work_behind_an_answer(
    error: Exception, lines: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """What fails behind an answer is logged, and told where the user waits for it."""
    plugin, page = on_a_host(), Page()
    hook = plugin._hook({"id": "ada"}, dict(SAVED), request(), page.emit, None)
    assert hook is not None

    async def work() -> str:
        raise error

    plugin._behind(hook, work(), "trying", "Failed")
    plugin._behind(hook, work(), "trying in silence")
    await settled()
    assert page.lines == lines
    assert "trying" in caplog.text


async def test_silent_status() -> None:
    """Who wants no status line gets none, not even about a failure."""
    page = Page()
    user = {"id": "ada", "valves": UserValves(show_status=False)}
    await run(on_a_host().inlet, a_body(), dict(SAVED), page, user)
    await run(on_a_host().outlet, a_body(), dict(SAVED), page, user)
    assert page.lines == []


async def test_user_is_not_kept_on_the_instance() -> None:
    """One instance serves everybody: nothing of a user stays on it."""
    plugin = on_a_host()
    await run(plugin.inlet, a_body("my secret words"), dict(SAVED), None, {"id": "user-4711"})
    await run(plugin.outlet, a_body("my secret words"), dict(SAVED), None, {"id": "user-4711"})
    kept = {name: value for name, value in vars(plugin).items() if name not in ("valves",)}
    assert "secret" not in str(kept)
    assert not [value for value in kept.values() if value == "user-4711"]
