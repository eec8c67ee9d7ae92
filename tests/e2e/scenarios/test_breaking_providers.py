"""Providers that break in the ways that real ones do, behind the host's own connection."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.extraction import EXTRACT, new, operations, proven
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.replies import (
    Answer,
    Body,
    BreakOff,
    Fail,
    Hang,
    Raw,
    Say,
    Script,
)
from tests.e2e.driver.scripted_model import MODELS
from tests.e2e.driver.waiting import until

FACTS = {
    "I have a cat called Miso.": "User has a cat called Miso.",
    "I ride a red bike to work.": "User rides a red bike to work.",
}
# At the first message; from the second on a form is known that works. Who thinks to the limit, and
# refuses the switch that would keep it from that, is asked once more.
MOST_CALLS = (3, 2)
TIMEOUT_SECONDS = 90


@dataclass(frozen=True)
class Way:
    """One way to break: what is answered to a request whose right answer is this text."""

    name: str
    answer: Callable[[Body, str], Answer]


def asks_for_json(body: Body) -> bool:
    """Whether the answer is to have a form."""
    return "response_format" in body


def message(text: Any, reason: str = "stop", **fields: Any) -> Raw:
    """A chat completion with these fields of its message."""
    said = {"role": "assistant", "content": text, **fields}
    return Raw({"choices": [{"message": said, "finish_reason": reason}]})


def under_json(trouble: Answer) -> Callable[[Body, str], Answer]:
    """Breaks where it is asked for JSON."""
    return lambda body, right: trouble if asks_for_json(body) else Say(right)


def at_first(trouble: Answer) -> Callable[[Body, str], Answer]:
    """Breaks at each question's first call; the answers of one message are one sequence."""
    return lambda _, right: [trouble, Say(right)]


def thinks(body: Body, right: str) -> Answer:
    """Thinks up to the limit of length, unless the template is told not to."""
    if body.get("chat_template_kwargs") == {"enable_thinking": False}:
        return Say(right)
    if "max_tokens" in body:
        return message("", "length", reasoning="Let me see. " * 20)
    return message(right, reasoning="Let me see. " * 200)


def thinks_without_a_switch(body: Body, right: str) -> Answer:
    """Thinks likewise, and its service knows no such switch."""
    if "chat_template_kwargs" in body:
        return Fail(400, "Unrecognized argument: chat_template_kwargs")
    return thinks(body, right)


def refuses_limits(body: Body, right: str) -> Answer:
    """A reasoning model that takes neither a limit nor a temperature."""
    if "max_tokens" in body or "temperature" in body:
        return Fail(400, "Unsupported parameter: max_tokens")
    return Say(right)


def calls_a_tool(_: Body, right: str) -> Answer:
    """Gives its answer to a tool that it makes up."""
    called = [{"function": {"name": "answer", "arguments": right}}]
    return message(None, tool_calls=called)


WAYS = (
    Way("fails-under-json", under_json(Fail(500))),
    Way("gateway", under_json(Raw(b"<html>Bad Gateway</html>", 502))),
    Way("refuses-json", under_json(Fail(400, "response_format"))),
    Way("empty", under_json(Say(""))),
    Way("prose", under_json(Say("What a lovely animal! Shall we go on?"))),
    Way("cut", under_json(message('{"oper' + " " * 90, "length"))),
    Way("empty-at-first", at_first(Say(""))),
    Way("prose-at-first", at_first(Say("What a lovely animal!"))),
    Way("gateway-at-first", at_first(Raw(b"<html>Bad Gateway</html>", 502))),
    Way("error-in-200", under_json(Raw({"error": {"message": "schema"}}))),
    Way("thinks", thinks),
    Way("thinks-without-switch", thinks_without_a_switch),
    Way("only-reasoning", lambda _, right: message("", reasoning=right)),
    Way("tool-call", calls_a_tool),
    Way("refuses-limits", refuses_limits),
    Way("busy", at_first(Raw({}, 429, {"Retry-After": "1"}))),
    Way("breaks-off", at_first(BreakOff())),
    Way("overloaded", at_first(Fail(503))),
    Way("slow", lambda _, right: Hang(2, Say(right))),
)


class BreakingModels:
    """Models by name, each of which breaks in its way where it is asked for facts."""

    def __init__(self) -> None:
        self._scripts: dict[tuple[str, str], Script] = {}

    def answer(self, body: Body) -> Answer:
        """What the model that is asked answers."""
        way = next(way for way in WAYS if way.name == body["model"])
        words, fact = next(
            item
            for item in FACTS.items()
            if item[0] in json.dumps(body["messages"][-1])
        )
        found: Any = proven(operations(new(fact, evidence=words)))
        right = json.dumps(found(body) if callable(found) else found)
        answer = way.answer(body, right)
        if not isinstance(answer, list):
            return answer
        script = self._scripts.setdefault((way.name, words), Script(answer))
        return script.next_reply(body)


async def say_all(host: RunningHost, said: dict[Conversation, str]) -> None:
    """Say something in each chat, and wait until what is said is saved.

    No answer begins while a lesson runs, whose call would be closed for it and made once more.
    """
    host.model.when_chatting(Hang())
    answered_before = len(host.model.chat_requests())
    running = [(chat, await chat.start(words)) for chat, words in said.items()]
    await until(
        lambda: len(host.model.chat_requests()) == answered_before + len(said),
        TIMEOUT_SECONDS,
        "a request for each message",
    )
    host.model.release()
    for chat, started in running:
        turn = await started.finish()
        saved = f"Saved: {FACTS[said[chat]]}"
        await chat.page.wait_for_status(turn, saved, TIMEOUT_SECONDS)


async def test_breaking_providers(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """However a provider breaks, a fact is learned, and the next one without trying for long.

    Each way is a model of its own with a user of its own, so that many break at the same time.
    """
    host.model.models = (*MODELS, *(way.name for way in WAYS))
    await host.admin.request("GET", "/api/models?refresh=true")
    host.model.when_title(EXTRACT, BreakingModels().answer)
    pages = {way.name: await host.user(way.name) for way in WAYS}
    calls: list[Counter[str]] = []
    for words in FACTS:
        chats = [page.new_chat(model=name) for name, page in pages.items()]
        await say_all(host, dict.fromkeys(chats, words))
        asked = Counter(
            request.model for request in host.model.requests_titled(EXTRACT)
        )
        calls.append(asked - sum(calls, Counter()))
    most = [max(counts.values()) for counts in calls]
    assert most == [*MOST_CALLS], calls
    assert [name for name, count in calls[0].items() if count > 2] == [
        "thinks-without-switch"
    ]
