"""What was injected into each chat, in a table of ours, so that any worker keeps it in place."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    MetaData,
    String,
    Table,
    Text,
    column,
    delete,
    insert,
    select,
    table,
    update,
)

from adaptive.host.own_table import OwnTable, Sessions
from adaptive.host.uninterrupted import uninterrupted

# A chat that rests for a month has left every provider's prompt cache.
_DAY = 24 * 3600
_STATE_LIFETIME_SECONDS = 30 * _DAY
_EXPIRY_SECONDS = 3600
# SQLite takes 32,766 parameters in one statement, older ones 999.
_CHATS_PER_STATEMENT = 500

_CHATS = Table(
    "adaptive_memory_chat",
    MetaData(),
    Column("user_id", String(64), primary_key=True),
    Column("chat_id", String(64), primary_key=True),
    Column("state", Text, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)

# The host's own (host: models/chats.py).
_HOST_CHATS = table("chat", column("id"))


class HostChatTable:
    """One short text per user and chat; the last writer wins."""

    def __init__(self, sessions: Sessions | None = None) -> None:
        self._table = OwnTable(_CHATS, sessions)
        self._tidy_again_at = 0
        self._expire_again_at = 0

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

    @uninterrupted
    async def keep_newest(self, user_id: str, chats: int, since: int) -> int:
        """Drop a user's states but those of the newest chats that were used since then.

        Once an hour those of all users are dropped that were not used since then: who does not
        come back can't be asked.
        """
        mine = _CHATS.c.user_id == user_id
        newest_first = (_CHATS.c.updated_at.desc(), _CHATS.c.chat_id.desc())
        query = select(_CHATS.c.chat_id, _CHATS.c.updated_at).where(mine).order_by(*newest_first)
        dropped = 0
        async with self._table.session("dropping states of chats") as session:
            rows = (await session.execute(query)).all()
            gone = [
                chat_id for place, (chat_id, at) in enumerate(rows) if place >= chats or at < since
            ]
            for start in range(0, len(gone), _CHATS_PER_STATEMENT):
                these = _CHATS.c.chat_id.in_(gone[start : start + _CHATS_PER_STATEMENT])
                dropped += (await session.execute(delete(_CHATS).where(mine, these))).rowcount
            if since >= self._expire_again_at:
                self._expire_again_at = since + _EXPIRY_SECONDS
                expired = _CHATS.c.updated_at < since
                dropped += (await session.execute(delete(_CHATS).where(expired))).rowcount
            if dropped:
                await session.commit()
        return dropped

    @uninterrupted
    async def drop_deleted(self, user_id: str, current: str = "") -> int:
        """Drop a user's states of chats that the host has no more, the current one excepted.

        Temporary chats never were in the host's table: their states go with the user's next turn
        elsewhere. A filter hears nothing of a chat's deletion: the event goes to Event functions
        and webhooks only (host: events.py, CHAT_DELETED, since 0.10).
        """
        known = select(_HOST_CHATS.c.id).where(_HOST_CHATS.c.id == _CHATS.c.chat_id).exists()
        gone = (_CHATS.c.user_id == user_id) & (_CHATS.c.chat_id != current) & ~known
        async with self._table.session("dropping states of deleted chats") as session:
            # Looked for first: SQLite's one writer is taken by a DELETE that finds nothing, too.
            if not (await session.execute(select(_CHATS.c.chat_id).where(gone).limit(1))).first():
                return 0
            dropped: int = (await session.execute(delete(_CHATS).where(gone))).rowcount
            await session.commit()
        return dropped
