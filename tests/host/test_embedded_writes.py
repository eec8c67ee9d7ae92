"""Single texts of the host's writes are embedded on one core, and everything else by the host."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from fastapi import Request

from adaptive.host.embedded_writes import writing_request
from adaptive.host.requests import process_state
from tests.host.test_requests import running_request

USER = object()
BY_THE_HOST = [9.0, 9.0]


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

    def __init__(self, *, engine: str = "local", device: str = "cpu") -> None:
        self.model = Model(device)
        self.calls: list[tuple[Any, dict[str, Any]]] = []
        self.turn = running_request()
        self.turn.app.state.ef = self.model
        self.turn.app.state.EMBEDDING_FUNCTION = self.embed
        # Read from the host's settings otherwise, which need an installed host.
        process_state(self.turn)["embedder_name"] = (f"host:{engine}:minilm", math.inf)

    async def embed(self, texts: Any, **named: Any) -> Any:
        """The host's own function."""
        self.calls.append((texts, named))
        return BY_THE_HOST

    @property
    def request(self) -> Request:
        """What the host's functions are called with to write a memory."""
        return writing_request(self.turn, USER)

    async def write(self, texts: Any, **named: Any) -> Any:
        """Embed as the host's writes do (host: routers/memories.py)."""
        return await self.request.app.state.EMBEDDING_FUNCTION(texts, user=USER, **named)


@pytest.mark.parametrize("prefix", [None, "passage: "])
async def test_one_text_is_embedded_on_one_core(prefix: str | None) -> None:
    """A memory's text goes to the host's model with the host's prefix, on one core alone."""
    usual = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        host = Host()
        assert await host.write("User has a cat.", prefix=prefix) == [15.0, 1.0]
        assert await host.write("User has a dog!", prefix=prefix) == [15.0, 1.0]
    finally:
        torch.set_num_threads(usual)
    texts = (["User has a cat."], ["User has a dog!"])
    assert host.model.asked == [(one, prefix, 1) for one in texts]
    assert host.calls == []


@dataclass(frozen=True)
class Left:
    """What is left to the host."""

    name: str
    texts: Any
    engine: str = "local"
    device: str = "cpu"


@pytest.mark.parametrize(
    "case",
    [
        Left("several texts", ["User has a cat.", "User has a dog."]),
        Left("a long text", "User has a cat. " * 100),
        Left("a service", "User has a cat.", engine="openai"),
        Left("Apple's graphics processor, on which calls take turns", "User.", device="mps:0"),
    ],
    ids=lambda case: case.name,
)
async def test_the_rest_is_left_to_the_host(case: Left) -> None:
    """What can't be embedded so goes to the host's function as the host called it."""
    host = Host(engine=case.engine, device=case.device)
    assert await host.write(case.texts, prefix="passage: ") == BY_THE_HOST
    assert await host.write(case.texts) == BY_THE_HOST
    named = {"prefix": "passage: ", "user": USER}
    assert host.calls == [(case.texts, named), (case.texts, {"user": USER})]
    assert host.model.asked == []


def test_all_else_is_the_hosts() -> None:
    """What the host keeps on its app is read and set there, and what is missing is missing."""
    host = Host()
    app, state = host.turn.app, host.turn.app.state
    state.MODELS = {"a": 1}
    seen = host.request.app
    seen.state.FUNCTIONS = {"f": 2}
    seen.title = "Open WebUI"
    assert seen.state.MODELS == {"a": 1}
    assert state.FUNCTIONS == {"f": 2}
    assert app.title == "Open WebUI"
    assert not hasattr(seen.state, "config")
    assert host.embed == state.EMBEDDING_FUNCTION
    assert host.request.headers == host.turn.headers
