"""Suggested memories that wait for an answer, sealed, and digests of rejected ones."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    MetaData,
    String,
    Table,
    Text,
    delete,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from adaptive.host.own_table import OwnTable, Sessions
from adaptive.host.uninterrupted import uninterrupted
from adaptive.model import Provenance
from adaptive.privacy.sealing import Sealer
from adaptive.shapes import listing, mapping
from adaptive.suggestion_ports import Suggestion, WaitingSuggestion

# Who was not asked for a month would not know any more what it is about.
_SUGGESTION_LIFETIME_SECONDS = 30 * 24 * 3600
_MOST_WAITING_SUGGESTIONS = 20
# SQLite takes 32,766 parameters in one statement, older ones 999.
_SUGGESTIONS_PER_STATEMENT = 100
_SUGGESTION_PURPOSE = "suggestion"
# Whoever left a dialog unanswered is not asked with every turn.
_ASKED_REST_SECONDS = 600
# Longer than a dialog stays open (``host.dialog``).
_ASKING_SECONDS = 150

_SUGGESTIONS = Table(
    "adaptive_memory_suggestion",
    MetaData(),
    Column("user_id", String(64), primary_key=True),
    Column("digest", String(64), primary_key=True),
    # "waiting" or "rejected"; of a rejected one nothing but its digest is kept.
    Column("state", String(16), nullable=False),
    Column("chat_id", String(255), nullable=False),
    Column("message_id", String(255), nullable=False),
    Column("payload", Text, nullable=False),
    Column("said_at", BigInteger, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    # In which chat it was asked about last, and until when nobody asks there again; until the
    # earlier `busy_until` its dialog may still be open, so nobody asks anywhere.
    Column("asked_in", String(255), nullable=False),
    Column("rests_until", BigInteger, nullable=False),
    Column("busy_until", BigInteger, nullable=False),
)
_NEVER_ASKED: dict[str, Any] = {"asked_in": "", "rests_until": 0, "busy_until": 0}
_SUGGESTION_WAITS = _SUGGESTIONS.c.state == "waiting"


class HostSuggestionTable:
    """A ``SuggestionTable``; of a user's waiting ones the newest 20 stay, each for a month.

    Rejections stay for good. What can't be opened, being damaged or sealed with another secret, is
    absent.
    """

    def __init__(self, sealer: Sealer, sessions: Sessions | None = None) -> None:
        self._sealer = sealer
        self._table = OwnTable(_SUGGESTIONS, sessions)

    @uninterrupted
    async def put(self, user_id: str, waiting: Sequence[WaitingSuggestion], now: int) -> None:
        """Let suggestions wait, in one statement; one that was rejected meanwhile stays so."""
        newest = {one.digest: one for one in waiting[-_MOST_WAITING_SUGGESTIONS:]}
        if not newest:
            return
        rows = [self._row(user_id, one, now) for _, one in sorted(newest.items())]
        async with self._table.session("keeping suggestions") as session:
            added = _upsert_dialect(session).insert(_SUGGESTIONS).values(rows)
            kept = ("chat_id", "message_id", "payload", "said_at", "changed_at")
            await session.execute(
                added.on_conflict_do_update(
                    index_elements=[_SUGGESTIONS.c.user_id, _SUGGESTIONS.c.digest],
                    set_={name: added.excluded[name] for name in kept},
                    where=_SUGGESTION_WAITS,
                )
            )
            await _drop_surplus_suggestions(session, user_id, now)
            await session.commit()

    @uninterrupted
    async def waiting(self, user_id: str) -> tuple[WaitingSuggestion, ...]:
        """A user's waiting suggestions, the oldest first."""
        query = (
            select(_SUGGESTIONS)
            .where(_SUGGESTIONS.c.user_id == user_id, _SUGGESTION_WAITS)
            .order_by(_SUGGESTIONS.c.changed_at, _SUGGESTIONS.c.said_at, _SUGGESTIONS.c.digest)
        )
        async with self._table.session("reading suggestions") as session:
            rows = (await session.execute(query)).all()
        opened = (self._opened(row) for row in rows)
        return tuple(one for one in opened if one is not None)

    @uninterrupted
    async def claim(
        self, user_id: str, chat_id: str, now: int, most: int
    ) -> tuple[WaitingSuggestion, ...]:
        """The newest suggestions that may be asked about in this chat now, marked as asked."""
        rested = _SUGGESTIONS.c.rests_until <= now
        elsewhere = (_SUGGESTIONS.c.asked_in != chat_id) & (_SUGGESTIONS.c.busy_until <= now)
        due = (_SUGGESTIONS.c.user_id == user_id) & _SUGGESTION_WAITS & (rested | elsewhere)
        newest = (_SUGGESTIONS.c.changed_at.desc(), _SUGGESTIONS.c.digest)
        asked = {
            "asked_in": chat_id,
            "rests_until": now + _ASKED_REST_SECONDS,
            "busy_until": now + _ASKING_SECONDS,
        }
        found: list[WaitingSuggestion] = []
        async with self._table.session("asking about suggestions") as session:
            rows = (await session.execute(select(_SUGGESTIONS).where(due).order_by(*newest))).all()
            for row in rows:
                if len(found) == most or (opened := self._opened(row)) is None:
                    continue
                mark = update(_SUGGESTIONS).where(due, _SUGGESTIONS.c.digest == row.digest)
                if (await session.execute(mark.values(asked))).rowcount:
                    found.append(opened)
            await session.commit()
        return tuple(found)

    @uninterrupted
    async def release(self, user_id: str, digests: Collection[str]) -> None:
        """Let claimed suggestions wait on: other chats may ask about them at once."""
        if not digests:
            return
        these = _SUGGESTIONS.c.digest.in_(sorted(digests))
        async with self._table.session("releasing suggestions") as session:
            mine = update(_SUGGESTIONS).where(_SUGGESTIONS.c.user_id == user_id, these)
            await session.execute(mine.values(busy_until=0))
            await session.commit()

    @uninterrupted
    async def discard(self, user_id: str, digests: Collection[str]) -> None:
        """Drop suggestions that wait; rejected ones stay rejected."""
        if not digests:
            return
        async with self._table.session("dropping suggestions") as session:
            for some in _digest_portions(digests):
                these = _SUGGESTIONS.c.digest.in_(some)
                mine = _SUGGESTIONS.c.user_id == user_id
                await session.execute(delete(_SUGGESTIONS).where(mine, these, _SUGGESTION_WAITS))
            await session.commit()

    @uninterrupted
    async def reject(self, user_id: str, digest: str, now: int) -> None:
        """Remember a digest for good, and drop everything else that is held of it."""
        emptied = {
            "state": "rejected",
            "chat_id": "",
            "message_id": "",
            "payload": "",
            "said_at": 0,
            "changed_at": now,
            **_NEVER_ASKED,
        }
        row = {"user_id": user_id, "digest": digest, **emptied}
        async with self._table.session("rejecting a suggestion") as session:
            added = _upsert_dialect(session).insert(_SUGGESTIONS).values(row)
            await session.execute(
                added.on_conflict_do_update(
                    index_elements=[_SUGGESTIONS.c.user_id, _SUGGESTIONS.c.digest], set_=emptied
                )
            )
            await session.commit()

    @uninterrupted
    async def rejected(self, user_id: str, digests: Collection[str]) -> frozenset[str]:
        """Those of the digests that the user has rejected."""
        found: set[str] = set()
        if not digests:
            return frozenset()
        async with self._table.session("reading rejected suggestions") as session:
            for some in _digest_portions(digests):
                query = select(_SUGGESTIONS.c.digest).where(
                    _SUGGESTIONS.c.user_id == user_id,
                    _SUGGESTIONS.c.state == "rejected",
                    _SUGGESTIONS.c.digest.in_(some),
                )
                found.update((await session.execute(query)).scalars().all())
        return frozenset(found)

    def _row(self, user_id: str, waiting: WaitingSuggestion, now: int) -> dict[str, Any]:
        suggestion = waiting.suggestion
        payload = asdict(suggestion)
        return {
            "user_id": user_id,
            "digest": waiting.digest,
            "state": "waiting",
            "chat_id": waiting.source.chat_id,
            "message_id": waiting.source.message_id,
            "payload": self._sealer.seal(user_id, _SUGGESTION_PURPOSE, json.dumps(payload)),
            "said_at": waiting.source.said_at,
            "changed_at": now,
            **_NEVER_ASKED,
        }

    def _opened(self, row: Any) -> WaitingSuggestion | None:
        text = self._sealer.open(row.user_id, _SUGGESTION_PURPOSE, row.payload)
        try:
            fields = mapping(json.loads(text)) if text else mapping(None)
        except (ValueError, RecursionError):
            return None
        match [fields.get(name) for name in ("category", "title", "bank", "content")]:
            case [str(category), str(title), str(bank), str(content)]:
                tags = tuple(str(tag) for tag in listing(fields.get("tags")))
                more = (str(fields.get(name) or "") for name in ("until", "memory_id"))
                suggestion = Suggestion(category, title, bank, tags, content, *more)
                source = Provenance(row.chat_id, row.message_id, row.said_at)
                return WaitingSuggestion(row.digest, suggestion, source)
            case _:
                return None


async def _drop_surplus_suggestions(session: Any, user_id: str, now: int) -> None:
    """Drop what has waited too long, whoever's it is, and a user's oldest beyond the newest 20."""
    expired = _SUGGESTIONS.c.changed_at < now - _SUGGESTION_LIFETIME_SECONDS
    await session.execute(delete(_SUGGESTIONS).where(_SUGGESTION_WAITS, expired))
    mine = (_SUGGESTIONS.c.user_id == user_id) & _SUGGESTION_WAITS
    newest_first = (_SUGGESTIONS.c.changed_at.desc(), _SUGGESTIONS.c.digest)
    query = select(_SUGGESTIONS.c.digest).where(mine).order_by(*newest_first)
    held = list((await session.execute(query)).scalars().all())
    for some in _digest_portions(held[_MOST_WAITING_SUGGESTIONS:]):
        await session.execute(delete(_SUGGESTIONS).where(mine, _SUGGESTIONS.c.digest.in_(some)))


def _upsert_dialect(session: Any) -> Any:
    """What the session's database understands beyond common SQL."""
    return postgresql if session.get_bind().dialect.name == "postgresql" else sqlite


def _digest_portions(digests: Collection[str]) -> list[list[str]]:
    """Digests in an order of their own, so that workers lock rows in one order."""
    ordered = sorted(set(digests))
    step = _SUGGESTIONS_PER_STATEMENT
    return [ordered[start : start + step] for start in range(0, len(ordered), step)]
