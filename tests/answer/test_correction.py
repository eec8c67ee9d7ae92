"""Answers cleaned in the outlet, and their links checked and corrected behind it."""

from __future__ import annotations

import asyncio
import copy
import logging
from typing import Any

import pytest
from aiohttp import web

from adaptive.answer.correction import AnswerCorrection
from adaptive.answer.links import LinkRules
from tests.answer.hooks import SAVED, Shelf, a_hook
from tests.answer.sites import as_internet, site

STRAY, CLEAN = "It is tea.<|im_end|>", "It is tea."
SEARCH = "https://duckduckgo.com/?q="


def answered(content: object, **fields: Any) -> dict[str, Any]:
    """An outlet's body that ends with this answer."""
    question = {"id": "u", "role": "user", "content": f"Tea? {STRAY}"}
    earlier = {"id": "e", "role": "assistant", "content": STRAY}
    answer = {"id": "a", "role": "assistant", "content": content, **fields}
    return {"id": "a", "chat_id": "c", "messages": [earlier, question, answer]}


def output(*texts: str) -> list[dict[str, Any]]:
    """Items of output that say this, with a call of a tool before."""
    items = [{"type": "message", "content": [{"type": "output_text", "text": t}]} for t in texts]
    return [{"type": "function_call", "name": "look", "arguments": "</s>"}, *items]


def correction() -> AnswerCorrection:
    """Correction that asks what these tests call the internet, without waiting for the host."""
    return AnswerCorrection(asyncio.Semaphore(1), LinkRules(is_public=as_internet), 0)


@pytest.mark.parametrize(
    ("answer", "clean", "anomalies"),
    [
        ({"content": STRAY}, {"content": CLEAN}, ["sanitised"]),
        ({"content": "<|im_end|>"}, {"content": ""}, ["sanitised", "empty_response"]),
        (
            {"content": f"One.\n{STRAY}", "output": output("One.</s>", STRAY)},
            {"content": f"One.\n{CLEAN}", "output": output("One.", CLEAN)},
            ["sanitised"],
        ),
    ],
    ids=["a mark", "nothing else", "output"],
)
async def test_cleaned(
    answer: dict[str, Any],
    clean: dict[str, Any],
    anomalies: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The last answer goes back clean, earlier messages as they were; it is counted, not quoted."""
    hook, body = a_hook(), answered(**answer)
    before = copy.deepcopy(body)
    with caplog.at_level(logging.INFO):
        out = await correction().cleaned(hook, body)
    assert body == before
    assert out == answered(**clean)
    assert hook.state.get("anomalies") == anomalies
    assert f"anomalies of an answer: {', '.join(anomalies)}" in caplog.text
    assert "tea" not in caplog.text


@pytest.mark.parametrize(
    "body",
    [
        answered(CLEAN),
        answered(f"```\n{STRAY}\n```", output=output(f"```\n{STRAY}\n```")),
        {"messages": [{"role": "user", "content": STRAY}]},
        {"messages": None},
        {"messages": ["odd"]},
        {},
    ],
    ids=str,
)
async def test_clean_is_untouched(body: dict[str, Any]) -> None:
    """What is clean, no answer, or not to be cleaned is given back as the same object."""
    hook = a_hook()
    assert await correction().cleaned(hook, body) is body
    assert "anomalies" not in hook.state
    dirty = answered(STRAY)
    assert await correction().cleaned(a_hook(clean_answers=False), dirty) is dirty


async def checked(
    shelf: Shelf, answer: str | None = None, answers: AnswerCorrection | None = None
) -> None:
    """Let the links of an answer be checked as the outlet does it."""
    hook, answers = a_hook(shelf=shelf, validate_links=True), answers or correction()
    if said := answers.with_links(hook, answered(answer or shelf.message["content"])):
        await answers.correct_links(hook, said)


async def test_broken_links_become_searches() -> None:
    """A link that is not there leads to a search then, stored and shown once; others stay.

    What another filter has put below the answer, and how the host sets spaces, is no edit.
    """
    async with site() as there:
        rest = " ".join(map(there.link, (200, 500, 429)))
        shelf = Shelf(f"{there.link(404)}\n\n{rest}\n\n*By us.*")
        await checked(shelf, f"{there.link(404)}\n{rest}")
    said = f"[404]({SEARCH}404)\n\n{rest}\n\n*By us.*"
    assert shelf.message["content"] == said
    shown = {"id": "a", "content": said}
    assert shelf.events == [{"type": "chat:outlet", "data": {"messages": [shown]}}]


async def test_edited_meanwhile() -> None:
    """If the answer was changed while, or before, links are asked, it stays so."""
    shelf = Shelf()

    async def changing(request: web.Request) -> web.StreamResponse:
        """Not there; the answer changes meanwhile."""
        shelf.message["content"] += " And milk."
        return web.Response(status=404)

    async with site(changing) as there:
        answer = f"See {there.link(404)}."
        shelf.message["content"] = answer
        await checked(shelf)
        before = copy.deepcopy(shelf.message)
        await checked(shelf, f"{answer} Once.")
        assert len(there.asked) == 1
    assert (shelf.message, shelf.events) == (before, [])


@pytest.mark.parametrize(
    ("chat_id", "wanted", "content"),
    [
        ("c", False, "[x](https://example.com)"),
        ("local:s", True, "[x](https://example.com)"),
        ("c", True, "https://example.com"),
    ],
)
def test_not_wanted(chat_id: str, wanted: bool, content: str) -> None:
    """Switched off, in chats that are not stored, and without links, there is nothing to do."""
    hook = a_hook({**SAVED, "chat_id": chat_id}, validate_links=wanted)
    assert correction().with_links(hook, answered(content)) == ""
