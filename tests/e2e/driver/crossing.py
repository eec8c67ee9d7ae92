"""Watching two users for anything of the one that turns up at the other.

Each request of the model is told by the host whose it is (``ENABLE_FORWARD_USER_INFO_HEADERS``),
each event by the page that got it, each row by its own user id. Rows are read by the transactions
that wrote them, so that each version of each row is looked at once: PostgreSQL tells in ``xmin``.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adaptive.privacy.sealing import Sealer, is_sealed
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import ScriptedModel
from tests.e2e.driver.services import Services
from tests.e2e.driver.twin_lives import names_of, users_named

FORWARD_USERS = {"ENABLE_FORWARD_USER_INFO_HEADERS": "true"}
_USER_HEADER = "X-OpenWebUI-User-Id"
# What the tables of ours seal texts for (see adaptive/host/sealed_tables.py).
_PURPOSES = ("pending.payload", "pending.journal", "audit", "archive", "chat")
_TABLES = (
    "SELECT table_name AS name, string_agg(column_name, ' ') AS columns"
    " FROM information_schema.columns WHERE table_schema = 'public'"
    r" AND (table_name LIKE 'adaptive\_memory\_%' OR table_name IN ('memory', 'document_chunk'))"
    " GROUP BY table_name ORDER BY table_name"
)
# The oldest transaction that still runs: what those before it have written is read by now.
_SNAPSHOT = (
    "SELECT 'snapshot' AS name, '' AS owner, jsonb_build_object('xid',"
    " txid_snapshot_xmin(txid_current_snapshot()) & 4294967295) AS told"
)
# Tables of ours come up when they are first needed; each question is a process of its own.
_LOOKS_PER_LIST = 10
_VECTORS_OF = "user-memory-"
# Whose a row is, where its table has no column for it.
_OWNERS = {
    "document_chunk": f"replace(collection_name, '{_VECTORS_OF}', '')",
    "adaptive_memory_lease": "split_part(name, ':', 2)",
}
_OURS_ALONE = {"document_chunk": f"collection_name LIKE '{_VECTORS_OF}%'"}
_LONGEST_QUOTED = 200


@dataclass(slots=True)
class Watch:
    """What was looked at so far; ``crossings`` are all that is wrong."""

    people: Mapping[str, int]
    pages: Sequence[Page]
    model: ScriptedModel
    services: Services
    sealer: Sealer
    crossings: list[str] = field(default_factory=list[str])
    looked_at: Counter[str] = field(default_factory=Counter[str])
    # Names of each user that were seen at their own: proof that the watch can see.
    seen: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    _requests: int = 0
    _events: dict[int, int] = field(default_factory=dict[int, int])
    _xid: int = 0
    _tables: Sequence[Mapping[str, str]] = ()
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _asked: int = 0
    _answered: int = 0

    async def look(self) -> None:
        """Look at all that is new; those who ask during one look share the next one."""
        self._asked += 1
        mine = self._asked
        async with self._lock:
            if self._answered < mine:
                covered = self._asked
                self._look_at_requests()
                self._look_at_events()
                await asyncio.to_thread(self._look_at_rows)
                self._answered = covered

    async def look_at_all(self) -> None:
        """Look at every row as it stands, once no operation runs any more."""
        self._xid = 0
        await self.look()

    def _look_at_requests(self) -> None:
        requests = self.model.requests
        for request in requests[self._requests :]:
            text = json.dumps(request.messages, ensure_ascii=False)
            person = self.people.get(request.headers.get(_USER_HEADER, ""))
            place = request.title if request.title.startswith("# ") else "chat"
            self._check(f"request {place}", person, text)
        self._requests = len(requests)

    def _look_at_events(self) -> None:
        for person, page in enumerate(self.pages):
            for event in page.events[self._events.get(person, 0) :]:
                kind = event.kind if event.kind in ("status", "source") else "other"
                self._check(f"event {kind}", person, json.dumps(event.data, ensure_ascii=False))
            self._events[person] = len(page.events)

    def _look_at_rows(self) -> None:
        if self._xid == 0 or self._answered % _LOOKS_PER_LIST == 0:
            self._tables = self.services.rows(_TABLES)
        selects = [_SNAPSHOT, *(_new_rows(one, self._xid) for one in self._tables)]
        for row in self.services.rows(" UNION ALL ".join(selects)):
            if row["name"] == "snapshot":
                self._xid = int(row["told"]["xid"])
            else:
                self._look_at_row(row)

    def _look_at_row(self, row: Mapping[str, Any]) -> None:
        owner, name = str(row["owner"]), str(row["name"])
        texts: list[str] = []
        for column, value in row["told"].items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            if is_sealed(text):
                text = self._opened(owner, name, column, text)
            texts.append(text)
        self._check(name, self.people.get(owner), "\n".join(texts))

    def _opened(self, owner: str, name: str, column: str, sealed: str) -> str:
        """A sealed text as its user's own keys open it."""
        for purpose in _PURPOSES:
            text = self.sealer.open(owner, purpose, sealed)
            if text is not None:
                return text
        self.crossings.append(f"{name}.{column} of {owner} is not sealed with keys of this user")
        return ""

    def _check(self, place: str, person: int | None, text: str) -> None:
        self.looked_at[place] += 1
        named = users_named(text)
        if person is not None:
            if person in named:
                self.seen.setdefault(place, set()).add(person)
            named.discard(person)
        for other in sorted(named):
            told = ", ".join(names_of(other, text))[:_LONGEST_QUOTED]
            self.crossings.append(f"{place} of user {person}: {told}, which is user {other}'s")


def _new_rows(table: Mapping[str, str], since: int) -> str:
    """A query for the rows of a table that transactions from ``since`` on have written."""
    name = table["name"]
    owner = _OWNERS.get(name, "user_id")
    # A vector says nothing that a name could stand in, and is long.
    told = "to_jsonb(t) - 'vector'" if "vector" in table["columns"].split() else "to_jsonb(t)"
    conditions = [_OURS_ALONE.get(name, "true"), f"t.xmin::text::bigint >= {since}"]
    return (
        f"SELECT '{name}' AS name, {owner} AS owner, {told} AS told FROM {name} AS t"
        f" WHERE {' AND '.join(conditions)}"
    )
