"""Units of past conversation in the host's own vector database, whichever engine it runs.

Only what all engines have in common is used: dicts as items, a filter of one equal field, an
explicit limit, and ids that are UUIDs. Qdrant joins several conditions with *or* in 0.9.6, Chroma
asks its list of collections in a way that newer clients changed, and pgvector lengthens the vector
that it is given (host: retrieval/vector/dbs).
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from adaptive.core.errors import HostError
from adaptive.core.ports import Vectors
from adaptive.core.shapes import listing, mapping
from adaptive.host.faults import HostFaults, uninterrupted
from adaptive.search.history_ports import HistoryHit, HistoryUnit, UnitKey, UnitKind
from adaptive.search.vectors import content_hash

# Engines that hold the collections of all users in one tell users' memories by this beginning
# (host: retrieval/vector/dbs/qdrant_multitenancy.py), and give them vectors of one length.
_COLLECTION_PREFIX = "user-memory-history-"
_UNITS_AT_ONCE = 100
# Some engines cut a search for more off without a word (host: dbs/valkey.py, dbs/opensearch.py).
_MOST_UNITS_OF_CHAT = 10_000
# Chroma takes the longer the more units a filter finds, whatever the limit: with 20,000 units 8 ms
# for this one, of which there is one for each chat, and 80 ms for the kind.
_ANY_CHAT = {"first": "yes"}
_UNIT_KINDS = frozenset(get_args(UnitKind))
_UNIT_NAMES = uuid.UUID("6f0f5f0a-7c1c-5b7e-9a46-2f1de0a7c0d3")


def history_collection(user_id: str) -> str:
    """The name of a user's collection: 44 characters that every engine takes."""
    digest = hashlib.blake2b(user_id.encode(errors="replace"), digest_size=12).hexdigest()
    return f"{_COLLECTION_PREFIX}{digest}"


def _host_client() -> Any:
    from open_webui.retrieval.vector.async_client import ASYNC_VECTOR_DB_CLIENT

    return ASYNC_VECTOR_DB_CLIENT


class HostHistoryVectors:
    """``HistoryVectors`` through the host's asynchronous client; ``client`` brings another one."""

    def __init__(self, client: Callable[[], Any] = _host_client) -> None:
        self._client = client
        self._embedders: dict[str, str] = {}

    async def known(self, user_id: str, embedder: str, chat_id: str) -> dict[UnitKey, str]:
        """Digests of those units whose vectors are of this embedder."""
        items = await self._query(user_id, {"chat_id": chat_id})
        return {
            (meta["type"], str(meta.get("message_id"))): str(meta.get("digest"))
            for meta in items.values()
            if meta.get("embedder") == content_hash(embedder) and meta.get("type") in _UNIT_KINDS
        }

    async def chats(self, user_id: str) -> frozenset[str]:
        """Chats by their first messages."""
        items = await self._query(user_id, _ANY_CHAT)
        return frozenset(str(meta.get("chat_id") or "") for meta in items.values()) - {""}

    @uninterrupted
    async def upsert(
        self, user_id: str, embedder: str, units: Sequence[HistoryUnit], vectors: Vectors
    ) -> None:
        """Store units; a collection of another embedder is dropped first."""
        name, key = history_collection(user_id), content_hash(embedder)
        if units and await self._embedder_of(user_id) not in ("", key):
            await self.delete_all(user_id)
        pairs = zip(units, vectors, strict=True)
        items = [_vector_item(user_id, unit, row, key) for unit, row in pairs]
        for start in range(0, len(items), _UNITS_AT_ONCE):
            with HostFaults("indexing past conversation"):
                await self._client().upsert(name, items[start : start + _UNITS_AT_ONCE])
            self._embedders[user_id] = key

    async def search(
        self, user_id: str, embedder: str, vector: Vectors, limit: int, chat_id: str = ""
    ) -> tuple[HistoryHit, ...]:
        """The nearest units, the best first."""
        if await self._embedder_of(user_id) != content_hash(embedder):
            return ()
        with HostFaults("searching past conversation"):
            found = await self._client().search(
                collection_name=history_collection(user_id),
                vectors=[vector.tolist()],
                filter={"chat_id": chat_id} if chat_id else None,
                limit=limit,
            )
            told = (_first_list(found, name) for name in ("metadatas", "documents", "distances"))
            metas, texts, distances = told
        # Of some engines less is nearer; what comes first is the nearest of all of them.
        sign = -1.0 if distances and distances[0] < distances[-1] else 1.0
        hits = list[HistoryHit]()
        for meta, text, distance in zip(map(mapping, metas), texts, distances, strict=False):
            kind: Any = meta.get("type")
            if kind in _UNIT_KINDS:
                ids = (str(meta.get("chat_id") or ""), str(meta.get("message_id") or ""))
                hits.append(HistoryHit(kind, *ids, sign * float(distance), str(text or "")))
        return tuple(hits)

    async def delete(
        self, user_id: str, chat_id: str, keys: Sequence[UnitKey] | None = None
    ) -> None:
        """Remove units by their ids: not every engine deletes by a filter."""
        if keys is None:
            ids = [*await self._query(user_id, {"chat_id": chat_id})]
        else:
            ids = [_unit_id(user_id, chat_id, key) for key in keys]
        for start in range(0, len(ids), _UNITS_AT_ONCE):
            with HostFaults("removing past conversation"):
                some = ids[start : start + _UNITS_AT_ONCE]
                await self._client().delete(history_collection(user_id), ids=some)

    async def delete_all(self, user_id: str) -> None:
        """Drop the user's collection; it is a fault if something of it is left."""
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
        if user_id not in self._embedders:
            items = await self._query(user_id, {"type": "message"}, 1)
            for meta in items.values():
                self._embedders[user_id] = str(meta.get("embedder") or "")
        return self._embedders.get(user_id, "")

    async def _query(
        self, user_id: str, filter_: Mapping[str, str], limit: int = _MOST_UNITS_OF_CHAT
    ) -> dict[str, Mapping[str, Any]]:
        """Metadata of the units that a filter finds, by id."""
        name = history_collection(user_id)
        with HostFaults("reading the index of past conversation"):
            found = await self._client().query(name, filter=dict(filter_), limit=limit)
            ids, metas = _first_list(found, "ids"), _first_list(found, "metadatas")
            return {str(id_): mapping(meta) for id_, meta in zip(ids, metas, strict=False)}


def _unit_id(user_id: str, chat_id: str, key: UnitKey) -> str:
    """A UUID, which Qdrant asks for; the same for the same user, chat, message and kind."""
    kind, message_id = key
    return str(uuid.uuid5(_UNIT_NAMES, "\0".join((user_id, kind, chat_id, message_id))))


def _vector_item(user_id: str, unit: HistoryUnit, row: Vectors, key: str) -> dict[str, Any]:
    """An item as the host takes it, with a vector of its own.

    The text of a pair stands there with its two messages.
    """
    return {
        "id": _unit_id(user_id, unit.chat_id, unit.key),
        "text": unit.digest if unit.kind == "exchange" else unit.text,
        "vector": row.tolist(),
        "metadata": {
            "type": unit.kind,
            "chat_id": unit.chat_id,
            "message_id": unit.message_id,
            "digest": unit.digest,
            "embedder": key,
            "first": "yes" if unit.first else "no",
        },
    }


def _first_list(found: object, name: str) -> list[Any]:
    """What was found for the first vector; the host's result may be ``None``, or hold ``None``."""
    lists = listing(getattr(found, name, None))
    return listing(lists[0]) if lists else []
