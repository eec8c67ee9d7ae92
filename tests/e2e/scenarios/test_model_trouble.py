"""Whatever the model does: the answer comes, nothing wrong is stored, a reason is shown."""

from __future__ import annotations

import json

import pytest

from tests.e2e.driver.extraction import learns, new, operations
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Answer, Fail, Hang, Say

TEA = "User likes green tea."
CELLO = "User plays the cello."
WORDS = "I like green tea and play the cello."
ACCOUNT = "org-4711-acme"
INTERNAL = "http://gateway.internal:8443/v1"
BOTH = json.dumps(operations(new(TEA), new(CELLO)))
# Everything up to the middle of the second fact.
HALF = BOTH[: BOTH.index("cello")]


# One of each kind; every form of a reply that models give is a case of the unit tests of `llm`.
@pytest.mark.parametrize(
    ("answer", "stored", "status"),
    [
        (Fail(500), 0, "HTTP 500"),
        (Hang(), 0, "does not answer"),
        (Say(HALF, finish_reason="length"), 1, f"Saved: {TEA}"),
    ],
    ids=["fails", "hangs", "cut at the limit"],
)
async def test_reply(
    host: RunningHost, page: Page, answer: Answer, stored: int, status: str
) -> None:
    """The chat answers, only whole facts are stored, and the status line tells the rest."""
    await host.set_valves({"llm_timeout_seconds": 8})
    learns(host.model, "tea", answer)
    turn = await page.new_chat().send(WORDS)
    assert (turn.content, turn.error) == ("Understood.", None)
    await page.wait_for_status(turn, status)
    assert [TEA in one.content for one in await page.memories()] == [
        True
    ] * stored


async def test_providers_words(host: RunningHost, page: Page) -> None:
    """What a failing provider says is in the log, and in no line that people see or chats keep."""
    learns(
        host.model, "tea", Fail(500, f"{ACCOUNT} has no seat at {INTERNAL}")
    )
    since = host.log_length()
    chat = page.new_chat()
    turn = await chat.send(WORDS)
    await page.wait_for_status(turn, "HTTP 500")
    shown = f"{await chat.status_history(turn)} {await chat.stored()} {page.statuses(turn)}"
    assert "HTTP 500" in shown
    assert not [
        words
        for words in (ACCOUNT, INTERNAL, host.model.url)
        if words in shown
    ]
    logged = [
        line
        for line in host.log_text(since).splitlines()
        if "adaptive_memory" in line
    ]
    assert [
        words
        for words in (ACCOUNT, INTERNAL)
        if words not in "\n".join(logged)
    ] == []


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


async def test_lesson_gives_way(host: RunningHost, page: Page) -> None:
    """The model runs on the server's own machine: a lesson's call is closed for a message.

    It is made once more when the answer has come, and nothing is told of it.
    """
    learns(host.model, "tea", [Hang(), operations(new(TEA))])
    turn = await page.new_chat().send(WORDS)
    await host.model.wait_for_request(
        lambda request: request.title == "# Extract memories"
    )
    other = await host.user("other")
    answer = await other.new_chat().send("How far is the moon?")
    assert answer.content == "Understood."
    await page.wait_for_status(turn, f"Saved: {TEA}")
    closed, made = host.model.requests_titled("# Extract memories")[:2]
    assert (closed.client_left, made.client_left) == (True, False)
    assert not [line for line in page.statuses(turn) if "Nothing" in line]
