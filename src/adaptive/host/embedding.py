"""Who makes vectors: the host's embedding model by default.

A short text is embedded on one core. On two cores that others use as well the same vector takes
five times as long, since each core waits for the other, and the host has none left.
"""

import asyncio
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from fastapi import Request

from adaptive.core.model import Embedder, EmbeddingError, Vectors, frozen
from adaptive.host.application import process_state, recent_setting
from adaptive.host.faults import HostFaults
from adaptive.privacy.redaction import SecretlessEmbedder, sent_without_secrets
from adaptive.search.embedders import (
    DEFAULT_LOCAL_MODEL,
    EndpointEmbedder,
    LocalEmbedder,
    checked_vectors,
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


@frozen
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
