"""Who answers our own questions and makes vectors: the host's models by default.

A short text is embedded on one core. On two cores that others use as well the same vector takes
five times as long, since each core waits for the other, and the host has none left.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import Response

from adaptive.core.messages import mapping, text_field
from adaptive.core.model import Embedder, EmbeddingError, Vectors
from adaptive.core.providers import (
    Completer,
    Completion,
    CompletionRequest,
    ModelBusy,
    ModelRejected,
    ReplyUnusable,
    ResponseFormat,
    failure,
)
from adaptive.host.application import (
    host_state,
    isolated_request,
    process_state,
    recent_setting,
    task_model,
)
from adaptive.host.faults import HostFaults, describe_fault, faults_logged
from adaptive.llm.endpoints import (
    OllamaCompleter,
    OpenAICompleter,
    chat_body,
    chat_text,
)
from adaptive.privacy.redaction import (
    RedactingCompleter,
    SecretlessEmbedder,
    sent_without_secrets,
)
from adaptive.search.embedders import (
    DEFAULT_LOCAL_MODEL,
    EndpointEmbedder,
    LocalEmbedder,
    checked_vectors,
    forward_pass,
    is_plain_model,
)
from adaptive.settings.merged import Settings

# Many encodings at once slow each other down, and the host's event loop with them. Messages have a
# lane of their own, so that they don't wait behind memories that are embedded in the background.
_MESSAGES_AT_ONCE = 2
_TEXTS_AT_ONCE = 32
_EMBEDDING_FAILED = "Open WebUI's embedding model failed"
# So few characters, a usual message, take as long on all cores as on one.
_SHORT_CHARACTERS = 1000


def chosen_embedder(
    settings: Settings, request: Request, user: Any
) -> Embedder:
    """Who makes the vectors."""
    name = settings.embedding_model_name.strip()
    if settings.embedding_provider_type == "local":
        models = process_state(request).setdefault("local_models", {})
        return LocalEmbedder(name or DEFAULT_LOCAL_MODEL, models)
    if settings.embedding_provider_type == "openai_compatible":
        service = EndpointEmbedder(
            settings.embedding_api_url, name, settings.embedding_api_key
        )
        return SecretlessEmbedder(service)
    return HostEmbedder(request, user)


async def chosen_completer(
    settings: Settings,
    request: Request,
    user: Any,
    chat_model: Any,
    *,
    direct: bool,
) -> Completer:
    """Who answers our own questions, and what of them it is not shown."""
    if settings.llm_provider_type == "host":
        model = await learning_model(
            request, settings.host_model, chat_model, direct=direct
        )
        completer: Completer = HostCompleter(request, user, model)
    else:
        kind = (
            OllamaCompleter
            if settings.llm_provider_type == "ollama"
            else OpenAICompleter
        )
        completer = kind(
            url=settings.llm_api_endpoint_url,
            model=settings.llm_model_name,
            api_key=settings.llm_api_key,
        )
    return RedactingCompleter(
        completer, settings.pii_redaction in ("model", "all")
    )


async def learning_model(
    request: Request, chosen: str, chat_model: object, *, direct: bool
) -> str:
    """Id of the model to learn with: the valve's, else the task model, else the chat's own.

    Where there is none, ``ModelRejected`` says which valve helps.
    """
    if chosen.strip():
        return chosen.strip()
    model_id = text_field(mapping(chat_model), "id")
    if not model_id:
        raise _no_model("the model that this was said to is not there now")
    task_id = await task_model(request, chat_model)
    if direct and not task_id:
        raise _no_model("this chat's model is reached from the browser only")
    return task_id or model_id


def _no_model(reason: str) -> ModelRejected:
    return ModelRejected(f"{reason}; set the valve `llm_host_model`", 0)


async def known_model(request: Request, model_id: str) -> Mapping[str, Any]:
    """What the host knows of a model; nothing where there is none of that id.

    A worker lists the models when a page first asks it for them, so until then they are listed
    here (host: utils/models.py).

    Raises:
        ModelBusy: the models can't be listed.
    """
    model = request.app.state.MODELS.get(
        model_id
    )  # a dict, or a table in Redis
    if model is None and model_id:
        with HostFaults("listing the models", ModelBusy):
            from open_webui.utils.models import get_all_models

            await get_all_models(isolated_request(request))
        model = request.app.state.MODELS.get(model_id)
    return mapping(model)


@dataclass(frozen=True, slots=True)
class HostCompleter:
    """Asks one of the host's models outside the user's turn.

    The call has a request of its own, passes no filter, leaves out a workspace model's own system
    prompt, and may use a model that only the admin, who chose it, can see (``bypass_filter``).
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
        with HostFaults(
            f"asking {self.model!r}", ModelBusy, "the model could not be asked"
        ):
            try:
                reply = await generate_chat_completion(
                    own,
                    body,
                    self.user,
                    bypass_filter=True,
                    bypass_system_prompt=True,
                )
            except HTTPException as error:
                detail = f"{self.model!r}: {describe_fault(error)}"
                raise failure(error.status_code, detail) from error
        return chat_text(_body_of(reply))


def _body_of(reply: object) -> object:
    """The JSON body of whatever the host returned; provider errors come as responses."""
    if not isinstance(reply, Response):
        return reply
    raw = getattr(reply, "body", None)
    if not isinstance(raw, bytes):
        raise ReplyUnusable("the model streams although it was asked not to")
    text = raw.decode(errors="replace")
    if reply.status_code >= 400:
        raise failure(
            reply.status_code, text, reply.headers.get("Retry-After")
        )
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReplyUnusable("the model answered no JSON") from error


def known_models(saved: str) -> list[dict[str, str]]:
    """The host's models by name, for the panel (see ``Valves.model_catalogue``), without arenas.

    The ``saved`` one is there even if it is not known now, as none is while the host starts.
    """
    labels: dict[str, str] = {}
    with faults_logged("listing the models"):
        models: Any = host_state("MODELS") or {}
        for model in map(mapping, list(models.values())):
            model_id = text_field(model, "id")
            name = text_field(model, "name") or model_id
            if model_id and model.get("owned_by") != "arena":
                is_named = name != model_id
                labels[model_id] = f"{name} ({model_id})" if is_named else name
    choices = sorted(labels, key=lambda model_id: labels[model_id].casefold())
    chosen = saved.strip()
    if chosen and chosen not in labels:
        labels[chosen] = f"{chosen} (not available now)"
        choices.insert(0, chosen)
    return [
        {"value": model_id, "label": labels[model_id]} for model_id in choices
    ]


@dataclass(frozen=True, slots=True)
class HostEmbedder:
    """Embeds with the engine and the model that the admin chose for documents."""

    request: Request
    user: Any

    async def name(self) -> str:
        """Engine and model, as they were set at most five seconds ago."""
        with HostFaults("reading the embedding settings", EmbeddingError):
            engine = await recent_setting(self.request, "embedding_engine")
            model = await recent_setting(self.request, "embedding_model")
        return f"host:{engine or 'local'}:{model}"

    async def in_process(self) -> bool:
        """Whether the vectors are made by a model in this process, and not by a service."""
        return (await self.name()).startswith("host:local:")

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors as the host makes them, with its prefix for queries or contents."""
        return await self.embed_behind(_prefix(query), texts, query=query)

    async def embed_behind(
        self, prefix: str | None, texts: Sequence[str], *, query: bool
    ) -> Vectors:
        """Vectors as the host makes them with a prefix.

        A model in this process is asked directly: in batches, without a progress bar in the log. On
        Apple's graphics processor the host's own calls take turns (host: env.py).
        """
        model = getattr(self.request.app.state, "ef", None)
        mps = str(getattr(model, "device", "")).startswith("mps")
        if await self.in_process() and hasattr(model, "encode") and not mps:
            raw = await self._encoded(model, texts, prefix, query=query)
        else:
            raw = await sent_without_secrets(
                texts, partial(self._by_the_host, prefix=prefix)
            )
        return checked_vectors(raw, len(texts), "Open WebUI's embedding model")

    async def _encoded(
        self,
        model: Any,
        texts: Sequence[str],
        prefix: str | None,
        *,
        query: bool,
    ) -> object:
        """What the model makes of the texts, when it is their turn; short ones on one core."""
        state = process_state(self.request)
        if "embedding_lanes" not in state:
            state["embedding_lanes"] = {
                True: asyncio.Semaphore(_MESSAGES_AT_ONCE),
                False: asyncio.Semaphore(1),
            }
            state["embedding_threads"] = _threads_of_one_core(
                _MESSAGES_AT_ONCE + 1
            )
        is_short = sum(map(len, texts)) <= _SHORT_CHARACTERS
        prompt = {"prompt": prefix} if prefix else {}
        if is_short and is_plain_model(model):
            encode = partial(forward_pass, model, prompt)
        else:
            encode = partial(
                model.encode,
                batch_size=_TEXTS_AT_ONCE,
                show_progress_bar=False,
                **prompt,
            )
        threads = state["embedding_threads"] if is_short else None
        running = asyncio.get_running_loop()
        async with state["embedding_lanes"][query]:
            with HostFaults(
                "embedding in this process", EmbeddingError, _EMBEDDING_FAILED
            ):
                return await running.run_in_executor(threads, encode, [*texts])

    async def _by_the_host(
        self, texts: Sequence[str], prefix: str | None
    ) -> object:
        function = getattr(self.request.app.state, "EMBEDDING_FUNCTION", None)
        if (
            function is None
        ):  # while an admin changes the model (host: routers/retrieval.py)
            raise EmbeddingError("Open WebUI has no embedding model ready")
        with HostFaults(
            "embedding by Open WebUI", EmbeddingError, _EMBEDDING_FAILED
        ):
            return await function(list(texts), prefix=prefix, user=self.user)


def _prefix(query: bool) -> str | None:
    """What the admin has set to stand before messages, or before contents."""
    with HostFaults("reading the embedding prefixes", EmbeddingError):
        from open_webui.config import (
            RAG_EMBEDDING_CONTENT_PREFIX,
            RAG_EMBEDDING_QUERY_PREFIX,
        )

        return (
            RAG_EMBEDDING_QUERY_PREFIX
            if query
            else RAG_EMBEDDING_CONTENT_PREFIX
        )


def _threads_of_one_core(count: int) -> ThreadPoolExecutor:
    """Threads in each of which torch works on one core.

    The number holds for the thread that sets it, and as a default for those that come to torch
    later; the default is set back by a thread that ends with it (torch: ATen/ParallelOpenMP.cpp).
    """
    torch = sys.modules["torch"]  # by which the model was loaded
    usual = torch.get_num_threads()

    def take_one_core() -> None:
        torch.get_num_threads()  # a thread takes the default over when it first comes to torch
        torch.set_num_threads(1)
        setting_back = threading.Thread(
            target=torch.set_num_threads, args=(usual,)
        )
        setting_back.start()
        setting_back.join()

    return ThreadPoolExecutor(count, initializer=take_one_core)
