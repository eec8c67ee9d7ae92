"""The indexes of this process: one per user, checked against the database on every turn."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from adaptive.errors import AdaptiveMemoryError, EmbeddingError, TablesUnavailable
from adaptive.model import Memory, StoreStamp
from adaptive.ports import Embedder, MemoryStore, Vectors
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.index import IndexParts, MemoryIndex, build_index, content_hash
from adaptive.search.kept_vectors import embedded_texts, store_vectors, stored_vectors
from adaptive.search.shared_vectors import SharedVectors
from adaptive.table_ports import StoredVector, VectorTable

log_indexes = logging.getLogger("adaptive_memory.search")

# The ranking is prepared anew after each chunk, so a large store is embedded in few of them.
_SMALLEST_CHUNK = 256
_MOST_CHUNKS = 8
# A turn waits for no more new vectors than this.
_WAITED_FOR = 64
# After a failure the provider is left in peace for a while; keywords serve meanwhile.
_PAUSE_AFTER_FAILURE_SECONDS = 15.0
_QUERIES_REMEMBERED = 500
_EXPECTING_USERS = 200
# Building the keywords of a large store takes long enough to be felt by other chats.
_BUILT_IN_THREAD_FROM = 200


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a user's index comes from."""

    user_id: str
    store: MemoryStore
    embedder: Embedder
    table: VectorTable


class MemoryIndexes:
    """Least recently used indexes are evicted over a byte budget; each call may lower it."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._held: OrderedDict[str, MemoryIndex] = OrderedDict()
        self._working: dict[str, asyncio.Task[None]] = {}
        self._embedding: dict[str, asyncio.Task[None]] = {}
        self._tidying: dict[str, asyncio.Task[None]] = {}
        self.nulls = SharedVectors(NULL_PROMPTS)
        self._expected: dict[str, dict[str, Vectors]] = {}
        self._resting: dict[str, float] = {}
        self._queries: OrderedDict[tuple[str, str, str], Vectors] = OrderedDict()
        # Questions and reads are numbered: the wall clock may be set back.
        self._order = itertools.count()
        self._read: dict[str, int] = {}
        self._forgotten: dict[str, int] = {}
        self._dropped_for: dict[str, tuple[str, int]] = {}
        self._clock = clock

    async def current(self, sources: Sources, budget_bytes: int, patience: float) -> MemoryIndex:
        """The user's memories as they stand in the database now.

        A few memories without a vector are waited for, ``patience`` seconds at most; what is not
        embedded by then is embedded on behind the turns and found by keywords meanwhile.

        Raises:
            MemoryUnavailable: the host allows this user no memories.
            HostError: the memories can't be read.
        """
        user_id = sources.user_id
        name = await sources.embedder.name()
        stamp = await sources.store.stamp()
        asked = next(self._order)
        held = self._held.get(user_id)
        while held is None or held.embedder != name or not self._serves(user_id, stamp, asked):
            await asyncio.shield(self._refreshing(sources, name, stamp))
            held = self._held.get(user_id)
        self._held.move_to_end(user_id)
        if not held.ready:
            self._embed_behind(sources, name)
            task = self._embedding.get(user_id)
            if task is not None and len(held.missing()) <= _WAITED_FOR:
                await asyncio.wait({task}, timeout=patience)
                held = self._held.get(user_id, held)
        self._evict(user_id, budget_bytes)
        return held

    async def prepare(self, sources: Sources, budget_bytes: int) -> bool:
        """Have a user's index at hand before anybody asks; whether there is room for another.

        Nothing is embedded, and it is the first to be evicted. Half of the budget is left free.

        Raises:
            MemoryUnavailable: the host allows this user no memories.
            HostError: the memories can't be read.
        """
        user_id = sources.user_id
        if user_id not in self._held:
            name, stamp = await sources.embedder.name(), await sources.store.stamp()
            await asyncio.shield(self._refreshing(sources, name, stamp))
            if user_id in self._held:
                self._held.move_to_end(user_id, last=False)
        return 2 * sum(index.nbytes for index in self._held.values()) <= budget_bytes

    def expect_texts(self, user_id: str, texts: Sequence[str], vectors: Vectors) -> None:
        """Vectors of texts that are about to be memories, so that none is embedded twice."""
        if len(self._expected) >= _EXPECTING_USERS:
            self._expected.clear()
        made = zip(texts, vectors, strict=True)
        self._expected[user_id] = {content_hash(text): vector for text, vector in made}

    async def wrote(self, sources: Sources, contents: Mapping[str, str]) -> bool:
        """Store the expected vectors of memories that were just written; whether each has one.

        ``contents`` are by memory id. Whoever reads the memories next has their vectors at hand.
        """
        expected = self._expected.get(sources.user_id, {})
        hashes = {memory_id: content_hash(content) for memory_id, content in contents.items()}
        ready = {
            memory_id: StoredVector(digest, expected[digest])
            for memory_id, digest in hashes.items()
            if digest in expected
        }
        if ready:
            name = await sources.embedder.name()
            await store_vectors(sources.table, sources.user_id, name, ready)
        return len(ready) == len(contents)

    def remember_query(self, user_id: str, embedder: str, text: str, vector: Vectors) -> None:
        """Keep the vector of a message for a while: learning from it asks for it again."""
        self._queries[user_id, embedder, content_hash(text)] = vector
        while len(self._queries) > _QUERIES_REMEMBERED:
            self._queries.popitem(last=False)

    def known_query(self, user_id: str, embedder: str, text: str) -> Vectors | None:
        """The vector of a message that was searched with a while ago."""
        return self._queries.get((user_id, embedder, content_hash(text)))

    def forget(self, user_id: str) -> None:
        """Let go of all that is held of a user; what is being read or embedded is not kept."""
        self._forgotten[user_id] = next(self._order)
        for kept in (self._held, self._read, self._expected):
            kept.pop(user_id, None)
        self._queries = OrderedDict(one for one in self._queries.items() if one[0][0] != user_id)

    def _gone(self, user_id: str, number: int) -> bool:
        return self._forgotten.get(user_id, -1) > number

    async def warm_up(self, embedder: Embedder, table: VectorTable) -> None:
        """Have ready what belongs to no user, and the embedding model at work once.

        Raises:
            EmbeddingError: the embedder brings no vectors.
        """
        name = await embedder.name()
        if await self.nulls.known(table, name) is not None:
            await embedder.embed(NULL_PROMPTS[:1], query=True)
        else:
            await self.nulls.made(embedder, table)

    def expect(self, user_id: str, dimension: int) -> None:
        """Drop vectors of another length than the embedder makes now; the next turn begins anew.

        That is so when another model answers to the same name. It is done once for each length: a
        provider that makes messages and memories of different lengths would never come to an end.
        """
        held = self._held.get(user_id)
        if held is None or held.dimension in (0, dimension):
            return
        if self._dropped_for.get(user_id) != (held.embedder, dimension):
            self._dropped_for[user_id] = (held.embedder, dimension)
            log_indexes.warning("the vectors have another length than before: embedding anew")
            self._held[user_id] = held.without_vectors()

    def _serves(self, user_id: str, stamp: StoreStamp, asked: int) -> bool:
        """Whether nothing changed, or the memories were read after the question came."""
        return self._held[user_id].stands(stamp) or self._read[user_id] > asked

    def _refreshing(self, sources: Sources, name: str, stamp: StoreStamp) -> asyncio.Task[None]:
        """The one refresh of a user that runs, started if none does; the stamp is from before."""
        user_id = sources.user_id
        task = self._working.get(user_id)
        # One that is done is listed until its callback runs, and waiting for it yields to nobody.
        if task is None or task.done():
            task = _watched(self._refresh(sources, name, stamp), self._working, user_id)
        return task

    async def _refresh(self, sources: Sources, name: str, stamp: StoreStamp) -> None:
        """Read what changed, reuse what is known, embed a few new memories at once.

        The stamp was read before the rows are: a change in between makes the next one differ.
        """
        user_id = sources.user_id
        held = self._held.get(user_id)
        if held is not None and held.embedder != name:
            held = None
        number, read_at = next(self._order), self._clock()
        memories = await _memories(sources.store, held)
        if held:
            known = held.stored_vectors() | self._written(held, memories, user_id)
        else:
            known = await stored_vectors(sources.table, user_id, name)
            await self.nulls.known(sources.table, name)
        parts = IndexParts(memories, known, self.nulls.held(name), name, stamp, read_at, held)
        if len(memories) < _BUILT_IN_THREAD_FROM:
            index = build_index(parts)
        else:
            index = await asyncio.to_thread(build_index, parts)
        latest = self._held.get(user_id)
        if held is not None and latest is not None and latest is not held:
            index = _filled(index, latest.stored_vectors())  # embedded meanwhile
        if self._gone(user_id, number):  # whoever waits for it reads again
            return
        self._held[user_id] = index
        self._read[user_id] = number
        if known.keys() - index.places.keys():
            _watched(self._tidy(sources, name, [*index.places]), self._tidying, user_id)

    def _written(
        self, held: MemoryIndex, memories: Sequence[Memory], user_id: str
    ) -> dict[str, StoredVector]:
        """The expected vectors of memories that are new or have changed, by id."""
        expected = self._expected.get(user_id, {})
        found: dict[str, StoredVector] = {}
        for memory in memories if expected else ():
            before = held.memory(memory.id)
            if before is None or before.content != memory.content:
                digest = content_hash(memory.content)
                if digest in expected:
                    found[memory.id] = StoredVector(digest, expected[digest])
        return found

    def _embed_behind(self, sources: Sources, name: str) -> None:
        """Embed what is missing in the background, unless that runs or has just failed."""
        user_id = sources.user_id
        rest = self._resting.get(user_id, 0.0) - self._clock()
        if user_id not in self._embedding and not 0 < rest <= _PAUSE_AFTER_FAILURE_SECONDS:
            _watched(self._embed(sources, name), self._embedding, user_id)

    async def _embed(self, sources: Sources, name: str) -> None:
        """Embed null prompts and memories that have no vector yet, the newest first."""
        user_id, number = sources.user_id, next(self._order)
        self._resting[user_id] = self._clock() + _PAUSE_AFTER_FAILURE_SECONDS
        try:
            await self._calibrate(sources, name)
            await self._embed_missing(sources, name, number)
            await self._calibrate(sources, name)
        except EmbeddingError as error:
            self._resting[user_id] = self._clock() + _PAUSE_AFTER_FAILURE_SECONDS
            log_indexes.warning("memories are found by keywords only for now: %s", error)
            return
        self._resting.pop(user_id, None)

    async def _calibrate(self, sources: Sources, name: str) -> None:
        """Give the index the vectors of the null prompts, unless it has them."""
        user_id = sources.user_id
        held = self._held.get(user_id)
        if held is None or held.embedder != name or held.calibrated:
            return
        nulls = await self.nulls.made(sources.embedder, sources.table, held.dimension)
        self.expect(user_id, nulls.shape[1])
        await self._change(user_id, name, lambda held: held.with_nulls(nulls))
        held = self._held.get(user_id)
        if held is not None and held.embedder == name and not held.calibrated:
            raise EmbeddingError("messages and memories get vectors of different lengths")

    async def _embed_missing(self, sources: Sources, name: str, number: int) -> None:
        user_id = sources.user_id
        index = self._held.get(user_id)
        if index is None or index.embedder != name:
            return
        missing = index.missing()
        if 0 < len(missing) <= _WAITED_FOR:
            index = await self._shared(sources, name, index)
            missing = index.missing()
        chunk = max(_SMALLEST_CHUNK, len(missing) // _MOST_CHUNKS + 1)
        for start in range(0, len(missing), chunk):
            places = missing[start : start + chunk]
            texts = [index.memories[place].content for place in places]
            rows = await embedded_texts(sources.embedder, texts, query=False)
            if self._gone(user_id, number):
                return
            found = {
                index.memories[place].id: StoredVector(index.hashes[place], row)
                for place, row in zip(places, rows, strict=True)
            }
            await self._change(user_id, name, partial(_filled, found=found))
            await store_vectors(sources.table, user_id, name, found)
            if self._gone(user_id, number):  # while they were being written
                await self._tidy(sources, name, [one.id for one in await sources.store.read()])
                return
        if missing:  # some may have been deleted meanwhile
            index = self._held.get(user_id, index)
            await self._tidy(sources, index.embedder, list(index.places))

    async def _shared(self, sources: Sources, name: str, index: MemoryIndex) -> MemoryIndex:
        """The index with vectors that another worker has stored since its memories were read."""
        user_id, places = sources.user_id, index.missing()
        hashes = {index.memories[place].id: index.hashes[place] for place in places}
        stored = await stored_vectors(sources.table, user_id, name, list(hashes))
        found = {
            memory_id: one
            for memory_id, one in stored.items()
            if one.content_hash == hashes[memory_id] and len(one.vector) == index.dimension
        }
        if found:
            await self._change(user_id, name, partial(_filled, found=found))
        return self._held.get(user_id, index)

    async def _change(
        self, user_id: str, name: str, change: Callable[[MemoryIndex], MemoryIndex]
    ) -> None:
        """Replace the index that is held, which a refresh may do meanwhile, too."""
        while (held := self._held.get(user_id)) is not None and held.embedder == name:
            if len(held.memories) < _BUILT_IN_THREAD_FROM:
                changed = change(held)
            else:
                changed = await asyncio.to_thread(change, held)
            if self._held.get(user_id) is held:
                self._held[user_id] = changed
                return

    async def _tidy(self, sources: Sources, name: str, ids: Sequence[str]) -> None:
        """Vectors are personal data too: they go with their memory."""
        try:
            await sources.table.keep_only(sources.user_id, name, ids)
        except TablesUnavailable as error:
            log_indexes.debug("vectors not tidied: %s", error)

    def _evict(self, current: str, budget_bytes: int) -> None:
        total = sum(index.nbytes for index in self._held.values())
        for user_id in list(self._held):
            if total <= budget_bytes:
                return
            if user_id != current:
                total -= self._held.pop(user_id).nbytes
                self._read.pop(user_id)


def _filled(held: MemoryIndex, found: dict[str, StoredVector]) -> MemoryIndex:
    return held.with_vectors(found)


async def _memories(store: MemoryStore, held: MemoryIndex | None) -> Sequence[Memory]:
    """All memories: of a large store that is known, only what changed is read."""
    if held is None or not held.memories:
        return await store.read()
    changed, ids = await store.changes(held.stamp.newest - 1)
    kept = {memory.id: memory for memory in held.memories if memory.id in ids}
    kept.update({memory.id: memory for memory in changed})
    # A row that came with an old date, from an import for instance, is in neither.
    return list(kept.values()) if len(kept) == len(ids) else await store.read()


def _watched(
    work: Coroutine[Any, Any, None], running: dict[str, asyncio.Task[None]], key: str
) -> asyncio.Task[None]:
    """Start a task that is listed while it runs; an error that nobody foresaw is logged."""

    def done(task: asyncio.Task[None]) -> None:
        if running.get(key) is task:
            del running[key]
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, AdaptiveMemoryError):
            log_indexes.error("memories can't be prepared for search", exc_info=error)

    task = asyncio.create_task(work)
    running[key] = task
    task.add_done_callback(done)
    return task
