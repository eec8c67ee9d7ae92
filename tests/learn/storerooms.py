"""A user's store with the tables behind it, in memory, and the breaking of any of their calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from adaptive.core.errors import StoreError, TablesUnavailable
from adaptive.core.model import Draft, Memory, Provenance, StoreStamp
from adaptive.core.ports import Vectors
from adaptive.core.table_ports import ArchivedMemory, AuditEntry, StoredVector
from adaptive.learn.archive import UserStore
from adaptive.privacy.gate import AuditTrail
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.index import MemoryIndex, build_index, content_hash
from adaptive.search.vectors import normalised
from tests.fakes import ListedMemories

NOW = 1_800_000_000
DAY = 24 * 3600
DIMENSION = 128


class Killed(BaseException):
    """The process ends here: nothing can catch it."""


class ArchivedRows:
    """An ``ArchiveTable`` whose rows are a dict."""

    def __init__(self) -> None:
        self.rows: dict[str, ArchivedMemory] = {}

    @property
    def contents(self) -> set[str]:
        """What the archived memories say."""
        return {one.memory.content for one in self.rows.values()}

    async def put(self, user_id: str, archived: Sequence[ArchivedMemory]) -> None:
        """These rows in place of former ones."""
        self.rows.update({one.memory.id: one for one in archived})

    async def read(
        self, user_id: str, memory_ids: Sequence[str] | None = None
    ) -> tuple[ArchivedMemory, ...]:
        """Those that are there, the last first."""
        found = [one for id, one in self.rows.items() if memory_ids is None or id in memory_ids]
        return tuple(sorted(found, key=lambda one: -one.archived_at))

    async def discard(self, user_id: str, memory_ids: Sequence[str]) -> None:
        """These rows less."""
        for id in memory_ids:
            self.rows.pop(id, None)


class CountedRecalls:
    """A ``UsageTable`` whose rows are a dict."""

    def __init__(self, **recalls: int) -> None:
        self.rows = {id: count for id, count in recalls.items()}

    async def record(self, user_id: str, memory_ids: Sequence[str], now: int) -> None:
        """One more of each."""
        for id in memory_ids:
            self.rows[id] = self.rows.get(id, 0) + 1

    async def read(self, user_id: str) -> dict[str, int]:
        """A copy."""
        return dict(self.rows)

    async def merge(self, user_id: str, memory_ids: Sequence[str], into: str) -> None:
        """The sum."""
        given = [self.rows.pop(id) for id in memory_ids if id in self.rows]
        self.rows[into] = self.rows.get(into, 0) + sum(given)


class WrittenAudit:
    """An ``AuditTable`` whose rows are a list."""

    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []

    async def append(self, user_id: str, entries: Sequence[AuditEntry], now: int) -> None:
        """More entries."""
        self.entries.extend(entries)

    def told(self) -> list[tuple[str, str]]:
        """Kind and memory of each change."""
        return [(entry.kind, entry.memory_id) for entry in self.entries]


class HeldLeases:
    """``Leases`` whose rows are a dict."""

    def __init__(self) -> None:
        self.rows: dict[str, tuple[str, float]] = {}

    async def acquire(self, name: str, owner: str, now: float, seconds: float) -> bool:
        """Whether it is free, ended, or the owner's."""
        holder, until = self.rows.get(name, (owner, 0.0))
        if holder != owner and until >= now:
            return False
        self.rows[name] = (owner, now + seconds)
        return True

    async def release(self, name: str, owner: str) -> None:
        """Free it."""
        if self.rows.get(name, ("", 0.0))[0] == owner:
            del self.rows[name]


class MetaMemories(ListedMemories):
    """A store that keeps further meta; without ``keeps_meta`` it is one of release 0.9."""

    def __init__(self, *memories: Memory, keeps_meta: bool = True, **script: Any) -> None:
        super().__init__(*memories, **script)
        self.keeps_meta = keeps_meta

    async def add(
        self, draft: Draft, source: Provenance, extra: Mapping[str, Any] | None = None
    ) -> Memory:
        """A new row, where the release has a place for it with its meta."""
        row = await super().add(draft, source)
        told = {"chat_id": source.chat_id, "said_at": source.said_at}
        meta = {**(extra or {}), **told} if self.keeps_meta else {}
        self.rows[row.id] = replace(row, meta=meta)
        return self.rows[row.id]


@dataclass
class Fuse:
    """Counts calls of ports and breaks one of them, before or after it takes effect.

    With ``kills`` the process ends there, and nothing is called ever after.
    """

    at: int = -1
    after: bool = False
    kills: bool = False
    calls: list[str] = field(default_factory=list[str])

    @property
    def blown(self) -> bool:
        """Whether the call to break has come."""
        return 0 <= self.at < len(self.calls)

    def wired(self, port: Any, error: type[Exception]) -> Any:
        """The port with every call of it going through the fuse."""
        return _Wired(self, port, error)


class _Wired:
    def __init__(self, fuse: Fuse, port: Any, error: type[Exception]) -> None:
        self._fuse = fuse
        self._port = port
        self._error = error

    def __getattr__(self, name: str) -> Callable[..., Any]:
        fuse, method = self._fuse, getattr(self._port, name)

        async def call(*given: Any, **named: Any) -> Any:
            if fuse.kills and fuse.blown:
                raise Killed
            fuse.calls.append(name)
            breaks = len(fuse.calls) - 1 == fuse.at
            if breaks and not fuse.after:
                raise Killed if fuse.kills else self._error(f"{name} is broken")
            result = await method(*given, **named)
            if breaks:
                raise Killed if fuse.kills else self._error(f"{name} was broken off")
            return result

        return call


@dataclass
class World:
    """What outlives a process: the store, and the tables behind it."""

    store: MetaMemories
    archive: ArchivedRows = field(default_factory=ArchivedRows)
    usage: CountedRecalls = field(default_factory=CountedRecalls)
    audit: WrittenAudit = field(default_factory=WrittenAudit)
    leases: HeldLeases = field(default_factory=HeldLeases)

    def room(self, fuse: Fuse | None = None) -> UserStore:
        """The store as a new process has it."""
        fuse = fuse or Fuse()
        store = fuse.wired(self.store, StoreError)
        return UserStore(
            "ada",
            store,
            fuse.wired(self.archive, TablesUnavailable),
            fuse.wired(self.usage, TablesUnavailable),
            AuditTrail(fuse.wired(self.audit, TablesUnavailable)),
        )

    @property
    def contents(self) -> list[str]:
        """What the store says, in order."""
        return sorted(self.store.contents)


def topical_index(
    memories: Sequence[Memory], topic_of: Callable[[Memory], str], *, calibrated: bool = True
) -> MemoryIndex:
    """An index whose vectors lie near those of their topic; null prompts lie anywhere."""
    chance = np.random.default_rng(7)
    topics: dict[str, Vectors] = {}
    vectors: dict[str, Vectors] = {}
    for one in memories:
        topic = topic_of(one)
        if topic:
            centre = topics.setdefault(topic, chance.normal(size=DIMENSION).astype(np.float32))
            vectors[one.id] = centre + chance.normal(size=DIMENSION).astype(np.float32) * 0.5
    chance = np.random.default_rng(8)
    nulls = normalised(chance.normal(size=(len(NULL_PROMPTS), DIMENSION)).astype(np.float32))
    contents = {one.id: one.content for one in memories}
    known = {
        id: StoredVector(content_hash(contents[id]), normalised(vector[None])[0])
        for id, vector in vectors.items()
    }
    stamp = StoreStamp(len(memories), 1)
    return build_index(memories, known, nulls if calibrated else None, "e", stamp, NOW)
