"""Models of the host: what comes back, which one is asked, and how they embed."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from fastapi.responses import (
    JSONResponse,
    PlainTextResponse,
    Response,
    StreamingResponse,
)

from adaptive.core.model import EmbeddingError
from adaptive.core.providers import (
    CompletionRequest,
    ModelBusy,
    ModelRejected,
    ReplyUnusable,
)
from adaptive.host.application import process_state
from adaptive.host.embedding import HostModel
from adaptive.host.providers import (
    HostCompleter,
    _body_of,
    known_models,
    learning_model,
)
from adaptive.settings.valves import Valves
from tests.host.test_application import running_request
from tests.rates import over

BODY = {"choices": [{"message": {"content": "Hi"}}]}


def test_body() -> None:
    """The body is what the host returns, or the JSON in its response, whatever its type says.

    A provider's status comes back as a response, with what it asks to wait; a stream, and a page in
    the place of JSON, are told as such.
    """
    for reply in (
        BODY,
        JSONResponse(BODY),
        PlainTextResponse(json.dumps(BODY)),
    ):
        assert _body_of(reply) == BODY
    with pytest.raises(ModelBusy, match=r"an error \(HTTP 429\)$") as busy:
        _body_of(
            JSONResponse(
                {"error": "slow down"}, 429, headers={"Retry-After": "7"}
            )
        )
    assert (busy.value.retry_after, "slow down" in busy.value.detail) == (
        7,
        True,
    )
    with pytest.raises(ModelRejected, match="HTTP 400"):
        _body_of(JSONResponse({"error": "response_format"}, 400))
    for page in (StreamingResponse(iter([b"data: {}"])), Response(b"<html>")):
        with pytest.raises(ReplyUnusable, match="can't be used"):
            _body_of(page)


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
    request.app.state.config = SimpleNamespace(
        TASK_MODEL=tasks[0], TASK_MODEL_EXTERNAL=tasks[1]
    )
    assert (
        await learning_model(request, chosen, chat_model, direct=False)
        == asked
    )
    if asked == "chat":
        with pytest.raises(ModelRejected, match="no model to learn") as told:
            await learning_model(request, chosen, chat_model, direct=True)
        assert "reached from the browser only" in told.value.detail
    # Of a model that is gone it is not known which task model goes with it.
    if not chosen:
        with pytest.raises(ModelRejected, match="no model to learn") as told:
            await learning_model(request, chosen, {}, direct=False)
        assert "not there now" in told.value.detail


@over(
    "pipe",
    [
        {"pipe": {"type": "pipe"}},
        {"pipeline": {"type": "pipe", "valves": False}},
    ],
)
async def test_pipes(pipe: dict[str, Any]) -> None:
    """A pipe, which may be a workflow that costs, learns only where the admin names it."""
    request = running_request()
    request.app.state.config = SimpleNamespace(
        TASK_MODEL="", TASK_MODEL_EXTERNAL="task"
    )
    chat = {**CHAT, **pipe}
    request.app.state.MODELS = {"task": {"id": "task"}, "chat": chat}
    assert await learning_model(request, "", chat, direct=False) == "task"
    assert await learning_model(request, "chat", chat, direct=False) == "chat"
    request.app.state.MODELS["task"] = pipe
    with pytest.raises(ModelRejected, match="no model to learn") as told:
        await learning_model(request, "", CHAT, direct=False)
    assert "task is a pipe" in told.value.detail
    request.app.state.config.TASK_MODEL_EXTERNAL = ""
    with pytest.raises(ModelRejected, match="no model to learn with"):
        await learning_model(request, "", chat, direct=False)


PARAMETERS = {
    "reasoning_effort": "low",
    "num_ctx": 9000,
    "max_tokens": 30,
    "top_p": None,
}


@over(
    "owner, expected",
    [
        ("openai", {"reasoning_effort": "low", "num_ctx": 9000}),
        (
            "ollama",
            {
                "options": {
                    "reasoning_effort": "low",
                    "temperature": 0,
                    "num_predict": 4000,
                    "num_ctx": 9000,
                    "think": False,
                }
            },
        ),
    ],
)
async def test_task_parameters(
    owner: str, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the admin has set for the host's tasks holds for ours, but for an answer's length."""

    def apply(
        body: dict[str, Any], model: dict[str, Any], params: dict[str, Any]
    ) -> None:
        """As the host does (host: utils/payload.py)."""
        if model["owned_by"] == "ollama":
            body["options"] = {**params, **body["options"]}
        else:
            body.update(params)

    payload = SimpleNamespace(apply_params_to_form_data=apply)
    monkeypatch.setitem(sys.modules, "open_webui", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "open_webui.utils", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "open_webui.utils.payload", payload)
    request = running_request()
    request.app.state.MODELS = {"m": {"id": "m", "owned_by": owner}}
    settings = {"task_params": PARAMETERS}
    process_state(request)["host_settings"] = (settings, math.inf)
    model = HostCompleter(request, None, "m")
    question = CompletionRequest("system", "user", "lines")
    body = await model._body(question, "limited_text")
    assert body.items() >= expected.items()
    assert body["max_tokens"] == 4000


MODELS: dict[str, object] = {
    "small": {"id": "small", "name": "small", "owned_by": "openai"},
    "cook": {
        "id": "cook",
        "name": "The cook",
        "info": {"base_model_id": "small"},
    },
    "big": {"id": "big", "name": ""},
    "arena-model": {
        "id": "arena-model",
        "name": "Arena",
        "owned_by": "arena",
        "arena": True,
    },
    "broken": "broken",
}
CHOICES = {"big": "big", "small": "small", "cook": "The cook (cook)"}
GONE = {"gone": "gone (not available now)"}


@pytest.mark.parametrize(
    "models", [MODELS, None, 7], ids=["host", "none", "broken"]
)
def test_panel(models: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The panel lists models by label without an arena, and the saved one on any host."""
    host = SimpleNamespace(
        app=SimpleNamespace(state=SimpleNamespace(MODELS=models))
    )
    monkeypatch.setitem(sys.modules, "open_webui.main", host)
    known = CHOICES if models is MODELS else {}

    class WithHost(Valves):
        model_catalogue = partial(known_models, " gone ")

    listed = {one["value"]: one["label"] for one in WithHost.model_choices()}
    assert listed == {"": "Automatic", **GONE, **known}
    assert list(listed)[1:] == ["gone", *known]
    assert [one["label"] for one in known_models("")] == [*known.values()]


USER = object()


@dataclass
class Model:
    """A model that notes what it was asked, and on how many cores."""

    device: str = "cpu"
    asked: list[tuple[list[str], Any, int]] = field(default_factory=list[Any])

    def encode(
        self, texts: list[str], prompt: str | None = None, **_: Any
    ) -> object:
        """One vector for each text, its length and one."""
        self.asked.append((texts, prompt, torch.get_num_threads()))
        return np.array([[len(text), 1.0] for text in texts], np.float32)


class Host:
    """A host's app with a model and the function by which it embeds."""

    def __init__(self, engine: str = "", device: str = "cpu") -> None:
        self.model, self.calls = Model(device), list[Any]()
        self.turn = running_request()
        self.turn.app.state.ef = self.model
        self.turn.app.state.EMBEDDING_FUNCTION = self.embed
        self.save(
            embedding_engine=engine,
            embedding_model="minilm",
            embedding_batch_size="2",
            openai_embedding_url="http://127.0.0.1:9/v1",
        )

    def save(self, **settings: str) -> None:
        """Set what is read from the host's settings otherwise, which need an installed host."""
        state = process_state(self.turn)
        saved, _ = state.get("host_settings", ({}, 0.0))
        state["host_settings"] = ({**saved, **settings}, math.inf)

    async def embedded(self, *texts: str, query: bool) -> list[list[float]]:
        """The vectors of a turn."""
        model = await HostModel.of(self.turn, USER)
        return (await model.embed(texts, query=query)).tolist()

    async def embed(self, texts: list[str], **named: Any) -> Any:
        """The host's own function."""
        self.calls.append((texts, named))
        return [[9.0, 9.0] for _ in texts]


@pytest.fixture(autouse=True)
def prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    """The admin's prefix before contents, which is read from an installed host otherwise."""
    set_prefixes(monkeypatch, "", "passage: ", "")


def set_prefixes(
    monkeypatch: pytest.MonkeyPatch, query: str, content: str, field_name: str
) -> None:
    """Have the host's configuration name these prefixes, and the field for them."""
    config = SimpleNamespace(
        RAG_EMBEDDING_QUERY_PREFIX=query,
        RAG_EMBEDDING_CONTENT_PREFIX=content,
        RAG_EMBEDDING_PREFIX_FIELD_NAME=field_name,
    )
    host = SimpleNamespace(config=config)
    monkeypatch.setitem(sys.modules, "open_webui", host)


async def test_identity_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engine, model, address and prefixes of the host are all in the name of its embedder."""
    host = Host("openai")
    identities = [(await HostModel.of(host.turn, USER)).identity]
    for change in (
        {"openai_embedding_url": "http://127.0.0.1:10/v1"},
        {"embedding_model": "other"},
        {"embedding_engine": ""},
    ):
        host.save(**change)
        identities.append((await HostModel.of(host.turn, USER)).identity)
    for prefixes in (("query: ", "", ""), ("query: ", "", "prefix")):
        set_prefixes(monkeypatch, *prefixes)
        identities.append((await HostModel.of(host.turn, USER)).identity)
    assert len({*map(str, identities)}) == len(identities)
    assert "http://127.0.0.1:9/v1" in str(identities[0])


async def test_turn_keeps_its_model() -> None:
    """A turn that began before the host has loaded another model ends with the former one."""
    host = Host("openai")
    model = await HostModel.of(host.turn, USER)
    host.turn.app.state.EMBEDDING_FUNCTION = None
    assert len(await model.embed(["A cat."], query=True)) == 1
    assert (await HostModel.of(host.turn, USER)).source is not model.source


async def test_cores() -> None:
    """Short texts are embedded on one core, long ones on all; elsewhere nothing changes."""
    usual = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        host, long = Host(), "User has a cat. " * 100
        # First: while a thread of one core begins, that is the default of new threads.
        await host.embedded(long, query=False)
        assert await host.embedded("A cat?", query=True) == [[6.0, 1.0]]
        await host.embedded("A cat.", "A dog.", query=False)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(usual)
    both = ["A cat.", "A dog."]
    asked = [
        ([long], "passage: ", 3),
        (["A cat?"], None, 1),
        (both, "passage: ", 1),
    ]
    assert host.model.asked == asked
    assert host.calls == []


@pytest.mark.parametrize(
    ("engine", "device"), [("openai", "cpu"), ("", "mps:0")]
)
async def test_left_to_the_host(engine: str, device: str) -> None:
    """A service, and Apple's graphics processor, are asked by the host's own function."""
    host = Host(engine, device)
    assert await host.embedded("A cat.", query=False) == [[9.0, 9.0]]
    assert host.calls == [(["A cat."], {"prefix": "passage: ", "user": USER})]
    assert host.model.asked == []
    host.turn.app.state.EMBEDDING_FUNCTION = None
    with pytest.raises(EmbeddingError, match="the embedding model failed"):
        await host.embedded("A cat.", query=False)
