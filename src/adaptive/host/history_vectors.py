"""Units of past conversation in the host's own vector database, whichever engine it runs.

Only what all engines have in common is used: dicts as items, a filter of one equal field, an
explicit limit, and ids that are UUIDs. Qdrant joins several conditions with *or* in 0.9.6, Chroma
asks its list of collections in a way that newer clients changed, and pgvector lengthens the vector
that it is given (host: retrieval/vector/dbs).
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast, get_args

from adaptive.conversation_ports import HistoryHit, HistoryUnit, UnitKind
from adaptive.errors import HostError
from adaptive.host.faults import HostFaults
from adaptive.host.uninterrupted import uninterrupted
from adaptive.host.vector_table import embedder_key
from adaptive.ports import Vectors
from adaptive.shapes import listing, mapping

# Engines that hold the collections of all users in one tell users' memories by this beginning
# (host: retrieval/vector/dbs/qdrant_multitenancy.py), and give them vectors of one length.
_COLLECTION_PREFIX = "user-memory-history-"
_UNITS_AT_ONCE = 100
# Some engines cut a search for more off without a word (host: dbs/valkey.py, dbs/opensearch.py).
_MOST_UNITS_OF_CHAT = 10_000
_REMEMBERED_COLLECTIONS = 2000
# Chroma takes the longer the more units a filter finds, whatever the limit: with 20,000 units 8 ms
# for this one, of which there is one for each chat, and 80 ms for the kind.
_ANY_CHAT = {"first": "yes"}
_UNIT_KINDS = frozenset(get_args(UnitKind))

VectorClient = Any


def history_collection(user_id: str) -> str:
    """The name of a user's collection: 44 characters that every engine takes."""
    digest = hashlib.blake2b(user_id.encode(errors="replace"), digest_size=12).hexdigest()
    return f"{_COLLECTION_PREFIX}{digest}"


class HostHistoryVectors:
    """``HistoryVectors`` through the host's asynchronous client; ``client`` brings another one."""

    def __init__(self, client: Callable[[], VectorClient] | None = None) -> None:
        self._client = client or _host_client
        self._embedders: OrderedDict[str, str] = OrderedDict()

    async def known(self, user_id: str, embedder: str, chat_id: str) -> dict[str, str]:
        """Digests by unit id, of those whose vectors are of this embedder."""
        limit = _MOST_UNITS_OF_CHAT
        items = await self._query(user_id, {"chat_id": chat_id}, limit)
        key = embedder_key(embedder)
        return {
            id_: str(meta.get("digest") or "")
            for id_, meta in items.items()
            if meta.get("embedder") == key
        }

    async def chats(self, user_id: str) -> frozenset[str]:
        """Chats by their first messages."""
        items = await self._query(user_id, _ANY_CHAT, _MOST_UNITS_OF_CHAT)
        return frozenset(str(meta.get("chat_id") or "") for meta in items.values()) - {""}

    async def holds(self, user_id: str) -> bool:
        """Whether one chat is found."""
        return bool(await self._query(user_id, _ANY_CHAT, 1))

    @uninterrupted
    async def upsert(
        self, user_id: str, embedder: str, units: Sequence[HistoryUnit], vectors: Vectors
    ) -> None:
        """Store units; a collection of another embedder is dropped first."""
        name, key = history_collection(user_id), embedder_key(embedder)
        if units and await self._embedder_of(user_id) not in ("", key):
            await self.delete_all(user_id)
        for start in range(0, len(units), _UNITS_AT_ONCE):
            some = units[start : start + _UNITS_AT_ONCE]
            rows = vectors[start : start + _UNITS_AT_ONCE]
            items = [_vector_item(unit, row, key) for unit, row in zip(some, rows, strict=True)]
            with HostFaults("indexing past conversation"):
                await self._client().upsert(name, items)
        if units:
            self._remember(user_id, key)

    async def search(
        self, user_id: str, embedder: str, vector: Vectors, limit: int, chat_id: str = ""
    ) -> tuple[HistoryHit, ...]:
        """The nearest units, the best first."""
        if await self._embedder_of(user_id) != embedder_key(embedder):
            return ()
        filter_ = {"chat_id": chat_id} if chat_id else None
        with HostFaults("searching past conversation"):
            found = await self._client().search(
                collection_name=history_collection(user_id),
                vectors=[vector.tolist()],
                filter=filter_,
                limit=limit,
            )
            ids = _first_list(found, "ids")
            metas = _first_list(found, "metadatas")
            texts = _first_list(found, "documents")
            distances = [float(one) for one in _first_list(found, "distances")]
        closeness = _closeness(distances, len(ids))
        scores = _scores(distances, len(ids))
        hits: list[HistoryHit] = []
        for at, raw in enumerate(metas[: len(ids)]):
            meta = mapping(raw)
            if meta.get("type") not in _UNIT_KINDS:
                continue
            hits.append(
                HistoryHit(
                    cast(UnitKind, meta["type"]),
                    str(meta.get("chat_id") or ""),
                    str(meta.get("message_id") or ""),
                    closeness[at],
                    str(texts[at] or "") if at < len(texts) else "",
                    scores[at],
                )
            )
        return tuple(hits)

    async def delete(self, user_id: str, unit_ids: Sequence[str]) -> None:
        """Remove units by id."""
        name = history_collection(user_id)
        for start in range(0, len(unit_ids), _UNITS_AT_ONCE):
            some = list(unit_ids[start : start + _UNITS_AT_ONCE])
            with HostFaults("removing past conversation"):
                await self._client().delete(name, ids=some)

    async def delete_chat(self, user_id: str, chat_id: str) -> None:
        """Remove the units of a chat by their ids: not every engine deletes by a filter."""
        while items := await self._query(user_id, {"chat_id": chat_id}, _MOST_UNITS_OF_CHAT):
            await self.delete(user_id, list(items))
            if len(items) < _MOST_UNITS_OF_CHAT:
                return

    async def delete_all(self, user_id: str) -> None:
        """Drop the user's collection; it is no fault if there is none.

        Raises:
            HostError: something of it is left.
        """
        try:
            with HostFaults("removing past conversation"):
                await self._client().delete_collection(history_collection(user_id))
        except HostError:
            # Engines differ in what they say of a collection that does not exist.
            if await self._query(user_id, {"type": "message"}, 1):
                raise
        self._embedders.pop(user_id, None)

    async def _embedder_of(self, user_id: str) -> str:
        """The key of the embedder that the collection's vectors are of; empty where it is empty."""
        known = self._embedders.get(user_id)
        if known is None:
            items = await self._query(user_id, {"type": "message"}, 1)
            known = next((str(meta.get("embedder") or "") for meta in items.values()), "")
            if known:
                self._remember(user_id, known)
        return known

    def _remember(self, user_id: str, key: str) -> None:
        self._embedders[user_id] = key
        while len(self._embedders) > _REMEMBERED_COLLECTIONS:
            self._embedders.popitem(last=False)

    async def _query(
        self, user_id: str, filter_: Mapping[str, str], limit: int
    ) -> dict[str, Mapping[str, Any]]:
        """Metadata of the units that a filter finds, by id."""
        name = history_collection(user_id)
        with HostFaults("reading the index of past conversation"):
            found = await self._client().query(name, filter=dict(filter_), limit=limit)
            ids, metas = _first_list(found, "ids"), _first_list(found, "metadatas")
            return {str(id_): mapping(meta) for id_, meta in zip(ids, metas, strict=False)}


def _vector_item(unit: HistoryUnit, row: Vectors, key: str) -> dict[str, Any]:
    """An item as the host takes it, with a vector of its own.

    The text of a pair stands there with its two messages.
    """
    return {
        "id": unit.id,
        "text": unit.digest if unit.kind == "exchange" else unit.text,
        "vector": row.tolist(),
        "metadata": {
            "type": unit.kind,
            "chat_id": unit.chat_id,
            "message_id": unit.message_id,
            "role": unit.role,
            "time": unit.said_at,
            "digest": unit.digest,
            "embedder": key,
            "first": "yes" if unit.first else "no",
        },
    }


def _first_list(found: object, name: str) -> list[Any]:
    """What was found for the first vector; the host's result may be ``None``, or hold ``None``."""
    lists = listing(getattr(found, name, None))
    return listing(lists[0]) if lists else []


def _closeness(distances: Sequence[float], count: int) -> list[float]:
    """1 for the first, 0 for the last, whatever an engine's distances mean; by rank without any."""
    if len(distances) != count:
        distances = list(range(count, 0, -1))
    if not distances or distances[0] == distances[-1]:
        return [1.0] * len(distances)
    span = distances[0] - distances[-1]
    return [min(max((one - distances[-1]) / span, 0.0), 1.0) for one in distances]


def _scores(distances: Sequence[float], count: int) -> list[float]:
    """What the engine says of each, negated where less is nearer; nothing if it says nothing."""
    if len(distances) != count:
        return [0.0] * count
    sign = -1.0 if distances and distances[0] < distances[-1] else 1.0
    return [sign * one for one in distances]


def _host_client() -> VectorClient:
    from open_webui.retrieval.vector.async_client import ASYNC_VECTOR_DB_CLIENT

    return ASYNC_VECTOR_DB_CLIENT
