"""The host's own embedding function as an ``Embedder``.

A short text is embedded on one core. On two cores that others use as well the same vector takes
several times as long, since each core waits for the other, and the host has none left.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import Request

from adaptive.core.errors import EmbeddingError
from adaptive.core.ports import Vectors
from adaptive.host.faults import HostFaults
from adaptive.host.requests import host_settings, process_state
from adaptive.host.vector_table import HostVectorTable
from adaptive.privacy.redaction import texts_without_secrets, told_failure
from adaptive.search.embedders import checked_vectors
from adaptive.search.indexes import MemoryIndexes

# Asking the host costs a query; an admin changes the model once in a year.
_TRUSTED_NAME_SECONDS = 5.0
_IN_PROCESS = "host:local:"
# Many encodings at once slow each other down, and the host's event loop with them, which then holds
# its database locks for seconds. Messages have a lane of their own, so that they don't wait behind
# memories that are embedded in the background, one batch at a time.
_MESSAGES_AT_ONCE = 2
_TEXTS_AT_ONCE = 32
# So few characters, a usual message, are embedded as fast on one core as on all: reading the
# model's weights takes the time.
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
        On Apple's graphics processor the host's own calls take turns (host: env.py,
        MPS_INFERENCE_LOCK), which ours would not.
        """
        model = getattr(self.request.app.state, "ef", None)
        mps = str(getattr(model, "device", "")).startswith("mps")
        if await self.in_process() and hasattr(model, "encode") and not mps:
            raw = await self._encoded(model, texts, query=query)
        else:
            # In a thread: a store's texts take seconds, and chats go on.
            sent = await asyncio.to_thread(texts_without_secrets, texts)
            raw = await self._by_the_host(sent, query=query)
        return checked_vectors(raw, len(texts), "Open WebUI's embedding model")

    async def _encoded(self, model: Any, texts: Sequence[str], *, query: bool) -> object:
        """What the model makes of the texts, when it is their turn; short ones on one core.

        The vectors are those of the host's function (host: retrieval/utils.py,
        get_embedding_function), which takes one text at a time by default.
        """
        state = process_state(self.request)
        if "embedding_lanes" not in state:
            threads = ThreadPoolExecutor(_MESSAGES_AT_ONCE + 1, initializer=_take_one_core)
            lanes = {True: asyncio.Semaphore(_MESSAGES_AT_ONCE), False: asyncio.Semaphore(1)}
            state["embedding_lanes"], state["one_core_threads"] = lanes, threads
        short = sum(map(len, texts)) <= _SHORT_CHARACTERS
        prefix = _prefix(query)
        prompt = {"prompt": prefix} if prefix else {}
        encode = partial(model.encode, batch_size=_TEXTS_AT_ONCE, show_progress_bar=False, **prompt)
        threads = state["one_core_threads"] if short else None
        async with state["embedding_lanes"][query]:
            with HostFaults("Open WebUI's embedding model failed", EmbeddingError):
                running = asyncio.get_running_loop()
                return await running.run_in_executor(threads, encode, list(texts))

    async def _by_the_host(self, texts: Sequence[str], *, query: bool) -> object:
        function = getattr(self.request.app.state, "EMBEDDING_FUNCTION", None)
        if function is None:  # while an admin changes the model (host: routers/retrieval.py)
            raise EmbeddingError("Open WebUI has no embedding model ready")
        try:
            with HostFaults("Open WebUI's embedding failed", EmbeddingError):
                return await function(list(texts), prefix=_prefix(query), user=self.user)
        except EmbeddingError as error:  # it may quote what a service answers
            raise EmbeddingError(told_failure(str(error), None)) from error


async def warm_up(request: Request, indexes: MemoryIndexes, table: HostVectorTable) -> None:
    """Have the host's model make its first vector, which takes 0.3 s, before anybody waits for it.

    The host loads functions when a page asks for its list of models (host: utils/models.py,
    get_all_models), some seconds before the first message. A service is not called for it: it
    costs money and is warm already.
    """
    embedder = HostEmbedder(request, None)
    if await embedder.in_process():
        await indexes.warm_up(embedder, table)


def _prefix(query: bool) -> str | None:
    """What the admin has set to stand before messages, or before contents."""
    with HostFaults("reading the embedding prefixes", EmbeddingError):
        from open_webui.config import RAG_EMBEDDING_CONTENT_PREFIX, RAG_EMBEDDING_QUERY_PREFIX

        prefix: str | None = RAG_EMBEDDING_QUERY_PREFIX if query else RAG_EMBEDDING_CONTENT_PREFIX
    return prefix


def _take_one_core() -> None:
    """Set the number of threads for this thread alone.

    It holds for the thread that calls, and as a default for those that come to torch later; the
    default is set back by a thread that ends with it (torch: ATen/ParallelOpenMP.cpp).
    """
    torch = sys.modules["torch"]  # by which the model was loaded
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    setting_back = threading.Thread(target=torch.set_num_threads, args=(usual,))
    setting_back.start()
    setting_back.join()
