"""The last wall: a store that writes nothing which the gate has not passed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from adaptive.errors import WriteRefused
from adaptive.model import Draft, Memory, Provenance, StoreStamp
from adaptive.ports import MemoryStore
from adaptive.privacy.gate import GatePolicy, Refused, gate
from adaptive.privacy.policy import gated_draft
from adaptive.shapes import listing, mapping


@dataclass(frozen=True, slots=True)
class GuardedStore:
    """A ``MemoryStore`` around another: what is added, changed or finished passes the gate.

    Reading and deleting are the other's. What has passed is written as it came out of the gate, so
    a row may say less than its draft; what comes back is the row.
    """

    store: MemoryStore
    policy: GatePolicy

    @property
    def keeps_history(self) -> bool:
        """Whether a row has a place for former contents (see ``MemoryStore``)."""
        return self.store.keeps_history

    async def stamp(self) -> StoreStamp:
        """How the table stands (see ``MemoryStore``)."""
        return await self.store.stamp()

    async def changes(self, since: int) -> tuple[tuple[Memory, ...], frozenset[str]]:
        """Changed rows, and the ids of all (see ``MemoryStore``)."""
        return await self.store.changes(since)

    async def read(self) -> tuple[Memory, ...]:
        """All memories of the user (see ``MemoryStore``)."""
        return await self.store.read()

    async def add(
        self, draft: Draft, source: Provenance, extra: Mapping[str, Any] | None = None
    ) -> Memory:
        """Write a new row (see ``MemoryStore``).

        Raises:
            WriteRefused: the gate does not let the content pass.
        """
        passed = await self._passed(draft)
        return await self.store.add(passed, source, gated_meta(extra, self.policy))

    async def update(self, memory: Memory, draft: Draft, source: Provenance) -> Memory:
        """Give a row a new content (see ``MemoryStore``); of former ones what passes is kept.

        Raises:
            WriteRefused: the gate does not let the content pass.
        """
        passed = await self._passed(draft)
        return await self.store.update(self._former(memory), passed, source)

    async def complete(self, memory: Memory, draft: Draft, source: Provenance) -> Memory:
        """Finish what a broken-off ``add`` has left (see ``MemoryStore``).

        Raises:
            WriteRefused: the gate does not let the content pass.
        """
        passed = await self._passed(draft)
        meta = gated_meta(memory.meta, self.policy) or {}
        return await self.store.complete(replace(memory, meta=meta), passed, source)

    async def delete(self, memory: Memory) -> None:
        """Remove a row (see ``MemoryStore``)."""
        await self.store.delete(memory)

    async def _passed(self, draft: Draft) -> Draft:
        # In a thread: the first text has the patterns compiled, which takes a while.
        verdict = await asyncio.to_thread(gated_draft, draft, self.policy)
        if isinstance(verdict, Refused):
            raise WriteRefused(verdict.reason)
        return verdict

    def _former(self, memory: Memory) -> Memory:
        """A memory whose content and history may be kept; a content that may not is left out."""
        content = _gated_former(memory.content, self.policy)
        return replace(memory, content=content, meta=gated_meta(memory.meta, self.policy) or {})


def gated_meta(meta: Mapping[str, Any] | None, policy: GatePolicy) -> Mapping[str, Any] | None:
    """A row's meta in whose history only what passes the gate is left, masked where need be."""
    if not meta or "history" not in meta:
        return meta
    history: list[dict[str, Any]] = []
    for entry in map(mapping, listing(meta["history"])):
        former = entry.get("content")
        content = _gated_former(former, policy) if isinstance(former, str) else ""
        if content:
            history.append({**entry, "content": content})
    return {**meta, "history": history}


def _gated_former(content: str, policy: GatePolicy) -> str:
    """A former content as it may be kept; empty if it may not. Its wording stays as it was."""
    verdict = gate(content, replace(policy, statements=False))
    return "" if isinstance(verdict, Refused) else verdict.text
