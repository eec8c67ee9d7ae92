"""Which memories go with a chat or a day."""

from __future__ import annotations

from typing import Any

from adaptive.memory.erasure import (
    Origin,
    bereft_originals,
    came_from,
    origin_ids,
)
from adaptive.memory.tables import ArchivedMemory
from tests.fakes import memory
from tests.rates import over

NOW = 1_700_000_000
DAY = Origin(period=(NOW, NOW + 86_400))


HISTORY = [{"content": "a", "said_at": NOW + 7, "until": NOW + 99_999}]
COME: list[tuple[Origin, dict[str, Any], bool]] = [
    (Origin("c"), {}, False),
    (Origin("c"), {"chat_id": "c"}, True),
    (Origin(""), {"chat_id": ""}, False),
    (DAY, {"said_at": NOW}, True),
    (DAY, {"said_at": NOW + 86_400}, False),
    (DAY, {"said_at": NOW + 99_999, "history": HISTORY}, True),
    (
        DAY,
        {"said_at": "yesterday", "history": [1, {}, {"said_at": []}]},
        False,
    ),
]


@over("origin, meta, came", COME)
def test_came_from(origin: Origin, meta: dict[str, Any], came: bool) -> None:
    """Meta tells where a memory came from, whatever somebody has written into it."""
    assert came_from(memory("m", "a", meta=meta), origin) is came


def archived(
    id: str, content: str, summary_id: str = "", **meta: Any
) -> ArchivedMemory:
    """A memory in the archive."""
    return ArchivedMemory(memory(id, content, meta=meta), "", NOW, summary_id)


SUMMARY = memory("s", "User likes tea and rain.")
ORIGINALS = [
    archived("1", "User likes tea.", SUMMARY.id, chat_id="c"),
    archived("2", "User likes rain.", SUMMARY.id, chat_id="d"),
    archived("3", "User likes snow.", chat_id="d"),
]


def test_what_was_made_of_it_goes_too() -> None:
    """A summary goes with any of its originals, and the others are told."""
    rows = [SUMMARY, memory("o", "User likes fog.")]
    assert origin_ids(rows, ORIGINALS, Origin("c")) == {"1", "s"}
    assert bereft_originals(ORIGINALS, {"s"}, frozenset("1s")) == ("2",)
