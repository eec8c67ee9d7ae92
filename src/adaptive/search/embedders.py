"""Embedding models outside the host: what their makers want to stand before texts, and endpoints."""

import json
import re
from collections.abc import Sequence

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
    Vectors,
    endpoint,
    frozen,
    listing,
    mapping,
    portions,
    post_json,
    titled_parts,
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
        if not self.url.strip() or not self.model.strip():
            raise EmbeddingError(
                "the valves `embedding_api_url` and `embedding_model_name` must be set"
            )
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
            return [row["embedding"] for row in rows]
        except ModelBusy as error:
            raise EmbeddingBusy(error) from error
        except ModelError as error:
            raise EmbeddingError(
                f"embedding: {error}", detail=error.detail
            ) from error
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            detail = f"{self.url!r} sent no embeddings: {error!r}"
            raise EmbeddingError(_NO_VECTORS, detail=detail) from error
