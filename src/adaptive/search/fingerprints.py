"""What answers to an embedder's identity: told by the vector of one prompt, before it is used.

A model can be exchanged behind its name: in a folder, in a service, or by the host in one of its
processes only. So the name of an embedder ends with a fingerprint, which names the first vector
that any process was given for the prompt. Vectors of former and present models stand beside each
other in the table, and each process uses those of the model that answers it.
"""

import asyncio
import time
from collections.abc import Callable, Sequence

import numpy as np

from adaptive.core import (
    EmbeddingError,
    EmbeddingModel,
    Pace,
    StoredVector,
    Vectors,
    VectorTable,
    frozen,
    log,
    look_at,
)
from adaptive.search.calibration import NOBODY, NULL_PROMPTS
from adaptive.search.vectors import (
    FINGERPRINT_MARK,
    SAME_MODEL,
    content_hash,
    embedded_texts,
    store_vectors,
    stored_vectors,
)

_PROMPT = NULL_PROMPTS[0]
# After that one text tells, behind whoever asks, whether the same model still answers.
_TRUSTED_SECONDS = 600.0

# An identity and the object that it was proven for.
_ProofKey = tuple[str, int]


@frozen
class _Proof:
    """The proven name of an embedder, whose vectors have ``dimension`` numbers, until a moment."""

    name: str
    dimension: int
    source: object  # held, so that no other object takes its id
    until: float


class Fingerprints:
    """The embedders that this process has proven: a few, since an admin sets each."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._proofs: dict[_ProofKey, _Proof] = {}
        self._proving: dict[_ProofKey, asyncio.Task[_Proof]] = {}

    async def proof(self, model: EmbeddingModel, table: VectorTable) -> _Proof:
        """The proof of a model: a known one at once, another when the model has answered."""
        key = (str(model.identity), id(model.source))
        known = self._proofs.get(key)
        is_due = known is None or known.until < self._clock()
        if is_due and key not in self._proving:
            task = asyncio.create_task(self._prove(key, model, table))
            self._proving[key] = task
            task.add_done_callback(look_at)
        return known or await asyncio.shield(self._proving[key])

    def doubt(self, model: EmbeddingModel) -> None:
        """Forget what is known of a model, which must be proven anew."""
        self._proofs.pop((str(model.identity), id(model.source)), None)

    async def _prove(
        self, key: _ProofKey, model: EmbeddingModel, table: VectorTable
    ) -> _Proof:
        try:
            [vector] = await embedded_texts(model, [_PROMPT], query=True)
            name = await _proven_name(str(model.identity), vector, table)
            proof = _Proof(
                name=name,
                dimension=len(vector),
                source=model.source,
                until=self._clock() + _TRUSTED_SECONDS,
            )
            self._proofs[key] = proof
            return proof
        finally:
            del self._proving[key]


async def _proven_name(
    identity: str, vector: Vectors, table: VectorTable
) -> str:
    """The identity with the fingerprint of the model that has made a vector of the prompt."""
    stored = await stored_vectors(table, NOBODY, identity)
    same = [
        fingerprint
        for fingerprint, known in stored.items()
        if len(known.vector) == len(vector)
        and known.vector @ vector >= SAME_MODEL
    ]
    digest = content_hash(np.round(vector, 4).tobytes().hex())
    fingerprint = min(same, default=digest)
    name = f"{identity}{FINGERPRINT_MARK}{fingerprint}"
    if not same:
        if stored:
            log.warning("another model than before answers to %s", identity)
        row = {fingerprint: StoredVector(content_hash(_PROMPT), vector)}
        await store_vectors(table, NOBODY, identity, row)
        prompt_key = content_hash(_PROMPT)
        row = {prompt_key: StoredVector(prompt_key, vector)}
        await store_vectors(table, NOBODY, name, row)
    return name


@frozen
class ProvenEmbedder:
    """An ``Embedder`` of a model, whose fingerprint is taken before its name is told."""

    model: EmbeddingModel
    table: VectorTable
    fingerprints: Fingerprints
    pace: Pace

    @property
    def service(self) -> str:
        """The identity of the model."""
        return str(self.model.identity)

    async def name(self) -> str:
        """Identity and fingerprint (see ``Embedder``)."""
        proof = await self.fingerprints.proof(self.model, self.table)
        return proof.name

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """Vectors of texts by the model that was proven (see ``Embedder``)."""
        proof = await self.fingerprints.proof(self.model, self.table)
        vectors = await self.model.embed(texts, query=query)
        if vectors.shape[1] != proof.dimension:
            self.fingerprints.doubt(self.model)
            raise EmbeddingError(
                detail=f"{proof.name} made {vectors.shape[1]} numbers, not {proof.dimension}",
            )
        return vectors
