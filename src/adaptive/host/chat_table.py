"""What was injected into each chat, in a table of ours, so that any worker keeps it in place."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    MetaData,
    String,
    Table,
    Text,
    delete,
    insert,
    select,
    update,
)

from adaptive.host.own_table import OwnTable
from adaptive.host.uninterrupted import uninterrupted

# A chat that rests for a month has left every provider's prompt cache.
_DAY = 24 * 3600
_STATE_LIFETIME_SECONDS = 30 * _DAY

_CHATS = Table(
    "adaptive_memory_chat",
    MetaData(),
    Column("user_id", String(64), primary_key=True),
    Column("chat_id", String(64), primary_key=True),
    Column("state", Text, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)


class HostChatTable:
    """One short text per user and chat; the last writer wins."""

    def __init__(self) -> None:
        self._table = OwnTable(_CHATS)
        self._tidy_again_at = 0

    @uninterrupted
    async def read(self, user_id: str, chat_id: str) -> str | None:
        """The state of a chat, ``None`` where there is none."""
        query = select(_CHATS.c.state).where(
            _CHATS.c.user_id == user_id, _CHATS.c.chat_id == chat_id
        )
        async with self._table.session("reading the chat's state") as session:
            state: str | None = (await session.execute(query)).scalar()
            return state

    @uninterrupted
    async def write(self, user_id: str, chat_id: str, state: str, now: int) -> None:
        """Replace the state of a chat; now and then, drop those of chats that rest for long."""
        this = (_CHATS.c.user_id == user_id) & (_CHATS.c.chat_id == chat_id)
        row = {"user_id": user_id, "chat_id": chat_id, "state": state, "updated_at": now}
        async with self._table.session("writing the chat's state") as session:
            # SQLite's one writer is held from the first change on, so there is mostly one.
            changed = await session.execute(
                update(_CHATS).where(this).values(state=state, updated_at=now)
            )
            if not changed.rowcount:
                await session.execute(insert(_CHATS).values(row))
            if now >= self._tidy_again_at:
                self._tidy_again_at = now + _DAY
                rested = _CHATS.c.updated_at < now - _STATE_LIFETIME_SECONDS
                await session.execute(delete(_CHATS).where(rested))
            await session.commit()
