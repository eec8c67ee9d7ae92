"""Our tables in the host's database, each constructed once: what is kept of users, and vectors."""

import asyncio
import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Executable,
    Select,
    delete,
    false,
    func,
    literal,
    or_,
    select,
    true,
    update,
)

from adaptive.core import (
    JsonObject,
    PlaceChoices,
    frozen,
    storable_text,
)
from adaptive.host.database import (
    ENTRIES,
    OUR_DATABASE,
    HostDatabase,
)
from adaptive.host.memory_vectors import HostVectorTable
from adaptive.memory import (
    YEAR_SECONDS,
    Addition,
    ArchiveTable,
    AuditTable,
    ChatNotes,
    ChatNotesTable,
    ChatTable,
    CommandTable,
    CostTable,
    Entry,
    EntryKind,
    NumberTable,
    PlaceTable,
    SuggestionTable,
    TurnTable,
)
from adaptive.privacy import MARKED, Sealer

_ROW = ENTRIES.c
_FIELDS = ("key", "chat_id", "message_id", "created_at", "expires_at")
# What is written anew with every turn, can be chosen again, or says nothing but by its key.
_MADE_ANEW: tuple[EntryKind, ...] = (
    "chat",
    "cost",
    "erased_history",
    "history",
    "numbers",
    "places",
)


class SealedEntries:
    """``Entries`` in the host's database, each body sealed for its user and kind."""

    def __init__(self, sealer: Sealer, database: HostDatabase) -> None:
        self._sealer = sealer
        self._database = database
        # What bears the mark of another secret.
        self._foreign = _begins_with(MARKED) & ~_begins_with(sealer.mark)

    async def put(
        self,
        kind: EntryKind,
        user_id: str,
        entries: Iterable[Entry],
        *,
        replacing: bool = True,
        ends: EntryKind | None = None,
    ) -> None:
        """Store all or none (see ``Entries``)."""
        rows = {
            entry.key: self._row(kind, user_id, entry) for entry in entries
        }
        if not rows:
            return
        # What another secret has sealed comes back with it: only what is told by others may go.
        replaced = None if kind in _MADE_ANEW else ~self._foreign
        await self._database.upsert(
            f"writing {kind} entries",
            ENTRIES,
            [*rows.values()],
            *([_dropping(ends, user_id, rows)] if ends else []),
            where=replaced if replacing else false(),
        )

    async def read(
        self,
        kind: EntryKind,
        user_id: str,
        keys: Collection[str] | None = None,
        since: int = 0,
        most: int | None = None,
    ) -> list[Entry]:
        """The entries that can be opened, the newest first (see ``Entries``)."""
        query = (
            select(ENTRIES)
            .where(_of(kind, user_id), _ROW.created_at >= since)
            .order_by(_ROW.created_at.desc(), _ROW.key.desc())
            .limit(most)
        )
        if keys is not None:
            query = query.where(_ROW.key.in_(keys))
        rows = await self._database.rows(f"reading {kind} entries", query)
        if not rows:
            return []
        # In a thread: opening a hundred takes longer than others may wait.
        return await asyncio.to_thread(self._opened, rows)

    async def read_since(
        self, user_id: str, since: Mapping[EntryKind, int]
    ) -> dict[EntryKind, list[Entry]]:
        """The entries of several kinds by one statement (see ``Entries``)."""
        wanted = (
            (_ROW.kind == kind) & (_ROW.created_at >= since[kind])
            for kind in since
        )
        # The kinds by themselves, too, or the database looks through all that a user has.
        query = select(ENTRIES).where(
            _ROW.user_id == user_id, _ROW.kind.in_([*since]), or_(*wanted)
        )
        rows = await self._database.rows("reading entries", query)
        # In a thread, as above.
        return await asyncio.to_thread(
            lambda: {
                kind: self._opened([row for row in rows if row.kind == kind])
                for kind in since
            }
        )

    async def read_beside(
        self,
        doing: str,
        keys: Mapping[EntryKind, str],
        user_id: str,
        other: Select[Any, Any, Any],
    ) -> tuple[dict[str, list[Entry]], Any]:
        """Entries by kind, each by its key, and the first row of another query, in one statement.

        Where the other query finds nothing, the columns of its row are ``None``.
        """
        always = select(literal(1)).subquery()
        beside = other.limit(1).subquery()
        # No kind has a key of another one's.
        named = _ROW.kind.in_(keys) & _ROW.key.in_(keys.values())
        own = always.outerjoin(ENTRIES, named & (_ROW.user_id == user_id))
        joined = own.outerjoin(beside, true())
        query = select(ENTRIES, beside).select_from(joined)
        rows = await self._database.rows(doing, query)
        found = {row.kind: self._opened([row]) for row in rows if row.kind}
        return found, rows[0]

    async def keys(
        self,
        kind: EntryKind,
        user_id: str,
        first: str = "",
        most: int | None = None,
    ) -> list[str]:
        """Keys in their order, the last one first (see ``Entries``); no entry is opened."""
        query = (
            select(_ROW.key)
            .where(_of(kind, user_id), _ROW.key >= first)
            .order_by(_ROW.key.desc())
            .limit(most)
        )
        rows = await self._database.rows(f"looking into {kind} entries", query)
        return [row.key for row in rows]

    async def unopened(self, user_id: str = "") -> Counter[str]:
        """How many entries of a user, or of all, another secret has sealed, by kind."""
        query = (
            select(_ROW.kind, func.count())
            .where(self._foreign, _ROW.kind.not_in(_MADE_ANEW))
            .group_by(_ROW.kind)
        )
        if user_id:
            query = query.where(_ROW.user_id == user_id)
        rows = await self._database.rows(
            "counting what can't be opened", query
        )
        return Counter(dict(map(tuple, rows)))

    async def drop(
        self, kind: EntryKind, user_id: str, keys: Collection[str]
    ) -> None:
        """Drop entries."""
        dropping = _dropping(kind, user_id, keys)
        await self._database.change(f"dropping {kind} entries", dropping)

    def _row(self, kind: EntryKind, user_id: str, entry: Entry) -> JsonObject:
        # What is no JSON comes back different, which whoever must not lose it looks for; names of
        # time zones are the browser's, and may hold anything, as words may.
        text = storable_text(
            json.dumps(entry.body, default=str, ensure_ascii=False)
        )
        return {
            "user_id": user_id,
            "kind": kind,
            "body": self._sealer.seal(user_id, kind, text),
            **{name: getattr(entry, name) for name in _FIELDS},
        }

    def _opened(self, rows: Sequence[Any]) -> list[Entry]:
        """Entries of those rows that this secret has sealed."""
        entries: list[Entry] = []
        for row in rows:
            text = self._sealer.open(row.user_id, row.kind, row.body)
            if text is not None:
                fields = {name: getattr(row, name) for name in _FIELDS}
                entries.append(Entry(body=json.loads(text), **fields))
        return entries


def _begins_with(mark: str) -> ColumnElement[bool]:
    return _ROW.body.startswith(mark, autoescape=True)


def _dropping(
    kind: EntryKind, user_id: str, keys: Collection[str]
) -> Executable:
    return delete(ENTRIES).where(_of(kind, user_id), _ROW.key.in_([*keys]))


def _of(kind: EntryKind, user_id: str) -> ColumnElement[bool]:
    return (_ROW.user_id == user_id) & (_ROW.kind == kind)


@frozen
class HostLeases:
    """``Leases`` as entries in clear; the lease on a user's turns stands beside the turns."""

    database: HostDatabase

    async def acquire(
        self, name: str, now: float, seconds: float, owner: str = ""
    ) -> bool:
        """Take a lease by one INSERT; behind the colon of its name is whose it is."""
        lease = {
            "user_id": name.rpartition(":")[2],
            "kind": "lease",
            "key": name,
            "chat_id": "",
            "message_id": "",
            "created_at": int(now),
            "expires_at": math.ceil(now + seconds),
            "body": owner,
        }
        free = _ROW.expires_at < now
        return bool(
            await self.database.upsert(
                "taking a lease", ENTRIES, [lease], where=free
            )
        )

    async def is_taken(self, name: str) -> bool:
        """Look for a lease by one SELECT."""
        taken = select(_ROW.key).where(_leases([name]))
        return bool(await self.database.rows("looking for a lease", taken))

    async def renew(self, name: str, owner: str, until: float) -> bool:
        """Prolong a lease by one UPDATE."""
        these = _leases([name]) & (_ROW.body == owner)
        prolonging = update(ENTRIES).where(these)
        changed = await self.database.change(
            "prolonging a lease",
            prolonging.values(expires_at=math.ceil(until)),
        )
        return bool(changed)

    async def end(self, names: Iterable[str], owner: str = "") -> bool:
        """End leases by one DELETE."""
        these = _leases(names)
        if owner:
            these &= _ROW.body == owner
        ending = delete(ENTRIES).where(these)
        return bool(await self.database.change("ending leases", ending))


def _leases(names: Iterable[str]) -> ColumnElement[bool]:
    return (_ROW.kind == "lease") & _ROW.key.in_([*names])


class HostTables:
    """What an instance of the plug-in keeps in the host's database, for all users and workers.

    Nothing is asked of the database before a table is used.
    """

    def __init__(
        self, sealer: Sealer, database: HostDatabase = OUR_DATABASE
    ) -> None:
        self.database = database
        self.entries = entries = SealedEntries(sealer, database)
        self.vectors = HostVectorTable(database)
        self.leases = HostLeases(database)
        self.pending = TurnTable(entries, self.leases)
        self.archive = ArchiveTable(entries)
        self.audit = AuditTable(entries)
        self.costs = CostTable(entries)
        self.suggestions = SuggestionTable(entries, self.leases)
        self.chats = ChatTable(entries, "chat", dict[str, Addition], {})
        self.chat_notes = ChatNotesTable(
            entries, "chat_notes", ChatNotes, ChatNotes()
        )
        self.commands = CommandTable(entries, "command", str, "", YEAR_SECONDS)
        self.numbers = NumberTable(entries)
        self.places = PlaceTable(entries, "places", PlaceChoices, {})


def host_secret() -> str:
    """The host's ``WEBUI_SECRET_KEY`` as this process was started with it, empty where it has none.

    The host takes it from the environment, where its start scripts and ``open-webui serve`` put
    what they have generated into a file (host: env.py, __init__.py, start.sh). With sign-in it
    refuses to start without one, so only a host without sign-in may have none.
    """
    try:
        from open_webui.env import WEBUI_SECRET_KEY
    except ImportError:
        return ""
    # One start script reads the end of the file's last line, too.
    return str(WEBUI_SECRET_KEY or "").strip()
