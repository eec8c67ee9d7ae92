"""The twin of an embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from adaptive.host.half_precision import half_precision_twin


class Letters(torch.nn.Module):
    """A model of two layers that looks at letters."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.letters = torch.nn.Embedding(128, width)
        self.first = torch.nn.Linear(width, width)
        self.second = torch.nn.Linear(width, width)

    def encode(self, texts: Sequence[str], show_progress_bar: bool = True) -> Any:
        """One vector a text."""
        assert not show_progress_bar
        found: list[Any] = []
        with torch.inference_mode():
            for text in texts:
                codes = torch.tensor([ord(letter) % 128 for letter in text])
                middle = self.letters(codes).mean(0, keepdim=True)
                found.append(self.second(torch.tanh(self.first(middle)))[0].numpy())
        return np.stack(found)


class Forgetful(Letters):
    """A model whose copy is not itself any more."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Forgetful:
        return Forgetful()


def test_same_vectors() -> None:
    """The twin makes the vectors of the model, which stays as it was."""
    torch.manual_seed(1)
    model = Letters()
    texts = ["a first text", "and a second one", "Zürich"]
    before = model.encode(texts, show_progress_bar=False)
    twin = half_precision_twin(model)
    assert twin is not None
    assert not isinstance(twin.first, torch.nn.Linear)
    assert twin.letters.weight is model.letters.weight
    made = twin.encode(texts, show_progress_bar=False)
    cosines = np.sum(before * made, 1) / (
        np.linalg.norm(before, axis=1) * np.linalg.norm(made, axis=1)
    )
    assert np.all(cosines > 0.9999)
    assert np.array_equal(model.encode(texts, show_progress_bar=False), before)


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(object(), id="no model of torch"),
        pytest.param(Letters().half(), id="half precision already"),
        pytest.param(Letters().to("meta"), id="not on the processor"),
        pytest.param(torch.nn.Linear(8000, 8000, device="cpu"), id="too large"),
        pytest.param(torch.nn.Linear(4, 4), id="without an encoder"),
    ],
)
def test_no_twin(model: object) -> None:
    """What has no twin, or would take too much memory for it, is used itself."""
    assert half_precision_twin(model) is None


def test_unlike_twin() -> None:
    """A copy that makes other vectors is not used."""
    torch.manual_seed(1)
    assert half_precision_twin(Forgetful()) is None
