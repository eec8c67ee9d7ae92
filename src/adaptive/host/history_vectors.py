"""Units of past conversation in the host's own vector database, whichever engine it runs.

Only what all engines have in common is used: dicts as items, a filter of one equal field, an
explicit limit, and ids that are UUIDs (host: retrieval/vector/dbs).
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, get_args

from adaptive.core.messages import listing, mapping, text_field
from adaptive.core.model import HostError, Vectors
from adaptive.host.faults import uninterrupted
from adaptive.host.own_table import portions
from adaptive.host.vector_database import (
    HOST_VECTORS,
    WHOLE_COLLECTION_SECONDS,
)
from adaptive.search.history_ports import (
    HistoryHit,
    HistoryUnit,
    UnitKey,
    UnitKind,
)
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
    digest = hashlib.blake2b(
        user_id.encode(errors="replace"), digest_size=12
    ).hexdigest()
    return f"{_COLLECTION_PREFIX}{digest}"


class HostHistoryVectors:
    """``HistoryVectors`` through the host's asynchronous client."""

    async def known(
        self, user_id: str, embedder: str, chat_id: str
    ) -> dict[UnitKey, str]:
        """Digests of those units whose vectors are of this embedder."""
        items = await self._query(user_id, {"chat_id": chat_id})
        return {
            (meta["type"], str(meta.get("message_id"))): str(
                meta.get("digest")
            )
            for meta in items.values()
            if _is_unit_of(embedder, meta)
        }

    async def chats(self, user_id: str) -> frozenset[str]:
        """Chats by their first messages."""
        items = await self._query(user_id, _ANY_CHAT)
        return frozenset(
            text_field(meta, "chat_id") for meta in items.values()
        ) - {""}

    @uninterrupted
    async def upsert(
        self,
        user_id: str,
        embedder: str,
        units: Sequence[HistoryUnit],
        vectors: Vectors,
    ) -> None:
        """Store units; a collection of another embedder is dropped first."""
        key = content_hash(embedder)
        standing = await self._query(user_id, _ANY_CHAT, 1)
        if any(meta.get("embedder") != key for meta in standing.values()):
            await self.delete_all(user_id)
        items = [
            {
                "id": _unit_id(user_id, unit.chat_id, unit.key),
                # The text of a pair stands there with its two messages.
                "text": unit.digest if unit.kind == "exchange" else unit.text,
                "vector": vector.tolist(),
                "metadata": {
                    "type": unit.kind,
                    "chat_id": unit.chat_id,
                    "message_id": unit.message_id,
                    "digest": unit.digest,
                    "embedder": key,
                    "first": "yes" if unit.first else "no",
                },
            }
            for unit, vector in zip(units, vectors, strict=True)
        ]
        name = history_collection(user_id)
        await HOST_VECTORS.call(
            "indexing past conversation", "upsert", name, items
        )

    async def search(
        self,
        user_id: str,
        embedder: str,
        vector: Vectors,
        limit: int,
        chat_id: str = "",
    ) -> tuple[HistoryHit, ...]:
        """The nearest units, the best first; none in a collection of another embedder."""
        searching = HOST_VECTORS.call(
            "searching past conversation",
            "search",
            history_collection(user_id),
            [vector.tolist()],
            filter={"chat_id": chat_id} if chat_id else None,
            limit=limit,
        )
        result = await self._if_there(user_id, searching)
        distances = _first_list(result, "distances")
        # Of some engines less is nearer; what comes first is the nearest of all of them.
        sign = -1.0 if distances and distances[0] < distances[-1] else 1.0
        found = zip(
            _first_list(result, "metadatas"),
            _first_list(result, "documents"),
            distances,
            strict=False,
        )
        return tuple(
            HistoryHit(
                kind=meta["type"],
                chat_id=text_field(meta, "chat_id"),
                message_id=text_field(meta, "message_id"),
                score=sign * float(distance),
                text=str(text or ""),
            )
            for meta, text, distance in found
            if _is_unit_of(embedder, mapping(meta))
        )

    async def delete(
        self, user_id: str, chat_id: str, keys: Sequence[UnitKey] | None = None
    ) -> None:
        """Remove units by their ids: not every engine deletes by a filter."""
        if keys is None:
            ids = [*await self._query(user_id, {"chat_id": chat_id})]
        else:
            ids = [_unit_id(user_id, chat_id, key) for key in keys]
        name = history_collection(user_id)
        for portion in portions(ids):
            await HOST_VECTORS.call(
                "removing past conversation", "delete", name, ids=portion
            )

    async def delete_all(self, user_id: str) -> None:
        """Drop the user's collection."""
        dropping = HOST_VECTORS.call(
            "removing past conversation",
            "delete_collection",
            history_collection(user_id),
            seconds=WHOLE_COLLECTION_SECONDS,
        )
        await self._if_there(user_id, dropping)

    async def _if_there(self, user_id: str, call: Awaitable[Any]) -> Any:
        """What a call brings; ``None`` where it fails for want of a collection.

        Engines differ in what they say of one that does not exist, so only looking tells.
        """
        try:
            return await call
        except HostError:
            if await self._query(user_id, _ANY_CHAT, 1):
                raise
        return None

    async def _query(
        self,
        user_id: str,
        metadata: Mapping[str, str],
        limit: int = _MOST_UNITS_OF_CHAT,
    ) -> dict[str, Mapping[str, Any]]:
        """Metadata of the units that have this among it, by id."""
        result = await HOST_VECTORS.call(
            "reading the index of past conversation",
            "query",
            history_collection(user_id),
            filter={**metadata},
            limit=limit,
        )
        found = zip(
            _first_list(result, "ids"),
            _first_list(result, "metadatas"),
            strict=False,
        )
        return {str(unit_id): mapping(meta) for unit_id, meta in found}


def _is_unit_of(embedder: str, metadata: Mapping[str, Any]) -> bool:
    """Whether metadata are those of a unit whose vector this embedder has made."""
    own = metadata.get("embedder") == content_hash(embedder)
    return own and metadata.get("type") in _UNIT_KINDS


def _unit_id(user_id: str, chat_id: str, key: UnitKey) -> str:
    """A UUID, which Qdrant asks for."""
    kind, message_id = key
    return str(
        uuid.uuid5(
            _UNIT_NAMES, "\0".join((user_id, kind, chat_id, message_id))
        )
    )


def _first_list(result: object, name: str) -> list[Any]:
    """What was found for the first vector; the host's result may be ``None``, or hold ``None``."""
    lists = listing(getattr(result, name, None))
    return listing(lists[0]) if lists else []
