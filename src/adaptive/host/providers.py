"""The providers that the valves name: of models and of vectors, the host's own by default."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from adaptive.host.completion import HostCompleter, learning_model
from adaptive.host.embedded_writes import writing_request
from adaptive.host.embedding import HostEmbedder
from adaptive.host.hook import Hook
from adaptive.host.memories import HostMemoryStore
from adaptive.host.requests import account, isolated_request, process_state
from adaptive.host.vector_table import HostVectorTable
from adaptive.llm.endpoints import OllamaCompleter, OpenAICompleter
from adaptive.ports import Completer, Embedder
from adaptive.privacy.gate import GuardedStore, gate_policy
from adaptive.privacy.redacting_completer import RedactingCompleter, SecretlessEmbedder
from adaptive.retry import RetryPolicy
from adaptive.search.embedders import DEFAULT_LOCAL_MODEL, EndpointEmbedder, LocalEmbedder
from adaptive.search.indexes import Sources
from adaptive.settings import Settings


def user_sources(hook: Hook, request: Request, user: Any, vectors: HostVectorTable) -> Sources:
    """Where the memories of a hook's user are, behind the gate, and who makes their vectors."""
    return sources_of(user, hook.settings, request, vectors)


def sources_of(
    user: Any, settings: Settings, request: Request, vectors: HostVectorTable
) -> Sources:
    """The same for an account of the host."""
    written = HostMemoryStore(writing_request(request, user), user)
    store = GuardedStore(written, gate_policy(settings))
    return Sources(str(user.id), store, chosen_embedder(settings, request, user), vectors)


def chosen_embedder(settings: Settings, request: Request, user: Any) -> Embedder:
    """Who makes the vectors."""
    if settings.embedding_provider_type == "local":
        name = settings.embedding_model_name.strip() or DEFAULT_LOCAL_MODEL
        return LocalEmbedder(name, process_state(request).setdefault("local_models", {}))
    if settings.embedding_provider_type == "openai_compatible":
        policy = RetryPolicy(settings.max_retries, settings.retry_delay)
        service = EndpointEmbedder(
            settings.embedding_api_url,
            settings.embedding_model_name.strip(),
            settings.embedding_api_key,
            policy,
        )
        return SecretlessEmbedder(service)
    return HostEmbedder(request, user)


async def own_completer(hook: Hook) -> Completer:
    """Who answers our own questions where nothing else is asked of the host beside it.

    Raises:
        HostError: the host does not know the user.
        ModelRejected: no model is known; the text says which valve helps.
    """
    return await chosen_completer(hook, isolated_request(hook.request), await account(hook.user))


async def chosen_completer(hook: Hook, request: Request, user: Any) -> Completer:
    """Who answers our own questions, and what of them it is not shown.

    Raises:
        ModelRejected: no model is known; the text says which valve helps.
    """
    settings = hook.settings
    if settings.llm_provider_type != "host":
        kind = OllamaCompleter if settings.llm_provider_type == "ollama" else OpenAICompleter
        outside = kind(settings.llm_api_endpoint_url, settings.llm_model_name, settings.llm_api_key)
        return _redacting_completer(outside, settings)
    direct = bool(hook.metadata.get("direct"))
    model = await learning_model(request, settings.host_model, hook.chat_model, direct)
    return _redacting_completer(HostCompleter(request, user, model), settings)


def _redacting_completer(completer: Completer, settings: Settings) -> RedactingCompleter:
    return RedactingCompleter(completer, settings.pii_redaction in ("model", "all"))
