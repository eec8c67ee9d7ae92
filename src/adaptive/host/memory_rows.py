"""Rows of the host's memory table as memories, and memories as the fields of a row.

Releases without columns for them have tags, bank and end date inside the text:
``[Tags: preference, goal] User likes tea. [Memory Bank: Personal] [Until: 2027-02-28]`` is how they
are written; rows of older releases of Adaptive Memory, which had no end date, are read alike.
"""

import math
import time
import uuid
from collections.abc import Container, Sequence
from typing import Any

from adaptive.core import (
    CORE_CATEGORIES,
    Draft,
    JsonMapping,
    JsonObject,
    Memory,
    NewMemory,
    Provenance,
    iso_day,
    listing,
    mapping,
    read_notation,
    text_cache,
)

_SOURCE = "adaptive_memory"
_FORMER_CONTENTS_KEPT = 20
# Ids and digests are longer, and no two rows' are the same.
_LONGEST_SHARED = 20
_MOST_SHARED = 20_000


def write_notation(draft: Draft) -> str:
    """The text to store for a sentence with its tags, bank and end date."""
    tags = f"[Tags: {', '.join(draft.tags)}] " if draft.tags else ""
    bank = f" [Memory Bank: {draft.bank}]" if draft.bank else ""
    until = f" [Until: {draft.until}]" if iso_day(draft.until) else ""
    return f"{tags}{draft.content}{bank}{until}"


def memory_of_row(row: Any) -> Memory:
    """A row of any release as a memory, its content without notation."""
    stored = row.content or ""
    kind: str | None = getattr(row, "type", None)
    path: str | None = getattr(row, "path", None)
    meta = _shared(getattr(row, "meta", None) or {})
    notation = read_notation(stored)
    content = notation.get("content", "")
    tags: Sequence[Any] = listing(meta.get("tags")) or notation.get("tags", ())
    if not tags and kind == "user":
        tags = (
            "identity",
        )  # who somebody is, by whatever tool it was written
    return Memory(
        id=row.id,
        content=stored if content == stored else content,
        created_at=row.created_at or 0,
        updated_at=row.updated_at or 0,
        tags=tuple(_shared_text(str(tag)) for tag in tags),
        bank=str(
            meta.get("bank")
            or notation.get("bank")
            or (path or "").partition("/")[0]
        ),
        confidence=_number(meta.get("confidence"), 1.0),
        importance=round(_number(meta.get("importance"), 5)),
        meta=meta,
        until=iso_day(meta.get("until")) or notation.get("until", ""),
        stored=(
            stored,
            kind and _shared_text(kind),
            path and _shared_text(path),
        ),
    )


@text_cache(_MOST_SHARED)
def _shared_text(text: str) -> str:
    """One object for equal texts; what Python interns it keeps for good in some releases (3.12.1)."""
    return text


def _shared(meta: JsonMapping) -> JsonMapping:
    """A row's meta with names and short texts that many rows share: they take most of it."""
    return {
        _shared_text(name): _shared_text(value)
        if isinstance(value, str) and len(value) <= _LONGEST_SHARED
        else value
        for name, value in meta.items()
    }


def memories_of_rows(rows: Sequence[Any]) -> tuple[Memory, ...]:
    """Rows of any release as memories."""
    return tuple(map(memory_of_row, rows))


def _number(value: object, default: float) -> float:
    """A number out of a row's meta, which anybody may have written."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return default
    return number if math.isfinite(number) else default


def new_row(
    user_id: str, memory: NewMemory, columns: Container[str]
) -> JsonObject:
    """A memory as a row of a release with these columns, a new one or in a former one's place."""
    former = memory.former
    now = int(time.time())
    extra = memory.extra
    if former:
        extra = former.meta
        if former.content != memory.draft.content:
            extra = meta_with_history(former)
    return {
        **memory_fields(columns, memory.draft),
        "id": former.id if former else memory.id or str(uuid.uuid4()),
        "user_id": user_id,
        "meta": memory_meta(memory.draft, memory.source, extra),
        "created_at": former.created_at
        if former
        else min(memory.source.said_at, now),
        "updated_at": now,
    }


def former_row(user_id: str, memory: Memory) -> JsonObject:
    """A row as it stood."""
    content, kind, path = memory.stored
    return {
        "id": memory.id,
        "user_id": user_id,
        "content": content,
        "type": kind or "context",
        "path": path,
        "meta": dict(memory.meta) or None,
        "created_at": memory.created_at,
        "updated_at": int(time.time()),
    }


def memory_fields(columns: Container[str], draft: Draft) -> JsonObject:
    """What a draft says, in the release's own columns, or in notation where it has none."""
    if "path" not in columns:
        return {"content": write_notation(draft)}
    is_core = any(tag in CORE_CATEGORIES for tag in draft.tags)
    return {
        "content": draft.content,
        "type": "user" if is_core else "context",
        "path": memory_path(draft.bank, draft.topics) or None,
    }


def memory_path(bank: str, topics: tuple[str, ...]) -> str:
    """Bank and category as a path the host accepts (host: utils/memory.py, clean_memory_path)."""
    parts: list[str] = []
    for name in (bank, *topics[:1]):
        printable = filter(str.isprintable, name.replace("/", ""))
        parts.append("".join(printable).strip())
    return "/".join(part for part in parts if part not in ("", ".", ".."))


def memory_meta(
    draft: Draft, source: Provenance, former: JsonMapping
) -> JsonObject:
    """The meta of a row with what the host has no columns for."""
    return {
        **former,
        "created_by": _SOURCE,
        "source": _SOURCE,
        "tags": list(draft.tags),
        "bank": draft.bank,
        "confidence": draft.confidence,
        "importance": draft.importance,
        "until": iso_day(draft.until),
        "passed": draft.passed,
        "chat_id": source.chat_id,
        "message_id": source.message_id,
        "said_at": source.said_at,
    }


def meta_with_history(memory: Memory) -> JsonObject:
    """The row's meta with its present content at the end of its history, once; not an empty one."""
    former = listing(memory.meta.get("history"))
    last = mapping(former[-1]).get("content") if former else ""
    if memory.content in ("", last):
        return dict(memory.meta)
    entry = {
        "content": memory.content,
        "said_at": memory.said_at,
        "until": int(time.time()),
    }
    return {
        **memory.meta,
        "history": [*former, entry][-_FORMER_CONTENTS_KEPT:],
    }
