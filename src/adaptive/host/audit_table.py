"""What was changed in each user's store, in a table of ours that is only added to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    delete,
    func,
    insert,
    select,
)

from adaptive.host.own_table import OwnTable, Sessions
from adaptive.table_ports import AuditEntry

_AUDIT_DAY_SECONDS = 24 * 3600
# A user may ask in spring what happened in the spring before.
_AUDIT_LIFETIME_SECONDS = 400 * _AUDIT_DAY_SECONDS
_AUDIT_ENTRIES_KEPT = 5000

_AUDIT = Table(
    "adaptive_memory_audit",
    MetaData(),
    # The order of the changes; SQLite numbers rows by itself only in a column of this very type.
    Column("id", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True),
    Column("user_id", String(64), nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    Column("kind", String(32), nullable=False),
    Column("memory_id", String(255), nullable=False),
    Column("chat_id", String(255), nullable=False),
    Column("message_id", String(255), nullable=False),
    Column("before", Text, nullable=False),
    Column("after", Text, nullable=False),
    Column("reason", Text, nullable=False),
    # Both databases keep an index for it, which finds the newest of a user.
    UniqueConstraint("user_id", "id"),
)


class HostAuditTable:
    """The newest 5,000 changes of each user, none older than 400 days; texts are opaque to it."""

    def __init__(self, sessions: Sessions | None = None) -> None:
        self._table = OwnTable(_AUDIT, sessions)
        self._tidy_again_at = 0

    async def append(self, user_id: str, entries: Sequence[AuditEntry], now: int) -> None:
        """Add changes in the order they were made, and drop old ones once a day."""
        if not entries:
            return
        rows = [_audit_row(user_id, entry) for entry in entries]
        async with self._table.session("writing the audit") as session:
            await session.execute(insert(_AUDIT), rows)
            await session.commit()
            if now >= self._tidy_again_at:  # daily at most: SQLite has one writer at a time
                self._tidy_again_at = now + _AUDIT_DAY_SECONDS
                await _tidy_audit(session, now)

    async def changes(self, user_id: str, since: int, limit: int) -> tuple[AuditEntry, ...]:
        """A user's changes at or after an epoch second, the newest first."""
        query = (
            select(_AUDIT)
            .where(_AUDIT.c.user_id == user_id, _AUDIT.c.changed_at >= since)
            .order_by(_AUDIT.c.id.desc())
            .limit(max(limit, 0))
        )
        async with self._table.session("reading the audit") as session:
            rows = (await session.execute(query)).all()
        return tuple(
            AuditEntry(
                row.kind,
                row.memory_id,
                row.changed_at,
                row.before,
                row.after,
                row.reason,
                row.chat_id,
                row.message_id,
            )
            for row in rows
        )


def _audit_row(user_id: str, entry: AuditEntry) -> dict[str, Any]:
    return {
        "user_id": user_id,
        "changed_at": entry.changed_at,
        "kind": entry.kind,
        "memory_id": entry.memory_id,
        "chat_id": entry.chat_id,
        "message_id": entry.message_id,
        "before": entry.before,
        "after": entry.after,
        "reason": entry.reason,
    }


async def _tidy_audit(session: Any, now: int) -> None:
    """Drop what is too old, and of each user what is too much."""
    expired = _AUDIT.c.changed_at < now - _AUDIT_LIFETIME_SECONDS
    await session.execute(delete(_AUDIT).where(expired))
    full = (
        select(_AUDIT.c.user_id)
        .group_by(_AUDIT.c.user_id)
        .having(func.count() > _AUDIT_ENTRIES_KEPT)
    )
    for user_id in (await session.execute(full)).scalars().all():
        mine = _AUDIT.c.user_id == user_id
        newest = select(_AUDIT.c.id).where(mine).order_by(_AUDIT.c.id.desc())
        last_kept = newest.offset(_AUDIT_ENTRIES_KEPT - 1).limit(1)
        least = (await session.execute(last_kept)).scalar()
        await session.execute(delete(_AUDIT).where(mine, _AUDIT.c.id < least))
    await session.commit()
