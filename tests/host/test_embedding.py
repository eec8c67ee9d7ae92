"""Short texts are embedded on one core by the host's model, all else as the host does it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch

from adaptive.core.errors import EmbeddingError
from adaptive.host import embedding
from adaptive.host.embedding import HostEmbedder
from adaptive.host.requests import process_state
from tests.host.test_requests import running_request

USER = object()


@dataclass
class Model:
    """A model that notes what it was asked, and on how many cores."""

    device: str = "cpu"
    asked: list[tuple[list[str], Any, int]] = field(default_factory=list[Any])

    def encode(self, texts: list[str], prompt: str | None = None, **_: Any) -> object:
        """One vector for each text, its length and one."""
        self.asked.append((texts, prompt, torch.get_num_threads()))
        return np.array([[len(text), 1.0] for text in texts], np.float32)


class Host:
    """A host's app with a model and the function by which it embeds."""

    def __init__(self, engine: str = "local", device: str = "cpu") -> None:
        self.model, self.calls = Model(device), list[Any]()
        self.turn = running_request()
        self.turn.app.state.ef = self.model
        self.turn.app.state.EMBEDDING_FUNCTION = self.embed
        # Read from the host's settings otherwise, which need an installed host.
        process_state(self.turn)["embedder_name"] = (f"host:{engine}:minilm", math.inf)
        self.embedder = HostEmbedder(self.turn, USER)

    async def embed(self, texts: list[str], **named: Any) -> Any:
        """The host's own function."""
        self.calls.append((texts, named))
        return [[9.0, 9.0] for _ in texts]


@pytest.fixture(autouse=True)
def prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    """The admin's prefix before contents, which is read from an installed host otherwise."""
    monkeypatch.setattr(embedding, "_prefix", lambda query: None if query else "passage: ")


async def test_cores() -> None:
    """Short texts are embedded on one core, long ones on all; elsewhere nothing changes."""
    usual = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        host, long = Host(), "User has a cat. " * 100
        assert (await host.embedder.embed(["A cat?"], query=True)).tolist() == [[6.0, 1.0]]
        await host.embedder.embed(["A cat.", "A dog."], query=False)
        await host.embedder.embed([long], query=False)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(usual)
    both = ["A cat.", "A dog."]
    asked = [(["A cat?"], None, 1), (both, "passage: ", 1), ([long], "passage: ", 3)]
    assert host.model.asked == asked
    assert host.calls == []


@pytest.mark.parametrize(("engine", "device"), [("openai", "cpu"), ("local", "mps:0")])
async def test_left_to_the_host(engine: str, device: str) -> None:
    """A service, and Apple's graphics processor, are asked by the host's own function."""
    host = Host(engine, device)
    assert (await host.embedder.embed(["A cat."], query=False)).tolist() == [[9.0, 9.0]]
    assert host.calls == [(["A cat."], {"prefix": "passage: ", "user": USER})]
    assert host.model.asked == []
    host.turn.app.state.EMBEDDING_FUNCTION = None
    with pytest.raises(EmbeddingError, match="no embedding model ready"):
        await host.embedder.embed(["A cat."], query=False)
