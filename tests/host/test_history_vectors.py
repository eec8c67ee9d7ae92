"""Units of past conversation through a vector database client such as the host has."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from sqlalchemy.exc import OperationalError

from adaptive.core.model import HostError
from adaptive.host.vector_database import (
    HostHistoryVectors,
    history_collection,
)
from adaptive.search.history_ports import HistoryUnit
from adaptive.search.vectors import content_hash

ADA = history_collection("ada")


def unit(name: str, previous_id: str = "", chat_id: str = "c") -> Any:
    """A unit of a message."""
    return HistoryUnit(
        chat_id=chat_id,
        message_id=name,
        previous_id=previous_id,
        texts=[name],
        digest=f"digest of {name}",
    )


def axis(at: int) -> Any:
    """A vector along one axis."""
    return np.eye(4, dtype=np.float32)[at]


@dataclass
class Engine:
    """A client over dicts; ``turned`` answers distances of which the lower is the better."""

    turned: bool = False
    collections: dict[str, dict[str, dict[str, Any]]] = field(
        default_factory=dict[str, dict[str, dict[str, Any]]]
    )

    def upsert(
        self, collection_name: str, items: Sequence[dict[str, Any]]
    ) -> None:
        """As pgvector does, the vector that is given is lengthened in place."""
        for item in items:
            assert isinstance(item["vector"], list)
            assert (
                str(uuid.UUID(item["id"])) == item["id"]
            )  # Qdrant asks for it
            assert all(
                isinstance(one, str | int) for one in item["metadata"].values()
            )
            self.collections.setdefault(collection_name, {})[item["id"]] = (
                dict(item)
            )
            item["vector"] += [0.0]

    def search(
        self,
        collection_name: str,
        vectors: Sequence[Sequence[float]],
        filter: Mapping[str, str] | None = None,
        limit: int = 10,
    ) -> Any:
        """Nearest first; as Qdrant does, it fails where there is no collection."""
        if collection_name not in self.collections:
            raise ValueError("not found")
        items = self._found(collection_name, filter)
        cosines = {
            item["id"]: float(np.dot(item["vector"][:4], vectors[0]))
            for item in items
        }
        items = sorted(items, key=lambda item: -cosines[item["id"]])[:limit]
        found = [cosines[item["id"]] for item in items]
        return self._result(
            items,
            [[1 - one if self.turned else (1 + one) / 2 for one in found]],
        )

    def query(
        self,
        collection_name: str,
        filter: Mapping[str, str],
        limit: int | None = None,
    ) -> Any:
        """By metadata."""
        assert len(filter) == 1
        assert limit
        return self._result(self._found(collection_name, filter)[:limit], None)

    def has_collection(self, collection_name: str) -> bool:
        """Whether anything is in it."""
        return collection_name in self.collections

    def delete_collection(self, collection_name: str) -> None:
        """All that is in it."""
        del self.collections[collection_name]

    def _found(
        self, name: str, wanted: Mapping[str, str] | None
    ) -> list[dict[str, Any]]:
        return [
            item
            for item in self.collections.get(name, {}).values()
            if all(
                item["metadata"].get(key) == value
                for key, value in (wanted or {}).items()
            )
        ]

    def _result(self, items: Sequence[dict[str, Any]], distances: Any) -> Any:
        return SimpleNamespace(
            ids=[[item["id"] for item in items]],
            documents=[[item["text"] for item in items]],
            metadatas=[[item["metadata"] for item in items]],
            distances=distances,
        )


@pytest.fixture(params=[False, True], ids=["usual", "turned"])
def engine(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Engine:
    """The engine of a host, of either kind."""
    running = Engine(turned=request.param)
    name = "open_webui.retrieval.vector.async_client"
    client = SimpleNamespace(sync=running)
    monkeypatch.setitem(
        sys.modules, name, SimpleNamespace(ASYNC_VECTOR_DB_CLIENT=client)
    )
    return running


async def filled() -> HostHistoryVectors:
    """Three units of two chats."""
    vectors = HostHistoryVectors()
    units = [unit("a"), unit("b", "a"), unit("x", chat_id="d")]
    await vectors.upsert(
        "ada", "minilm", units, np.stack([axis(0), axis(1), axis(2)])
    )
    return vectors


def stored(engine: Engine) -> list[str]:
    """The messages whose units are in Ada's collection."""
    items = engine.collections.get(ADA, {}).values()
    return sorted(item["metadata"].get("message_id", "") for item in items)


async def test_searched(engine: Engine) -> None:
    """Hits come best first, the higher the score the nearer, whatever an engine's distances are."""
    vectors = await filled()
    foreign = {"id": "f", "text": "", "vector": [0.0] * 4, "metadata": {}}
    engine.collections[ADA]["f"] = foreign
    question = np.array([1, 0.5, 0, 0], dtype=np.float32)
    hits = await vectors.search("ada", "minilm", question, 10)
    assert [
        (hit.chat_id, hit.message_id, hit.previous_id) for hit in hits
    ] == [
        ("c", "a", ""),
        ("c", "b", "a"),
        ("d", "x", ""),
    ]
    cosines = [hit.cosine for hit in hits]
    assert cosines == pytest.approx([1, 0.5, 0])
    here = await vectors.search("ada", "minilm", question, 10, "d")
    assert [hit.message_id for hit in here] == ["x"]
    assert await vectors.search("bob", "minilm", question, 10) == []


async def test_whose_vectors_they_are(engine: Engine) -> None:
    """It is known whose vectors stand there, and those of another embedder are not compared."""
    vectors = HostHistoryVectors()
    assert await vectors.standing_embedder("ada") == ""
    vectors = await filled()
    assert await vectors.standing_embedder("ada") == content_hash("minilm")
    assert await vectors.search("ada", "other", axis(0), 10) == []


async def test_faults(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A collection that is gone is no fault; one that can't be searched or dropped is."""
    vectors = await filled()
    for _ in range(2):
        await vectors.delete_all("ada")
        assert await vectors.search("ada", "minilm", axis(0), 10) == []
    await filled()
    for name in ("search", "delete_collection"):
        monkeypatch.setattr(engine, name, Mock(side_effect=OSError("away")))
    with pytest.raises(HostError) as failed:
        await vectors.search("ada", "minilm", axis(0), 10)
    assert "searching past conversation" in failed.value.detail
    with pytest.raises(HostError) as failed:
        await vectors.delete_all("ada")
    assert "removing past conversation" in failed.value.detail


@pytest.mark.parametrize("error", [OSError, OperationalError], ids=str)
async def test_no_answer_is_not_nothing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """A client that finds nothing while its database is away has erased nothing.

    Chroma's tells so when it is asked for the collection, pgvector's by the error of its driver.
    """
    vectors = await filled()
    away = Mock(side_effect=error("away", {}, OSError("away")))
    monkeypatch.setattr(engine, "delete_collection", away)
    monkeypatch.setattr(engine, "query", Mock(return_value=None))
    has_collection = Mock(return_value=False)
    if error is OSError:
        has_collection = away
        monkeypatch.setattr(engine, "has_collection", away)
        monkeypatch.setattr(engine, "search", Mock(return_value=None))
        with pytest.raises(HostError) as failed:
            await vectors.search("ada", "minilm", axis(0), 10)
        assert "looking for past conversation" in failed.value.detail
    monkeypatch.setattr(engine, "has_collection", has_collection)
    with pytest.raises(HostError):
        await vectors.delete_all("ada")
