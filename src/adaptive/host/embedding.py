"""Who makes vectors: the host's embedding model by default; it is warmed up ahead."""

import gc
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from aiohttp import ClientError
from fastapi import Request

from adaptive.core import (
    EmbedderIdentity,
    EmbeddingBusy,
    EmbeddingError,
    EmbeddingModel,
    ModelBusy,
    Pace,
    Vectors,
    VectorTable,
    failure,
    frozen,
)
from adaptive.host.application import process_state, recent_setting
from adaptive.host.faults import HostFaults
from adaptive.privacy import sent_without_secrets
from adaptive.search import (
    DEFAULT_LOCAL_MODEL,
    EncodingState,
    EndpointModel,
    Fingerprints,
    LocalModel,
    MemoryIndexes,
    ProvenEmbedder,
    checked_vectors,
    encoded,
    service_pace,
)
from adaptive.settings import Settings

# The HTTP status that stands for no answer at all.
_NO_ANSWER = 503
_ENGINE_IN_PROCESS = "host, in this process"
# The engines of the host's that are services, whose address is a setting.
_SERVICES = ("openai", "ollama", "azure_openai")
# One for the whole process, since each hook names its embedder anew.
_FINGERPRINTS = Fingerprints()
_PACES: dict[str, Pace] = {}


def proven(model: EmbeddingModel, table: VectorTable) -> ProvenEmbedder:
    """The embedder of a model, which all turns of this process prove together."""
    identity = str(model.identity)
    if identity not in _PACES:
        _PACES[identity] = model.new_pace()
    return ProvenEmbedder(model, table, _FINGERPRINTS, _PACES[identity])


async def chosen_model(
    settings: Settings, request: Request, user: Any
) -> EmbeddingModel:
    """What makes the vectors."""
    name = settings.embedding_model_name.strip()
    if settings.embedding_provider_type == "local":
        return LocalModel(
            name or DEFAULT_LOCAL_MODEL, _encoding_state(request)
        )
    if settings.embedding_provider_type == "openai_compatible":
        return SecretlessEndpoint(
            settings.embedding_api_url, name, settings.embedding_api_key
        )
    return await HostModel.of(request, user)


class SecretlessEndpoint(EndpointModel):
    """An endpoint that is sent no secrets: they have a placeholder in each text."""

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of the texts without their secrets (see ``EmbeddingModel``)."""
        return await sent_without_secrets(
            texts, partial(super().embed, query=query)
        )


def _encoding_state(request: Request) -> EncodingState:
    return process_state(request).setdefault("lanes", EncodingState())


@frozen
class HostModel:
    """The engine and the model that the admin chose for documents, as they stood at one moment.

    The host makes ``function`` anew, and loads ``model`` where one is in this process, when an
    admin saves these settings: in the worker that serves the admin, and nowhere else (host:
    routers/retrieval.py, update_embedding_config).
    """

    request: Request
    user: Any
    identity: EmbedderIdentity
    function: Any
    model: Any
    texts_a_request: int

    @staticmethod
    async def of(request: Request, user: Any) -> "HostModel":
        """What the host embeds with now; its settings are trusted for five seconds."""
        state = request.app.state
        with HostFaults("reading the embedding settings", EmbeddingError):
            engine = await recent_setting(request, "embedding_engine")
            model = await recent_setting(request, "embedding_model")
            batch = await recent_setting(request, "embedding_batch_size")
            address = None
            name = _ENGINE_IN_PROCESS
            if engine in _SERVICES:
                name = f"host, {engine}"
                setting = f"{engine}_embedding_url"
                address = await recent_setting(request, setting)
            from open_webui import config
        if config.RAG_EMBEDDING_PREFIX_FIELD_NAME:
            name += f", prefix in {config.RAG_EMBEDDING_PREFIX_FIELD_NAME}"
        identity = EmbedderIdentity(
            engine=name,
            model=str(model),
            address=str(address or ""),
            query_prefix=config.RAG_EMBEDDING_QUERY_PREFIX or "",
            content_prefix=config.RAG_EMBEDDING_CONTENT_PREFIX or "",
        )
        return HostModel(
            request=request,
            user=user,
            identity=identity,
            function=getattr(state, "EMBEDDING_FUNCTION", None),
            model=getattr(state, "ef", None),
            texts_a_request=max(int(batch or 1), 1),
        )

    @property
    def source(self) -> object:
        """The host's function (see ``EmbeddingModel``)."""
        return self.function

    def new_pace(self) -> Pace:
        """A portion of a service is one request, so that it is kept (see ``EmbeddingModel``)."""
        if self.is_in_process:
            return Pace()
        return service_pace(self.texts_a_request)

    @property
    def is_in_process(self) -> bool:
        """Whether the vectors are made by a model in this process, and not by a service."""
        return self.identity.engine.startswith(_ENGINE_IN_PROCESS)

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors as the host makes them, with its prefix for queries or contents."""
        prefix = self.identity.prefix(query=query)
        return await self.embed_behind(prefix, texts, query=query)

    async def embed_behind(
        self, prefix: str | None, texts: Sequence[str], *, query: bool
    ) -> Vectors:
        """Vectors as the host makes them with a prefix.

        A model in this process is asked directly: in batches, without a progress bar in the log. On
        Apple's graphics processor the host's own calls take turns (host: env.py).
        """
        mps = str(getattr(self.model, "device", "")).startswith("mps")
        raw: object
        if self.is_in_process and hasattr(self.model, "encode") and not mps:
            state = _encoding_state(self.request)
            with HostFaults("embedding in this process", EmbeddingError):
                raw = await encoded(
                    state, self.model, prefix, texts, query=query
                )
        else:
            raw = await sent_without_secrets(
                texts, partial(self._by_the_host, prefix=prefix or None)
            )
        return checked_vectors(raw, len(texts), "Open WebUI's embedding model")

    async def _by_the_host(
        self, texts: Sequence[str], prefix: str | None
    ) -> object:
        if (
            self.function is None
        ):  # while an admin changes the model (host: routers/retrieval.py)
            raise EmbeddingError(detail="Open WebUI has none ready")
        doing = "embedding by Open WebUI"
        with _busy_told(), HostFaults(doing, EmbeddingError):
            return await self.function(
                list(texts), prefix=prefix, user=self.user
            )


@contextmanager
def _busy_told() -> Generator[None]:
    """Context that tells a service that is busy by the error that the host has raised for it."""
    try:
        yield
    except EmbeddingError as error:
        cause = error.__cause__
        status = getattr(cause, "status", 0)
        if not status and not isinstance(cause, ClientError | OSError):
            raise
        headers = getattr(cause, "headers", None)
        refusal = failure(status or _NO_ANSWER, error.detail, headers)
        if not isinstance(refusal, ModelBusy):
            raise
        raise EmbeddingBusy(refusal) from error


async def warm_up(
    request: Request, indexes: MemoryIndexes, table: VectorTable
) -> None:
    """Have ready what the first messages after a restart would wait for.

    Python's collection of so many new objects stops the process for half a second, and the model's
    first vector takes 0.3 s. A service makes none: it costs money and is warm already.
    """
    state = process_state(request)
    if "warm" not in state:
        state["warm"] = gc.collect()
        # What the host and its libraries have made stays for good: a million objects, and each
        # full collection over them stops every user for half a second.
        gc.freeze()
    model = await HostModel.of(request, None)
    if model.is_in_process:
        await indexes.warm_up(proven(model, table), table)
