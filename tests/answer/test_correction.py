"""Answers cleaned in the outlet, and which have links that are to be checked behind it."""

from __future__ import annotations

import copy
import logging
from typing import Any

import pytest

from adaptive.answer.correction import AnswerCorrection
from tests.answer.hooks import SAVED, a_hook

STRAY, CLEAN = "It is tea.<|im_end|>", "It is tea."


def answered(content: object, **fields: Any) -> dict[str, Any]:
    """An outlet's body that ends with this answer."""
    question = {"id": "u", "role": "user", "content": f"Tea? {STRAY}"}
    earlier = {"id": "e", "role": "assistant", "content": STRAY}
    answer = {"id": "a", "role": "assistant", "content": content, **fields}
    return {"id": "a", "chat_id": "c", "messages": [earlier, question, answer]}


def output(*texts: str) -> list[dict[str, Any]]:
    """Items of output that say this, with a call of a tool before."""
    items = [
        {"type": "message", "content": [{"type": "output_text", "text": t}]}
        for t in texts
    ]
    return [
        {"type": "function_call", "name": "look", "arguments": "</s>"},
        *items,
    ]


CORRECTION = AnswerCorrection()


@pytest.mark.parametrize(
    ("answer", "clean", "anomalies"),
    [
        ({"content": STRAY}, {"content": CLEAN}, ["sanitised"]),
        (
            {"content": "<|im_end|>"},
            {"content": ""},
            ["sanitised", "empty_response"],
        ),
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
        out = await CORRECTION.cleaned(hook, body)
    assert body == before
    assert out == answered(**clean)
    assert f"anomalies of an answer: {', '.join(anomalies)}" in caplog.text
    assert "tea" not in caplog.text


@pytest.mark.parametrize(
    "body",
    [
        answered(CLEAN),
        {"messages": [{"role": "user", "content": STRAY}]},
        {"messages": ["odd"]},
    ],
    ids=str,
)
async def test_clean_is_untouched(body: dict[str, Any]) -> None:
    """What is clean, no answer, or not to be cleaned is given back as the same object."""
    hook = a_hook()
    assert await CORRECTION.cleaned(hook, body) is body
    dirty = answered(STRAY)
    assert (
        await CORRECTION.cleaned(a_hook(clean_answers=False), dirty) is dirty
    )


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
    assert not CORRECTION.has_links(hook, answered(content))
