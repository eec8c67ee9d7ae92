"""Past conversation in memory: chats as the host stores them, and an exact vector index."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from adaptive.control.turn import rememberable_messages
from adaptive.core.model import HostError, Vectors
from adaptive.history.indexing import HistoryIndex
from adaptive.history.section import PastMessage
from adaptive.memory.tables import ChatNotes, Entry
from adaptive.search.history_ports import (
    HistoryHit,
    HistoryUnit,
    ListedChat,
    MessageKey,
    UnlearnedChat,
)
from adaptive.search.vectors import content_hash
from tests.fakes import (
    ListedEntries,
    TurnHook,
    WordEmbedder,
    chat_notes,
    hook_settings,
)

DAY = 86_400
START = 1_700_000_000
KEY = "AKIA" + "QWERTYUIOPASDFGH"


def said(
    id: str,
    text: str,
    role: Literal["user", "assistant"] = "user",
    chat_id: str = "c",
    said_at: int = START,
) -> PastMessage:
    """A past message."""
    return PastMessage(id, chat_id, role, text, said_at)


def chat_of(
    chat_id: str, *texts: str, start: int = START
) -> list[dict[str, Any]]:
    """A chat as the host stores it: user and assistant in turn, each the next one's parent."""
    return [
        {
            "id": f"{chat_id}{at}",
            "chat_id": chat_id,
            "role": "assistant" if at % 2 else "user",
            "content": text,
            "parentId": f"{chat_id}{at - 1}" if at else None,
            "timestamp": start + at * 60,
        }
        for at, text in enumerate(texts)
    ]


class StoredChats:
    """``PastChats`` of Ada's, whose chats are lists; each call fails while ``failing``.

    A chat was changed when its last message was said, or when ``changed`` says.
    """

    def __init__(
        self, entries: ListedEntries, **chats: list[dict[str, Any]]
    ) -> None:
        self.entries = entries
        self.rows = chats
        self.changed: dict[str, int] = {}
        self.failing = False
        self.read: list[str] = []

    async def scopes(
        self, user_id: str, chat_ids: Collection[str]
    ) -> dict[str, set[str]]:
        """Each chat is in a folder of its own."""
        return {chat_id: {f"folder={chat_id}"} for chat_id in chat_ids}

    async def messages(
        self, user_id: str, chat_id: str, *, words: bool = True
    ) -> tuple[Mapping[str, Any], ...]:
        """One chat; who reads its words is noted."""
        self.read += [chat_id] if words else []
        return tuple(self._rows_of(user_id).get(chat_id, ()))

    async def current(
        self, user_id: str, keys: Collection[MessageKey]
    ) -> dict[MessageKey, Mapping[str, Any]]:
        """A chat is called by its id."""
        every = (
            {**one, "chat_title": one["chat_id"]}
            for messages in self._rows_of(user_id).values()
            for one in messages
        )
        by_key = {(str(one["chat_id"]), str(one["id"])): one for one in every}
        return {key: by_key[key] for key in keys if key in by_key}

    async def to_index(
        self, user_id: str, chat_id: str = ""
    ) -> dict[str, int]:
        """As the host's database compares them."""
        noted: dict[str, int] = {}
        for kind, _, key in self.entries.rows:
            if kind in ("history", "erased_history"):
                at = self.entries.rows[kind, user_id, key].created_at
                noted[key] = max(at, noted.get(key, 0))
        gone = {
            key: 0
            for kind, _, key in self.entries.rows
            if kind == "history" and key not in self.rows
        }
        changed = {
            id_: self.changed.get(id_) or messages[-1]["timestamp"]
            for id_, messages in self._rows_of(user_id).items()
            if chat_id in ("", id_)
            or ("history", user_id, id_) in self.entries.rows
        }
        return gone | {
            id_: at
            for id_, at in changed.items()
            if at > max(noted.get(id_, 0), noted.get("", 0))
        }

    async def unlearned(
        self, user_id: str, since: float, until: float
    ) -> list[UnlearnedChat]:
        """Chats with messages of which the entries do not tell."""
        known = {
            key
            for kind, user, key in self.entries.rows
            if kind in ("done", "waiting") and user == user_id
        }
        left = {
            chat_id: [
                str(one["id"])
                for one in messages
                if one["role"] == "user"
                and one["id"] not in known
                and since <= one["timestamp"] < until
            ]
            for chat_id, messages in self._rows_of(user_id).items()
        }
        found = [
            UnlearnedChat(
                chat_id, self.rows[chat_id][-1]["timestamp"], message_ids
            )
            for chat_id, message_ids in left.items()
            if message_ids
        ]
        return sorted(found, key=lambda chat: -chat.changed_at)

    async def listed(
        self, user_id: str, since: float, until: float
    ) -> list[ListedChat]:
        """A chat is called by its id."""
        times = {
            chat_id: [
                one["timestamp"]
                for one in messages
                if since <= one["timestamp"] < until
            ]
            for chat_id, messages in self._rows_of(user_id).items()
        }
        chats = [
            ListedChat(chat_id, chat_id, max(stamps))
            for chat_id, stamps in times.items()
            if stamps
        ]
        return sorted(chats, key=lambda chat: -chat.said_at)

    def _rows_of(self, user_id: str) -> dict[str, list[dict[str, Any]]]:
        if self.failing:
            raise HostError("the database is away")
        return self.rows if user_id == "ada" else {}


class NearestUnits:
    """``HistoryVectors`` of Ada's that compares with every unit; fails while ``failing``.

    While it is ``away`` nothing is found, and writing alone fails, as clients of the host do.
    """

    def __init__(self) -> None:
        self.rows: dict[str, tuple[HistoryUnit, Vectors]] = {}
        self.embedders: dict[str, str] = {}
        self.failing = False
        self.away = False
        self.calls: list[str] = []

    @property
    def messages(self) -> list[str]:
        """The messages that are indexed."""
        return sorted(unit.message_id for unit, _ in self.rows.values())

    async def digests(self, user_id: str, chat_id: str) -> dict[str, str]:
        self.calls.append("digests")
        return {
            unit.id: unit.digest
            for unit, _ in self.rows.values()
            if unit.chat_id == chat_id and not self.away
        }

    async def standing_embedder(self, user_id: str, chat_id: str = "") -> str:
        self.calls.append("standing")
        standing = [
            self.embedders[unit_id]
            for unit_id, (unit, _) in self.rows.items()
            if chat_id in ("", unit.chat_id)
        ]
        return "" if self.away else "".join(standing[:1])

    async def upsert(
        self,
        user_id: str,
        embedder: str,
        units: Sequence[HistoryUnit],
        vectors: Vectors,
    ) -> None:
        self._check()
        if self.away:
            raise HostError("the vector database is away")
        self.calls.append("upsert")
        for unit, row in zip(units, vectors, strict=True):
            self.rows[unit.id] = (unit, row)
            self.embedders[unit.id] = content_hash(embedder)

    async def search(
        self,
        user_id: str,
        embedder: str,
        vector: Vectors,
        limit: int,
        chat_id: str = "",
    ) -> Sequence[HistoryHit]:
        self._check()
        self.calls.append("search")
        hits = [
            HistoryHit(
                chat_id=unit.chat_id,
                message_id=unit.message_id,
                previous_id=unit.previous_id,
                cosine=float(np.dot(row, vector)),
            )
            for unit, row in self.rows.values()
            if user_id == "ada" and chat_id in ("", unit.chat_id)
        ]
        return sorted(hits, key=lambda hit: -hit.cosine)[:limit]

    async def delete(self, user_id: str, ids: Collection[str]) -> None:
        for unit_id in [*ids]:
            self.rows.pop(unit_id, None)
            self.embedders.pop(unit_id, None)

    async def delete_all(self, user_id: str) -> None:
        self.rows.clear()
        self.embedders.clear()

    def _check(self) -> None:
        if self.failing:
            raise HostError("the vector database is away")


class HeldLeases:
    """``Leases`` by name; none ends by itself."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    async def acquire(
        self, name: str, now: float, seconds: float, owner: str = ""
    ) -> bool:
        """Take a name that is free."""
        is_free = name not in self.names
        self.names.add(name)
        return is_free

    async def is_taken(self, name: str) -> bool:
        """Whether somebody has a name."""
        return name in self.names

    async def renew(self, name: str, owner: str, until: float) -> bool:
        return name in self.names

    async def end(self, names: Iterable[str], owner: str = "") -> bool:
        self.names.difference_update(names)
        return True


class World:
    """Chats of Ada's, an index, and hooks of hers."""

    def __init__(self, **chats: list[dict[str, Any]]) -> None:
        self.entries = ListedEntries()
        self.leases = HeldLeases()
        self.chats = StoredChats(self.entries, **chats)
        self.vectors = NearestUnits()
        self.embedder = WordEmbedder()
        self.notes = chat_notes(self.entries)
        self.model: Any = None
        self.lines: list[str] = []
        self.nulls: Vectors | None = None
        self.slept: list[float] = []
        self.history = self.load()

    def load(self) -> HistoryIndex:
        """Another worker, or another load of the plug-in."""
        return HistoryIndex(
            vectors=self.vectors,
            chats=self.chats,
            entries=self.entries,
            leases=self.leases,
            rememberable=rememberable_messages,
            sleep=self.sleep,
        )

    async def sleep(self, seconds: float) -> None:
        """Let others work, and note for how long it should have been."""
        self.slept.append(seconds)
        await asyncio.sleep(0)

    async def null_vectors(self, embedder: str) -> Vectors | None:
        """Vectors of the null prompts, by default not known."""
        return self.nulls

    def hook(self, chat_id: str = "new", **valves: Any) -> Any:
        """A hook of somebody who recalls all chats unless said otherwise."""
        settings = hook_settings(**{"history_recall_default": "all", **valves})
        return TurnHook(settings, self.embedder, self.model, chat_id)

    async def index(self, chat_id: str, newest_id: str = "") -> int:
        """Bring the index up to a chat; how many units were embedded."""
        indexed = await self.history.index_chat(
            "ada", self.embedder, chat_id, newest_id
        )
        return indexed.embedded

    async def keep(self, hook: Any) -> None:
        """What is done behind a turn."""
        await self.history.keep(hook, self.tell)

    def note(self, **summaries: str) -> None:
        """Let chats have been noted in these words."""
        for chat_id, summary in summaries.items():
            noted = Entry(chat_id, asdict(ChatNotes(summary)), START)
            self.entries.rows["chat_notes", "ada", chat_id] = noted

    async def tell(self, line: str) -> None:
        self.lines.append(line)
