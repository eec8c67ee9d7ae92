"""Vectors of texts: arithmetic, making them in time, and keeping them for all workers."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping, Sequence

import numpy as np

from adaptive.core.cache import UserCache
from adaptive.core.errors import EmbeddingError, TablesUnavailable, with_detail
from adaptive.core.measures import staged, tally
from adaptive.core.messages import has_words, head_and_tail
from adaptive.core.model import Memory
from adaptive.core.ports import Embedder, Sources, StoredVector, Vectors, VectorTable
from adaptive.search.embedder_rests import EmbedderRests

log_vectors = logging.getLogger("adaptive_memory.search")

# A chunk on a slow CPU takes a minute; who takes longer hangs.
_LONGEST_CALL_SECONDS = 600.0
# Embedding models read a few hundred tokens; head and tail of a long message tell its subject.
LONGEST_QUERY = 4000
# What belongs to no user stands in the table under this name instead of a user's.
_NOBODY = ""
# The ranking is prepared anew after each portion: each is as large as all before, within these.
_LEAST_AT_ONCE, _MOST_AT_ONCE = 64, 2048
# So many of the host's vectors are made anew, before the others are taken for ours: as near to them
# as one model comes to itself in another batch or in half precision, and no other model does.
_PROBES = 8
_SAME_MODEL = 0.99


def normalised(vectors: Vectors) -> Vectors:
    """Rows scaled to length 1; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def products(vectors: Vectors, vector: Vectors) -> Vectors:
    """The product of each row, of shape (n, d), with a vector of shape (d,).

    OpenBLAS would share it out to all cores, and wait for those that are at work for others.
    """
    found: Vectors = np.einsum("ij,j->i", vectors, vector)
    return found


def content_hash(text: str) -> str:
    """A key for a text: 32 hexadecimal digits."""
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=16).hexdigest()


async def embedded_texts(embedder: Embedder, texts: Sequence[str], *, query: bool) -> Vectors:
    """Normalised vectors; a call that never returns must not block a user's embedding for good."""
    try:
        async with asyncio.timeout(_LONGEST_CALL_SECONDS):
            return normalised(await embedder.embed(texts, query=query))
    except TimeoutError as error:
        raise EmbeddingError(f"no vectors within {_LONGEST_CALL_SECONDS:g} s") from error


class TurnEmbedder:
    """An ``Embedder`` that embeds no query of a user twice; it is made for one turn.

    Memories and past conversation are searched at the same time, the next turn asks for its former
    message again, and so does learning: ``kept`` are the vectors that this process has made. An
    embedder that fails, or is not waited for to the end, ``rests``; queries fail at once then.
    """

    def __init__(
        self, embedder: Embedder, user_id: str, kept: UserCache[Vectors], rests: EmbedderRests
    ) -> None:
        self._embedder, self._user_id, self._kept = embedder, user_id, kept
        self._rests = rests
        self._making = asyncio.Lock()

    async def name(self) -> str:
        """The other's name (see ``Embedder``)."""
        return await self._embedder.name()

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of the texts (see ``Embedder``); those of queries are kept."""
        if not query:
            return await self._embedder.embed(texts, query=False)
        name = await self.name()
        keys = {text: (self._user_id, name, content_hash(text)) for text in texts}
        async with self._making:
            rows = {text: self._kept.get(key) for text, key in keys.items()}
            if new := [text for text, row in rows.items() if row is None]:
                made = await self._made(new)
                if any(row is not None and row.shape != made[0].shape for row in rows.values()):
                    # Another model answers to the same name.
                    new, made = [*keys], await self._made([*keys])
                for text, row in zip(new, made, strict=True):
                    rows[text] = row
                    self._kept.put(keys[text], row)
        return np.stack([row for text in texts if (row := rows[text]) is not None])

    async def _made(self, texts: Sequence[str]) -> Vectors:
        """New vectors of queries."""
        return await self._rests.ask(self._embedder, texts, query=True)


@staged("embedding")
async def query_vectors(
    embedder: Embedder, texts: Sequence[str], patience: float
) -> Vectors | None:
    """Normalised vectors of the texts that hold words; ``None`` where keywords have to serve.

    That is where none does, and where the provider fails or takes more than ``patience`` seconds.
    """
    said = [head_and_tail(text, LONGEST_QUERY) for text in texts if has_words(text)]
    if not said:
        return None
    try:
        async with asyncio.timeout(patience):
            return normalised(await embedder.embed(said, query=True))
    except (EmbeddingError, TimeoutError) as error:
        tally("anomalies", "embedding_failed")
        log_vectors.warning("a message is searched by its keywords only: %s", with_detail(error))
        return None


async def stored_vectors(
    table: VectorTable, user_id: str, name: str, memory_ids: Sequence[str] | None = None
) -> dict[str, StoredVector]:
    """A user's vectors for an embedder (of these memories), none where the table refuses."""
    try:
        return await table.read(user_id, name, memory_ids)
    except TablesUnavailable as error:
        log_vectors.warning("vectors are kept in this process only: %s", with_detail(error))
        return {}


async def store_vectors(
    table: VectorTable, user_id: str, name: str, found: Mapping[str, StoredVector]
) -> None:
    """Keep vectors for all workers; where the table refuses, this process alone has them."""
    try:
        await table.write(user_id, name, found)
    except TablesUnavailable as error:
        log_vectors.warning("vectors are kept in this process only: %s", with_detail(error))


async def keep_vectors(
    sources: Sources, contents: Mapping[str, str], made: Mapping[str, Vectors]
) -> bool:
    """Store vectors of memories that were just written, so that the next turn has them.

    ``contents`` are by memory id, ``made`` by content. Whether each content has a vector.
    """
    found = {
        id: StoredVector(content_hash(content), made[content])
        for id, content in contents.items()
        if content in made
    }
    if found:
        await store_vectors(sources.table, sources.user_id, await sources.embedder.name(), found)
    return len(found) == len(contents)


async def new_vectors(
    sources: Sources, name: str, memories: Sequence[Memory], known: int
) -> dict[str, StoredVector]:
    """Make and store vectors of memories: those that the host has, or else a portion of new ones.

    ``known`` are how many others have one already. Raises ``EmbeddingError``.
    """
    made = [] if known else await _held(sources, memories)
    if memories and not made:
        new = memories[: min(max(known, _LEAST_AT_ONCE), _MOST_AT_ONCE)]
        rows = await embedded_texts(sources.embedder, [one.content for one in new], query=False)
        made = [*zip(new, rows, strict=True)]
    found = {one.id: StoredVector(content_hash(one.content), row) for one, row in made}
    await store_vectors(sources.table, sources.user_id, name, found)
    return found


async def _held(sources: Sources, memories: Sequence[Memory]) -> list[tuple[Memory, Vectors]]:
    """Many memories with the vectors that the host already has, if those are of our model.

    After a change of the model it keeps the former ones until an admin has it reindex, and adds new
    ones: so memories of all ages are probed.
    """
    held = await sources.table.held(sources.user_id, memories)
    known = sorted((one for one in memories if one.id in held), key=lambda one: one.updated_at)
    if len(known) <= _PROBES:
        return []
    at: list[int] = np.linspace(0, len(known) - 1, _PROBES, dtype=int).tolist()
    own = await embedded_texts(sources.embedder, [known[i].content for i in at], query=False)
    # Filled up with zeros by some databases; with anything else they come out too far away.
    size, rows = own.shape[1], normalised(np.stack([held[one.id] for one in known]))
    same = rows.shape[1] >= size and (rows[at, :size] * own).sum(axis=1).min() >= _SAME_MODEL
    log_vectors.info("the host has vectors of %d memories, of our model: %s", len(known), same)
    return [*zip(known, rows[:, :size], strict=True)] if same else []


class SharedVectors:
    """Normalised vectors of nobody's texts and examples, made per model by the first process."""

    def __init__(self, texts: Sequence[str], examples: Sequence[str] = ()) -> None:
        self._texts = {content_hash(text): text for text in (*texts, *examples)}
        self._examples_from = len(texts)
        self._held: dict[str, Vectors] = {}
        self._making = asyncio.Lock()

    async def known(self, table: VectorTable, name: str) -> Vectors | None:
        """Those of a model that this process or any other has made."""
        if name not in self._held:
            stored = await stored_vectors(table, _NOBODY, name)
            found = [stored[digest].vector for digest in self._texts if digest in stored]
            if len(found) == len(self._texts) and len({len(one) for one in found}) == 1:
                self._held[name] = np.stack(found)
        held = self._held.get(name)
        return None if held is None else held[: self._examples_from]

    def examples_for(self, name: str, dimension: int) -> Vectors | None:
        """Those of the examples, where this process knows any of that length."""
        held = self._held.get(name, np.empty((0, 0), dtype=np.float32))
        return held[self._examples_from :] if held.shape[1] == dimension > 0 else None

    async def made(self, embedder: Embedder, table: VectorTable, dimension: int = 0) -> Vectors:
        """Those of an embedder's model, made where there are none of that dimension (0: any).

        Whoever asks meanwhile waits for the same: a local model takes seconds of all cores. Raises
        ``EmbeddingError`` where the embedder brings none.
        """
        name = await embedder.name()
        async with self._making:
            known = await self.known(table, name)
            if known is None or dimension not in (0, known.shape[1]):
                made = await embedded_texts(embedder, [*self._texts.values()], query=True)
                self._held[name] = made
                rows = zip(self._texts, made, strict=True)
                found = {digest: StoredVector(digest, row) for digest, row in rows}
                await store_vectors(table, _NOBODY, name, found)
                known = made[: self._examples_from]
            return known
