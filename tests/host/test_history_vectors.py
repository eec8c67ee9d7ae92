"""Units of past conversation through a vector database client such as the host has."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from adaptive.conversation_ports import HistoryUnit
from adaptive.errors import HostError
from adaptive.host.history_vectors import HostHistoryVectors, history_collection

ADA = history_collection("ada")


def unit(name: str, kind: Any = "message", chat_id: str = "c", **fields: Any) -> HistoryUnit:
    """A unit whose id is made of its name."""
    made = HistoryUnit(
        str(uuid.uuid5(uuid.NAMESPACE_URL, name)), kind, chat_id, name, "user", 1000, name, name
    )
    return replace(made, **fields)


def axis(at: int) -> Any:
    """A vector along one axis."""
    return np.eye(4, dtype=np.float32)[at]


@dataclass
class Engine:
    """A client over dicts; ``turned`` answers distances of which the lower is the better."""

    turned: bool = False
    silent: bool = False
    broken: bool = False
    collections: dict[str, dict[str, dict[str, Any]]] = field(
        default_factory=dict[str, dict[str, dict[str, Any]]]
    )
    calls: list[str] = field(default_factory=list[str])

    async def upsert(self, collection_name: str, items: Sequence[dict[str, Any]]) -> None:
        """As pgvector does, the vector that is given is lengthened in place."""
        self._check("upsert")
        for item in items:
            assert isinstance(item["vector"], list)
            assert all(isinstance(one, str | int) for one in item["metadata"].values())
            self.collections.setdefault(collection_name, {})[item["id"]] = dict(item)
            item["vector"] += [0.0]

    async def search(
        self,
        collection_name: str,
        vectors: Sequence[Sequence[float]],
        filter: Mapping[str, str] | None = None,
        limit: int = 10,
    ) -> Any:
        """Nearest first."""
        self._check("search")
        items = self._found(collection_name, filter)
        if not items:
            return None
        cosines = {item["id"]: float(np.dot(item["vector"][:4], vectors[0])) for item in items}
        items.sort(key=lambda item: -cosines[item["id"]])
        items = items[:limit]
        found = [cosines[item["id"]] for item in items]
        distances = None if self.silent else [[1 - one if self.turned else one for one in found]]
        return self._result(items, distances)

    async def query(
        self, collection_name: str, filter: Mapping[str, str], limit: int | None = None
    ) -> Any:
        """By metadata."""
        self._check("query")
        assert len(filter) == 1
        assert limit
        return self._result(self._found(collection_name, filter)[:limit], None)

    async def delete(self, collection_name: str, ids: Sequence[str]) -> None:
        """By id."""
        self._check("delete")
        for id_ in ids:
            self.collections.get(collection_name, {}).pop(id_, None)

    async def delete_collection(self, collection_name: str) -> None:
        """An unknown one is a fault."""
        self._check("delete_collection")
        del self.collections[collection_name]

    def _found(self, name: str, wanted: Mapping[str, str] | None) -> list[dict[str, Any]]:
        return [
            item
            for item in self.collections.get(name, {}).values()
            if all(item["metadata"].get(key) == value for key, value in (wanted or {}).items())
        ]

    def _result(self, items: Sequence[dict[str, Any]], distances: Any) -> Any:
        return SimpleNamespace(
            ids=[[item["id"] for item in items]],
            documents=[[item["text"] for item in items]],
            metadatas=[[item["metadata"] for item in items]],
            distances=distances,
        )

    def _check(self, call: str) -> None:
        self.calls.append(call)
        if self.broken:
            raise RuntimeError("no connection")


def over(engine: Engine) -> HostHistoryVectors:
    """The port on an engine."""
    return HostHistoryVectors(lambda: engine)


async def filled(engine: Engine) -> HostHistoryVectors:
    """Three units of two chats."""
    vectors = over(engine)
    units = [unit("a", first=True), unit("b", "exchange"), unit("x", chat_id="d", first=True)]
    await vectors.upsert("ada", "minilm", units, np.stack([axis(0), axis(1), axis(2)]))
    return vectors


def test_name_fits_every_engine() -> None:
    """A collection's name is short, plain, of its user, and with the beginning of user memories."""
    name = history_collection("Ada Löwe/../'; x" * 20)
    assert re.fullmatch(r"user-memory-[a-z0-9-]{1,48}[a-z0-9]", name)
    assert len({history_collection(one) for one in ("ada", "bob", "")}) == 3


@pytest.mark.parametrize("turned", [True, False])
async def test_searched(turned: bool) -> None:
    """Hits come best first with closeness from 1 to 0, whatever an engine's distances mean."""
    vectors = await filled(Engine(turned=turned))
    question = np.array([1, 0.5, 0, 0], dtype=np.float32)
    hits = await vectors.search("ada", "minilm", question, 10)
    assert [(hit.message_id, hit.kind, round(hit.closeness, 3)) for hit in hits] == [
        ("a", "message", 1.0),
        ("b", "exchange", 0.5),
        ("x", "message", 0.0),
    ]
    assert (hits[0].text, hits[0].chat_id) == ("a", "c")
    assert hits[0].score > hits[1].score > hits[2].score
    here = await vectors.search("ada", "minilm", question, 10, "d")
    assert [(hit.message_id, hit.closeness) for hit in here] == [("x", 1.0)]
    assert await vectors.search("bob", "minilm", question, 10) == ()


async def test_without_distances() -> None:
    """An engine that answers no distances is believed in its order."""
    vectors = await filled(Engine(silent=True))
    hits = await vectors.search("ada", "minilm", axis(1), 10)
    assert [(hit.message_id, hit.closeness) for hit in hits] == [("b", 1.0), ("a", 0.5), ("x", 0.0)]
    assert {hit.score for hit in hits} == {0.0}


async def test_known_units() -> None:
    """A chat's digests are told, and the chats that have any."""
    vectors = await filled(Engine())
    assert set((await vectors.known("ada", "minilm", "c")).values()) == {"a", "b"}
    assert await vectors.known("ada", "other", "c") == {}
    assert await vectors.chats("ada") == {"c", "d"}
    assert await vectors.chats("bob") == frozenset()


async def test_same_unit_once() -> None:
    """A unit that is written again takes its own place."""
    engine = Engine()
    vectors = await filled(engine)
    await filled(engine)
    assert len(engine.collections[ADA]) == 3
    await vectors.upsert("ada", "minilm", [], np.zeros((0, 4), np.float32))
    assert len(engine.collections[ADA]) == 3


async def test_metadata() -> None:
    """The metadata name type, chat, message, role and time; a pair's text stands there once."""
    engine = Engine()
    await filled(engine)
    item = engine.collections[ADA][unit("b").id]
    assert item["metadata"]["type"] == "exchange"
    assert item["metadata"].keys() >= {"chat_id", "message_id", "role", "time"}
    assert item["text"] == "b"


async def test_another_embedder_begins_anew() -> None:
    """Vectors of two embedders never stand in one collection, nor are they compared."""
    engine = Engine()
    await filled(engine)
    vectors = over(engine)
    assert await vectors.search("ada", "other", axis(0), 10) == ()
    await vectors.upsert("ada", "other", [unit("n")], axis(0)[None])
    assert list(engine.collections[ADA]) == [unit("n").id]
    assert len(await vectors.search("ada", "other", axis(0), 10)) == 1


async def test_deleted() -> None:
    """Units, chats and everything can be removed; what is not there is no fault."""
    engine = Engine()
    vectors = await filled(engine)
    await vectors.delete("ada", [unit("a").id, unit("unknown").id])
    assert len(engine.collections[ADA]) == 2
    await vectors.delete_chat("ada", "c")
    assert list(engine.collections[ADA]) == [unit("x").id]
    await vectors.delete_chat("ada", "gone")
    await vectors.delete_all("ada")
    assert engine.collections == {}
    await vectors.delete_all("ada")


async def test_faults_are_ours() -> None:
    """Whatever an engine raises arrives as a host error without the texts."""
    engine = Engine()
    vectors = await filled(engine)
    engine.broken = True
    with pytest.raises(HostError, match="searching past conversation: no connection"):
        await vectors.search("ada", "minilm", axis(0), 10)
    with pytest.raises(HostError):
        await vectors.upsert("ada", "minilm", [unit("secret words")], axis(0)[None])
    with pytest.raises(HostError):
        await vectors.delete_all("ada")


async def test_odd_results() -> None:
    """Foreign items are passed over, and times may be texts or fractions."""
    engine = Engine()
    vectors = await filled(engine)
    rows = engine.collections[ADA]
    rows["foreign"] = {"id": "foreign", "text": "", "vector": [0.0] * 4, "metadata": {}}
    rows[unit("a").id]["metadata"]["time"] = "1000.0"
    rows[unit("x").id]["metadata"]["time"] = "soon"
    hits = await vectors.search("ada", "minilm", axis(0), 10)
    assert {hit.message_id for hit in hits} == {"a", "b", "x"}


async def test_holds() -> None:
    """It is told whether anything of a user is there."""
    vectors = await filled(Engine())
    assert await vectors.holds("ada")
    assert not await vectors.holds("bob")
    await vectors.delete_all("ada")
    assert not await vectors.holds("ada")
