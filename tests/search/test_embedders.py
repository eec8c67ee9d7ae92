"""Embedders outside the host: an endpoint on loopback, and a local model where there is none."""

from __future__ import annotations

import asyncio
import math
import re
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.core.embedding import EmbedderIdentity, EmbeddingBusy
from adaptive.core.model import EmbeddingError, Vectors
from adaptive.core.texts import LANGUAGE
from adaptive.search.embedders import (
    EncodingState,
    EndpointModel,
    LocalModel,
    encoded,
    instructed,
)
from tests.loopback import Answer, Loopback
from tests.rates import over

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


def embedder(server: Loopback) -> EndpointModel:
    """An embedder that asks the server."""
    return EndpointModel(f"{server.url}/v1", "small", "secret")


async def test_many_texts_go_in_batches(server: Loopback) -> None:
    """More than 32 texts are several requests, with model and key; every vector finds its text."""
    texts = [str(number) for number in range(66)]
    batches = [texts[:32], texts[32:64], texts[64:]]
    server.will_answer(
        *(Answer(rows(*([int(text), 1] for text in one))) for one in batches)
    )
    vectors = await embedder(server).embed(texts, query=False)
    assert vectors.tolist() == [[number, 1] for number in range(66)]
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
        ({"data": 2 * [{"embedding": [10**400]}]}, "too large"),
        (rows(), "0 for 2 texts"),
        (rows([1, 2]), "1 for 2 texts"),
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
        EmbeddingError, match="the embedding model failed"
    ) as refused:
        await embedder(server).embed(["a", "b"], query=False)
    assert re.search(reason, refused.value.detail)


async def test_batch_of_another_length(server: Loopback) -> None:
    """Batches that are right in sum give no text the vector of another."""
    texts = [str(number) for number in range(64)]
    server.will_answer(
        Answer(rows(*(33 * [[1, 0]]))), Answer(rows(*(31 * [[1, 0]])))
    )
    with pytest.raises(EmbeddingError) as refused:
        await embedder(server).embed(texts, query=False)
    assert "33 for 32 texts" in refused.value.detail


@over("status", [400, 503])
async def test_refusing_endpoint(server: Loopback, status: int) -> None:
    """A refusal is an error of embedding, whose detail is English, whoever is served."""
    server.will_answer(Answer(status=status))
    token = LANGUAGE.set("de")
    with pytest.raises(EmbeddingError) as refused:
        await embedder(server).embed(["a"], query=True)
    LANGUAGE.reset(token)
    answered = f"the model's provider answered with an error (HTTP {status})"
    assert refused.value.detail.startswith(answered)
    assert isinstance(refused.value, EmbeddingBusy) is (status == 503)


_WEB_SEARCH = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the"
    " query\nQuery:"
)


@over(
    "model, query, content",
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("e5-base-v2", "query: ", "passage: "),
        ("multilingual-e5-large-instruct", f"{_WEB_SEARCH} ", ""),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("Qwen/Qwen3-Embedding-0.6B", _WEB_SEARCH, ""),
        ("qwen3-embedding:8b", _WEB_SEARCH, ""),
        (
            "BAAI/bge-small-en-v1.5",
            "Represent this sentence for searching relevant passages: ",
            "",
        ),
        ("bge-m3", "", ""),
        ("/models/e5/all-MiniLM-L6-v2", "", ""),
        ("text-embedding-3-small", "", ""),
    ],
)
def test_instructions(model: str, query: str, content: str) -> None:
    """Before queries and contents stands what a model's makers name for it, and nothing else."""
    identity = instructed("local", model)
    assert identity.prefix(query=True) == query
    assert identity.prefix(query=False) == content


async def test_instructions_are_sent(server: Loopback) -> None:
    """An endpoint is asked behind the instruction of its model, which is part of the identity."""
    server.will_answer(Answer(rows([1, 2])))
    model = EndpointModel(f"{server.url}/v1", "nomic-embed-text")
    for query in (True, False):
        await model.embed(["tea"], query=query)
    sent = [one.body["input"] for one in server.received]
    assert sent == [["search_query: tea"], ["search_document: tea"]]


def test_identities_differ() -> None:
    """Whatever makes other vectors makes another name, and so does what is only written alike."""
    identities = [
        EmbedderIdentity("host, openai", "m"),
        EmbedderIdentity("host, openai", "m", "http://a"),
        EmbedderIdentity("host, openai", "m", "http://b"),
        EmbedderIdentity("host, openai", "m", query_prefix="query: "),
        EmbedderIdentity("host, openai", "m", content_prefix="query: "),
        EmbedderIdentity("host, openai", "m' address='http://a"),
        EmbedderIdentity("openai_compatible", "m"),
    ]
    assert len({*map(str, identities)}) == len(identities)


class NotingModel:
    """A SentenceTransformer that notes behind which prompt it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, str | None]] = []

    def encode(
        self,
        sentences: Sequence[str],
        *,
        prompt: str | None = None,
        batch_size: int,
        show_progress_bar: bool,
    ) -> list[Vectors]:
        """One vector for each text."""
        assert not show_progress_bar
        assert len(sentences) <= batch_size
        self.asked.append((len(sentences), prompt))
        return [np.array([1.0, 2.0], np.float32) for _ in sentences]


async def test_prompts_of_a_local_model() -> None:
    """A model in this process gets the prompts that its makers name for its kind."""
    model = NotingModel()
    local = LocalModel("e5-small", EncodingState(models={"e5-small": model}))
    for query in (True, False):
        await local.embed(["tea"], query=query)
    assert model.asked == [(1, "query: "), (1, "passage: ")]


@given(lengths=st.lists(st.integers(0, 300), max_size=80))
def test_texts_of_a_length_are_embedded_together(lengths: list[int]) -> None:
    """Each text gets its own vector, and no batch is filled up to twice the length of a text."""
    batches: list[list[int]] = []

    class ByLength(NotingModel):
        """Tells of each text how long it is."""

        def encode(self, sentences: Sequence[str], **_: Any) -> list[Vectors]:
            batches.append([len(text) for text in sentences])
            return [np.array([len(text) + 1.0]) for text in sentences]

    model = ByLength()
    texts = ["x" * length for length in lengths]
    rows = asyncio.run(
        encoded(EncodingState(), model, None, texts, query=True)
    )
    assert [row.tolist() for row in rows] == [
        [length + 1.0] for length in lengths
    ]
    assert all(2 * min(batch) >= max(batch) for batch in batches)
    assert all(len(batch) <= 32 for batch in batches)
    least = len(batches) - len(lengths) // 32
    assert least <= 10, "a few batches, however many lengths there are"


async def test_local_model_leaves_the_threads_of_the_host_alone() -> None:
    """However many texts and callers there are, the host's threads are free, and messages pass."""
    gate = threading.Event()

    class Slow(NotingModel):
        """Encodes when the gate is open."""

        def encode(
            self, sentences: Sequence[str], **named: Any
        ) -> list[Vectors]:
            if "tea?" not in sentences:
                gate.wait(10)
            return super().encode(sentences, **named)

    model = Slow()
    local = LocalModel("any", EncodingState(models={"any": model}))
    callers = [
        asyncio.create_task(local.embed(["text"] * 70, query=False))
        for _ in range(50)
    ]
    await asyncio.sleep(0)
    assert await asyncio.to_thread(str, 7) == "7"
    assert (await local.embed(["tea?"], query=True)).shape == (1, 2)
    gate.set()
    await asyncio.gather(*callers)
    sizes = sorted({size for size, _ in model.asked})
    assert sizes == [1, 6, 32]


@pytest.mark.parametrize(
    ("url", "model"), [("", "m"), ("http://127.0.0.1", " ")]
)
async def test_empty_valves(url: str, model: str) -> None:
    """Without address or model its valve is named."""
    valve = "embedding_model_name" if url else "embedding_api_url"
    with pytest.raises(EmbeddingError, match=f"`{valve}` is empty"):
        await EndpointModel(url, model).embed(["a"], query=True)


async def test_without_sentence_transformers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A host without sentence-transformers, as its slim image is, says so."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(
        EmbeddingError, match=r"^the embedding model failed$"
    ) as failed:
        await LocalModel("any").embed(["a"], query=False)
    assert "sentence_transformers" in failed.value.detail
