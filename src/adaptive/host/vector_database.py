"""The host's vector database, asked on threads of our own and never waited for beyond a limit.

The host asks it on the threads that all its work shares (host: async_client.py). One that hangs
would take these one by one, and with the last of them everybody would wait.

Units of past conversation stand in it, whichever engine it is. Only what all engines have in common
is used: dicts as items, a filter of one equal field, an explicit limit, and ids that are UUIDs
(host: retrieval/vector/dbs).
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import methodcaller
from typing import Any, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from adaptive.core import (
    CircuitBreaker,
    HostError,
    JsonMapping,
    Phrase,
    Vectors,
    listing,
    look_at,
    mapping,
    portions,
    text_field,
)
from adaptive.host.faults import HostFaults, uninterrupted
from adaptive.search import HistoryHit, HistoryUnit, content_hash

# For a portion of rows, and for what reads or drops a whole collection.
USUAL_SECONDS = 5.0
WHOLE_COLLECTION_SECONDS = 30.0
_CALLS_AT_ONCE = 4
_PROBED_COLLECTION = "adaptive-memory"
_NAME = "the vector database"
_SILENT = f"{_NAME} does not answer"
Answered = TypeVar("Answered")


class VectorDatabase:
    """Calls of a synchronous client, which ``client`` gives; it may take a while to be made.

    After a call that came to its limit the database rests: further calls fail at once, until a
    probe behind has been answered.
    """

    def __init__(self, client: Callable[[], Any]) -> None:
        self._client = client
        self._threads = ThreadPoolExecutor(_CALLS_AT_ONCE)
        self._breaker = CircuitBreaker()

    async def call(
        self,
        doing: str,
        method: str,
        *arguments: Any,
        seconds: float = USUAL_SECONDS,
        **named: Any,
    ) -> Any:
        """What a method of the client returns (see ``ask``)."""
        work = methodcaller(method, *arguments, **named)
        return await self.ask(doing, work, seconds)

    async def ask(
        self, doing: str, work: Callable[[Any], Answered], seconds: float
    ) -> Answered:
        """What work with the client, on a thread, returns.

        Raises:
            HostError: it has failed, has not returned within the ``seconds``, or the database
                rests.
        """
        if self._breaker.is_open(_NAME):
            raise HostError(Phrase("database_failed"), detail=_SILENT)
        answer = self._begun(work)
        # Whoever asks may lose patience before; that the database hangs is noticed all the same.
        limit = asyncio.get_running_loop().call_later(
            seconds, self._rest, answer
        )
        answer.add_done_callback(lambda _: limit.cancel())
        done, _ = await asyncio.wait({answer}, timeout=seconds)
        if not done:
            raise HostError(
                Phrase("database_failed"),
                detail=f"{_SILENT} within {seconds:g} s",
            )
        with HostFaults(doing):
            return answer.result()

    def _begun(
        self, work: Callable[[Any], Answered]
    ) -> asyncio.Future[Answered]:
        """Work on a thread, since the client itself may have to be made first."""
        loop = asyncio.get_running_loop()
        answer = loop.run_in_executor(
            self._threads, lambda: work(self._client())
        )
        answer.add_done_callback(look_at)
        return answer

    def _rest(self, unanswered: asyncio.Future[Any]) -> None:
        """Leave the database alone until it answers again."""
        if not unanswered.done():
            self._breaker.open(_NAME, self._answered_anything)

    async def _answered_anything(self) -> None:
        """Wait until the database has answered anything, be it with an error."""
        # All threads of before may hang.
        self._threads.shutdown(wait=False)
        self._threads = ThreadPoolExecutor(_CALLS_AT_ONCE)
        await asyncio.wait(
            {
                self._begun(
                    lambda client: client.has_collection(_PROBED_COLLECTION)
                )
            }
        )


def _host_client() -> Any:
    """The synchronous client inside the host's asynchronous one."""
    from open_webui.retrieval.vector.async_client import ASYNC_VECTOR_DB_CLIENT

    return ASYNC_VECTOR_DB_CLIENT.sync


# One for the whole process: whether the database answers is the same for all users.
HOST_VECTORS = VectorDatabase(_host_client)

# Engines that hold the collections of all users in one tell users' memories by this beginning
# (host: retrieval/vector/dbs/qdrant_multitenancy.py), and give them vectors of one length.
_COLLECTION_PREFIX = "user-memory-history-"
# Some engines cut a search for more off without a word (host: dbs/valkey.py, dbs/opensearch.py).
_MOST_UNITS_OF_CHAT = 10_000
# Chroma takes the longer the more units a filter finds, whatever the limit: with 20,000 units 8 ms
# for this one, of which there is one for each chat.
_ANY_CHAT = {"first": "yes"}
_ID_FIELDS = ("chat_id", "message_id", "previous_id")
# Most engines' distances are half of a cosine and a half, or grow with what is farther, as one
# less the cosine does (host: retrieval/vector/dbs).
_GIVE_COSINE = ("mariadb_vector", "milvus_multitenancy", "valkey")
_GIVE_COSINE_AND_ONE = ("elasticsearch", "opensearch")


def history_collection(user_id: str) -> str:
    """The name of a user's collection: 44 characters that every engine takes."""
    digest = hashlib.blake2b(
        user_id.encode(errors="replace"), digest_size=12
    ).hexdigest()
    return f"{_COLLECTION_PREFIX}{digest}"


class HostHistoryVectors:
    """``HistoryVectors`` through the host's asynchronous client."""

    async def digests(self, user_id: str, chat_id: str) -> dict[str, str]:
        """Digests by the ids of the items."""
        items = await self._query(user_id, {"chat_id": chat_id})
        return {
            unit_id: text_field(meta, "digest")
            for unit_id, meta in items.items()
        }

    async def standing_embedder(self, user_id: str, chat_id: str = "") -> str:
        """The embedder of a chat, or of any first message (see ``HistoryVectors``)."""
        units = {"chat_id": chat_id} if chat_id else _ANY_CHAT
        for meta in (await self._query(user_id, units, 1)).values():
            return text_field(meta, "embedder")
        # Asked so, Chroma and others raise what they pass over in silence where items are wanted.
        await HOST_VECTORS.call(
            "looking for past conversation",
            "has_collection",
            history_collection(user_id),
        )
        return ""

    @uninterrupted
    async def upsert(
        self,
        user_id: str,
        embedder: str,
        units: Sequence[HistoryUnit],
        vectors: Vectors,
    ) -> None:
        """Store units (see ``HistoryVectors``)."""
        key = content_hash(embedder)
        items = [
            {
                "id": unit.id,
                # Every engine wants a text; the chat itself has the words.
                "text": unit.digest,
                "vector": vector.tolist(),
                "metadata": {
                    **{name: getattr(unit, name) for name in _ID_FIELDS},
                    "digest": unit.digest,
                    "embedder": key,
                    "first": "no" if unit.previous_id else "yes",
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
    ) -> Sequence[HistoryHit]:
        """The nearest units, the best first; none in a collection of another embedder."""
        searching = HOST_VECTORS.ask(
            "searching past conversation",
            partial(
                _searched,
                collection_name=history_collection(user_id),
                vectors=[vector.tolist()],
                filter={"chat_id": chat_id} if chat_id else None,
                limit=limit,
            ),
            USUAL_SECONDS,
        )
        units = await self._if_there(user_id, searching)
        if not units:
            # Raises where the database does not answer.
            await self.standing_embedder(user_id)
        own = content_hash(embedder)
        return [
            HistoryHit(
                cosine=cosine,
                **{name: text_field(meta, name) for name in _ID_FIELDS},
            )
            for meta, cosine in units or ()
            if meta.get("embedder") == own
        ]

    async def delete(self, user_id: str, ids: Collection[str]) -> None:
        """Remove units by their ids: not every engine deletes by a filter."""
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

        Engines differ in what they say of one that does not exist, so only looking tells. To one
        that asks a database by SQL there is none that does not exist.
        """
        try:
            return await call
        except HostError as error:
            is_of_sql = isinstance(error.__cause__, SQLAlchemyError)
            if is_of_sql or await self.standing_embedder(user_id):
                raise
        return None

    async def _query(
        self,
        user_id: str,
        metadata: Mapping[str, str],
        limit: int = _MOST_UNITS_OF_CHAT,
    ) -> dict[str, JsonMapping]:
        """Metadata of the units that have this among it, by id."""
        result = await HOST_VECTORS.call(
            "reading the index of past conversation",
            "query",
            history_collection(user_id),
            filter={**metadata},
            limit=limit,
        )
        found = zip(
            first_list(result, "ids"),
            first_list(result, "metadatas"),
            strict=False,
        )
        return {str(unit_id): mapping(meta) for unit_id, meta in found}


def _searched(client: Any, **search: Any) -> list[tuple[JsonMapping, float]]:
    """Metadata of the units that a client finds, and the cosines of their vectors, best first."""
    result = client.search(**search)
    cosines = _cosines(client, first_list(result, "distances"))
    metadatas = map(mapping, first_list(result, "metadatas"))
    return [*zip(metadatas, cosines, strict=False)]


def _cosines(client: Any, distances: Sequence[float]) -> list[float]:
    """The cosines that a client's distances stand for, best first."""
    engine = type(client).__module__.rpartition(".")[2]
    if distances and distances[0] < distances[-1]:
        return [1 - distance for distance in distances]
    if engine in _GIVE_COSINE:
        return [*distances]
    if engine in _GIVE_COSINE_AND_ONE:
        return [distance - 1 for distance in distances]
    return [2 * distance - 1 for distance in distances]


def first_list(result: object, name: str) -> list[Any]:
    """What was found for the first vector; the host's result may be ``None``, or hold ``None``."""
    lists = listing(getattr(result, name, None))
    return listing(lists[0]) if lists else []
