"""Which models run on the admin's own machines; what can't be told does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI, Request

from adaptive.host.completion import HostCompleter
from adaptive.host.hook import Hook
from adaptive.host.locality import kept_from_chat, kept_from_completer
from adaptive.llm.endpoints import OllamaCompleter, OpenAICompleter
from adaptive.ports import Completer
from adaptive.settings import Settings
from tests.fakes import ScriptedModel, hook_settings
from tests.rates import over

OPENAI = ["https://api.example.com/v1", "http://127.0.0.1:8000/v1", "http://GPU.lan:9000/v1/"]
OLLAMA = ["http://ollama:11434", "https://ollama.com", "http://far.example.com:11434"]
OLLAMA_CONFIGS = {"2": {"connection_type": "external"}}
LISTED = "http://127.0.0.1:8000/v1, gpu.lan:9000 , nonsense://, http://[::1"


def openai_model(id: str, at: object, **fields: Any) -> dict[str, Any]:
    """A model of an OpenAI-compatible connection, as the host describes it."""
    return {"id": id, "owned_by": "openai", "urlIdx": at, "connection_type": "local", **fields}


def ollama_model(id: str, *urls: Any, **raw: Any) -> dict[str, Any]:
    """A model of Ollama connections, as the host describes it."""
    held = {"model": id, "name": id, "urls": list(urls), **raw}
    return {"id": id, "owned_by": "ollama", "ollama": held, "connection_type": "local"}


def workspace_model(id: str, base: str, **fields: Any) -> dict[str, Any]:
    """A model of the workspace, as the host describes it."""
    made = {"id": id, "owned_by": "openai", "preset": True, "info": {"base_model_id": base}}
    return {**made, **fields}


MODELS = {
    one["id"]: one
    for one in (
        openai_model("gpt", 0),
        openai_model("llama", 1),
        openai_model("qwen", 2),
        openai_model("far", 7),
        openai_model("odd", "1"),
        openai_model("flag", True),
        ollama_model("gemma:2b", 0),
        ollama_model("both:2b", 0, 2),
        ollama_model("hosted:2b", 0, 1),
        ollama_model("gpt-oss:120b-cloud", 0),
        ollama_model("gpt-oss:cloud", 0),
        ollama_model("mine:2b", 0, remote_host="https://ollama.com:443"),
        ollama_model("nowhere:2b"),
        {"id": "arena", "owned_by": "arena", "arena": True},
        {"id": "pipe", "owned_by": "openai", "pipe": {"type": "pipe"}, "urlIdx": 1},
        {"id": "strange", "owned_by": "unknown", "urlIdx": 1},
        workspace_model("on gpt", "gpt"),
        workspace_model("on llama", "llama"),
        workspace_model("on gemma", "gemma:2b", owned_by="ollama"),
        workspace_model("on nothing", "gone"),
        workspace_model("on pipe", "pipe", pipe={"type": "pipe"}),
        workspace_model("on workspace", "on llama"),
        {"id": "preset", "owned_by": "openai", "preset": True, "urlIdx": 1},
    )
}


def request(**state: Any) -> Request:
    """A request of a host that has these models and connections, as 0.9 keeps them."""
    app = FastAPI()
    app.state.MODELS = MODELS
    app.state.config = SimpleNamespace(
        OPENAI_API_BASE_URLS=OPENAI, OLLAMA_BASE_URLS=OLLAMA, OLLAMA_API_CONFIGS=OLLAMA_CONFIGS
    )
    for name, value in state.items():
        setattr(app.state, name, value)
    return Request({"type": "http", "headers": [], "app": app})


def settings(listed: str = LISTED, banks: str = "Health") -> Settings:
    """Settings with a bank for local models."""
    return hook_settings(local_only_banks=banks, local_connections=listed)


def chat_hook(
    model: Any, user: Mapping[str, Any] | None = None, listed: str = LISTED, **metadata: Any
) -> Hook:
    """A hook of a chat with this model."""
    return Hook(settings(listed), user or {"id": "ada"}, metadata, request(), None, model)


async def is_local(hook: Hook) -> bool:
    """Whether the chat's model may see every memory."""
    return not (await kept_from_chat(hook)).names


LOCAL = ["llama", "qwen", "gemma:2b", "on llama", "on gemma"]


@over("name", MODELS)
async def test_models_of_the_host(name: str) -> None:
    """Ollama's own and those of listed connections are local; the cloud and the unknown are not."""
    assert await is_local(chat_hook(MODELS[name])) == (name in LOCAL)
    completer = HostCompleter(request(), None, name)
    kept = await kept_from_completer(completer, request(), settings())
    assert (not kept.names) == (name in LOCAL)


@pytest.mark.parametrize("model", [None, {}, {"id": "unheard of"}, "gpt", {"id": 7}])
async def test_unknown_models(model: Any) -> None:
    """What the host does not describe is not local."""
    assert not await is_local(chat_hook(model))


async def test_external_ollama_that_is_listed() -> None:
    """An Ollama that the admin marked as external is local where it is listed, its cloud never."""
    far = chat_hook(MODELS["both:2b"], listed="http://far.example.com:11434")
    assert await is_local(far)
    cloud = chat_hook(MODELS["hosted:2b"], listed="https://ollama.com")
    assert not await is_local(cloud)


async def test_the_router_knows_better() -> None:
    """The number of a connection is the one that the host's router goes by."""
    moved = {"llama": {"id": "llama", "urlIdx": 0}}
    hook = Hook(settings(), {}, {}, request(OPENAI_MODELS=moved), None, MODELS["llama"])
    assert not await is_local(hook)
    clouded = {"gemma:2b": {"model": "gemma:2b", "urls": [1]}}
    hook = Hook(settings(), {}, {}, request(OLLAMA_MODELS=clouded), None, MODELS["gemma:2b"])
    assert not await is_local(hook)


async def test_host_that_has_changed() -> None:
    """Where the host's tables can't be read, no model is local."""
    broken = Hook(settings(), {}, {}, request(MODELS=[], config=None), None, MODELS["on llama"])
    assert not await is_local(broken)
    odd = SimpleNamespace(OPENAI_API_BASE_URLS="http://127.0.0.1:8000/v1")
    hook = Hook(settings(), {}, {}, request(config=odd), None, MODELS["llama"])
    assert not await is_local(hook)


@pytest.mark.parametrize(
    ("url", "local"),
    [("http://127.0.0.1:8000/v1", True), ("https://api.example.com/v1", False), ("", False)],
)
async def test_direct_connections(url: str, local: bool) -> None:
    """A model that the browser asks is local where the user's own connection is listed."""
    connections = {"directConnections": {"OPENAI_API_BASE_URLS": [url]}}
    user = {"id": "ada", "settings": {"ui": connections}}
    model = {"id": "llama", "urlIdx": 0, "owned_by": "openai", "direct": True}
    assert await is_local(chat_hook(model, user)) == local
    assert await is_local(chat_hook({"id": "llama", "urlIdx": 0}, user, direct=True)) == local
    assert not await is_local(chat_hook(model, direct=True))


@dataclass(frozen=True)
class Listing:
    """What the valve names, and whether a connection at an address counts as named."""

    listed: str
    url: str
    local: bool
    id: str = field(default="")


LISTINGS = [
    Listing("http://a:1/v1", "http://a:1/v1/", True),
    Listing("http://a:1/v1/", "http://A:1/v1", True),
    Listing("http://a:1", "http://a:1/v1", True),
    Listing("a:1", "https://a:1/v1", True),
    Listing("http://a:1/v1", "http://a:1/v10", False),
    Listing("http://a:1/v1", "http://a:2/v1", False),
    Listing("http://a:1/v1", "https://a:1/v1", False),
    Listing("http://a", "http://a:80/v1", True),
    Listing("https://a/v1", "https://a:443/v1", True),
    Listing("http://a", "http://a.example.com", False),
    Listing("http://a", "http://a@b/", False),
    Listing("", "http://a", False),
    Listing("http://a:x", "http://a:x", False),
    Listing("http://b, http://a", "http://a/v1", True),
]


@pytest.mark.parametrize("case", LISTINGS, ids=lambda one: f"{one.listed}-{one.url}")
async def test_listed_addresses(case: Listing) -> None:
    """An address counts by server, port and beginning of the path, not by how it is written."""
    completer = OpenAICompleter(case.url, "m")
    kept = await kept_from_completer(completer, request(), settings(case.listed))
    assert (not kept.names) == case.local


@over(
    "url, model, local",
    [
        ("http://localhost:11434", "gemma", True),
        ("http://127.0.0.1:11434", "gemma", True),
        ("http://[::1]:11434", "gemma", True),
        ("http://192.168.1.5:11434", "gemma", True),
        ("http://[fd00::5]:11434", "gemma", True),
        ("http://ollama:11434", "gemma:2b", True),
        ("http://host.docker.internal:11434", "gemma", True),
        ("http://box.local:11434", "gemma", True),
        ("http://localhost:11434", "gpt-oss:120b-cloud", False),
        ("http://8.8.8.8:11434", "gemma", False),
        ("http://[::ffff:8.8.8.8]:11434", "gemma", False),
        ("http://0.0.0.0:11434", "gemma", False),
        ("http://far.example.com:11434", "gemma", False),
        ("https://ollama.com", "gemma", False),
        ("https://api.ollama.com", "gemma", False),
        ("http://gpu.lan:9000", "gemma", True),
        ("", "gemma", False),
        ("http://[", "gemma", False),
    ],
)
async def test_own_ollama(url: str, model: str, local: bool) -> None:
    """An Ollama of the plug-in's own valves is local at a private address, unless in its cloud."""
    kept = await kept_from_completer(OllamaCompleter(url, model), request(), settings(""))
    assert (not kept.names) == local


async def test_other_completers() -> None:
    """Who is not known is not local."""
    completer: Completer = ScriptedModel()
    assert (await kept_from_completer(completer, request(), settings())).names == {"health"}


async def test_no_banks() -> None:
    """Without the valve nothing is looked up, and every model may see everything."""
    bare = Request({"type": "http", "headers": []})
    hook = Hook(settings(banks=""), {}, {}, bare, None, None)
    assert await is_local(hook)
    assert not (await kept_from_completer(ScriptedModel(), bare, settings(banks=""))).names
