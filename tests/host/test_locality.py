"""Which models run on the admin's own machines; what can't be told does not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fastapi import FastAPI, Request

from adaptive.core.providers import Completer
from adaptive.host.hook import HostHook
from adaptive.host.providers import HostCompleter
from adaptive.llm.endpoints import OllamaCompleter, OpenAICompleter
from adaptive.settings.merged import NOTHING_HIDDEN
from tests.fakes import ScriptedModel, hook_settings
from tests.host.test_application import hook_on_host
from tests.rates import over

OPENAI = [
    "https://api.example.com/v1",
    "http://127.0.0.1:8000/v1",
    "http://GPU.lan:9000/v1/",
]
OLLAMA = [
    "http://ollama:11434",
    "https://ollama.com",
    "http://far.example.com:11434",
]
CONFIG = SimpleNamespace(OPENAI_API_BASE_URLS=OPENAI, OLLAMA_BASE_URLS=OLLAMA)
LISTED = "http://127.0.0.1:8000/v1, gpu.lan:9000 , nonsense://, http://[::1"


OPENAI_MODEL: dict[str, Any] = {
    "owned_by": "openai",
    "connection_type": "local",
}
OLLAMA_MODEL = {"owned_by": "ollama"}
WORKSPACE_MODEL = {"owned_by": "openai", "preset": True}
# Models as the host describes them.
LOCAL = {
    "llama": {**OPENAI_MODEL, "urlIdx": 1},
    "gemma:2b": {**OLLAMA_MODEL, "ollama": {"urls": [0]}},
    "on llama": {**WORKSPACE_MODEL, "info": {"base_model_id": "llama"}},
    "on gemma": {**WORKSPACE_MODEL, "info": {"base_model_id": "gemma:2b"}},
}
FOREIGN = {
    "gpt": {**OPENAI_MODEL, "urlIdx": 0},
    "both:2b": {**OLLAMA_MODEL, "ollama": {"urls": [0, 2]}},
    "gpt-oss:120b-cloud": {**OLLAMA_MODEL, "ollama": {"urls": [0]}},
    "mine:2b": {
        **OLLAMA_MODEL,
        "ollama": {"urls": [0], "remote_host": "https://ollama.com:443"},
    },
    "nowhere:2b": {**OLLAMA_MODEL, "ollama": {"urls": []}},
    "arena": {"owned_by": "arena", "arena": True},
    "pipe": {**OPENAI_MODEL, "urlIdx": 1, "pipe": {"type": "pipe"}},
    "on nothing": {**WORKSPACE_MODEL, "info": {"base_model_id": "gone"}},
    "on workspace": {**WORKSPACE_MODEL, "info": {"base_model_id": "on llama"}},
}
MODELS = {
    name: {"id": name, **model} for name, model in {**LOCAL, **FOREIGN}.items()
}


def hook_for(
    model: Any, listed: str = LISTED, *, direct: bool = False, **state: Any
) -> HostHook:
    """The hook of a chat with a model, on a host as 0.9 keeps it."""
    app = FastAPI()
    for name, value in {"MODELS": MODELS, "config": CONFIG, **state}.items():
        setattr(app.state, name, value)
    request = Request({"type": "http", "headers": [], "app": app})
    settings = hook_settings(
        local_only_banks="Health", local_connections=listed
    )
    return hook_on_host(settings, {}, {"direct": direct}, request, None, model)


async def is_local(
    model: Any, listed: str = LISTED, *, direct: bool = False, **state: Any
) -> bool:
    """Whether a chat's model, or a completer's, may see every memory."""
    completer: Completer | None = model if hasattr(model, "complete") else None
    chat_model = None if completer else model
    hook = hook_for(chat_model, listed, direct=direct, **state)
    return await hook.hidden_from(completer) == NOTHING_HIDDEN


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
    "completer, listed, local",
    [
        # By server, port and beginning of the path, not by how an address is written.
        (OpenAICompleter("http://a:1/v1/", "m"), "http://a:1/v1", True),
        (OpenAICompleter("https://a:1/v1", "m"), "a:1", True),
        (
            OpenAICompleter("https://a:443/v1", "m"),
            "http://b, https://a/v1",
            True,
        ),
        (OpenAICompleter("http://a:1/v10", "m"), "http://a:1/v1", False),
        (OpenAICompleter("https://a:1/v1", "m"), "http://a:1/v1", False),
        (OpenAICompleter("http://a:x", "m"), "http://a:x", False),
        # An Ollama at a private address, unless in its cloud.
        (OllamaCompleter("http://localhost:11434", "gemma"), "", True),
        (OllamaCompleter("http://192.168.1.5:11434", "gemma"), "", True),
        (OllamaCompleter("http://ollama:11434", "gemma:2b"), "", True),
        (
            OllamaCompleter("http://localhost:11434", "gpt-oss:120b-cloud"),
            "",
            False,
        ),
        (OllamaCompleter("http://[::ffff:8.8.8.8]:11434", "gemma"), "", False),
        (OllamaCompleter("https://api.ollama.com", "gemma"), "", False),
    ],
)
async def test_models_of_our_valves(
    completer: Completer, listed: str, local: bool
) -> None:
    """A model of the plug-in's own valves is local where its address tells."""
    assert await is_local(completer, listed) == local


@over(
    "name, machine",
    [
        ("llama", "localhost"),
        ("on llama", "localhost"),
        ("gemma:2b", "ollama"),
        ("gpt", ""),
        ("both:2b", ""),
        ("gpt-oss:120b-cloud", ""),
        ("pipe", ""),
        ("unheard of", ""),
    ],
)
async def test_machines_of_the_host(name: str, machine: str) -> None:
    """A model of the host's runs on the machine of its address, if that is private or listed."""
    hook = hook_for(MODELS.get(name, {"id": name}), "")
    assert await hook.machine() == machine
    completer = HostCompleter(Request({"type": "http"}), None, name)
    assert await hook.machine(completer) == machine
    direct = hook_for(MODELS.get(name), "", direct=True)
    assert await direct.machine() == ""


@over(
    "completer, machine",
    [
        (OpenAICompleter("http://[::1]:1234/v1", "m"), "localhost"),
        (OllamaCompleter("http://localhost:11434", "m"), "localhost"),
        (OpenAICompleter("http://192.168.1.5:8000/v1", "m"), "192.168.1.5"),
        (OpenAICompleter("https://llm.example.com/v1", "m"), ""),
        (OllamaCompleter("http://localhost:11434", "m:cloud"), ""),
        (OpenAICompleter("", "m"), ""),
    ],
)
async def test_machines_of_our_valves(
    completer: Completer, machine: str
) -> None:
    """Servers at different ports are one machine, and one elsewhere is none of the admin's."""
    assert await hook_for(None, "").machine(completer) == machine


async def test_listed_machine() -> None:
    """A machine with a public name is the admin's own where the valve lists it."""
    listed = hook_for(None, "https://llm.example.com")
    completer = OpenAICompleter("https://llm.example.com/v1", "m")
    assert await listed.machine(completer) == "llm.example.com"
