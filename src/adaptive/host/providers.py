"""Who answers our own questions and makes vectors: the host's models by default."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import Response

from adaptive.core.errors import HostError, ModelBusy, ModelRejected, ReplyUnusable
from adaptive.core.http import RetryPolicy, failure
from adaptive.core.model import Completion, CompletionRequest
from adaptive.core.ports import Completer, Embedder, ResponseFormat
from adaptive.core.shapes import mapping
from adaptive.core.table_ports import Sources
from adaptive.host.embedding import HostEmbedder
from adaptive.host.faults import HostFaults, describe_fault
from adaptive.host.memories import HostMemoryStore
from adaptive.host.requests import host_settings, host_state, isolated_request, process_state
from adaptive.host.vector_table import HostVectorTable
from adaptive.llm.endpoints import OllamaCompleter, OpenAICompleter
from adaptive.llm.openai_wire import chat_body, chat_text
from adaptive.privacy.gate import GuardedStore, gate_policy
from adaptive.privacy.redaction import RedactingCompleter, SecretlessEmbedder
from adaptive.search.embedders import DEFAULT_LOCAL_MODEL, EndpointEmbedder, LocalEmbedder
from adaptive.settings.merged import Settings
from adaptive.settings.valves import ModelChoice


def sources_of(
    user: Any, settings: Settings, request: Request, vectors: HostVectorTable
) -> Sources:
    """Where the memories of an account are, behind the gate, and who makes their vectors."""
    store = GuardedStore(HostMemoryStore(request, user), gate_policy(settings))
    return Sources(str(user.id), store, chosen_embedder(settings, request, user), vectors)


def chosen_embedder(settings: Settings, request: Request, user: Any) -> Embedder:
    """Who makes the vectors."""
    if settings.embedding_provider_type == "local":
        name = settings.embedding_model_name.strip() or DEFAULT_LOCAL_MODEL
        return LocalEmbedder(name, process_state(request).setdefault("local_models", {}))
    if settings.embedding_provider_type == "openai_compatible":
        url, name = settings.embedding_api_url, settings.embedding_model_name.strip()
        key = settings.embedding_api_key
        return SecretlessEmbedder(EndpointEmbedder(url, name, key, RetryPolicy()))
    return HostEmbedder(request, user)


async def chosen_completer(
    settings: Settings, request: Request, user: Any, chat_model: Any, *, direct: bool
) -> Completer:
    """Who answers our own questions, and what of them it is not shown.

    Raises:
        ModelRejected: no model is known; the text says which valve helps.
    """
    completer: Completer
    if settings.llm_provider_type == "host":
        model = await learning_model(request, settings.host_model, chat_model, direct=direct)
        completer = HostCompleter(request, user, model)
    else:
        kind = OllamaCompleter if settings.llm_provider_type == "ollama" else OpenAICompleter
        url, name = settings.llm_api_endpoint_url, settings.llm_model_name
        completer = kind(url, name, settings.llm_api_key)
    return RedactingCompleter(completer, settings.pii_redaction in ("model", "all"))


async def learning_model(request: Request, chosen: str, chat_model: object, *, direct: bool) -> str:
    """Id of the model to learn with: the valve's, else the task model, else the chat's own.

    Raises:
        ModelRejected: there is none; the text says which valve helps.
    """
    if chosen.strip():
        return chosen.strip()
    model = mapping(chat_model)
    with HostFaults("choosing the model", ModelBusy):
        # As the host chooses for its own tasks (host: utils/task.py, get_task_model_id).
        name = "task_model" if model.get("connection_type") == "local" else "task_model_external"
        task_id = str((await host_settings(request, name))[name] or "")
        if task_id and task_id in request.app.state.MODELS:
            return task_id
    if direct:
        raise ModelRejected(
            "this chat's model is reached from the browser only; set the valve `llm_host_model`", 0
        )
    if not model.get("id"):
        raise ModelRejected("no model is known to learn with; set the valve `llm_host_model`", 0)
    return str(model["id"])


@dataclass(frozen=True, slots=True)
class HostCompleter:
    """Asks one of the host's models outside the user's turn.

    The call has a request of its own, passes no filter, leaves out a workspace model's own system
    prompt, and may use a model that only the admin can see (``bypass_filter``): the admin chose it
    in a valve or as the task model.
    """

    request: Request
    user: Any
    model: str

    @property
    def key(self) -> str:
        return f"host:{self.model}"

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """Ask the model once (see ``Completer``)."""
        from open_webui.utils.chat import generate_chat_completion

        body = chat_body(self.model, request, response_format)
        body["metadata"] = {"task": "adaptive_memory"}
        own = isolated_request(self.request)
        with HostFaults(f"model {self.model!r} failed", ModelBusy):
            try:
                reply = await generate_chat_completion(
                    own, body, self.user, bypass_filter=True, bypass_system_prompt=True
                )
            except HTTPException as error:
                raise failure(error.status_code, describe_fault(error)) from error
        return chat_text(_body_of(reply))


def _body_of(reply: object) -> object:
    """The JSON body of whatever the host returned; provider errors come as responses.

    Raises:
        ModelBusy, ModelRejected: the provider's status says so.
        ReplyUnusable: a stream, or a body that is no JSON.
    """
    if not isinstance(reply, Response):
        return reply
    raw = getattr(reply, "body", None)
    if not isinstance(raw, bytes):
        raise ReplyUnusable("the model streams although it was asked not to")
    text = raw.decode(errors="replace")
    if reply.status_code >= 400:
        raise failure(reply.status_code, text, reply.headers.get("Retry-After"))
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReplyUnusable("the model answered no JSON") from error


@dataclass(frozen=True, slots=True)
class HostModels:
    """A ``ModelCatalogue`` of the models that the host has in memory.

    ``saved`` tells the value that is in force. Nobody waits for anything here: while the host
    starts, and before anybody has asked for its list of models, there is none (host: main.py).
    """

    saved: Callable[[], str]

    def choices(self) -> list[ModelChoice]:
        """The models by name without arenas, and the saved one even if it is not known now."""
        labels: dict[str, str] = {}
        with suppress(HostError), HostFaults("listing the models"):
            models: Any = host_state("MODELS") or {}
            for model in map(mapping, list(models.values())):
                id, name = str(model.get("id") or ""), str(model.get("name") or "")
                if id and model.get("owned_by") != "arena":
                    labels[id] = id if name in ("", id) else f"{name} ({id})"
        listed = sorted(labels.items(), key=lambda one: (one[1].casefold(), one[0]))
        if (saved := self.saved().strip()) and saved not in labels:
            listed.insert(0, (saved, f"{saved} (not available now)"))
        return [{"value": id, "label": label} for id, label in listed]
