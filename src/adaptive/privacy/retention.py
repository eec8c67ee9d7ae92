"""What is kept for how long, and what goes when a chat, a day or a source is forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

from adaptive.model import Memory
from adaptive.shapes import listing, mapping
from adaptive.table_ports import ArchivedMemory


@dataclass(frozen=True, slots=True)
class FromChat:
    """What was said in one chat."""

    chat_id: str


@dataclass(frozen=True, slots=True)
class FromPeriod:
    """What was said at or after ``since`` and before ``until``, in epoch seconds."""

    since: float
    until: float

    @classmethod
    def of_day(cls, day: date, zone: tzinfo) -> FromPeriod:
        """A day where the user lives, which may have 23 or 25 hours."""
        begin, end = (
            datetime(one.year, one.month, one.day, tzinfo=zone).timestamp()
            for one in (day, day + timedelta(days=1))
        )
        return cls(begin, end)

    def holds(self, epoch_seconds: object) -> bool:
        """Whether a time of unknown type is one of this period."""
        return isinstance(epoch_seconds, int | float) and self.since <= epoch_seconds < self.until


@dataclass(frozen=True, slots=True)
class FromSource:
    """What one tool wrote, by the name in a row's meta: ours, ``manual``, ``tool``, an import's."""

    source: str


Origin = FromChat | FromPeriod | FromSource


def kept_chats(updated: Mapping[str, int], most: int, since: int) -> frozenset[str]:
    """Ids of the chats whose state is kept: the newest ones, none last used before ``since``.

    ``updated`` tells by chat id when each was last used, in epoch seconds, as ``since`` does.
    """
    recent = [chat_id for chat_id, at in updated.items() if at >= since]
    recent.sort(key=lambda chat_id: (updated[chat_id], chat_id), reverse=True)
    return frozenset(recent[: max(most, 0)])


def came_from(memory: Memory, origin: Origin) -> bool:
    """Whether a memory came from there, as far as its own meta tells.

    A former content counts too: the one that replaced it may repeat it. Where no time is noted,
    the row's own times are taken.
    """
    meta = memory.meta
    match origin:
        case FromChat(chat_id):
            return bool(chat_id) and meta.get("chat_id") == chat_id
        case FromSource(source):
            return bool(source) and source in (meta.get("source"), meta.get("created_by"))
        case FromPeriod():
            return any(map(origin.holds, _times_said(memory)))


def origin_ids(
    rows: Sequence[Memory],
    archived: Sequence[ArchivedMemory],
    origin: Origin,
    known: Iterable[str] = (),
) -> frozenset[str]:
    """Ids of the memories, stored or archived, that came from there, or were made of such ones.

    ``known`` are ids that something else than meta tells to be from there. A summary is made of
    its originals: it is known by its meta, or by its text where the host keeps no meta.
    """
    everything = (*rows, *(one.memory for one in archived))
    found = {memory.id for memory in everything if came_from(memory, origin)} | set(known)
    while True:
        texts = {_plain_words(one.summary) for one in archived if one.memory.id in found} - {""}
        made = {
            memory.id
            for memory in everything
            if made_of(memory) & found or _plain_words(memory.content) in texts
        }
        if made <= found:
            return frozenset(found)
        found |= made


def made_of(memory: Memory) -> frozenset[str]:
    """Ids of the memories that this one is a summary of, or was restored from."""
    summarised = (mapping(one).get("id") for one in listing(memory.meta.get("summary_of")))
    ids = (*summarised, memory.meta.get("restored_from"))
    return frozenset(one for one in ids if isinstance(one, str) and one)


def bereft_originals(
    archived: Sequence[ArchivedMemory], gone: Iterable[Memory], ids: Iterable[str]
) -> tuple[str, ...]:
    """Ids of archived memories that stay although the summary that stood for them is ``gone``.

    ``ids`` are those that don't stay.
    """
    lost = list(gone)
    originals = {one for memory in lost for one in made_of(memory)}
    texts = {_plain_words(memory.content) for memory in lost}
    leaving = set(ids)
    return tuple(
        one.memory.id
        for one in archived
        if one.summary and one.memory.id not in leaving
        if one.memory.id in originals or _plain_words(one.summary) in texts
    )


def _times_said(memory: Memory) -> Iterable[Any]:
    """When its contents were said; else when the row was made and last changed."""
    said = memory.meta.get("said_at")
    yield from (said,) if said else (memory.created_at, memory.updated_at)
    for former in listing(memory.meta.get("history")):
        yield mapping(former).get("said_at")


def _plain_words(text: str) -> str:
    return " ".join(text.split()).casefold()
