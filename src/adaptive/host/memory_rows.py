"""Rows of the host's memory table as memories, and memories as the fields of a row.

Releases without columns for them have tags, bank and end date inside the text:
``[Tags: preference, goal] User likes tea. [Memory Bank: Personal] [Until: 2027-02-28]`` is how they
are written; rows of older releases of Adaptive Memory, which had no end date, are read alike.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from datetime import date
from typing import Any

from adaptive.core.model import Draft, Memory, Provenance
from adaptive.core.shapes import listing, mapping

_SOURCE = "adaptive_memory"
_FORMER_CONTENTS_KEPT = 20

# No two neighbouring parts may take the same character, and a run of spaces is entered at its
# start only: a text of the user may be long, and is read in linear time.
_TAGS = re.compile(r"^\s*\[Tags:([^\[\]]*)\]\s*", re.IGNORECASE)
_BANK = re.compile(r"(?<!\s)\s*\[Memory Bank:([^\[\]]*)\]\s*", re.IGNORECASE)
_UNTIL = re.compile(r"(?<!\s)\s*\[Until:\s*([\d-]{10})\]\s*", re.IGNORECASE)
_CONFIDENCE = re.compile(r"(?<!\s)\s*\[Confidence:\s*[\d.]+\]\s*", re.IGNORECASE)


def read_notation(text: str) -> Draft:
    """Take tags, bank, end date and the former confidence mark out of a stored text."""
    tags: tuple[str, ...] = ()
    bank = until = ""
    if found := _TAGS.match(text):
        tags = tuple(tag.strip() for tag in found.group(1).split(",") if tag.strip())
        text = text[found.end() :]
    if found := _BANK.search(text):
        bank = found.group(1).strip()
        text = f"{text[: found.start()]} {text[found.end() :]}"
    if (found := _UNTIL.search(text)) and (until := iso_day(found.group(1))):
        text = f"{text[: found.start()]} {text[found.end() :]}"
    return Draft(_CONFIDENCE.sub(" ", text).strip(), tags, bank, until=until)


def write_notation(draft: Draft) -> str:
    """The text to store for a sentence with its tags, bank and end date."""
    tags = f"[Tags: {', '.join(draft.tags)}] " if draft.tags else ""
    bank = f" [Memory Bank: {draft.bank}]" if draft.bank else ""
    until = f" [Until: {draft.until}]" if iso_day(draft.until) else ""
    return f"{tags}{draft.content}{bank}{until}"


def iso_day(value: object) -> str:
    """The value if it is a day of the calendar as "YYYY-MM-DD", else nothing."""
    try:
        return value if isinstance(value, str) and str(date.fromisoformat(value)) == value else ""
    except ValueError:
        return ""


def memory_of_row(row: Any) -> Memory:
    """A row of any release as a memory, its content without notation."""
    noted = read_notation(row.content or "")
    meta: Mapping[str, Any] = getattr(row, "meta", None) or {}
    path = str(getattr(row, "path", None) or "")
    tags = meta.get("tags") if isinstance(meta.get("tags"), list) else noted.tags
    if not tags and getattr(row, "type", None) == "user":
        tags = ("identity",)  # who somebody is, by whatever tool it was written
    return Memory(
        id=row.id,
        content=noted.content,
        created_at=row.created_at or 0,
        updated_at=row.updated_at or 0,
        tags=tuple(str(tag) for tag in tags or ()),
        bank=str(meta.get("bank") or noted.bank or path.partition("/")[0]),
        confidence=_number(meta.get("confidence"), 1.0),
        importance=round(_number(meta.get("importance"), 5)),
        meta=meta,
        until=iso_day(meta.get("until")) or noted.until,
        stored=(row.content or "", getattr(row, "type", None), getattr(row, "path", None)),
    )


def _number(value: object, default: float) -> float:
    """A number out of a row's meta, which anybody may have written."""
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return default
    return number if math.isfinite(number) else default


def memory_fields(form: Any, draft: Draft) -> dict[str, Any]:
    """The fields of a router's form: columns where the release has them, notation else."""
    if "path" not in form.model_fields:
        return {"content": write_notation(draft)}
    kind = "user" if "identity" in draft.tags else "context"
    return {"content": draft.content, "type": kind, "path": memory_path(draft.bank, draft.tags)}


def memory_path(bank: str, tags: tuple[str, ...]) -> str:
    """Bank and category as a path the host accepts (host: utils/memory.py, clean_memory_path)."""
    kept = ("".join(c for c in one if c.isprintable() and c != "/") for one in (bank, *tags[:1]))
    return "/".join(part for one in kept if (part := one.strip()) not in ("", ".", ".."))


def memory_meta(draft: Draft, source: Provenance, former: Mapping[str, Any]) -> dict[str, Any]:
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


def meta_with_history(memory: Memory) -> dict[str, Any]:
    """The row's meta with its present content at the end of its history, once; not an empty one."""
    former = listing(memory.meta.get("history"))
    last = mapping(former[-1]).get("content") if former else ""
    if memory.content in ("", last):
        return dict(memory.meta)
    entry = {
        "content": memory.content,
        "said_at": memory.meta.get("said_at") or memory.created_at,
        "until": int(time.time()),
    }
    return {**memory.meta, "history": [*former, entry][-_FORMER_CONTENTS_KEPT:]}
