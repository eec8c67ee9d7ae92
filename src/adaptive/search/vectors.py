"""Vectors of texts: arithmetic, making them in time, and keeping them for all workers.

Embedders that have failed rest: nobody asks one again until a probe behind has succeeded.
"""

import asyncio
import hashlib
import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar, cast

import numpy as np

from adaptive.core import (
    CircuitBreaker,
    Embedder,
    EmbeddingError,
    EmbeddingModel,
    Memory,
    Pace,
    Sources,
    StoredVector,
    TablesUnavailable,
    UserCache,
    Vectors,
    VectorTable,
    has_words,
    head_and_tail,
    log,
    log_failure,
    staged,
    tally,
)

# A chunk on a slow CPU takes a minute; who takes longer hangs.
_LONGEST_CALL_SECONDS = 600.0
# Embedding models read a few hundred tokens; head and tail of a long message tell its subject.
LONGEST_QUERY = 4000
# The ranking is prepared anew after each portion: each is as large as all before, within these.
_LEAST_AT_ONCE = 64
_MOST_AT_ONCE = 2048
# So many of the host's vectors are made anew, before the others are taken for ours: as near to them
# as one model comes to itself in another batch or in half precision, and no other model does.
_PROBES = 8
SAME_MODEL = 0.99
_PROBE_TEXT = "Is anybody there?"
# Behind it stands the fingerprint in the name of an embedder.
FINGERPRINT_MARK = "\0"
# A query takes some milliseconds; the limits of messages are some tenths at least.
_HANGS_FROM_SECONDS = 0.3

EmbedderAnswer = TypeVar("EmbedderAnswer")


def normalised(vectors: Vectors) -> Vectors:
    """Rows scaled to length 1; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def products(vectors: Vectors, others: Vectors) -> Vectors:
    """The products of each row, of shape (n, d), with a vector of shape (d,) or with rows (m, d).

    OpenBLAS would share them out to all cores, wait for those that are at work for others, and
    leave the rest spinning for more: 31 ms of a processor for what takes three.
    """
    return cast(Vectors, np.einsum("ij,...j->i...", vectors, others))


def content_hash(text: str) -> str:
    """A key for a text: 32 hexadecimal digits."""
    return hashlib.blake2b(
        text.encode(errors="replace"), digest_size=16
    ).hexdigest()


def name_parts(name: str) -> tuple[str, str]:
    """The identity in the name of an embedder, and the fingerprint, empty where there is none."""
    identity, _, fingerprint = name.partition(FINGERPRINT_MARK)
    return identity, fingerprint


async def embedded_texts(
    embedder: Embedder | EmbeddingModel, texts: Sequence[str], *, query: bool
) -> Vectors:
    """Normalised vectors; a call that never returns must not block a user's embedding for good."""
    try:
        async with asyncio.timeout(_LONGEST_CALL_SECONDS):
            return normalised(await embedder.embed(texts, query=query))
    except TimeoutError as error:
        raise EmbeddingError(
            detail=f"no vectors within {_LONGEST_CALL_SECONDS:g} s"
        ) from error


class EmbedderRests(CircuitBreaker):
    """Which embedders rest, by service; keywords serve all users of the process meanwhile."""

    async def ask(
        self, embedder: Embedder, texts: Sequence[str], *, query: bool
    ) -> Vectors:
        """Vectors by an embedder that does not rest (see ``watched``)."""
        return await self.watched(
            embedder, partial(embedder.embed, texts, query=query)
        )

    async def watched(
        self, embedder: Embedder, call: Callable[[], Awaitable[EmbedderAnswer]]
    ) -> EmbedderAnswer:
        """What a call to an embedder brings, which rests once it hangs, or fails for a probe, too.

        Raises:
            EmbeddingError: it rests, or fails.
        """
        if self.is_open(embedder.service):
            raise EmbeddingError(detail="it rests")
        began = time.monotonic()
        try:
            return await call()
        except (EmbeddingError, asyncio.CancelledError) as error:
            if time.monotonic() - began >= _HANGS_FROM_SECONDS:
                self.open(embedder.service, _probe(embedder))
            # A user's Stop says nothing of the embedder.
            elif isinstance(error, EmbeddingError):
                self.begin(embedder)
            raise

    def begin(self, embedder: Embedder) -> None:
        """Let an embedder rest that has failed, if it fails for a probe as well."""
        self.suspect(embedder.service, _probe(embedder))


def _probe(embedder: Embedder) -> Callable[[], Awaitable[Vectors]]:
    """What asks an embedder for the vector of a text that is nobody's, also while it rests."""
    if isinstance(embedder, TurnEmbedder):
        embedder = embedder.embedder
    return partial(embedder.embed, [_PROBE_TEXT], query=True)


@dataclass(eq=False)
class TurnEmbedder:
    """An ``Embedder`` that embeds no query of a user twice; it is made for one turn.

    Memories and past conversation are searched at the same time, the next turn asks for its former
    message again, and so does learning: ``queries`` are the vectors that this process has made. An
    embedder that fails, or is not waited for to the end, ``rests``; queries fail at once then.
    """

    embedder: Embedder
    user_id: str
    queries: UserCache[Vectors]
    rests: EmbedderRests
    _making: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def service(self) -> str:
        """The other's service (see ``Embedder``)."""
        return self.embedder.service

    @property
    def pace(self) -> Pace:
        """The other's pace (see ``Embedder``)."""
        return self.embedder.pace

    async def name(self) -> str:
        """The other's name (see ``Embedder``)."""
        return await self.rests.watched(self.embedder, self.embedder.name)

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of the texts (see ``Embedder``); those of queries are kept."""
        if not query:
            return await self.embedder.embed(texts, query=False)
        async with self._making:
            name = await self.name()
            keys = {
                text: (self.user_id, name, content_hash(text))
                for text in texts
            }
            known = {text: self.queries.get(key) for text, key in keys.items()}
            rows = {
                text: vector
                for text, vector in known.items()
                if vector is not None
            }
            new = [text for text in keys if text not in rows]
            if new:
                vectors = await self.rests.ask(self.embedder, new, query=True)
                rows.update(zip(new, vectors, strict=True))
            for text, vector in rows.items():
                self.queries.put(keys[text], vector)
        return np.stack([rows[text] for text in texts])


@staged("embedding")
async def query_vectors(
    embedder: Embedder, texts: Sequence[str], patience: float
) -> Vectors | None:
    """Normalised vectors of the texts that hold words; ``None`` where keywords have to serve.

    That is where none does, and where the provider fails or takes more than ``patience`` seconds.
    """
    queries = [
        head_and_tail(text, LONGEST_QUERY) for text in texts if has_words(text)
    ]
    if not queries:
        return None
    try:
        async with asyncio.timeout(patience):
            return normalised(await embedder.embed(queries, query=True))
    except (EmbeddingError, TimeoutError) as error:
        tally("anomalies", "embedding_failed")
        log_failure("a message is searched by its keywords only", error)
        return None


async def stored_vectors(
    table: VectorTable,
    user_id: str,
    name: str,
    memory_ids: Sequence[str] | None = None,
) -> dict[str, StoredVector]:
    """A user's vectors for an embedder (of these memories); none without a name, or a table."""
    if not name:
        return {}
    try:
        return await table.read(user_id, name, memory_ids)
    except TablesUnavailable as error:
        log_failure("vectors are kept in this process only", error)
        return {}


async def store_vectors(
    table: VectorTable,
    user_id: str,
    name: str,
    vectors: Mapping[str, StoredVector],
) -> None:
    """Keep vectors for all workers; where the table refuses, this process alone has them."""
    try:
        await table.write(user_id, name, vectors)
    except TablesUnavailable as error:
        log_failure("vectors are kept in this process only", error)


async def keep_vectors(
    sources: Sources, contents: Mapping[str, str], made: Mapping[str, Vectors]
) -> bool:
    """Store vectors of memories that were just written, so that the next turn has them.

    ``contents`` are by memory id, ``made`` by content. Whether each content has a vector.
    """
    vectors = {
        memory_id: StoredVector(content_hash(content), made[content])
        for memory_id, content in contents.items()
        if content in made
    }
    if vectors:
        name = await sources.embedder.name()
        await store_vectors(sources.table, sources.user_id, name, vectors)
    return len(vectors) == len(contents)


async def new_vectors(
    sources: Sources, name: str, memories: Sequence[Memory], known: int
) -> AsyncIterator[dict[str, StoredVector]]:
    """Vectors of memories by id, stored as they come: those that the host has, or some new ones.

    ``known`` are how many others have one already. Raises ``EmbeddingError``.
    """
    portion = memories[: min(max(known, _LEAST_AT_ONCE), _MOST_AT_ONCE)]
    if not known and (rows := await _vectors_of_host(sources, memories)):
        vectors = {
            memory.id: StoredVector(
                content_hash(memory.content), rows[memory.id]
            )
            for memory in memories
            if memory.id in rows
        }
        await store_vectors(sources.table, sources.user_id, name, vectors)
        yield vectors
        return
    alike: dict[str, list[str]] = {}
    for memory in portion:
        alike.setdefault(memory.content, []).append(memory.id)
    async for embedded in _embedded_contents(sources, [*alike]):
        vectors = {
            memory_id: StoredVector(content_hash(content), vector)
            for content, vector in embedded.items()
            for memory_id in alike[content]
        }
        await store_vectors(sources.table, sources.user_id, name, vectors)
        yield vectors


async def _embedded_contents(
    sources: Sources, contents: Sequence[str]
) -> AsyncIterator[dict[str, Vectors]]:
    """Vectors by content, portion by portion, at the pace of the embedder."""
    embedder = sources.embedder
    async for portion in embedder.pace.portions(
        partial(embedded_texts, embedder, query=False),
        contents,
    ):
        yield dict(zip(portion.texts, portion.vectors, strict=True))


async def _vectors_of_host(
    sources: Sources, memories: Sequence[Memory]
) -> dict[str, Vectors]:
    """The vectors that the host has of many memories, by id, or those of the probes if it has others.

    After a change of the model it keeps the former ones until an admin has it reindex, and adds new
    ones: so memories of all ages are probed.
    """
    held = await sources.table.held(sources.user_id, memories)
    known = [memory for memory in memories if memory.id in held]
    if len(known) <= _PROBES:
        return {}
    known.sort(key=lambda memory: memory.updated_at)
    places = map(int, np.linspace(0, len(known) - 1, _PROBES))
    probed = [known[place] for place in places]
    made: dict[str, Vectors] = {}
    contents = {memory.content for memory in probed}
    async for embedded in _embedded_contents(sources, [*contents]):
        made |= embedded
    own = np.stack([made[memory.content] for memory in probed])
    # Filled up with zeros by some databases; with anything else they come out too far away.
    rows = normalised(np.stack([held[memory.id] for memory in known]))[
        :, : own.shape[1]
    ]
    vectors = {memory.id: row for memory, row in zip(known, rows, strict=True)}
    theirs = np.stack([vectors[memory.id] for memory in probed])
    is_ours = (
        theirs.shape == own.shape
        and (theirs * own).sum(axis=1).min() >= SAME_MODEL
    )
    log.info(
        "the host has vectors of %d memories, of our model: %s",
        len(known),
        is_ours,
    )
    if is_ours:
        return vectors
    return {memory.id: made[memory.content] for memory in probed}
