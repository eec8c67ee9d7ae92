"""What is noted of each chat, sealed, in a table of ours; it goes with its chat."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    MetaData,
    String,
    Table,
    Text,
    column,
    delete,
    select,
    table,
)
from sqlalchemy.dialects import postgresql, sqlite

from adaptive.conversation_ports import ChatNotes
from adaptive.host.own_table import OwnTable, Sessions
from adaptive.host.uninterrupted import uninterrupted
from adaptive.privacy.sealing import Sealer
from adaptive.shapes import listing

_NOTES_PURPOSE = "chat_notes"

_CHAT_NOTES = Table(
    "adaptive_memory_chat_notes",
    MetaData(),
    Column("user_id", String(64), primary_key=True),
    Column("chat_id", String(64), primary_key=True),
    Column("notes", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)

# The host's own (host: models/chats.py).
_CHATS_NOTED = table("chat", column("id"))


class HostChatNotesTable:
    """A ``ChatNotesTable`` in the host's database; of two writers the last one wins.

    Notes that can't be opened, being damaged or sealed with another secret, are absent.
    """

    def __init__(self, sealer: Sealer, sessions: Sessions | None = None) -> None:
        self._sealer = sealer
        self._table = OwnTable(_CHAT_NOTES, sessions)

    @uninterrupted
    async def read(self, user_id: str, chat_id: str) -> ChatNotes:
        """The notes of a chat, empty ones where there are none."""
        query = select(_CHAT_NOTES.c.notes).where(
            _CHAT_NOTES.c.user_id == user_id, _CHAT_NOTES.c.chat_id == chat_id
        )
        async with self._table.session("reading the notes of a chat") as session:
            sealed: str | None = (await session.execute(query)).scalar()
        return self._opened(user_id, sealed) or ChatNotes()

    @uninterrupted
    async def write(self, user_id: str, chat_id: str, notes: ChatNotes, now: int) -> None:
        """Replace the notes of a chat; when they were first written stays known."""
        text = json.dumps([notes.summary, notes.tags])
        sealed = self._sealer.seal(user_id, _NOTES_PURPOSE, text)
        row = {"user_id": user_id, "chat_id": chat_id, "notes": sealed}
        async with self._table.session("writing the notes of a chat") as session:
            postgres = session.get_bind().dialect.name == "postgresql"
            added = (postgresql if postgres else sqlite).insert(_CHAT_NOTES)
            added = added.values({**row, "created_at": now, "updated_at": now})
            await session.execute(
                added.on_conflict_do_update(
                    index_elements=[_CHAT_NOTES.c.user_id, _CHAT_NOTES.c.chat_id],
                    set_={"notes": sealed, "updated_at": now},
                )
            )
            await session.commit()

    @uninterrupted
    async def drop_deleted(self, user_id: str, current: str = "") -> int:
        """Drop a user's notes of chats that the host has no more, the current one excepted.

        A filter hears nothing of a chat's deletion: the event goes to Event functions and webhooks
        only (host: events.py, CHAT_DELETED, since 0.10).
        """
        known = select(_CHATS_NOTED.c.id).where(_CHATS_NOTED.c.id == _CHAT_NOTES.c.chat_id).exists()
        mine = (_CHAT_NOTES.c.user_id == user_id) & (_CHAT_NOTES.c.chat_id != current)
        first = select(_CHAT_NOTES.c.chat_id).where(mine, ~known).limit(1)
        async with self._table.session("dropping notes of deleted chats") as session:
            # Looked for first: SQLite's one writer is taken by a DELETE that finds nothing, too.
            if not (await session.execute(first)).first():
                return 0
            dropped: int = (await session.execute(delete(_CHAT_NOTES).where(mine, ~known))).rowcount
            await session.commit()
        return dropped

    def _opened(self, user_id: str, sealed: str | None) -> ChatNotes | None:
        text = self._sealer.open(user_id, _NOTES_PURPOSE, sealed) if sealed else None
        try:
            fields: Any = json.loads(text) if text else None
        except (ValueError, RecursionError):
            return None
        match listing(fields):
            case [str(summary), tags]:
                return ChatNotes(summary, _texts_in(tags))
            case _:
                return None


def _texts_in(value: object) -> tuple[str, ...]:
    return tuple(one for one in listing(value) if isinstance(one, str))
