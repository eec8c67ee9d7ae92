"""Past conversation in memory: chats as the host stores them, and an exact vector index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adaptive.conversation_ports import (
    ChatHead,
    ChatNotes,
    HistoryHit,
    HistoryStamp,
    HistoryTurn,
    HistoryUnit,
)
from adaptive.errors import HostError, TablesUnavailable
from adaptive.history.index import UserPast
from adaptive.history.messages import PastMessage, PastRole
from adaptive.model import ConversationKind
from adaptive.ports import Completer, Embedder, Vectors
from tests.fakes import WordEmbedder, hook_settings

DAY = 86_400
START = 1_700_000_000


def said(
    id: str, text: str, role: PastRole = "user", chat_id: str = "c", said_at: int = START
) -> PastMessage:
    """A past message."""
    return PastMessage(id, chat_id, role, text, said_at)


def chat_of(chat_id: str, *texts: str, start: int = START, gap: int = 60) -> list[dict[str, Any]]:
    """A chat as the host stores it: user and assistant in turn, each the next one's parent."""
    return [
        {
            "id": f"{chat_id}{at}",
            "chat_id": chat_id,
            "role": "assistant" if at % 2 else "user",
            "content": text,
            "parentId": f"{chat_id}{at - 1}" if at else None,
            "timestamp": start + at * gap,
        }
        for at, text in enumerate(texts)
    ]


class StoredChats:
    """``PastChats`` of users whose chats are lists; each call fails while ``failing``."""

    def __init__(self, **chats: Sequence[Mapping[str, Any]]) -> None:
        self.owner = dict.fromkeys(chats, "ada")
        self.rows = {chat_id: list(messages) for chat_id, messages in chats.items()}
        self.failing = False
        self.full_reads = 0
        self.partial_reads: list[str] = []

    def all_of(self, user_id: str) -> list[Mapping[str, Any]]:
        """Every message of a user, newest first."""
        found = [
            one
            for chat_id, messages in self.rows.items()
            if self.owner[chat_id] == user_id
            for one in messages
        ]
        return sorted(found, key=lambda one: -int(one["timestamp"]))

    async def stamp(self, user_id: str) -> HistoryStamp:
        """Number and newest."""
        self._check()
        found = self.all_of(user_id)
        return HistoryStamp(len(found), int(found[0]["timestamp"]) if found else 0)

    async def chats(self, user_id: str, skip: int, limit: int) -> tuple[ChatHead, ...]:
        """In the order of the dict."""
        self._check()
        own = [chat_id for chat_id in self.rows if self.owner[chat_id] == user_id]
        return tuple(ChatHead(one, one, START) for one in own[skip : skip + limit])

    async def heads(self, user_id: str, chat_ids: Sequence[str]) -> dict[str, ChatHead]:
        """Those that are in the dict."""
        self._check()
        own = [one for one in chat_ids if self.owner.get(one) == user_id]
        return {one: ChatHead(one, one, START) for one in own}

    async def outline(self, user_id: str, chat_id: str) -> tuple[Mapping[str, Any], ...]:
        """One chat, words and all."""
        return await self.messages(user_id, chat_id)

    async def messages(self, user_id: str, chat_id: str) -> tuple[Mapping[str, Any], ...]:
        """One chat."""
        self._check()
        self.partial_reads.append(chat_id)
        return tuple(self.rows.get(chat_id, ())) if self.owner.get(chat_id) == user_id else ()

    async def newest_messages(self, user_id: str, limit: int) -> tuple[Mapping[str, Any], ...]:
        """All chats."""
        self._check()
        self.full_reads += 1
        return tuple(self.all_of(user_id)[:limit])

    async def current(
        self, user_id: str, keys: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], Mapping[str, Any]]:
        """By key."""
        self._check()
        by_key = {(one["chat_id"], one["id"]): one for one in self.all_of(user_id)}
        return {key: by_key[key] for key in keys if key in by_key}

    def add(self, chat_id: str, *texts: str, start: int = START) -> None:
        """A chat more, or one in the place of another."""
        self.rows[chat_id] = [*chat_of(chat_id, *texts, start=start)]
        self.owner[chat_id] = "ada"

    def remove(self, chat_id: str) -> None:
        """Delete a chat."""
        del self.rows[chat_id], self.owner[chat_id]

    def _check(self) -> None:
        if self.failing:
            raise HostError("the database is away")


class NearestUnits:
    """``HistoryVectors`` that compares with every unit; each call fails while ``failing``."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, tuple[HistoryUnit, Vectors]]] = {}
        self.failing = False
        self.searches = 0

    def kinds(self, user_id: str = "ada") -> list[tuple[str, str]]:
        """Kind and message of each unit."""
        return sorted((one.kind, one.message_id) for one, _ in self.rows.get(user_id, {}).values())

    async def holds(self, user_id: str) -> bool:
        """Whether there is a row."""
        self._check()
        return bool(self.rows.get(user_id))

    async def known(self, user_id: str, embedder: str, chat_id: str) -> dict[str, str]:
        """Digests of the chat's units."""
        self._check()
        units = [unit for unit, _ in self.rows.get(user_id, {}).values()]
        return {one.id: one.digest for one in units if one.chat_id == chat_id}

    async def chats(self, user_id: str) -> frozenset[str]:
        """Chats of first messages."""
        self._check()
        units = [unit for unit, _ in self.rows.get(user_id, {}).values()]
        return frozenset(one.chat_id for one in units if one.first)

    async def upsert(
        self, user_id: str, embedder: str, units: Sequence[HistoryUnit], vectors: Vectors
    ) -> None:
        """By id."""
        self._check()
        assert len(units) == len(vectors)
        for unit, row in zip(units, vectors, strict=True):
            self.rows.setdefault(user_id, {})[unit.id] = (unit, row)

    async def search(
        self, user_id: str, embedder: str, vector: Vectors, limit: int, chat_id: str = ""
    ) -> tuple[HistoryHit, ...]:
        """By cosine."""
        self._check()
        self.searches += 1
        rows = [
            (float(np.dot(row, vector)), unit)
            for unit, row in self.rows.get(user_id, {}).values()
            if not chat_id or unit.chat_id == chat_id
        ]
        rows.sort(key=lambda one: (-one[0], one[1].id))
        rows = rows[:limit]
        if not rows:
            return ()
        best, last = rows[0][0], rows[-1][0]
        return tuple(
            HistoryHit(
                unit.kind,
                unit.chat_id,
                unit.message_id,
                (cosine - last) / (best - last) if best > last else 1.0,
                unit.text,
                cosine,
            )
            for cosine, unit in rows
        )

    async def delete(self, user_id: str, unit_ids: Sequence[str]) -> None:
        """By id."""
        self._check()
        for id_ in unit_ids:
            self.rows.get(user_id, {}).pop(id_, None)

    async def delete_chat(self, user_id: str, chat_id: str) -> None:
        """By chat."""
        self._check()
        rows = self.rows.get(user_id, {})
        self.rows[user_id] = {id_: one for id_, one in rows.items() if one[0].chat_id != chat_id}

    async def delete_all(self, user_id: str) -> None:
        """Everything."""
        self._check()
        self.rows.pop(user_id, None)

    def _check(self) -> None:
        if self.failing:
            raise HostError("the vector database is away")


class Notes:
    """``ChatNotesTable`` that is only read; counts who asks."""

    def __init__(self, **summaries: str) -> None:
        self.summaries, self.asked, self.failing = summaries, 0, False

    async def read(self, user_id: str, chat_id: str) -> ChatNotes:
        """Of one chat, or of any."""
        self.asked += 1
        if self.failing:
            raise TablesUnavailable("no table")
        return ChatNotes(summary=self.summaries.get(chat_id, self.summaries.get("any", "")))

    async def write(self, user_id: str, chat_id: str, notes: ChatNotes, now: int) -> None:
        """Nobody does."""
        raise NotImplementedError

    async def drop_deleted(self, user_id: str, current: str = "") -> int:
        """None."""
        return 0


class World:
    """Chats of Ada's, an index, and a turn of hers."""

    def __init__(self, **chats: Sequence[Mapping[str, Any]]) -> None:
        self.chats, self.vectors, self.embedder = (
            StoredChats(**chats),
            NearestUnits(),
            WordEmbedder(),
        )
        self.past = UserPast("ada", self.embedder, self.vectors, self.chats)
        self.lines: list[str] = []
        self.wanted = [True]
        self.model: Completer | None = None
        self.host_compacts: bool | Exception = False

    def turn(
        self, chat_id: str = "new", kind: ConversationKind = "saved", **valves: Any
    ) -> HistoryTurn:
        """A turn of somebody who recalls all chats unless said otherwise."""

        async def known_kind() -> ConversationKind:
            return kind

        async def embedder() -> Embedder:
            return self.embedder

        async def completer() -> Completer | None:
            return self.model

        async def wants_memory() -> bool:
            return self.wanted.pop(0) if len(self.wanted) > 1 else self.wanted[0]

        async def compacts() -> bool:
            if isinstance(self.host_compacts, Exception):
                raise self.host_compacts
            return self.host_compacts

        async def tell(line: str) -> None:
            self.lines.append(line)

        return HistoryTurn(
            hook_settings(**{"history_recall_default": "all", **valves}),
            "ada",
            chat_id,
            "",
            "",
            kind,
            (),
            known_kind,
            embedder,
            completer,
            wants_memory,
            compacts,
            tell,
        )


async def no_nulls(embedder: Embedder) -> Vectors:
    """Vectors of no null prompts."""
    return np.zeros((0, 1), dtype=np.float32)
