"""With ``pii_redaction`` = ``all`` the filter's hooks give placeholders out and values back.

Open WebUI is not installed here, so nothing is recalled; that stops no redaction.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Sequence
from typing import Any

import pytest

from adaptive.filter import Filter
from adaptive.privacy.redacted_chat import EventRestorer
from adaptive.privacy.redaction import Redaction
from adaptive.settings.valves import PiiRedaction, Valves
from tests.test_filter import Page, settled

MAIL = "ana@example.org"


def redacting() -> Filter:
    """A filter whose admin wants no personal data to go out."""
    plugin = Filter()
    plugin.valves = Valves(pii_redaction="all")
    return plugin


def asking(text: str = MAIL) -> dict[str, Any]:
    """A request with these words of a user."""
    return {"messages": [{"role": "user", "content": text}]}


def chunk(text: str) -> dict[str, Any]:
    """The only piece of an answer."""
    return {
        "choices": [
            {"index": 0, "delta": {"content": text}, "finish_reason": "stop"}
        ]
    }


def failing(texts: Sequence[str], **_: Any) -> list[str]:
    """Fail with an error that quotes what it was given."""
    raise KeyError(*texts)


async def test_there_and_back() -> None:
    """From a turn's inlet to its outlet hooks redact and restore, as the host calls them."""
    plugin = redacting()
    metadata: dict[str, Any] = {}
    out = await plugin.inlet(asking(f"I am {MAIL}."), __metadata__=metadata)
    assert out["messages"][0]["content"] == "I am [EMAIL_1]."
    # 0.9 asks whether the attribute is true, 0.12 whether it can be called (host: utils/filter.py).
    assert callable(getattr(plugin, "stream", None))
    assert next(iter(inspect.signature(plugin.stream).parameters)) == "event"
    assert next(iter(inspect.signature(plugin.request).parameters)) == "body"
    more = await plugin.request(
        asking(f"Document of {MAIL}. I am [EMAIL_1]."), metadata
    )
    assert (
        more["messages"][0]["content"]
        == "Document of [EMAIL_1]. I am [EMAIL_1]."
    )
    event = plugin.stream(chunk("Hi [EMAIL_1]"), __metadata__=metadata)
    assert event["choices"][0]["delta"]["content"] == f"Hi {MAIL}"
    answer = {"id": "a", "role": "assistant", "content": "Hi [EMAIL_1]"}
    ended = await plugin.outlet(
        {"id": "a", "messages": [answer]}, __metadata__=metadata
    )
    assert ended["messages"][0]["content"] == f"Hi {MAIL}"


@pytest.mark.parametrize("where", ["off", "store", "model"])
async def test_valve_off(where: PiiRedaction) -> None:
    """With another setting requests stay as they are, and there is no hook on answers."""
    plugin = Filter()
    plugin.valves = Valves(pii_redaction=where)
    metadata: dict[str, Any] = {}
    body = asking()
    assert await plugin.inlet(body, __metadata__=metadata) is body
    assert await plugin.request(body, metadata) is body
    assert not hasattr(plugin, "stream")


@pytest.mark.parametrize(
    "off",
    [
        {"valves": Filter.UserValves(enabled=False)},
        {"settings": {"ui": {"memory": False}}},
    ],
    ids=["valve", "settings"],
)
async def test_off_for_the_user_only(off: dict[str, Any]) -> None:
    """A user who has switched memory off is protected as the admin wants it."""
    plugin = redacting()
    user = {"id": "ada", **off}
    out = await plugin.inlet(asking(), __user__=user, __metadata__={})
    assert out["messages"][0]["content"] == "[EMAIL_1]"


@pytest.mark.parametrize("hook", ["inlet", "request"])
async def test_failure(
    hook: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Where redaction fails nothing is sent, the chat goes on, and no line quotes a text."""
    plugin = redacting()
    page = Page()
    metadata: dict[str, Any] = {}
    if hook == "request":
        await plugin.inlet(asking("Hello"), __metadata__=metadata)
    called = getattr(plugin, hook)
    monkeypatch.setattr(
        Redaction,
        "redact_all",
        lambda _, *texts, **more: failing(*texts, **more),
    )
    with caplog.at_level(logging.DEBUG):
        out = await called(
            asking(), __metadata__=metadata, __event_emitter__=page.emit
        )
    await settled()
    assert MAIL not in str(out)
    assert out["messages"][0]["role"] == "user"
    assert MAIL not in caplog.text
    assert "KeyError" in caplog.text
    assert page.lines == [
        "Not sent to the model: personal data in it could not be replaced"
    ]


async def test_failure_while_streaming(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A piece that can't be restored is shown with its placeholder."""
    plugin = redacting()
    metadata: dict[str, Any] = {}
    await plugin.inlet(asking(), __metadata__=metadata)
    monkeypatch.setattr(EventRestorer, "restored", failing)
    event = chunk("[EMAIL_1]")
    assert plugin.stream(event, __metadata__=metadata) is event
    assert "TypeError" in caplog.text
