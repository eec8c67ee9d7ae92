"""Embedders outside the host."""

import asyncio
import importlib
import threading
from collections.abc import Sequence
from dataclasses import field
from typing import Any, cast

import numpy as np

from adaptive.core.model import EmbeddingError, Vectors, frozen
from adaptive.core.providers import ModelError, endpoint, post_json

DEFAULT_LOCAL_MODEL = "all-MiniLM-L6-v2"
_BATCH = 64
_NO_VECTORS = "the embedding model sent nothing that can be used"


def checked_vectors(raw: object, count: int, provider: str) -> Vectors:
    """Vectors as a float32 matrix of ``count`` rows.

    Raises:
        EmbeddingError: not one vector per text, of one length, all finite.
    """
    try:
        matrix = np.asarray(raw, dtype=np.float32)
    except (ValueError, TypeError, OverflowError) as error:
        raise EmbeddingError(
            _NO_VECTORS, detail=f"{provider}: {error}"
        ) from error
    if matrix.ndim != 2 or matrix.shape[0] != count or matrix.shape[1] == 0:
        detail = f"{provider} sent an array of shape {matrix.shape} for {count} texts"
        raise EmbeddingError(_NO_VECTORS, detail=detail)
    if not np.isfinite(matrix).all():
        raise EmbeddingError(
            _NO_VECTORS, detail=f"{provider} sent numbers that are not finite"
        )
    return matrix


@frozen
class LocalEmbedder:
    """A SentenceTransformer, by name or folder; ``loaded`` shares models within the process."""

    model: str = DEFAULT_LOCAL_MODEL
    loaded: dict[str, Any] = field(default_factory=dict[str, Any])

    async def name(self) -> str:
        """The provider and the model."""
        return f"local:{self.model}"

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:  # noqa: ARG002
        """Vectors of the texts (see ``Embedder``)."""
        try:
            raw = await asyncio.to_thread(self._encode, list(texts))
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
        return checked_vectors(raw, len(texts), f"local model {self.model!r}")

    def _encode(self, texts: list[str]) -> object:
        """Load the model if need be, and embed; blocking, so in a worker thread."""
        lock: threading.Lock = self.loaded.setdefault("lock", threading.Lock())
        with (
            lock
        ):  # one load, and one encode at a time: torch uses all cores for each
            if self.model not in self.loaded:
                module: Any = importlib.import_module("sentence_transformers")
                self.loaded[self.model] = module.SentenceTransformer(
                    self.model
                )
            return self.loaded[self.model].encode(
                texts, convert_to_numpy=True, show_progress_bar=False
            )


@frozen
class EndpointEmbedder:
    """An OpenAI-compatible embeddings endpoint, asked in batches."""

    url: str
    model: str
    api_key: str = ""

    async def name(self) -> str:
        """The provider and the model."""
        return f"openai:{self.url}:{self.model}"

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:  # noqa: ARG002
        """Vectors of the texts (see ``Embedder``)."""
        if not self.url.strip() or not self.model.strip():
            raise EmbeddingError(
                "the valves `embedding_api_url` and `embedding_model_name` must be set"
            )
        batches = [
            list(texts[start : start + _BATCH])
            for start in range(0, len(texts), _BATCH)
        ]
        rows: list[Vectors] = []
        for batch in batches:
            rows += [*await self._batch(batch)]
        return checked_vectors(rows, len(texts), repr(self.url))

    async def _batch(self, texts: list[str]) -> Vectors:
        url, body = (
            endpoint(self.url, "embeddings"),
            {"model": self.model, "input": texts},
        )
        try:
            reply = await post_json(url, body, self.api_key)
            rows = cast(list[dict[str, Any]], reply["data"])
            # The order is given by `index`, not by position (OpenAI: API reference, embeddings).
            ordered = sorted(rows, key=lambda row: int(row.get("index", 0)))
            raw = [row["embedding"] for row in ordered]
        except ModelError as error:
            raise EmbeddingError(
                f"embedding: {error}", detail=error.detail
            ) from error
        except (
            KeyError,
            TypeError,
            ValueError,
            AttributeError,
            OverflowError,
        ) as error:
            detail = f"{self.url!r} sent no embeddings: {error!r}"
            raise EmbeddingError(_NO_VECTORS, detail=detail) from error
        return checked_vectors(raw, len(texts), repr(self.url))
