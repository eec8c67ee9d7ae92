"""Writing accepted operations into the store, each proven and none spoiling another."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from adaptive.errors import HostError, MemoryUnavailable
from adaptive.model import Memory, Operation, Outcome, Provenance
from adaptive.ports import MemoryStore

log_apply = logging.getLogger("adaptive_memory.learn")


async def apply_operations(
    operations: Sequence[Operation],
    memories: Sequence[Memory],
    store: MemoryStore,
    source: Provenance,
) -> list[Outcome]:
    """Carry out the operations one after the other and tell what became of each.

    Raises:
        MemoryUnavailable: the host allows no writes and none was made.
    """
    by_id = {memory.id: memory for memory in memories}
    outcomes: list[Outcome] = []
    for operation in operations:
        try:
            outcomes.append(await _applied(operation, by_id, store, source))
        except MemoryUnavailable:
            if not outcomes:
                raise
            left = operations[len(outcomes) :]
            why = "memories were switched off meanwhile"
            return [*outcomes, *(Outcome("failed", one.draft.content, why) for one in left)]
        except HostError as error:
            log_apply.warning("%s failed: %s", operation.kind, error)
            content = operation.draft.content or by_id[operation.id].content
            outcomes.append(Outcome("failed", content, str(error)))
    return outcomes


async def _applied(
    operation: Operation, by_id: dict[str, Memory], store: MemoryStore, source: Provenance
) -> Outcome:
    if operation.kind == "NEW":
        written = await store.add(operation.draft, source)
        return Outcome("saved", written.content)
    memory = by_id.get(operation.id)
    if memory is None:
        return Outcome("rejected", operation.draft.content, "the memory is gone meanwhile")
    if operation.kind == "DELETE":
        await store.delete(memory)
        return Outcome("deleted", memory.content)
    written = await store.update(memory, operation.draft, source)
    return Outcome("updated", written.content)
