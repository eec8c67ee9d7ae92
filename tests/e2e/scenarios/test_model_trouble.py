"""Whatever the model does: the answer comes, nothing wrong is stored, a reason is shown."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.replies import Answer, CloseConnection, CutOff, Fail, Garbage, Hang, Say
from tests.e2e.scenarios.extraction import learns, new, operations

TEA = "User likes green tea."
CELLO = "User plays the cello."
WORDS = "I like green tea and play the cello."
BOTH = json.dumps(operations(new(TEA), new(CELLO)))
# Everything up to the middle of the second fact.
HALF = BOTH[: BOTH.index("cello")]


@dataclass(frozen=True)
class Case:
    """What the model does, which facts may be stored then, and what the status line must say."""

    name: str
    answer: Answer
    stored: tuple[str, ...]
    status: str


# One of each kind; every form of a reply that models give is a case of the unit tests of `llm`.
CASES = (
    Case("fails", Fail(500), (), "HTTP 500"),
    Case("hangs", Hang(), (), "did not answer within"),
    Case("closes the connection", CloseConnection(after=BOTH), (), "Nothing saved"),
    Case("HTML", Garbage(), (), "Nothing saved"),
    Case("prose", Say("You like tea, how nice!"), (), "no usable JSON"),
    Case("cut at the limit", CutOff(HALF), (TEA,), "Memory saved: " + TEA),
    Case(
        "reasoning and a fence",
        Say(f"<think>{{tea}} [..]</think>\nHere you are:\n```json\n{BOTH}\n```\nDone."),
        (TEA, CELLO),
        "Memory saved",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_reply(host: RunningHost, plugin: InstalledFilter, case: Case) -> None:
    """The chat answers, only whole facts are stored, and the status line tells the rest."""
    await plugin.set_valves({"llm_timeout_seconds": 1, "max_retries": 1, "retry_delay": 0.05})
    page = await host.user("ann")
    learns(host.model, "tea", case.answer)
    turn = await page.new_chat().send(WORDS)
    assert turn.content == "Understood."
    assert turn.error is None
    await page.wait_for_status(turn, case.status)
    rows = sorted(memory.content for memory in await page.memories())
    assert len(rows) == len(case.stored)
    assert all(any(fact in row for row in rows) for fact in case.stored)


async def test_failure_then_success(host: RunningHost, plugin: InstalledFilter) -> None:
    """A provider that fails once is asked again, and the fact is saved."""
    await plugin.set_valves({"retry_delay": 0.05})
    page = await host.user("ann")
    learns(host.model, "tea", [Fail(503), Fail(429, retry_after=0.1), BOTH])
    turn = await page.new_chat().send(WORDS)
    await page.wait_for_status(turn, "Memory saved")
    assert len(await page.memories()) == 2


async def test_failed_turn_is_learned_when_repeated(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """A turn whose extraction failed is learned when the answer is regenerated."""
    await plugin.set_valves({"max_retries": 0})
    page = await host.user("ann")
    learns(host.model, "tea", [Fail(500), BOTH])
    chat = page.new_chat()
    turn = await chat.send(WORDS)
    await page.wait_for_status(turn, "HTTP 500")
    again = await chat.regenerate()
    await page.wait_for_status(again, "Memory saved")
    assert len(await page.memories()) == 2


async def test_refused_answer_format(host: RunningHost, plugin: InstalledFilter) -> None:
    """A model that takes no JSON schema is asked without one, and that is remembered."""
    page = await host.user("ann")

    def picky(body: dict[str, object]) -> Answer:
        return Fail(400, "response_format is not supported") if "response_format" in body else BOTH

    learns(host.model, "tea", picky)
    for _ in range(2):
        turn = await page.new_chat().send(WORDS)
        await page.wait_for_status(turn, TEA)
    asked = [
        request.body.get("response_format")
        for request in host.model.requests_titled("# Extract memories")
    ]
    kinds = [form["type"] if form else None for form in asked]
    assert kinds == ["json_schema", "json_object", None, None]


async def test_chat_model_failing(host: RunningHost, plugin: InstalledFilter) -> None:
    """When the chat's own model fails, the user sees its error and the next turn works."""
    page = await host.user("ann")
    learns(host.model, "tea", BOTH)
    host.model.when_chatting(Fail(500, "the model is on fire"))
    chat = page.new_chat()
    failed = await chat.send(WORDS)
    assert failed.error is not None
    host.model.when_chatting(Say("Fine."))
    turn = await chat.send("Green tea it is: " + WORDS)
    assert turn.content == "Fine."
    await page.wait_for_status(turn, "Memory saved")
