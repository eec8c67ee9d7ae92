"""The world in memory: each port as a small class that a test scripts and then looks into."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from adaptive.core.embedding import (
    Embedder,
    EmbedderIdentity,
    Pace,
    Sources,
)
from adaptive.core.marks import Place
from adaptive.core.model import (
    ConversationKind,
    Draft,
    EmbeddingError,
    Memory,
    MemoryUnavailable,
    NewMemory,
    Provenance,
    StoredVector,
    StoreError,
    StoreStamp,
    TablesUnavailable,
    Turn,
    Utterance,
    Vectors,
)
from adaptive.core.providers import (
    Completer,
    Completion,
    CompletionRequest,
    ResponseFormat,
)
from adaptive.memory.tables import (
    Addition,
    ChatNotes,
    ChatNotesTable,
    ChatTable,
    CommandTable,
    Entries,
    Entry,
    EntryKind,
    NumberTable,
)
from adaptive.search.index import stamp_of
from adaptive.search.vectors import name_parts
from adaptive.settings.merged import HiddenMemories, Settings
from adaptive.settings.valves import UserValves, Valves

DIMENSION = 64
SOURCE = Provenance("chat-1", "message-1", 1_700_000_000)


def memory(
    id: str, content: str, *, created_at: int = 1, **fields: Any
) -> Memory:
    """A memory that was last changed when it was made."""
    return Memory(
        id, content, created_at, fields.pop("updated_at", created_at), **fields
    )


def hook_settings(user: UserValves | None = None, **valves: Any) -> Settings:
    """Settings of a hook: defaults but for the named valves, or settings without a valve."""
    fixed = {
        name: value
        for name, value in valves.items()
        if name not in Valves.model_fields
    }
    return Settings.merge(Valves(**valves), user).model_copy(update=fixed)


def turn(
    words: str,
    *earlier: Utterance,
    user_id: str = "ada",
    message_id: str = "m",
    chat_id: str = SOURCE.chat_id,
    **fields: Any,
) -> Turn:
    """A turn of a saved chat."""
    source = replace(SOURCE, message_id=message_id, chat_id=chat_id)
    return Turn(user_id, "saved", words, earlier, source, **fields)


class ListedMemories:
    """A ``MemoryStore`` whose rows are a dict.

    ``refusal`` is raised by every call; writes of a content or an id in ``broken`` can't be proven.
    Each write has a second of its own unless ``clock`` tells the time.
    """

    def __init__(
        self,
        *memories: Memory,
        refusal: str = "",
        broken: Sequence[str] = (),
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.rows = {one.id: one for one in memories}
        self.refusal = refusal
        self.broken = frozenset(broken)
        self.reads = self.partial_reads = 0
        self.keeps_history = True
        self._clock = clock or itertools.count(SOURCE.said_at).__next__
        self._ids = (f"new-{number}" for number in itertools.count(1))

    @property
    def contents(self) -> list[str]:
        """What the rows say, oldest first."""
        return [one.content for one in self.rows.values()]

    async def stamp(self) -> StoreStamp:
        """Number of rows and newest change."""
        self._check()
        return stamp_of([*self.rows.values()])

    async def dates(self) -> dict[str, int]:
        """When each row has changed."""
        self._check()
        return {id: one.updated_at for id, one in self.rows.items()}

    async def read(
        self, ids: Collection[str] | None = None
    ) -> tuple[Memory, ...]:
        """All rows, or those of these ids."""
        self._check()
        if ids is None:
            self.reads += 1
        else:
            self.partial_reads += 1
        return tuple(
            one for one in self.rows.values() if ids is None or one.id in ids
        )

    def edit(self, id: str, content: str) -> None:
        """Another content, as the host's own page writes it."""
        row = replace(
            self.rows[id], content=content, updated_at=int(self._clock())
        )
        self.rows[id] = row

    async def write(
        self,
        *new: NewMemory,
        back: Sequence[Memory] = (),
        gone: Sequence[Memory] = (),
    ) -> list[Memory]:
        """New rows, rows with another content or as they were, and these rows less; all or none."""
        formers = [one.former.id for one in new if one.former]
        contents = [one.draft.content for one in new]
        contents += [one.content for one in back]
        self._check(*contents, *formers, *(one.id for one in gone))
        if not set(formers) <= self.rows.keys():
            raise StoreError("the row is gone")
        written = [self._written(one) for one in new]
        for one in back:
            self.rows[one.id] = replace(one, updated_at=int(self._clock()))
        for one in gone:
            del self.rows[one.id]
        return [*written, *(self.rows[one.id] for one in back)]

    def _written(self, new: NewMemory) -> Memory:
        """The row of a memory."""
        now = int(self._clock())
        said = {
            "chat_id": new.source.chat_id,
            "message_id": new.source.message_id,
        }
        if new.former:
            meta = {**new.former.meta, **said}
            row = replace(new.former, updated_at=now, meta=meta)
        else:
            meta = {**new.extra, **said}
            row = Memory(new.id or next(self._ids), "", now, now, meta=meta)
        return self._keep(row, new.draft)

    def _keep(self, row: Memory, draft: Draft) -> Memory:
        self.rows[row.id] = replace(
            row,
            content=draft.content,
            tags=draft.tags,
            bank=draft.bank,
            confidence=draft.confidence,
            importance=draft.importance,
            until=draft.until,
        )
        return self.rows[row.id]

    def _check(self, *written: str) -> None:
        if self.refusal:
            raise MemoryUnavailable(self.refusal)
        if self.broken & set(written):
            raise StoreError(f"the table is locked for {written[0]!r}")


class ScriptedModel:
    """A ``Completer`` that gives one answer of its script after the other.

    An exception in the script is raised, a text is a whole answer. Each call waits for ``gate``.
    """

    def __init__(
        self, *script: str | Completion | Exception, key: str = "scripted"
    ) -> None:
        self.key = key
        self.requests: list[CompletionRequest] = []
        self.formats: list[ResponseFormat] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.running = 0
        self._script = list(script)

    async def complete(
        self, request: CompletionRequest, response_format: ResponseFormat
    ) -> Completion:
        """The next answer."""
        self.requests.append(request)
        self.formats.append(response_format)
        self.running += 1
        try:
            await self.gate.wait()
            await asyncio.sleep(0)
        finally:
            self.running -= 1
        answer = self._script.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Completion(answer) if isinstance(answer, str) else answer


class WordEmbedder:
    """An ``Embedder``, and a model, whose vectors count words: the more words two texts share, the nearer.

    ``calls`` holds the memories that it was asked for, ``queries`` the messages and null prompts.
    While ``failing`` it fails; each call waits for ``gate``.
    """

    def __init__(
        self, label: str = "words", *, dimension: int = DIMENSION
    ) -> None:
        self.label = label
        self.dimension = dimension
        self.calls: list[list[str]] = []
        self.queries: list[list[str]] = []
        self.failing = False
        self.source: object = None
        self.pace = Pace()
        self.gate = asyncio.Event()
        self.gate.set()

    @property
    def service(self) -> str:
        """The label."""
        return self.label

    @property
    def identity(self) -> EmbedderIdentity:
        """That of a model with the label."""
        return EmbedderIdentity(engine="fake", model=self.label)

    def new_pace(self) -> Pace:
        """The same one for all."""
        return self.pace

    @property
    def embedded(self) -> list[str]:
        """Every memory it was asked for, in order."""
        return [text for call in self.calls for text in call]

    async def name(self) -> str:
        """The label."""
        return self.label

    async def embed(self, texts: Sequence[str], *, query: bool) -> Vectors:
        """One row per text; a word adds to the dimension that its hash names."""
        (self.queries if query else self.calls).append(list(texts))
        await self.gate.wait()
        if self.failing:
            raise EmbeddingError("the provider is down")
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.casefold().split():
                digest = hashlib.blake2b(
                    word.strip(".,!?").encode(errors="replace"), digest_size=4
                ).digest()
                row[int.from_bytes(digest, "big") % self.dimension] += 1
        return rows


class ShelvedVectors:
    """A ``VectorTable`` whose rows are a dict; each call fails while ``unavailable``.

    ``memories`` are those that the host has, by user, and ``hosts`` its vectors of them.
    """

    def __init__(self, *, unavailable: bool = False) -> None:
        self.rows: dict[tuple[str, str], dict[str, StoredVector]] = {}
        self.memories: dict[str, Mapping[str, Memory]] = {}
        self.hosts: dict[str, Vectors] = {}
        self.unavailable = unavailable
        self.reads: list[str] = []

    def ids(self, user_id: str, embedder: str = "words") -> set[str]:
        """Of which memories a vector is kept."""
        return set(self.rows.get((user_id, embedder), {}))

    async def read(
        self,
        user_id: str,
        embedder: str,
        memory_ids: Sequence[str] | None = None,
    ) -> dict[str, StoredVector]:
        """A copy of the rows, or of those of some memories."""
        self._check()
        self.reads.append(user_id)
        rows = self.rows.get((user_id, embedder), {})
        return {
            id: one
            for id, one in rows.items()
            if memory_ids is None or id in memory_ids
        }

    async def write(
        self, user_id: str, embedder: str, vectors: Mapping[str, StoredVector]
    ) -> None:
        """These rows in place of former ones."""
        self._check()
        self.rows.setdefault((user_id, embedder), {}).update(vectors)

    async def tidy(self, user_id: str, embedder: str) -> None:
        """No rows of this user but of this identity and of memories that the host has."""
        self._check()
        known = self.memories.get(user_id, {})
        for user, name in [key for key in self.rows if key[0] == user_id]:
            rows = self.rows.pop((user, name))
            if name_parts(name)[0] == name_parts(embedder)[0]:
                self.rows[(user, name)] = {
                    id: row for id, row in rows.items() if id in known
                }

    async def held(
        self, user_id: str, memories: Sequence[Memory]
    ) -> dict[str, Vectors]:
        """Those of ``hosts`` that are asked for."""
        self._check()
        return {
            one.id: self.hosts[one.id]
            for one in memories
            if one.id in self.hosts
        }

    def _check(self) -> None:
        if self.unavailable:
            raise TablesUnavailable("no table can be created")


class ListedEntries:
    """``Entries`` whose rows are a dict; each call fails while ``unavailable``, and none expires.

    On it stand the tables of what is kept of users.
    """

    def __init__(self, *, unavailable: bool = False) -> None:
        self.rows: dict[tuple[str, str, str], Entry] = {}
        self.unavailable = unavailable

    async def put(
        self,
        kind: str,
        user_id: str,
        entries: Iterable[Entry],
        *,
        replacing: bool = True,
        ends: str | None = None,
    ) -> None:
        """These rows in place of former ones, unless those are to stay."""
        self._check()
        for one in entries:
            self.rows.pop((ends or "", user_id, one.key), None)
            if replacing or (kind, user_id, one.key) not in self.rows:
                self.rows[kind, user_id, one.key] = one

    async def read(
        self,
        kind: str,
        user_id: str,
        keys: Collection[str] | None = None,
        since: int = 0,
        most: int | None = None,
    ) -> list[Entry]:
        """The rows, the newest first."""
        self._check()
        rows = [
            one
            for key, one in reversed(self.rows.items())
            if key[:2] == (kind, user_id)
            and (keys is None or one.key in keys)
            and one.created_at >= since
        ]
        return rows[:most]

    async def read_since(
        self, user_id: str, since: Mapping[EntryKind, int]
    ) -> dict[EntryKind, list[Entry]]:
        """The rows of several kinds."""
        return {
            kind: await self.read(kind, user_id, since=since[kind])
            for kind in since
        }

    async def keys(
        self, kind: str, user_id: str, first: str = "", most: int | None = None
    ) -> list[str]:
        """The keys of rows, the last one first."""
        found = (one.key for one in await self.read(kind, user_id))
        return sorted((one for one in found if one >= first), reverse=True)[
            :most
        ]

    async def drop(
        self, kind: str, user_id: str, keys: Collection[str]
    ) -> None:
        """These rows less."""
        for one in await self.read(kind, user_id, keys):
            del self.rows[kind, user_id, one.key]

    async def unopened(self, user_id: str = "") -> Counter[str]:
        """All are open."""
        return Counter()

    def _check(self) -> None:
        if self.unavailable:
            raise TablesUnavailable("no table can be created")


def chat_states(entries: Entries) -> ChatTable:
    """What each chat was given, on these entries."""
    return ChatTable(entries, "chat", dict[str, Addition], {})


def chat_notes(entries: Entries) -> ChatNotesTable:
    """Notes by chat, on these entries."""
    return ChatNotesTable(entries, "chat_notes", ChatNotes, ChatNotes())


def command_answers(entries: Entries) -> CommandTable:
    """The answers of commands, on these entries."""
    return CommandTable(entries, "command", str, "")


def number_table(entries: Entries) -> NumberTable:
    """The numbers of memories, on these entries."""
    return NumberTable(entries)


@dataclass
class TurnHook:
    """What a room before the answer asks of a ``Hook``."""

    settings: Settings
    own_embedder: Embedder
    model: Completer | Exception | None = None
    chat_id: str = "new"
    told_kind: ConversationKind = "saved"
    known_kind: ConversationKind | None = None
    user_id: str = "ada"
    question_id: str = ""
    answer_id: str = ""
    time_zones: Sequence[str] = ()
    wanted: bool = True
    hidden: frozenset[str] = frozenset()
    adds_behind_tasks: bool = False
    reading_task: str = ""
    place: Place = field(default_factory=Place)
    given: object = None

    @property
    def native(self) -> TurnHook:
        """Itself: what the host does with the turn is a field of it, too."""
        return self

    async def task_that_reads(self, _: Mapping[str, Any]) -> str:
        return self.reading_task

    async def kind(self) -> ConversationKind:
        return self.known_kind or self.told_kind

    async def sources(self) -> Sources:
        nothing: Any = None
        return Sources(self.user_id, nothing, self.own_embedder, nothing)

    async def completer(self) -> Completer:
        """The model, or what is wrong with it."""
        if isinstance(self.model, Exception):
            raise self.model
        return cast(Completer, self.model)

    async def hidden_from(
        self, completer: Completer | None = None
    ) -> HiddenMemories:
        return HiddenMemories(self.hidden, place=self.place)

    async def wants_memory(self) -> bool:
        return self.wanted

    async def compacts(self) -> bool:
        return False
