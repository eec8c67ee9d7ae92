"""Embedders outside the host: an endpoint on loopback, and a local model where there is none."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from adaptive.core.model import EmbeddingError
from adaptive.search.embedders import (
    EndpointEmbedder,
    LocalEmbedder,
)
from tests.loopback import Answer, Loopback

pytestmark = pytest.mark.usefixtures("no_pauses")


def rows(*vectors: Sequence[float]) -> dict[str, Any]:
    """Vectors as an endpoint sends them."""
    listed = [
        {"object": "embedding", "embedding": list(vector)}
        for vector in vectors
    ]
    return {
        "data": [{**one, "index": index} for index, one in enumerate(listed)]
    }


def embedder(server: Loopback) -> EndpointEmbedder:
    """An embedder that asks the server."""
    return EndpointEmbedder(f"{server.url}/v1", "small", "secret")


async def test_many_texts_go_in_batches(server: Loopback) -> None:
    """More than 64 texts are several requests, with model and key; every vector finds its text."""
    texts = [str(number) for number in range(130)]
    batches = [texts[:64], texts[64:128], texts[128:]]
    server.will_answer(
        *(Answer(rows(*([int(text), 1] for text in one))) for one in batches)
    )
    vectors = await embedder(server).embed(texts, query=False)
    assert vectors.tolist() == [[number, 1] for number in range(130)]
    assert [one.body for one in server.received] == [
        {"model": "small", "input": batch} for batch in batches
    ]
    assert server.received[0].path == "/v1/embeddings"
    assert server.received[0].headers["Authorization"] == "Bearer secret"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "sent no embeddings"),
        ({"data": [1, 2]}, "sent no embeddings"),
        (
            {"data": [{"embedding": [1.0], "index": math.inf}]},
            "sent no embeddings",
        ),
        ({"data": [{"embedding": [10**400]}]}, "too large"),
        (rows(), r"shape \(0,\) for 2 texts"),
        (rows([1, 2]), r"shape \(1, 2\) for 2 texts"),
        (rows([float("nan")], [1]), "not finite"),
    ],
    ids=[
        "no data",
        "row is no object",
        "endless",
        "too large",
        "empty",
        "too few",
        "not a number",
    ],
)
async def test_unusable_answer(
    server: Loopback, body: dict[str, Any], reason: str
) -> None:
    """Anything but one finite vector per text is refused."""
    server.will_answer(Answer(body))
    with pytest.raises(
        EmbeddingError, match="nothing that can be used"
    ) as refused:
        await embedder(server).embed(["a", "b"], query=False)
    assert re.search(reason, refused.value.detail)


async def test_busy_endpoint(server: Loopback) -> None:
    """A busy endpoint is an error of embedding, which lets the embedder rest."""
    server.will_answer(Answer(status=503))
    with pytest.raises(EmbeddingError, match=r"^embedding: .*HTTP 503"):
        await embedder(server).embed(["a"], query=True)


@pytest.mark.parametrize(
    ("url", "model"), [("", "m"), ("http://127.0.0.1", " ")]
)
async def test_empty_valves(url: str, model: str) -> None:
    """Without address or model the valves are named."""
    with pytest.raises(
        EmbeddingError, match="`embedding_api_url` and `embedding_model_name`"
    ):
        await EndpointEmbedder(url, model).embed(["a"], query=True)


async def test_without_sentence_transformers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A host without sentence-transformers, as its slim image is, says so."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(
        EmbeddingError, match=r"^the local embedding model failed$"
    ) as failed:
        await LocalEmbedder("any").embed(["a"], query=False)
    assert "sentence_transformers" in failed.value.detail
