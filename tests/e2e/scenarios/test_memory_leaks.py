"""Memories stay with their owner and the chat's model, whatever else the host asks of models.

A user tells facts and then lives with them for some turns in which none of their telling words is
said, so each of these words that turns up comes from a memory. The task model is as careless as
one can be: what it is shown goes into the queries and prompts that it writes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import chain
from typing import Any, Literal

import pytest

from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.extraction import Body, learns, new, operations
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.leak_search import (
    Place,
    event_traces,
    log_traces,
    request_traces,
    sightings,
)
from tests.e2e.driver.page import Page
from tests.e2e.driver.planted import LOCAL_BANK, PLANTED_MEMORIES
from tests.e2e.driver.replies import Answer, Say, call_tool
from tests.e2e.driver.scripted_model import (
    SECOND_MODEL,
    TASK_MODEL,
    newest_user_text,
)

Calls = Literal["native", "legacy"]

# Who says this is looked for, too: where it is not seen, the search is blind.
CANARY = "marmalade"
QUESTION = (
    f"Over {CANARY}: which lute do I play, in which town was I born, and what are my blood pressure"
    " pills called?"
)
FOLLOW_UP = f"More {CANARY}. And which lute was that again?"
COMMANDS = (
    "/memory",
    "/memory find lute",
    "/memory log",
    "/memory why",
    "/remember I own a kayak",
)
NOTES = {
    "type": "text",
    "name": "notes.txt",
    "content": "Nothing of interest.",
}
VALVES = {
    "allowed_memory_banks": f"Personal, {LOCAL_BANK}",
    "local_only_banks": LOCAL_BANK,
    "inject_in_temporary_chats": True,
    "show_sources": True,
    "use_llm_for_relevance": True,
    "embedding_provider_type": "openai_compatible",
    "embedding_model_name": "words",
}
BELL = """
class Tools:
    def ring(self) -> str:
        \"\"\"Ring a bell.\"\"\"
        return "It rings."
"""

# What is remembered goes to the chat's model, to the plug-in's own calls and to the page of the
# user whose it is; what is for local models only goes to none here. All memories have been
# embedded before the user lives with them.
ALLOWED: Mapping[str, frozenset[Place]] = {
    "Personal": frozenset(
        {"chat request", "our request", "status", "source", "event"}
    ),
    LOCAL_BANK: frozenset(),
}
# Where what the user says must be seen.
_SAID: frozenset[Place] = frozenset(
    {
        *("chat request", "our request", "task request", "event"),
        *("embedding", "search engine", "image engine"),
    }
)


@pytest.mark.every_release
@pytest.mark.parametrize("calls", ["native", "legacy"])
async def test_memories_go_to_nobody_else(
    host: RunningHost, page: Page, calls: Calls
) -> None:
    """No task, engine, log line or other user sees a memory, and no model a local-only one."""
    bob = await host.user("bob")
    await host.set_valves({**VALVES, "embedding_api_url": host.model.url})
    for planted in PLANTED_MEMORIES:
        fact = new(planted.memory, memory_bank=planted.bank, importance=9)
        learns(host.model, planted.needle, operations(fact))
        await page.say(planted.said, "Saved")
    await host.rest()
    _let_the_models_blab(host)
    needles = {
        planted.needle: planted.needle for planted in PLANTED_MEMORIES
    } | {CANARY: CANARY}

    seen = await _seen_while(host, page, calls, needles)
    blind = [place for place in _SAID if (CANARY, place) not in seen]
    assert not blind, f"the search is blind to {blind}"
    # What may be seen is: the search has something to find.
    assert ("Quillandra", "chat request") in seen
    leaks = [
        f"{planted.needle} in {place}: {', '.join(sorted(where))}"
        for planted in PLANTED_MEMORIES
        for (needle, place), where in seen.items()
        if needle == planted.needle and place not in ALLOWED[planted.bank]
    ]
    assert not leaks, "\n".join(sorted(leaks))
    assert (
        sightings(needles, event_traces([*bob.events, *host.admin.events]))
        == {}
    )

    seen = await _seen_while(host, bob, calls, needles)
    assert {needle for needle, _ in seen} == {CANARY}, seen


async def _seen_while(
    host: RunningHost, page: Page, calls: Calls, needles: Mapping[str, str]
) -> dict[tuple[str, Place], set[str]]:
    """What is seen of the needles while a user lives: in requests, events and the log."""
    since, before = host.log_length(), len(page.events)
    host.model.forget_requests()
    async with (
        host.task_settings(TASK_MODEL_EXTERNAL=TASK_MODEL),
        a_tool(host),
    ):
        await _live(page, calls)
        await host.rest()
    traces = (
        request_traces(host.model),
        event_traces(page.events[before:]),
        log_traces(host, since),
    )
    return sightings(needles, chain.from_iterable(traces))


async def _live(page: Page, calls: Calls) -> None:
    """Some turns in chats of every kind, with everything in the page switched on once."""
    params = {"function_calling": calls}
    features = page.features()
    for chat in (
        page.new_chat(),
        page.new_chat(model=SECOND_MODEL),
        page.temporary_chat(),
    ):
        await _say(chat, QUESTION, params=params)
        await _say(chat, FOLLOW_UP, params=params)
        await chat.regenerate()
    for command in COMMANDS:
        chat = page.new_chat()
        await _say(chat, command, params=params)
        await _say(chat, FOLLOW_UP, params=params)
    for feature in ("web_search", "image_generation"):
        wanted = {**features, feature: True}
        await _say(page.new_chat(), QUESTION, features=wanted, params=params)
    await _say(page.new_chat(), QUESTION, files=[NOTES], params=params)
    await _say(page.new_chat(), QUESTION, tool_ids=["bell"], params=params)
    answer = await page.complete(QUESTION)
    assert answer.status == 200, answer


async def _say(chat: Conversation, words: str, **extra: Any) -> None:
    turn = await chat.send(words, **extra)
    assert turn.error is None, turn


def _let_the_models_blab(host: RunningHost) -> None:
    """The task model quotes all it is shown, and the chat's model searches and draws if it may."""

    def chat_answer(body: Body) -> Answer:
        names = [tool["function"]["name"] for tool in body.get("tools", ())]
        is_first = body["messages"][-1].get("role") == "user"
        if is_first and "search_web" in names:
            return call_tool("search_web", query=f"lutes and {CANARY}")
        if is_first and "generate_image" in names:
            return call_tool("generate_image", prompt=f"A lute and {CANARY}")
        return Say()

    host.model.when_chatting(chat_answer)
    host.model.when_task("queries", lambda body: {"queries": [_quoted(body)]})
    host.model.when_task(
        "image prompt", lambda body: {"prompt": _quoted(body)}
    )


def _quoted(body: Body) -> str:
    """What a task is shown, without braces: in an answer the host looks for the last ones."""
    return newest_user_text(body).translate({ord("{"): None, ord("}"): None})


@asynccontextmanager
async def a_tool(host: RunningHost) -> AsyncIterator[None]:
    """A tool that chats may have, for as long as this lasts."""
    form = {
        "id": "bell",
        "name": "Bell",
        "content": BELL,
        "meta": {"description": "A bell"},
    }
    everyone = {
        "principal_type": "user",
        "principal_id": "*",
        "permission": "read",
    }
    await host.admin.request(
        "POST", "/api/v1/tools/create", {**form, "access_grants": [everyone]}
    )
    yield
    await host.admin.request("DELETE", "/api/v1/tools/id/bell/delete")
