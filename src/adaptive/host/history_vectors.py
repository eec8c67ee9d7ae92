"""Units of past conversation in the host's own vector database, whichever engine it runs.

Only what all engines have in common is used: dicts as items, a filter of one equal field, an
explicit limit, and ids that are UUIDs (host: retrieval/vector/dbs).
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, get_args

from adaptive.core.errors import HostError
from adaptive.core.ports import Vectors
from adaptive.core.shapes import listing, mapping
from adaptive.host.faults import HostFaults, uninterrupted
from adaptive.host.own_table import portions
from adaptive.host.vector_database import HOST_VECTORS, WHOLE_COLLECTION_SECONDS
from adaptive.search.history_ports import HistoryHit, HistoryUnit, UnitKey, UnitKind
from adaptive.search.vectors import content_hash

# Engines that hold the collections of all users in one tell users' memories by this beginning
# (host: retrieval/vector/dbs/qdrant_multitenancy.py), and give them vectors of one length.
_COLLECTION_PREFIX = "user-memory-history-"
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


class HostHistoryVectors:
    """``HistoryVectors`` through the host's asynchronous client."""

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
        key = content_hash(embedder)
        standing = await self._query(user_id, _ANY_CHAT, 1)
        if any(meta.get("embedder") != key for meta in standing.values()):
            await self.delete_all(user_id)
        pairs = zip(units, vectors, strict=True)
        items = [_vector_item(user_id, unit, row, key) for unit, row in pairs]
        with HostFaults("indexing past conversation"):
            await HOST_VECTORS.call("upsert", history_collection(user_id), items)

    async def search(
        self, user_id: str, embedder: str, vector: Vectors, limit: int, chat_id: str = ""
    ) -> tuple[HistoryHit, ...]:
        """The nearest units, the best first; none in a collection of another embedder."""
        name, here = history_collection(user_id), {"chat_id": chat_id} if chat_id else None
        query = [vector.tolist()]
        searching = HOST_VECTORS.call("search", name, query, filter=here, limit=limit)
        found = await self._if_there(user_id, "searching past conversation", searching)
        told = (_first_list(found, name) for name in ("metadatas", "documents", "distances"))
        metas, texts, distances = told
        # Of some engines less is nearer; what comes first is the nearest of all of them.
        sign = -1.0 if distances and distances[0] < distances[-1] else 1.0
        hits, key = list[HistoryHit](), content_hash(embedder)
        for meta, text, distance in zip(map(mapping, metas), texts, distances, strict=False):
            kind: Any = meta.get("type")
            if kind in _UNIT_KINDS and meta.get("embedder") == key:
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
        with HostFaults("removing past conversation"):
            for some in portions(ids):
                await HOST_VECTORS.call("delete", history_collection(user_id), ids=some)

    async def delete_all(self, user_id: str) -> None:
        """Drop the user's collection."""
        name, most = history_collection(user_id), WHOLE_COLLECTION_SECONDS
        dropping = HOST_VECTORS.call("delete_collection", name, seconds=most)
        await self._if_there(user_id, "removing past conversation", dropping)

    async def _if_there(self, user_id: str, doing: str, call: Awaitable[Any]) -> Any:
        """What a call brings; ``None`` where it fails for want of a collection.

        Engines differ in what they say of one that does not exist, so only looking tells.
        """
        try:
            with HostFaults(doing):
                return await call
        except HostError:
            if await self._query(user_id, _ANY_CHAT, 1):
                raise
        return None

    async def _query(
        self, user_id: str, filter_: Mapping[str, str], limit: int = _MOST_UNITS_OF_CHAT
    ) -> dict[str, Mapping[str, Any]]:
        """Metadata of the units that a filter finds, by id."""
        name = history_collection(user_id)
        with HostFaults("reading the index of past conversation"):
            found = await HOST_VECTORS.call("query", name, filter=dict(filter_), limit=limit)
            ids, metas = _first_list(found, "ids"), _first_list(found, "metadatas")
            return {str(id_): mapping(meta) for id_, meta in zip(ids, metas, strict=False)}


def _unit_id(user_id: str, chat_id: str, key: UnitKey) -> str:
    """A UUID, which Qdrant asks for."""
    kind, message_id = key
    return str(uuid.uuid5(_UNIT_NAMES, "\0".join((user_id, kind, chat_id, message_id))))


def _vector_item(user_id: str, unit: HistoryUnit, row: Vectors, key: str) -> dict[str, Any]:
    """An item as the host takes it; the text of a pair stands there with its two messages."""
    told = {"type": unit.kind, "chat_id": unit.chat_id, "message_id": unit.message_id}
    told |= {"digest": unit.digest, "embedder": key, "first": "yes" if unit.first else "no"}
    text = unit.digest if unit.kind == "exchange" else unit.text
    id = _unit_id(user_id, unit.chat_id, unit.key)
    return {"id": id, "text": text, "vector": row.tolist(), "metadata": told}


def _first_list(found: object, name: str) -> list[Any]:
    """What was found for the first vector; the host's result may be ``None``, or hold ``None``."""
    lists = listing(getattr(found, name, None))
    return listing(lists[0]) if lists else []
