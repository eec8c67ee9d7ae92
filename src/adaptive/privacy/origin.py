"""Where memories came from: what goes when a chat, a day or a source is forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adaptive.core.model import Memory
from adaptive.core.shapes import listing, mapping
from adaptive.privacy.kept import ArchivedMemory


@dataclass(frozen=True, slots=True)
class Origin:
    """One chat, the seconds since the epoch from one on to before another, or tools.

    ``sources`` are the names that tools have in a row's meta: ours, ``manual``, ``tool``.
    """

    chat_id: str = ""
    period: tuple[float, float] | None = None
    sources: tuple[str, ...] = ()


def came_from(memory: Memory, origin: Origin) -> bool:
    """Whether a memory came from there, as far as its own meta tells.

    A former content counts too: the one that replaced it may repeat it. Where no time is noted,
    the row's own times are taken.
    """
    meta = memory.meta
    if origin.chat_id:
        return meta.get("chat_id") == origin.chat_id
    if origin.period is None:
        return meta.get("source") in origin.sources or meta.get("created_by") in origin.sources
    since, until = origin.period
    said = meta.get("said_at")
    former = (mapping(one).get("said_at") for one in listing(meta.get("history")))
    times = [*former, *((said,) if said else (memory.created_at, memory.updated_at))]
    return any(isinstance(at, int | float) and since <= at < until for at in times)


def origin_ids(
    rows: Sequence[Memory],
    archived: Sequence[ArchivedMemory],
    origin: Origin,
    known: Iterable[str] = (),
) -> frozenset[str]:
    """Ids of the memories, stored or archived, that came from there, or were made of such ones.

    ``known`` are ids that something else than meta tells to be from there. A summary is made of its
    originals: its meta tells, or its text where the host keeps no meta.
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
    archived: Sequence[ArchivedMemory], gone: Sequence[Memory], leaving: frozenset[str]
) -> tuple[str, ...]:
    """Ids of archived memories, but those ``leaving``, whose summary is gone."""
    originals = {one for memory in gone for one in made_of(memory)}
    texts = {_plain_words(memory.content) for memory in gone}
    return tuple(
        one.memory.id
        for one in archived
        if one.summary and one.memory.id not in leaving
        if one.memory.id in originals or _plain_words(one.summary) in texts
    )


def _plain_words(text: str) -> str:
    return " ".join(text.split()).casefold()
