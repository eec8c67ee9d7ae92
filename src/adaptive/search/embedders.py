"""Embedding models outside the host: what their makers want to stand before texts, and where they are.

Those in this process work on threads of their own. Many encodings at once slow each other down, and
the host's event loop with them. Messages have a lane of their own, so that they don't wait behind
what is embedded in the background.

A short text is embedded on one core. On two cores that others use as well the same vector takes
five times as long, since each core waits for the other, and the host has none left.
"""

import asyncio
import importlib
import json
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Protocol, TypeVar

import numpy as np

from adaptive.core import (
    EmbedderIdentity,
    EmbeddingBusy,
    EmbeddingError,
    Json,
    JsonObject,
    ModelBusy,
    ModelError,
    Pace,
    Phrase,
    Vectors,
    endpoint,
    frozen,
    listing,
    mapping,
    portions,
    post_json,
    titled_parts,
    with_detail,
)

# The prefixes of queries and of contents, by words that are all in a model's name.
_INSTRUCTIONS = {
    frozenset(title.split()): tuple(map(json.loads, prefixes.split("\n")))
    for title, prefixes in titled_parts("embedding_instructions").items()
}
# Services refuse more in one request: Text Embeddings Inference as it is installed, for one.
_BATCH = 32
# Behind the turns: with 3 s a text, a minute's 100.
_FIRST_BATCH = 4
_REQUESTS_AT_ONCE = 5


def checked_vectors(raw: object, count: int, provider: str) -> Vectors:
    """Vectors as a float32 matrix of ``count`` rows.

    Raises:
        EmbeddingError: not one vector per text, of one length, all finite.
    """
    try:
        matrix = np.asarray(raw, dtype=np.float32)
    except (ValueError, TypeError, OverflowError) as error:
        raise EmbeddingError(detail=f"{provider}: {error}") from error
    if matrix.ndim != 2 or matrix.shape[0] != count or matrix.shape[1] == 0:
        detail = f"{provider} sent an array of shape {matrix.shape} for {count} texts"
        raise EmbeddingError(detail=detail)
    if not np.isfinite(matrix).all():
        raise EmbeddingError(
            detail=f"{provider} sent numbers that are not finite"
        )
    return matrix


def service_pace(most_texts: int) -> Pace:
    """The pace of a service that takes so many texts in one request."""
    return Pace(
        most_texts=min(most_texts, _BATCH),
        first_texts=_FIRST_BATCH,
        at_once=_REQUESTS_AT_ONCE,
    )


def instructed(engine: str, model: str, address: str = "") -> EmbedderIdentity:
    """The identity of a model with the prefixes that its makers name for it, if they do."""
    _, _, own_name = model.rstrip("/").lower().rpartition("/")
    words = {*re.split("[^a-z0-9]+", own_name)}
    query_prefix, content_prefix = next(
        (
            prefixes
            for named, prefixes in _INSTRUCTIONS.items()
            if named <= words
        ),
        ("", ""),
    )
    return EmbedderIdentity(
        engine=engine,
        model=model,
        address=address,
        query_prefix=query_prefix,
        content_prefix=content_prefix,
    )


@frozen
class EndpointModel:
    """An OpenAI-compatible embeddings endpoint, asked in batches."""

    url: str
    model: str
    api_key: str = ""

    @property
    def identity(self) -> EmbedderIdentity:
        """The model with its address and its makers' prefixes (see ``EmbeddingModel``)."""
        address = endpoint(self.url, "embeddings")
        return instructed("openai_compatible", self.model, address)

    @property
    def source(self) -> None:
        """Nothing tells that a service has another model (see ``EmbeddingModel``)."""

    def new_pace(self) -> Pace:
        """That of a service (see ``EmbeddingModel``)."""
        return service_pace(_BATCH)

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of the texts (see ``EmbeddingModel``)."""
        valves = {
            "embedding_api_url": self.url,
            "embedding_model_name": self.model,
        }
        for valve, value in valves.items():
            if not value.strip():
                raise EmbeddingError(Phrase("valve_empty", valve=valve))
        prefix = self.identity.prefix(query=query)
        sent = [f"{prefix}{text}" for text in texts]
        rows: list[Json] = []
        for batch in portions(sent, _BATCH):
            rows += await self._batch(batch)
        return checked_vectors(rows, len(texts), repr(self.url))

    async def _batch(self, texts: list[str]) -> list[Json]:
        url = endpoint(self.url, "embeddings")
        body: JsonObject = {"model": self.model, "input": texts}
        try:
            reply = await post_json(url, body, self.api_key)
            rows = [*map(mapping, listing(reply["data"]))]
            # The order is given by `index`, not by position (OpenAI: API reference, embeddings).
            rows.sort(key=lambda row: int(row.get("index", 0)))
            vectors = [row["embedding"] for row in rows]
        except ModelBusy as error:
            raise EmbeddingBusy(error) from error
        except ModelError as error:
            raise EmbeddingError(detail=with_detail(error)) from error
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            detail = f"{self.url!r} sent no embeddings: {error!r}"
            raise EmbeddingError(detail=detail) from error
        if len(rows) != len(texts):
            detail = f"{self.url!r} sent {len(rows)} for {len(texts)} texts"
            raise EmbeddingError(detail=detail)
        return vectors


DEFAULT_LOCAL_MODEL = "all-MiniLM-L6-v2"
_MESSAGES_AT_ONCE = 2
_TEXTS_AT_ONCE = 32
# So few characters, a usual message, take as long on all cores as on one.
_SHORT_CHARACTERS = 1000

Done = TypeVar("Done")


class SentenceModel(Protocol):
    """What is used of a SentenceTransformer."""

    def encode(
        self,
        sentences: Sequence[str],
        *,
        prompt: str | None = None,
        batch_size: int,
        show_progress_bar: bool,
    ) -> Sequence[Vectors]:
        """A vector for each of the texts, which stand behind a prompt."""
        ...


@dataclass(eq=False)
class EncodingState:
    """What the process keeps for all loads of this plug-in: lanes, threads, and models by name.

    ``pools`` are by whether their threads work on one core.
    """

    messages: asyncio.Semaphore = field(
        default_factory=partial(asyncio.Semaphore, _MESSAGES_AT_ONCE)
    )
    contents: asyncio.Semaphore = field(default_factory=asyncio.Semaphore)
    loading: asyncio.Lock = field(default_factory=asyncio.Lock)
    pools: dict[bool, ThreadPoolExecutor] = field(
        default_factory=dict[bool, ThreadPoolExecutor]
    )
    models: dict[str, SentenceModel] = field(
        default_factory=dict[str, SentenceModel]
    )


async def encoded(
    state: EncodingState,
    model: SentenceModel,
    prefix: str | None,
    texts: Sequence[str],
    *,
    query: bool,
) -> list[Vectors]:
    """What a SentenceTransformer makes of texts behind a prefix; others are served in between.

    The batches of a message are embedded side by side, since somebody waits for it.
    """

    async def embedded(batch: Sequence[int]) -> Sequence[Vectors]:
        """The vectors of the texts at the places of a batch."""
        portion = [texts[place] for place in batch]
        encode = partial(
            model.encode,
            portion,
            prompt=prefix or None,
            batch_size=_TEXTS_AT_ONCE,
            show_progress_bar=False,
        )
        is_short = sum(map(len, portion)) <= _SHORT_CHARACTERS
        return await _in_thread(state, encode, one_core=is_short)

    batches = [*_batches(texts)]
    made: list[Sequence[Vectors]] = []
    if query:
        async with state.messages:
            made = await asyncio.gather(*map(embedded, batches))
    else:
        for batch in batches:
            async with state.contents:
                made.append(await embedded(batch))
    rows = dict(zip(chain(*batches), chain(*made), strict=True))
    return [rows[place] for place in range(len(texts))]


def _batches(texts: Sequence[str]) -> Iterator[list[int]]:
    """The places of texts that are embedded at once: none is less than half as long as another.

    What is embedded at once is filled up to its longest text: a paragraph and its sentences took
    190 ms together, and 107 one after the other (all-MiniLM-L6-v2, one core).
    """
    batch: list[int] = []
    for place in sorted(
        range(len(texts)), key=lambda place: len(texts[place]), reverse=True
    ):
        longest = len(texts[batch[0]]) if batch else 0
        if len(batch) == _TEXTS_AT_ONCE or 2 * len(texts[place]) < longest:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


async def _in_thread(
    state: EncodingState, work: Callable[[], Done], *, one_core: bool = False
) -> Done:
    """Work in a thread that is none of the host's."""
    if one_core not in state.pools:
        state.pools[one_core] = ThreadPoolExecutor(
            _MESSAGES_AT_ONCE + 1,
            initializer=_one_core_taker() if one_core else None,
        )
    running = asyncio.get_running_loop()
    return await running.run_in_executor(state.pools[one_core], work)


def _one_core_taker() -> Callable[[], None] | None:
    """What has torch work on one core in the thread that calls it.

    The number holds for the thread that sets it, and as a default for those that come to torch
    later; the default is set back by a thread that ends with it (torch: ATen/ParallelOpenMP.cpp).
    """
    torch = sys.modules.get("torch")
    if torch is None:  # the model is none of torch's
        return None
    usual = torch.get_num_threads()

    def take_one_core() -> None:
        torch.get_num_threads()  # a thread takes the default over when it first comes to torch
        torch.set_num_threads(1)
        setting_back = threading.Thread(
            target=torch.set_num_threads, args=(usual,)
        )
        setting_back.start()
        setting_back.join()

    return take_one_core


@frozen
class LocalModel:
    """A SentenceTransformer, by name or folder, which is loaded once in a process."""

    model: str = DEFAULT_LOCAL_MODEL
    state: EncodingState = field(default_factory=EncodingState)

    @property
    def identity(self) -> EmbedderIdentity:
        """The model with its makers' prefixes (see ``EmbeddingModel``)."""
        return instructed("local", self.model)

    @property
    def source(self) -> None:
        """A process loads the model once (see ``EmbeddingModel``)."""

    def new_pace(self) -> Pace:
        """One portion at a time (see ``EmbeddingModel``)."""
        return Pace()

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of the texts (see ``EmbeddingModel``)."""
        try:
            model = await self._loaded()
            prefix = self.identity.prefix(query=query)
            rows = await encoded(self.state, model, prefix, texts, query=query)
        except (
            ImportError,
            OSError,
            ValueError,
            TypeError,
            RuntimeError,
        ) as error:
            detail = f"{self.model!r}: {error}"
            raise EmbeddingError(detail=detail) from error
        return checked_vectors(rows, len(texts), f"local model {self.model!r}")

    async def _loaded(self) -> SentenceModel:
        """The model, which is loaded if need be: one at a time."""
        models = self.state.models
        async with self.state.loading:
            if self.model not in models:
                load = partial(_sentence_transformer, self.model)
                models[self.model] = await _in_thread(self.state, load)
        return models[self.model]


def _sentence_transformer(model: str) -> SentenceModel:
    package = importlib.import_module("sentence_transformers")
    return package.SentenceTransformer(model)
