"""The indexes of this process: one per user, checked against the database on every turn."""

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from adaptive.core import (
    AdaptiveMemoryError,
    Embedder,
    EmbeddingError,
    Sources,
    StoredVector,
    UserCache,
    Vectors,
    VectorTable,
    log_failure,
    phrase,
    staged,
)
from adaptive.search.calibration import (
    EXAMPLE_TEXTS,
    NULL_PROMPTS,
    Judges,
    SharedVectors,
    judges_by,
)
from adaptive.search.index import (
    MemoryIndex,
    PlaceIndex,
    build_index,
    index_at,
    read_anew,
)
from adaptive.search.vectors import (
    EmbedderRests,
    TurnEmbedder,
    embedded_texts,
    new_vectors,
    stored_vectors,
)

# 145 users with 500 memories, vectors of 384 numbers.
_MOST_INDEX_BYTES = 256 * 2**20
# What a user's entry takes without an index.
_ENTRY_BYTES = 1000
# Nobody waits longer for an embedder that has not told yet what it is; keywords serve meanwhile.
_PROOF_SECONDS = 0.5
# Of a slow embedder, new vectors serve after so long, and not only when a portion is complete.
_SHOWN_SECONDS = 5.0
# A turn waits for no more new vectors than this.
_WAITED_FOR = 64
_REMEMBERED_VECTORS = 2000
# Then the second that a row is dated is over, however long it took to read it.
_DATE_SECONDS = 2

IndexWork = TypeVar("IndexWork")


@dataclass(slots=True, eq=False)
class _UserIndex:
    """One user's index, which is replaced under the lock, and the work on it.

    ``embedding`` makes the next portion of vectors. ``doubtful`` are ids of rows that are read again,
    with the time since when.
    """

    doubtful: dict[str, float]
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    index: MemoryIndex | None = None
    embedding: asyncio.Task[None] | None = None
    forgotten: bool = False


@dataclass(eq=False)
class MemoryIndexes:
    """Indexes of the users who were here last, within ``most_bytes``.

    ``rests`` are those of embedders that have failed, for messages and memories alike.
    """

    most_bytes: int = _MOST_INDEX_BYTES
    rests: EmbedderRests = field(default_factory=EmbedderRests)

    def __post_init__(self) -> None:
        self._users = UserCache[_UserIndex](
            self.most_bytes,
            self._weight,
        )
        self._views = UserCache[PlaceIndex](
            self.most_bytes // 4,
            lambda view: view.whole.nbytes + view.part.nbytes,
        )
        self._queries = UserCache[Vectors](_REMEMBERED_VECTORS)
        self._tasks: set[asyncio.Task[object]] = set()
        self.shared = SharedVectors(*NULL_PROMPTS, *EXAMPLE_TEXTS)
        self._judges: dict[str, Judges] = {}

    def _weight(self, user: _UserIndex) -> int:
        """A large index counts for half of all, so that it stays while others come and go."""
        nbytes = user.index.nbytes if user.index else 0
        return _ENTRY_BYTES + min(nbytes, self.most_bytes // 2)

    def known(self, user_id: str) -> MemoryIndex | None:
        """The user's memories as they stood last, if this process has them."""
        user = self._users.get((user_id,))
        return user.index if user else None

    @staged("freshness")
    async def current(self, sources: Sources, patience: float) -> MemoryIndex:
        """The user's memories as they stand in the database now, those for the place of ``sources``.

        A few memories without a vector are waited for, ``patience`` seconds at most, and so is
        the first portion of many, and the calibration unless the embedder is slow; what is not
        there by then is embedded on behind the turns and found by keywords meanwhile.

        Raises:
            MemoryUnavailable: the host allows this user no memories.
            HostError: the memories can't be read.
        """
        user, index = await self._read(sources)
        running = asyncio.get_running_loop()
        until = running.time() + patience
        while not self._is_ready(index):
            if self.rests.is_open(sources.embedder.service):
                break
            embedding = user.embedding
            if embedding is None:
                embedding = self._started(self._embed(user, sources))
                user.embedding = embedding
            few_are_missing = len(index.missing()) <= _WAITED_FOR
            if index.embedded.any() and not few_are_missing:
                break
            if index.ready and sources.embedder.pace.is_slow:
                break
            await asyncio.wait(
                {embedding}, timeout=max(until - running.time(), 0)
            )
            index = user.index or index
            if user.embedding in (None, embedding):
                break  # it has failed, or takes longer
        place = sources.place
        if place is None or all(map(place.admits, index.scopes)):
            return index
        key = (sources.user_id, *sorted(filter(place.admits, index.scopes)))
        view = self._views.get(key)
        if view is None or view.whole is not index:
            part = await asyncio.to_thread(index_at, index, place)
            view = PlaceIndex(whole=index, part=part)
            self._views.put(key, view)
        return view.part

    def _is_ready(self, index: MemoryIndex) -> bool:
        """Whether nothing is left to embed for an index, what belongs to nobody included."""
        is_calibrated = (
            index.nulls is not None
            and len(index.nulls) == len(NULL_PROMPTS)
            and not self.shared.missing(index.embedder)
        )
        return index.ready and (is_calibrated or not index.memories)

    def judges(self, name: str, dimension: int) -> Judges | None:
        """The judges by examples, where an embedder has made all of these with that dimension."""
        if name not in self._judges:
            if self.shared.missing(name):
                return None
            self._judges[name] = judges_by(
                self.shared.rows(name, EXAMPLE_TEXTS),
                self.shared.rows(name, NULL_PROMPTS),
            )
        judges = self._judges[name]
        return judges if judges.cohort.shape[1] == dimension else None

    def turn_embedder(self, sources: Sources) -> TurnEmbedder:
        """Who makes the vectors of one turn of a user."""
        return TurnEmbedder(
            sources.embedder, sources.user_id, self._queries, self.rests
        )

    def forget(self, user_id: str) -> None:
        """Let go of all that is held of a user; what is being read or embedded is not kept."""
        user = self._users.get((user_id,))
        if user is not None:
            user.forgotten = True
            user.index = None
        self._users.forget(user_id)
        self._views.forget(user_id)
        self._queries.forget(user_id)

    async def warm_up(self, embedder: Embedder, table: VectorTable) -> None:
        """Have ready what belongs to no user, and the model at work; raises ``EmbeddingError``."""
        nulls = await self.shared.first(embedder, table)
        while self.shared.missing(name := await embedder.name()):
            await self.shared.make_more(embedder, table)
        self.judges(name, nulls.shape[1])

    async def findings(
        self, sources: Sources, patience: float
    ) -> AsyncIterator[tuple[str, str]]:
        """For an admin: who makes vectors, and whether those of all memories are there."""
        began = time.perf_counter()
        vectors = await embedded_texts(
            sources.embedder, ["User lives in Porto."], query=False
        )
        milliseconds = round(1000 * (time.perf_counter() - began))
        told = phrase(
            "embeds_with",
            model=sources.embedder.service,
            n=vectors.shape[1],
            milliseconds=milliseconds,
        )
        yield "ok", told
        index = await self.current(sources, patience)
        missing = len(index.missing())
        if missing:
            yield "note", phrase("by_keywords", n=missing)

    async def _read(self, sources: Sources) -> tuple[_UserIndex, MemoryIndex]:
        """The user's entry with an index that is fresh; others stop waiting without harm."""
        while True:
            key = (sources.user_id,)
            user = self._users.get(key) or _UserIndex({})
            self._users.put(key, user)
            index = await asyncio.shield(
                self._started(self._refreshed(user, sources))
            )
            if not user.forgotten:
                self._users.put(key, user)
                return user, index

    async def _refreshed(
        self, user: _UserIndex, sources: Sources
    ) -> MemoryIndex:
        """The index as the database stands now; nothing is read where nothing has changed."""
        name = await self._known_name(sources.embedder)
        async with user.lock:
            index = (
                user.index
                if user.index and user.index.embedder == name
                else None
            )
            if (
                index is None
                or user.doubtful
                or index.stamp != await sources.store.stamp()
            ):
                index = await self._rebuilt(user, sources, name, index)
            if not user.forgotten:
                user.index = index
            return index

    async def _known_name(self, embedder: Embedder) -> str:
        """The name of an embedder, empty where it does not answer soon: no vector is used then."""
        rests = self.rests.is_open(embedder.service)
        try:
            async with asyncio.timeout(0 if rests else _PROOF_SECONDS):
                return await embedder.name()
        except (EmbeddingError, TimeoutError):
            return ""

    async def _rebuilt(
        self,
        user: _UserIndex,
        sources: Sources,
        name: str,
        former: MemoryIndex | None,
    ) -> MemoryIndex:
        """The index anew: of a store that is known only what changed is read."""
        now = time.monotonic()
        if former is None:
            # Side by side: a user whom this process did not serve waits for both.
            memories, known, nulls = await asyncio.gather(
                sources.store.read(),
                stored_vectors(sources.table, sources.user_id, name),
                self.shared.known(sources.table, name),
            )
            since = time.time() - _DATE_SECONDS
            changed = [
                memory.id for memory in memories if memory.updated_at >= since
            ]
        else:
            memories = await read_anew(
                sources.store, former.memories, user.doubtful
            )
            user.doubtful = {
                memory_id: at
                for memory_id, at in user.doubtful.items()
                if now - at < _DATE_SECONDS
            }
            if memories == former.memories:
                return former
            known = former.stored_vectors()
            nulls = former.nulls
            changed = [
                memory.id
                for memory in memories
                if former.memory(memory.id) != memory
            ]
            # Any process may have stored these.
            if changed:
                wanted = changed if len(changed) <= _WAITED_FOR else None
                known |= await stored_vectors(
                    sources.table, sources.user_id, name, wanted
                )
        user.doubtful |= dict.fromkeys(changed, now)
        # In a thread: with a large store it is felt by other chats.
        index = await asyncio.to_thread(
            build_index,
            memories,
            known,
            nulls,
            name,
            former,
        )
        if known.keys() - index.places.keys():
            self._started(sources.table.tidy(sources.user_id, name))
        return index

    async def _embed(self, user: _UserIndex, sources: Sources) -> None:
        """Embed what has no vector yet, portion by portion, and the null prompts."""
        is_more_left = False
        try:
            is_more_left = await self._embed_portion(user, sources)
        except EmbeddingError as error:
            self.rests.begin(sources.embedder)
            log_failure("memories are found by keywords only for now", error)
        finally:
            user.embedding = (
                self._started(self._embed(user, sources))
                if is_more_left
                else None
            )
            # A memory may have been deleted meanwhile: vectors are personal data, too.
            if name := await self._known_name(sources.embedder):
                self._started(sources.table.tidy(sources.user_id, name))

    async def _embed_portion(self, user: _UserIndex, sources: Sources) -> bool:
        """Some of what is missing, memories first; whether that was something, and some is left."""
        name = await sources.embedder.name()
        index = user.index
        if index and index.embedder != name:
            index = await self._refreshed(user, sources)
        if index is None or index.embedder != name:
            return False
        missing = index.missing()
        left = len(missing), self.shared.missing(name)
        if not missing:
            await self.shared.make_more(sources.embedder, sources.table)
        nulls = await self.shared.first(sources.embedder, sources.table)
        known = len(index.memories) - len(missing)
        made: dict[str, StoredVector] = {}
        shown_at = time.monotonic()
        if missing:
            async for vectors in new_vectors(sources, name, missing, known):
                made |= vectors
                if time.monotonic() - shown_at >= _SHOWN_SECONDS:
                    await self._add(user, name, made, nulls)
                    shown_at = time.monotonic()
        await self._add(user, name, made, nulls)
        index = user.index
        if index is None or index.embedder != name:
            return False
        left_now = len(index.missing()), self.shared.missing(name)
        return left_now < left and not self._is_ready(index)

    async def _add(
        self,
        user: _UserIndex,
        name: str,
        vectors: Mapping[str, StoredVector],
        nulls: Vectors,
    ) -> None:
        """Put new vectors into an index, unless it is gone or another model's by now."""
        async with user.lock:
            index = user.index
            if index is not None and index.embedder == name:
                user.index = await asyncio.to_thread(
                    index.with_vectors, vectors, nulls
                )

    def _started(
        self, work: Coroutine[None, None, IndexWork]
    ) -> asyncio.Task[IndexWork]:
        """Begin some work that nobody's giving up ends; what nobody foresaw is logged."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, AdaptiveMemoryError):
            log_failure("memories can't be prepared for search", error)
