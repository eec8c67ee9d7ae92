"""What embedding services are sent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from adaptive.errors import EmbeddingError
from adaptive.ports import Vectors
from adaptive.privacy.gate import SECRET_PLACEHOLDER
from adaptive.privacy.secretless_embedder import SecretlessEmbedder

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Service:
    """Counts letters; refuses whom it does not like, in their own words."""

    def __init__(self) -> None:
        self.received: list[str] = []

    async def name(self) -> str:
        """A name."""
        return "letters"

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """The number of letters."""
        self.received += texts
        if "refuse" in texts[0]:
            raise EmbeddingError(f"the service answered HTTP 400: 'not with {TOKEN}'")
        return np.array([[len(text), query] for text in texts], np.float32)


async def test_no_secret_is_sent() -> None:
    """Texts go out without their secrets, and each has its vector."""
    service = Service()
    embedder = SecretlessEmbedder(service)
    made = await embedder.embed([f"My token is {TOKEN}", "I like tea"], query=True)
    assert service.received == [f"My token is {SECRET_PLACEHOLDER}", "I like tea"]
    assert made.shape == (2, 2)
    assert await embedder.name() == "letters"


async def test_failure_tells_no_secret() -> None:
    """What a service answers is told without secrets."""
    with pytest.raises(EmbeddingError, match="HTTP 400") as failure:
        await SecretlessEmbedder(Service()).embed(["refuse"], query=False)
    assert TOKEN not in str(failure.value)
