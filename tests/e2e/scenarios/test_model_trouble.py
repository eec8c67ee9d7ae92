"""Whatever the model does: the answer comes, nothing wrong is stored, a reason is shown."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Answer, CutOff, Fail, Hang, Say
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
    Case("prose", Say("You like tea, how nice!"), (), "no usable JSON"),
    Case("cut at the limit", CutOff(HALF), (TEA,), "Saved: " + TEA),
    Case(
        "reasoning and a fence",
        Say(f"<think>{{tea}} [..]</think>\nHere you are:\n```json\n{BOTH}\n```\nDone."),
        (TEA, CELLO),
        "Saved",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_reply(host: RunningHost, page: Page, case: Case) -> None:
    """The chat answers, only whole facts are stored, and the status line tells the rest."""
    await host.set_valves({"llm_timeout_seconds": 8})
    learns(host.model, "tea", case.answer)
    turn = await page.new_chat().send(WORDS)
    assert turn.content == "Understood."
    assert turn.error is None
    await page.wait_for_status(turn, case.status)
    rows = sorted(memory.content for memory in await page.memories())
    assert len(rows) == len(case.stored)
    assert all(any(fact in row for row in rows) for fact in case.stored)


async def test_chat_model_failing(host: RunningHost, page: Page) -> None:
    """When the chat's own model fails, the user sees its error and the next turn works."""
    learns(host.model, "tea", BOTH)
    host.model.when_chatting(Fail(500, "the model is on fire"))
    chat = page.new_chat()
    failed = await chat.send(WORDS)
    assert failed.error is not None
    host.model.when_chatting(Say("Fine."))
    turn = await chat.send("Green tea it is: " + WORDS)
    assert turn.content == "Fine."
    await page.wait_for_status(turn, "Saved")
