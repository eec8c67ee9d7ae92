"""Models that embed in this process, on threads of their own.

Many encodings at once slow each other down, and the host's event loop with them. Messages have a
lane of their own, so that they don't wait behind what is embedded in the background.

A short text is embedded on one core. On two cores that others use as well the same vector takes
five times as long, since each core waits for the other, and the host has none left.
"""

import asyncio
import importlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, Protocol, TypeVar

from adaptive.core import (
    EmbedderIdentity,
    EmbeddingError,
    Pace,
    Vectors,
    frozen,
)
from adaptive.search.embedders import checked_vectors, instructed

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
            raise EmbeddingError(
                "the local embedding model failed", detail=detail
            ) from error
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
    module: Any = importlib.import_module("sentence_transformers")
    return module.SentenceTransformer(model)
