"""Which models run on the admin's own machines; what can't be told does not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fastapi import FastAPI, Request

from adaptive.core.ports import Completer
from adaptive.host.hook import HostHook
from adaptive.host.providers import HostCompleter
from adaptive.llm.endpoints import OllamaCompleter, OpenAICompleter
from tests.fakes import ScriptedModel, hook_settings
from tests.rates import over

OPENAI = ["https://api.example.com/v1", "http://127.0.0.1:8000/v1", "http://GPU.lan:9000/v1/"]
OLLAMA = ["http://ollama:11434", "https://ollama.com", "http://far.example.com:11434"]
CONFIG = SimpleNamespace(
    OPENAI_API_BASE_URLS=OPENAI,
    OLLAMA_BASE_URLS=OLLAMA,
)
LISTED = "http://127.0.0.1:8000/v1, gpu.lan:9000 , nonsense://, http://[::1"


def openai_model(at: object, **fields: Any) -> dict[str, Any]:
    """A model of an OpenAI-compatible connection, as the host describes it."""
    return {"owned_by": "openai", "urlIdx": at, "connection_type": "local", **fields}


def ollama_model(*urls: Any, **raw: Any) -> dict[str, Any]:
    """A model of Ollama connections, as the host describes it."""
    return {"owned_by": "ollama", "ollama": {"urls": list(urls), **raw}}


def workspace_model(base: str) -> dict[str, Any]:
    """A model of the workspace, as the host describes it."""
    return {"owned_by": "openai", "preset": True, "info": {"base_model_id": base}}


LOCAL = {
    "llama": openai_model(1),
    "gemma:2b": ollama_model(0),
    "on llama": workspace_model("llama"),
    "on gemma": workspace_model("gemma:2b"),
}
FOREIGN = {
    "gpt": openai_model(0),
    "both:2b": ollama_model(0, 2),
    "hosted:2b": ollama_model(0, 1),
    "gpt-oss:120b-cloud": ollama_model(0),
    "mine:2b": ollama_model(0, remote_host="https://ollama.com:443"),
    "nowhere:2b": ollama_model(),
    "arena": {"owned_by": "arena", "arena": True},
    "pipe": openai_model(1, pipe={"type": "pipe"}),
    "on nothing": workspace_model("gone"),
    "on workspace": workspace_model("on llama"),
}
MODELS = {name: {"id": name, **model} for name, model in {**LOCAL, **FOREIGN}.items()}


async def is_local(model: Any, listed: str = LISTED, *, direct: bool = False, **state: Any) -> bool:
    """Whether a chat's model, or a completer's, may see every memory on a host as 0.9 keeps it."""
    app = FastAPI()
    for name, value in {"MODELS": MODELS, "config": CONFIG, **state}.items():
        setattr(app.state, name, value)
    request = Request({"type": "http", "headers": [], "app": app})
    settings = hook_settings(local_only_banks="Health", local_connections=listed)
    completer: Completer | None = model if hasattr(model, "complete") else None
    chat_model = None if completer else model
    hook = HostHook(settings, {}, {"direct": direct}, request, None, chat_model)
    return not (await hook.hidden_from(completer)).names


@over("name", [*MODELS, "unheard of"])
async def test_models_of_the_host(name: str) -> None:
    """Ollama's own and those of listed connections are local; the cloud and the unknown are not."""
    assert await is_local(MODELS.get(name, {"id": name})) == (name in LOCAL)
    completer = HostCompleter(Request({"type": "http"}), None, name)
    assert await is_local(completer) == (name in LOCAL)


async def test_what_cannot_be_told() -> None:
    """Unreadable tables, unknown models and those that the browser asks itself are not local."""
    assert not await is_local(MODELS["llama"], direct=True)
    assert not await is_local(MODELS["on llama"], MODELS=[], config=None)
    assert not await is_local(MODELS["llama"], config=SimpleNamespace())
    for model in (None, {"id": 7}, ScriptedModel()):
        assert not await is_local(model)


@over(
    "listed, url, local",
    [
        ("http://a:1/v1", "http://a:1/v1/", True),
        ("a:1", "https://a:1/v1", True),
        ("http://b, https://a/v1", "https://a:443/v1", True),
        ("http://a:1/v1", "http://a:1/v10", False),
        ("http://a:1/v1", "https://a:1/v1", False),
        ("http://a:x", "http://a:x", False),
    ],
)
async def test_listed_addresses(listed: str, url: str, local: bool) -> None:
    """An address counts by server, port and beginning of the path, not by how it is written."""
    assert await is_local(OpenAICompleter(url, "m"), listed) == local


@over(
    "url, model, local",
    [
        ("http://localhost:11434", "gemma", True),
        ("http://192.168.1.5:11434", "gemma", True),
        ("http://ollama:11434", "gemma:2b", True),
        ("http://localhost:11434", "gpt-oss:120b-cloud", False),
        ("http://[::ffff:8.8.8.8]:11434", "gemma", False),
        ("http://far.example.com:11434", "gemma", False),
        ("https://api.ollama.com", "gemma", False),
    ],
)
async def test_own_ollama(url: str, model: str, local: bool) -> None:
    """An Ollama of the plug-in's own valves is local at a private address, unless in its cloud."""
    assert await is_local(OllamaCompleter(url, model), "") == local
