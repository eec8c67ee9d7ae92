"""The host's own tasks, written from a request before it goes to the chat model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Say, call_tool
from tests.e2e.driver.scripted_model import CHAT_MODEL, SMALL_MODEL

TEA = "User likes green tea."
QUESTION = "Which green tea does the user like?"
LEGACY = {"params": {"function_calling": "legacy"}}
pytestmark = pytest.mark.every_release


@asynccontextmanager
async def task_model(host: RunningHost) -> AsyncIterator[None]:
    """A host with a model for its own tasks, which may search the web and suggest questions."""
    changes: dict[str, dict[str, Any]] = {
        "/api/v1/tasks/config": {
            "TASK_MODEL": SMALL_MODEL,
            "TASK_MODEL_EXTERNAL": SMALL_MODEL,
            "ENABLE_FOLLOW_UP_GENERATION": True,
        },
        "/api/v1/retrieval/config": {"web": {"ENABLE_WEB_SEARCH": True}},
    }
    async with AsyncExitStack() as stack:
        for path, change in changes.items():
            settings = host.admin_settings(
                path, change, save_at=f"{path}/update"
            )
            await stack.enter_async_context(settings)
        yield


def prompts(host: RunningHost, model: str) -> list[str]:
    """All that a model was asked."""
    asked = [one for one in host.model.requests if one.model == model]
    return [str(one.messages) for one in asked]


def lines(page: Page, turn: Any) -> str:
    """What was said with an answer."""
    return "\n".join(
        str(status.get("description")) for status in page.statuses(turn)
    )


@pytest.mark.parametrize(
    "sent",
    [
        {"features": {"web_search": True}},
        {"files": [{"type": "file", "id": "gone", "name": "tea.txt"}]},
    ],
    ids=["web search", "files"],
)
async def test_queries(
    host: RunningHost, page: Page, sent: dict[str, Any]
) -> None:
    """Queries are written by another model, which reads no memory; the chat model reads it.

    Up to 0.11.1 that can't be had, so there nobody does, and the line says why.
    """
    await page.add_memory(TEA)
    await host.set_valves(
        {"save_mode": "off"}
    )  # the model for tasks learns, too
    async with task_model(host):
        turn = await page.new_chat().send(QUESTION, **LEGACY, **sent)
        await host.rest()
    asked = [one for one in prompts(host, SMALL_MODEL) if "queries" in one]
    assert asked
    assert TEA not in str(prompts(host, SMALL_MODEL))
    comes = page.release.number >= (0, 11, 2)
    assert (TEA in prompts(host, CHAT_MODEL)[-1]) is comes
    withheld = (
        "No memories recalled: another task of this Open WebUI would read them"
    )
    assert ("1 memory recalled" if comes else withheld) in lines(page, turn)


async def test_temporary_chat(host: RunningHost, page: Page) -> None:
    """What to ask next in a chat that is not stored another model writes, so no memory comes."""
    await page.add_memory(TEA)
    async with task_model(host):
        await host.set_valves({"inject_in_temporary_chats": True})
        turn = await page.temporary_chat().send(QUESTION)
        await host.rest()
    assert TEA not in str([one.body for one in host.model.requests])
    assert "another task of this Open WebUI would read them" in lines(
        page, turn
    )


async def test_tool_calls(host: RunningHost, page: Page) -> None:
    """The model reads the same memories, once, in each request of its answer."""
    await page.add_memory(TEA)
    host.model.when_chatting(
        [call_tool("get_current_timestamp"), Say("At noon.")]
    )
    native = {"params": {"function_calling": "native"}}
    turn = await page.new_chat().send(QUESTION, **native)
    before, after = (one.prompt for one in host.model.chat_requests()[-2:])
    assert turn.content.endswith("At noon.")
    assert "tool" in [
        one["role"] for one in host.model.chat_requests()[-1].messages
    ]
    assert before.count(TEA) == after.count(TEA) == 1
    assert (
        before.partition("<adaptive_memory>")[1:]
        == after.partition("<adaptive_memory>")[1:]
    )
