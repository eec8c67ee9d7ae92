"""Forgetting what came from one chat, one day or one source.

What tells where something came from goes last, so that a repetition finds what is left.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy.sql.elements import ColumnElement

from adaptive.errors import AdaptiveMemoryError, MemoryUnavailable
from adaptive.host.erasable_tables import (
    PENDING_TABLE,
    SUGGESTION_TABLE,
    TABLE_PREFIX,
    Condition,
)
from adaptive.host.erasure import (
    ErasureForecast,
    ErasureReport,
    ErasureTally,
    Holdings,
    lessons_stopped,
)
from adaptive.model import Memory
from adaptive.privacy.retention import (
    FromChat,
    FromPeriod,
    FromSource,
    Origin,
    bereft_originals,
    origin_ids,
)
from adaptive.table_ports import ArchivedMemory

_ARCHIVE_TABLE = "adaptive_memory_archive"
_AUDIT_TABLE = "adaptive_memory_audit"
_CHAT_TABLE = "adaptive_memory_chat"
_NOTES_TABLE = "adaptive_memory_chat_notes"
# Rows by memory id that mean nothing without their memory.
_BY_MEMORY = ("adaptive_memory_usage", "adaptive_memory_vector")

# Of what has no chat nothing tells where it is from.
_NOWHERE = (FromChat(""), FromSource(""))


@dataclass(frozen=True, slots=True)
class _Sought:
    """What there is, and which ids are of an origin; ``direct`` are its own entries of the audit.

    ``waiting`` are its turns of the learning queue.
    """

    existing: Collection[str]
    rows: tuple[Memory, ...]
    archived: tuple[ArchivedMemory, ...]
    ids: frozenset[str]
    direct: Condition | None
    waiting: Condition | None


async def forecast_where(holdings: Holdings, origin: Origin) -> ErasureForecast:
    """What ``erase_where`` would find; raises nothing of ours."""
    tally = ErasureTally()
    if origin in _NOWHERE:
        return ErasureForecast((), {}, {})
    sought = await _sought(holdings, origin, tally)
    tables, user_id = holdings.tables, holdings.user_id
    here = _in_chat_of(origin) if _CHAT_TABLE in sought.existing else None
    proposed = _proposed(origin) if SUGGESTION_TABLE in sought.existing else None
    for name, column, condition in (
        (PENDING_TABLE, "message_id", sought.waiting and partial(_still_waiting, sought.waiting)),
        (_AUDIT_TABLE, "memory_id", sought.direct),
        (_CHAT_TABLE, "chat_id", here),
        (_NOTES_TABLE, "chat_id", _noted_of(origin) if _NOTES_TABLE in sought.existing else None),
        (SUGGESTION_TABLE, "digest", proposed),
    ):
        if condition is not None:
            found = tables.values(name, user_id, column, condition)
            kind = name.removeprefix(TABLE_PREFIX)
            tally.count(kind, len(await tally.tried(kind, found, frozenset[str]())))
    tally.count("archive", sum(one.memory.id in sought.ids for one in sought.archived))
    rows = tuple(row for row in sought.rows if row.id in sought.ids)
    return ErasureForecast(rows, tally.removed, tally.failed)


async def erase_where(holdings: Holdings, origin: Origin, now: float) -> ErasureReport:
    """Remove what came from one chat, period or source, and what was made of it.

    A memory goes when its meta or the audit names that origin, be it for a former content; so does
    a summary of which one original goes. ``now`` is in epoch seconds. Raises nothing of ours.
    """
    tally = ErasureTally()
    if origin in _NOWHERE:
        return tally.report()
    tables, user_id = holdings.tables, holdings.user_id
    sought = await _sought(holdings, origin, tally)
    existing, ids, direct = sought.existing, sought.ids, sought.direct
    _note_missing_provenance(holdings, origin, tally)
    if sought.waiting is not None:
        async with lessons_stopped(tables, user_id, tally):
            await tally.removing("pending", tables.empty_turns(user_id, sought.waiting, now))
    if (proposed := _proposed(origin)) is not None and SUGGESTION_TABLE in existing:
        await tally.removing("suggestion", tables.erase(SUGGESTION_TABLE, user_id, proposed))
    if _AUDIT_TABLE in existing:
        # Those of the origin itself are needed until everything else is gone.
        about = partial(_indirect_entries, direct)
        others = tables.erase_named(_AUDIT_TABLE, user_id, ids, also=about)
        await tally.removing("audit", others)
    gone = await _delete_rows(holdings, [row for row in sought.rows if row.id in ids], tally)
    if _ARCHIVE_TABLE in existing:
        await tally.removing("archive", tables.erase_named(_ARCHIVE_TABLE, user_id, ids))
    standing = {one.memory.id for one in sought.archived} - ids
    await _erase_orphans(holdings, existing, standing, tally)
    if (here := _in_chat_of(origin)) is not None and _CHAT_TABLE in existing:
        await tally.removing("chat", tables.erase(_CHAT_TABLE, user_id, here))
    if (noted := _noted_of(origin)) is not None and _NOTES_TABLE in existing:
        await tally.removing("chat_notes", tables.erase(_NOTES_TABLE, user_id, noted))
    if direct is not None and not tally.failed:
        await tally.removing("audit", tables.erase(_AUDIT_TABLE, user_id, direct))
    holdings.forget_in_process()
    return tally.report(bereft_originals(sought.archived, gone, ids))


async def _sought(holdings: Holdings, origin: Origin, tally: ErasureTally) -> _Sought:
    """What came from there, as far as meta, the audit and the archive tell."""
    tables, user_id = holdings.tables, holdings.user_id
    existing: Collection[str] = await tally.tried("tables", tables.existing(), {})
    direct = _direct_entries(origin) if _AUDIT_TABLE in existing else None
    named: frozenset[str] = frozenset()
    if direct is not None:
        learned = partial(_learned_entries, direct)
        found = tables.values(_AUDIT_TABLE, user_id, "memory_id", learned)
        named = await tally.tried("audit", found, named)
    archived = await _archived_ones(holdings, existing, tally)
    rows = await tally.tried("memory", holdings.memories.read(), ())
    waiting = _waiting_turns(origin) if PENDING_TABLE in existing else None
    ids = origin_ids(rows, archived, origin, named)
    return _Sought(existing, rows, archived, ids, direct, waiting)


async def _archived_ones(
    holdings: Holdings, existing: Collection[str], tally: ErasureTally
) -> tuple[ArchivedMemory, ...]:
    """What can be read of the archive, which is not created for it."""
    if _ARCHIVE_TABLE not in existing:
        return ()
    user_id = holdings.user_id
    found = await tally.tried("archive", holdings.archive.read(user_id), ())
    stored = holdings.tables.values(_ARCHIVE_TABLE, user_id, "memory_id")
    closed = len(await tally.tried("archive", stored, frozenset())) - len(found)
    if closed > 0 and "archive" not in tally.failed:
        tally.notes.append(
            f"{closed} archived memories can't be opened, so nobody can tell where they came from; "
            "they go when everything is erased"
        )
    return found


async def _delete_rows(
    holdings: Holdings, rows: Sequence[Memory], tally: ErasureTally
) -> tuple[Memory, ...]:
    """Delete rows one by one; those that are gone."""
    gone: list[Memory] = []
    for row in rows:
        try:
            await holdings.memories.delete(row)
        except AdaptiveMemoryError as error:
            tally.failed["memory"] = str(error)
            if isinstance(error, MemoryUnavailable):
                break
        else:
            gone.append(row)
    tally.count("memory", len(gone))
    return tuple(gone)


async def _erase_orphans(
    holdings: Holdings, existing: Collection[str], archived: Collection[str], tally: ErasureTally
) -> None:
    """Erase vectors and counts of memories that are gone, those of a former try included."""
    tables, user_id = holdings.tables, holdings.user_id
    for name in _BY_MEMORY:
        if name not in existing:
            continue
        kind = name.removeprefix(TABLE_PREFIX)
        found = await tally.tried(kind, tables.values(name, user_id, "memory_id"), frozenset())
        # Read after them: what is written meanwhile is not taken for an orphan.
        rows = await tally.tried("memory", holdings.memories.read(), None)
        if rows is not None:
            orphans = found - {row.id for row in rows} - set(archived)
            await tally.removing(kind, tables.erase_named(name, user_id, orphans))


def _note_missing_provenance(holdings: Holdings, origin: Origin, tally: ErasureTally) -> None:
    """Say what can't be told where the host keeps no meta; times of rows it does keep."""
    if not isinstance(origin, FromPeriod) and not holdings.memories.keeps_provenance:
        tally.notes.append(
            "this Open WebUI keeps no provenance with its memories (0.10 and newer do): only what "
            "the audit and the archive name was found"
        )


def _direct_entries(origin: Origin) -> Condition | None:
    """Which entries of the audit are of the origin itself; of a source it tells nothing."""
    match origin:
        case FromChat(chat_id):
            return partial(_in_chat, chat_id)
        case FromPeriod(since, until):
            return partial(_said_between, since, until)
        case _:
            return None


def _waiting_turns(origin: Origin) -> Condition | None:
    match origin:
        case FromChat(chat_id):
            return partial(_in_chat, chat_id)
        case FromPeriod(since, until):
            return partial(_between, "queued_at", since, until)
        case _:
            return None


def _proposed(origin: Origin) -> Condition | None:
    """Suggestions that wait; of rejected ones nothing tells where they are from."""
    match origin:
        case FromChat(chat_id):
            return partial(_in_chat, chat_id)
        case FromPeriod(since, until):
            return partial(_between, "said_at", since, until)
        case _:
            return None


def _in_chat_of(origin: Origin) -> Condition | None:
    return partial(_in_chat, origin.chat_id) if isinstance(origin, FromChat) else None


def _noted_of(origin: Origin) -> Condition | None:
    """Which notes of chats may hold something of the origin; of a source they hold nothing."""
    match origin:
        case FromChat(chat_id):
            return partial(_in_chat, chat_id)
        case FromPeriod(since, until):
            return partial(_noted_between, since, until)
        case _:
            return None


def _noted_between(since: float, until: float, columns: Any) -> ColumnElement[bool]:
    """Notes of chats that were written at or on both sides of that time."""
    within: ColumnElement[bool] = (columns.created_at < until) & (columns.updated_at >= since)
    return within


def _still_waiting(condition: Condition, columns: Any) -> ColumnElement[bool]:
    waiting: ColumnElement[bool] = columns.state == "waiting"
    return condition(columns) & waiting


def _in_chat(chat_id: str, columns: Any) -> ColumnElement[bool]:
    here: ColumnElement[bool] = columns.chat_id == chat_id
    return here


def _between(name: str, since: float, until: float, columns: Any) -> ColumnElement[bool]:
    within: ColumnElement[bool] = (columns[name] >= since) & (columns[name] < until)
    return within


def _said_between(since: float, until: float, columns: Any) -> ColumnElement[bool]:
    """Entries of that time which a message asked for; upkeep moves what was said at other times."""
    asked_for: ColumnElement[bool] = columns.message_id != ""
    return _between("changed_at", since, until, columns) & asked_for


def _learned_entries(direct: Condition, columns: Any) -> ColumnElement[bool]:
    """Those of them that say that a memory got a content there."""
    learned: ColumnElement[bool] = columns.kind.in_(("saved", "updated"))
    return direct(columns) & learned


def _indirect_entries(direct: Condition | None, columns: Any) -> ColumnElement[bool]:
    everything: ColumnElement[bool] = columns.memory_id.is_not(None)
    return everything if direct is None else ~direct(columns)
