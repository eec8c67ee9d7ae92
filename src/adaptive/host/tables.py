"""Claims on turns, in a table of ours, shared by all workers of the host."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, MetaData, String, Table, delete, insert
from sqlalchemy.exc import IntegrityError

from adaptive.host.own_table import OwnTable
from adaptive.host.uninterrupted import uninterrupted

_DAY_SECONDS = 24 * 3600
# A message is regenerated minutes later, not months: older claims only take room.
_CLAIM_LIFETIME_SECONDS = 30 * _DAY_SECONDS

_TURNS = Table(
    "adaptive_memory_turn",
    MetaData(),
    Column("user_id", String(64), primary_key=True),
    Column("message_id", String(64), primary_key=True),
    Column("claimed_at", BigInteger, nullable=False),
)


class HostTables:
    """Which of a user's messages were learned from; the primary key lets one claim succeed."""

    def __init__(self) -> None:
        self._table = OwnTable(_TURNS)
        self._tidy_again_at = 0

    @uninterrupted
    async def claim_turn(self, user_id: str, message_id: str, now: int) -> bool:
        """Insert the claim; ``False`` if it stands already."""
        claim = insert(_TURNS).values(user_id=user_id, message_id=message_id, claimed_at=now)
        async with self._table.session("claiming the turn") as session:
            if now >= self._tidy_again_at:  # daily at most: SQLite has one writer at a time
                expired = _TURNS.c.claimed_at < now - _CLAIM_LIFETIME_SECONDS
                await session.execute(delete(_TURNS).where(expired))
                await session.commit()
                self._tidy_again_at = now + _DAY_SECONDS
            try:
                await session.execute(claim)
                await session.commit()
            except IntegrityError:
                await session.rollback()
                return False
        return True

    @uninterrupted
    async def release_turn(self, user_id: str, message_id: str) -> None:
        """Remove the claim."""
        claimed = (_TURNS.c.user_id == user_id) & (_TURNS.c.message_id == message_id)
        async with self._table.session("releasing the turn") as session:
            await session.execute(delete(_TURNS).where(claimed))
            await session.commit()
