"""A user's world in memory: the store, the tables and the model, the breaking of any call of them.

What a method of a port does is said in ``core.model`` and ``memory.tables``.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import (
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from adaptive.core.embedding import Sources
from adaptive.core.marks import Place
from adaptive.core.model import (
    Memory,
    NewMemory,
    StoredVector,
    StoreError,
    TablesUnavailable,
    Vectors,
)
from adaptive.core.runtime import Foreground
from adaptive.learn.lesson import Lesson, LessonResources, learn_turn
from adaptive.learn.queue import TurnWork
from adaptive.learn.suggestions import Suggestions
from adaptive.llm.ask import AnswerFormats
from adaptive.memory.audit import AuditEntry, AuditTable, ChangeKey
from adaptive.memory.suggestion_table import SuggestionTable
from adaptive.memory.tables import ArchivedMemory
from adaptive.memory.turn_table import QueuedTurn, TurnLease
from adaptive.memory.user_memory import Memories, UserMemory
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.index import MemoryIndex, build_index, content_hash
from adaptive.search.indexes import MemoryIndexes
from adaptive.search.vectors import normalised
from adaptive.settings.merged import HiddenMemories
from tests.fakes import (
    ListedEntries,
    ListedMemories,
    ScriptedModel,
    ShelvedVectors,
    WordEmbedder,
    hook_settings,
    number_table,
    turn,
)
from tests.learn.listed_turns import ListedTurns

NOW = 1_800_000_000
DAY = 24 * 3600
MORNING = datetime(2026, 11, 21, 9, 5, tzinfo=UTC)
DIMENSION = 128


class Killed(BaseException):
    """The process ends here: nothing can catch it."""


class ArchivedRows:
    """An ``ArchiveTable`` whose rows are a dict."""

    def __init__(self) -> None:
        self.rows: dict[str, ArchivedMemory] = {}
        self.sealed = 0

    @property
    def contents(self) -> set[str]:
        """What the archived memories say."""
        return {one.memory.content for one in self.rows.values()}

    async def unopened(self, user_id: str) -> int:
        """As many as are ``sealed`` by another secret."""
        return self.sealed

    async def put(
        self, user_id: str, archived: Sequence[ArchivedMemory]
    ) -> None:
        self.rows.update({one.memory.id: one for one in archived})

    async def read(
        self, user_id: str, memory_ids: Sequence[str] | None = None
    ) -> tuple[ArchivedMemory, ...]:
        found = [
            one
            for id, one in self.rows.items()
            if memory_ids is None or id in memory_ids
        ]
        return tuple(sorted(found, key=lambda one: -one.archived_at))

    async def count(self, user_id: str) -> int:
        return len(self.rows)

    async def discard(self, user_id: str, memory_ids: Sequence[str]) -> None:
        for id in memory_ids:
            self.rows.pop(id, None)


class WrittenAudit:
    """What an audit is written into: rows in a list."""

    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []

    async def append(
        self, user_id: str, entries: Sequence[AuditEntry]
    ) -> None:
        self.entries.extend(entries)

    async def keys(self, user_id: str, since: float = 0.0) -> list[ChangeKey]:
        """The keys of all changes, the newest first."""
        written = (
            ChangeKey.written(f"{at:06}", at + 1, one)
            for at, one in enumerate(self.entries)
            if one.changed_at >= since
        )
        return [ChangeKey.read(one) for one in written][::-1]

    async def read(
        self, user_id: str, keys: Sequence[str]
    ) -> tuple[AuditEntry, ...]:
        """The changes of these keys, the newest first."""
        keyed = (
            replace(one, key=ChangeKey.written(f"{at:06}", at + 1, one))
            for at, one in enumerate(self.entries)
        )
        return tuple(one for one in keyed if one.key in keys)[::-1]

    def told(self) -> list[tuple[str, str]]:
        """Kind and memory of each change."""
        return [(entry.kind, entry.memory_id) for entry in self.entries]


class ListedAudit(AuditTable):
    """An ``AuditTable`` on ``WrittenAudit``, or what breaks calls of it; it copies, as a table does."""

    entries: Any

    async def _append(
        self, user_id: str, changes: Iterable[AuditEntry]
    ) -> None:
        await self.entries.append(user_id, [*map(deepcopy, changes)])

    async def keys(self, user_id: str, since: float = 0.0) -> list[ChangeKey]:
        return await self.entries.keys(user_id, since)

    async def read(
        self, user_id: str, keys: Sequence[str]
    ) -> tuple[AuditEntry, ...]:
        return await self.entries.read(user_id, keys)


class HeldLeases:
    """``Leases`` whose rows are a dict: until when each is held, and by whom."""

    def __init__(self) -> None:
        self.rows: dict[str, float] = {}
        self.owners: dict[str, str] = {}

    async def end(self, names: Iterable[str], owner: str = "") -> bool:
        """End leases."""
        held = [
            name
            for name in names
            if name in self.rows and owner in ("", self.owners[name])
        ]
        for name in held:
            del self.rows[name]
        return bool(held)

    async def is_taken(self, name: str) -> bool:
        """Whether somebody has a name."""
        return name in self.rows

    async def renew(self, name: str, owner: str, until: float) -> bool:
        """Prolong a lease that is this owner's."""
        if name not in self.rows or self.owners[name] != owner:
            return False
        self.rows[name] = until
        return True

    async def acquire(
        self, name: str, now: float, seconds: float, owner: str = ""
    ) -> bool:
        if self.rows.get(name, 0.0) >= now:
            return False
        self.rows[name] = now + seconds
        self.owners[name] = owner
        return True


class HostTable(ListedMemories):
    """The host's memory table: a row knows when it was said, and what it said before.

    As ``adaptive.host.memories`` writes it; without ``keeps_meta`` it is one of release 0.9.
    """

    def __init__(
        self, *memories: Memory, keeps_meta: bool = True, **script: Any
    ) -> None:
        super().__init__(*memories, **script)
        self.keeps_meta = keeps_meta

    def _written(self, new: NewMemory) -> Memory:
        said = {"said_at": new.source.said_at}
        former = new.former and self.rows.get(new.former.id, new.former)
        row = super()._written(new)
        if former is None:
            return self._with_meta(row, **said)
        entry = {
            "content": former.content,
            "said_at": former.created_at,
            "until": new.source.said_at,
        }
        history = [*former.meta.get("history", []), entry]
        return self._with_meta(row, **said, history=history)

    async def passed(self, memory: NewMemory) -> NewMemory:
        """As it is: whoever wants the gate puts it before."""
        return memory

    async def allowed(self, *memories: Memory) -> list[Memory]:
        """Everything is: whoever wants the gate puts it before."""
        return list(memories)

    def _with_meta(self, row: Memory, **meta: Any) -> Memory:
        self.rows[row.id] = replace(
            row, meta={**row.meta, **meta} if self.keeps_meta else {}
        )
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

    def wired(
        self, port: Any, error: type[Exception] = TablesUnavailable
    ) -> Any:
        """The port with every call of it going through the fuse."""
        return _Wired(self, port, error)


def fuses(calls: int) -> Iterator[Fuse]:
    """Fuses that break each of so many calls in each way; more than are made."""
    fuse, either = Fuse(), [False, True]
    for at, after, kills in itertools.product(range(calls), either, either):
        yield (fuse := Fuse(at, after, kills))
    assert not fuse.blown, "there are more calls"


class _Wired:
    def __init__(self, fuse: Fuse, port: Any, error: type[Exception]) -> None:
        self._fuse, self._port, self._error = fuse, port, error

    def __getattr__(self, name: str) -> Any:
        fuse, method = self._fuse, getattr(self._port, name)
        if not callable(method):
            return method

        async def call(*given: Any, **named: Any) -> Any:
            if fuse.kills and fuse.blown:
                raise Killed
            fuse.calls.append(name)
            breaks = len(fuse.calls) - 1 == fuse.at
            if breaks and not fuse.after:
                raise (
                    Killed if fuse.kills else self._error(f"{name} is broken")
                )
            result = await method(*given, **named)
            if breaks:
                raise (
                    Killed
                    if fuse.kills
                    else self._error(f"{name} was broken off")
                )
            return result

        return call


class Work(TurnWork):
    """Work in hand that is lost after ``losing`` questions."""

    def __init__(
        self, losing: int = 1000, calls_before: int = 0, attempts: int = 0
    ) -> None:
        queued = QueuedTurn(turn(""), 0, 0, attempts)
        lease = TurnLease("ada", "worker", ("m",))
        super().__init__(
            (queued,), lease, ListedTurns(), time.time, 0, calls_before
        )
        self.losing = losing

    async def held(self) -> bool:
        self.losing -= 1
        return self.losing >= 0


class World:
    """What outlives a process: Ada's store, the tables behind it, and the model that is asked.

    ``script`` is what the model answers; ``store`` keywords are those of ``HostTable``.
    """

    def __init__(
        self, *memories: Memory, script: Sequence[Any] = (), **store: Any
    ) -> None:
        self.store, self.model = (
            HostTable(*memories, **store),
            ScriptedModel(*script),
        )
        self.archive = ArchivedRows()
        self.audit, self.leases = WrittenAudit(), HeldLeases()
        self.embedder, self.entries = WordEmbedder(), ListedEntries()
        self.table = SuggestionTable(self.entries, self.leases)
        self.suggestions = Suggestions(self.table, lambda: 7.0)
        self.place = Place()

    @property
    def contents(self) -> list[str]:
        """What the store says, in order."""
        return sorted(self.store.contents)

    def memories(self, fuse: Fuse | None = None) -> Memories:
        """The tables behind everybody's memory as a new process has them."""
        fuse = fuse or Fuse()
        return Memories(
            archive=fuse.wired(self.archive),
            trail=ListedAudit(fuse.wired(self.audit)),
            number_table=number_table(self.entries),
            give_way=Foreground().give_way,
        )

    def memory(self, fuse: Fuse | None = None, **valves: Any) -> UserMemory:
        """Ada's memory in a new process, behind the gate."""
        fuse = fuse or Fuse()
        store = fuse.wired(self.store, StoreError)
        sources = Sources(
            "ada", store, self.embedder, ShelvedVectors(), self.place
        )
        return self.memories(fuse).over(sources, hook_settings(**valves))

    def room(self, fuse: Fuse | None = None) -> UserMemory:
        """The same without a gate, which takes its time."""
        fuse = fuse or Fuse()
        gate: Any = self.store
        return replace(self.memory(fuse), gate=gate)

    def resources(
        self, fuse: Fuse | None = None, **parts: Any
    ) -> LessonResources:
        """What learning in a new process needs: new parts but for the named ones.

        Beside the fields of ``LessonResources`` a part is ``embedder``.
        """
        fuse = fuse or Fuse()
        settings = parts.setdefault("settings", hook_settings())
        embedder = parts.pop("embedder", self.embedder)
        store = fuse.wired(self.store, StoreError)
        sources = Sources("ada", store, embedder, ShelvedVectors(), self.place)
        fresh: dict[str, Any] = {
            "sources": sources,
            "indexes": MemoryIndexes(),
            "completer": self.model,
            "formats": AnswerFormats(),
            "memory": self.memories(fuse).over(sources, settings),
            "suggestions": self.suggestions,
            "hidden": HiddenMemories(place=self.place),
        }
        return LessonResources(**{**fresh, **parts})

    async def lesson(
        self, words: str, work: Work | None = None, **parts: Any
    ) -> Lesson:
        """What comes of a message."""
        return await learn_turn(
            self.resources(**parts),
            turn(words, place=self.place),
            MORNING,
            work or Work(),
        )


def reply(*operations: Any) -> str:
    """A reply to the extraction."""
    return json.dumps({"operations": operations})


def index_of(
    memories: Sequence[Memory],
    vectors: Mapping[str, Sequence[float] | Vectors],
    nulls: Vectors,
) -> MemoryIndex:
    """An index of memories, those with vectors that are named by their ids."""
    contents = {one.id: one.content for one in memories}
    known = {
        id: StoredVector(
            content_hash(contents[id]), np.asarray(vector, dtype=np.float32)
        )
        for id, vector in vectors.items()
    }
    return build_index(memories, known, nulls, "fake")


def topical_index(
    memories: Sequence[Memory], topic_of: Callable[[Memory], str]
) -> MemoryIndex:
    """An index whose vectors lie near those of their topic; null prompts lie anywhere."""
    chance = np.random.default_rng(7)

    def drawn(count: int) -> Vectors:
        return chance.normal(size=(count, DIMENSION)).astype(np.float32)

    topics = {
        topic: drawn(1) for topic in dict.fromkeys(map(topic_of, memories))
    }
    near = {
        one.id: normalised(topics[topic_of(one)] + drawn(1) * 0.5)[0]
        for one in memories
    }
    return index_of(memories, near, normalised(drawn(len(NULL_PROMPTS))))
