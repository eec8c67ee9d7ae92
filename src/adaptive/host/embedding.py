"""The host's own embedding function as an ``Embedder``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request

from adaptive.errors import EmbeddingError
from adaptive.host.configuration import host_settings
from adaptive.host.faults import HostFaults
from adaptive.host.half_precision import half_precision_twin
from adaptive.host.one_core import one_core_threads
from adaptive.host.requests import process_state
from adaptive.ports import Vectors
from adaptive.privacy.redacting_completer import texts_without_secrets, told_failure
from adaptive.search.embedders import checked_vectors

# Asking the host costs a query; an admin changes the model once in a year.
_TRUSTED_NAME_SECONDS = 5.0
_IN_PROCESS = "host:local:"
# Each encoding takes all cores. Many at once slow each other down, and the host's event loop with
# them, which then holds its database locks for seconds. Messages have a lane of their own, so that
# they don't wait behind memories that are embedded in the background.
_MESSAGES_AT_ONCE = 2
_CONTENTS_AT_ONCE = 1
_TEXTS_AT_ONCE = 32
# So few characters, a usual message, are embedded as fast on one core as on all: reading the
# model's weights takes the time. The other cores stay free for the host.
_SHORT_CHARACTERS = 1000


@dataclass(frozen=True, slots=True)
class HostEmbedder:
    """Embeds with the engine and the model that the admin chose for documents."""

    request: Request
    user: Any

    async def name(self) -> str:
        """Engine and model as the admin set them, at most five seconds ago."""
        state = process_state(self.request)
        name, expires = state.get("embedder_name", ("", 0.0))
        if expires < time.monotonic():
            with HostFaults("reading the embedding settings", EmbeddingError):
                chosen = await host_settings(self.request, "embedding_engine", "embedding_model")
            name = f"host:{chosen['embedding_engine'] or 'local'}:{chosen['embedding_model']}"
            state["embedder_name"] = (name, time.monotonic() + _TRUSTED_NAME_SECONDS)
        return str(name)

    async def in_process(self) -> bool:
        """Whether the vectors are made by a model in this process, and not by a service."""
        return (await self.name()).startswith(_IN_PROCESS)

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors as the host makes them, with its prefix for queries or contents.

        A model in this process is asked directly: in batches, without a progress bar in the log.
        """
        model = await self._model_here()
        if model is None:
            # In a thread: a store's texts take seconds, and chats go on.
            sent = await asyncio.to_thread(texts_without_secrets, texts)
            return await self._by_the_host(sent, query=query)
        if sum(map(len, texts)) <= _SHORT_CHARACTERS:
            model = _for_short_texts(model, process_state(self.request))
        return await self._encoded(model, texts, _prefix(query), query=query)

    async def embed_as_host(self, text: str, prefix: str | None) -> list[float] | None:
        """The vector that the host's function makes of a short text, on one core.

        ``None`` where the host is to make it: of a long text, or by a service.

        Raises:
            EmbeddingError: the model failed.
        """
        model = await self._model_here()
        if model is None or len(text) > _SHORT_CHARACTERS:
            return None
        vector: list[float] = (await self._encoded(model, [text], prefix, query=False))[0].tolist()
        return vector

    async def _model_here(self) -> Any | None:
        """The host's model, if it is in this process and may be asked without the host.

        On Apple's graphics processor the host's own calls take turns (host: env.py,
        MPS_INFERENCE_LOCK), which ours would not.
        """
        model = getattr(self.request.app.state, "ef", None)
        if not await self.in_process() or not hasattr(model, "encode"):
            return None
        return None if str(getattr(model, "device", "")).startswith("mps") else model

    async def _encoded(
        self, model: Any, texts: Sequence[str], prefix: str | None, *, query: bool
    ) -> Vectors:
        """What the model makes of the texts, when it is their turn; short ones on one core."""
        state = process_state(self.request)
        lanes: dict[bool, asyncio.Semaphore] = state.setdefault(
            "embedding_lanes",
            {
                True: asyncio.Semaphore(_MESSAGES_AT_ONCE),
                False: asyncio.Semaphore(_CONTENTS_AT_ONCE),
            },
        )
        if "one_core_threads" not in state:
            state["one_core_threads"] = one_core_threads(_MESSAGES_AT_ONCE + _CONTENTS_AT_ONCE)
        short = sum(map(len, texts)) <= _SHORT_CHARACTERS
        threads = state["one_core_threads"] if short else None
        loop = asyncio.get_running_loop()
        async with lanes[query]:
            with HostFaults("Open WebUI's embedding model failed", EmbeddingError):
                raw = await loop.run_in_executor(threads, _encoding, model, list(texts), prefix)
        return checked_vectors(raw, len(texts), "Open WebUI's embedding model")

    async def _by_the_host(self, texts: Sequence[str], *, query: bool) -> Vectors:
        function = getattr(self.request.app.state, "EMBEDDING_FUNCTION", None)
        if function is None:  # while an admin changes the model (host: routers/retrieval.py)
            raise EmbeddingError("Open WebUI has no embedding model ready")
        try:
            with HostFaults("Open WebUI's embedding failed", EmbeddingError):
                raw = await function(list(texts), prefix=_prefix(query), user=self.user)
        except EmbeddingError as error:  # it may quote what a service answers
            raise EmbeddingError(told_failure(str(error), None)) from error
        return checked_vectors(raw, len(texts), "Open WebUI's embedding")


def _for_short_texts(model: Any, state: dict[str, Any]) -> Any:
    """The model's twin if it has one; it is made in a thread, beside the first texts."""
    of, making = state.get("half_precision_twin", (None, None))
    if of is not model:
        making = asyncio.get_running_loop().run_in_executor(None, half_precision_twin, model)
        state["half_precision_twin"] = (model, making)
    made = making.done() and not making.cancelled() and making.exception() is None
    return (making.result() or model) if made else model


def _prefix(query: bool) -> str | None:
    """What the admin has set to stand before messages, or before contents."""
    with HostFaults("reading the embedding prefixes", EmbeddingError):
        from open_webui.config import RAG_EMBEDDING_CONTENT_PREFIX, RAG_EMBEDDING_QUERY_PREFIX

        prefix: str | None = RAG_EMBEDDING_QUERY_PREFIX if query else RAG_EMBEDDING_CONTENT_PREFIX
    return prefix


def _encoding(model: Any, texts: list[str], prefix: str | None) -> object:
    """The same vectors as by the host's function, which takes one text at a time by default.

    (host: retrieval/utils.py, get_embedding_function, and the setting for the batch size)
    """
    named = {"prompt": prefix} if prefix else {}
    return model.encode(texts, batch_size=_TEXTS_AT_ONCE, show_progress_bar=False, **named)
