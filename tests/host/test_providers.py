"""A model of the host: what comes back from it, which one is asked, and those in the panel."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from adaptive.core.errors import ModelBusy, ModelRejected, ReplyUnusable
from adaptive.host.providers import HostModels, _body_of, learning_model
from adaptive.settings.valves import Valves
from tests.host.test_requests import running_request

BODY = {"choices": [{"message": {"content": "Hi"}}]}


@pytest.mark.parametrize("reply", [BODY, JSONResponse(BODY), PlainTextResponse(json.dumps(BODY))])
def test_body(reply: Any) -> None:
    """The body is what the host returns, or the JSON in its response, whatever its type says."""
    assert _body_of(reply) == BODY


def test_provider_fails() -> None:
    """A provider's status comes back as a response; what it asks to wait is kept."""
    with pytest.raises(ModelBusy, match=r"HTTP 429.*slow down") as busy:
        _body_of(JSONResponse({"error": "slow down"}, 429, headers={"Retry-After": "7"}))
    assert busy.value.retry_after == 7
    with pytest.raises(ModelRejected, match="HTTP 400"):
        _body_of(JSONResponse({"error": "response_format"}, 400))


@pytest.mark.parametrize("reply", [StreamingResponse(iter([b"data: {}"])), Response(b"<html>")])
def test_unusable(reply: Response) -> None:
    """A stream, and a page in the place of JSON, are told as such."""
    with pytest.raises(ReplyUnusable, match=r"streams|no JSON"):
        _body_of(reply)


CHAT = {"id": "chat", "connection_type": "external"}


@pytest.mark.parametrize(
    ("chosen", "chat_model", "tasks", "asked"),
    [
        (" small ", CHAT, ("task", "task"), "small"),
        ("", CHAT, ("other", "task"), "task"),
        ("", {**CHAT, "connection_type": "local"}, ("task", "other"), "task"),
        ("", CHAT, ("", "gone"), "chat"),
    ],
)
async def test_chosen_model(
    chosen: str, chat_model: dict[str, str], tasks: tuple[str, str], asked: str
) -> None:
    """The valve's model is asked, else the host's task model for such chats, else the chat's."""
    request = running_request()
    request.app.state.MODELS = {"task": {}, "chat": {}}
    request.app.state.config = SimpleNamespace(TASK_MODEL=tasks[0], TASK_MODEL_EXTERNAL=tasks[1])
    assert await learning_model(request, chosen, chat_model, direct=False) == asked
    if asked == "chat":
        with pytest.raises(ModelRejected, match="reached from the browser only"):
            await learning_model(request, chosen, chat_model, direct=True)
        with pytest.raises(ModelRejected, match="no model is known"):
            await learning_model(request, chosen, {}, direct=False)


MODELS: dict[str, object] = {
    "small": {"id": "small", "name": "small", "owned_by": "openai"},
    "cook": {"id": "cook", "name": "The cook", "info": {"base_model_id": "small"}},
    "big": {"id": "big", "name": ""},
    "arena-model": {"id": "arena-model", "name": "Arena", "owned_by": "arena", "arena": True},
    "broken": "broken",
}
CHOICES = {"big": "big", "small": "small", "cook": "The cook (cook)"}
GONE = {"gone": "gone (not available now)"}


@pytest.mark.parametrize("models", [MODELS, None, 7], ids=["host", "none", "broken"])
def test_panel(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The panel lists models by label without an arena, and the saved one on any host."""
    host = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(MODELS=models)))
    monkeypatch.setitem(sys.modules, "open_webui.main", host)
    known = CHOICES if models is MODELS else {}

    class WithHost(Valves):
        model_catalogue = HostModels(lambda: " gone ")

    listed = {one["value"]: one["label"] for one in WithHost.model_choices()}
    assert listed == {"": "Automatic", **GONE, **known}
    assert list(listed)[1:] == ["gone", *known]
    assert [one["label"] for one in HostModels(lambda: "").choices()] == [*known.values()]
