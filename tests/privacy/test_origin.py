"""Which memories go with a chat, a day or a source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from adaptive.privacy.origin import (
    Origin,
    bereft_originals,
    came_from,
    made_of,
    origin_ids,
)
from adaptive.table_ports import ArchivedMemory
from tests.fakes import memory
from tests.rates import over

NOW = 1_700_000_000
DAY = Origin(period=(NOW, NOW + 86_400))


@dataclass(frozen=True)
class Come:
    """A row's meta, and whether the memory came from somewhere."""

    id: str
    origin: Origin
    meta: dict[str, Any]
    came: bool


HISTORY = [{"content": "a", "said_at": NOW + 7, "until": NOW + 99_999}]
COME = [
    Come("chat", Origin("c"), {"chat_id": "c"}, True),
    Come("another chat", Origin("c"), {"chat_id": "d"}, False),
    Come("no chat known", Origin("c"), {}, False),
    Come("no chat wanted", Origin(""), {"chat_id": ""}, False),
    Come("source", Origin(sources=("adaptive_memory",)), {"source": "adaptive_memory"}, True),
    Come("written by hand", Origin(sources=("manual",)), {"created_by": "manual"}, True),
    Come("another source", Origin(sources=("manual",)), {"source": "adaptive_memory"}, False),
    Come("no source wanted", Origin(sources=()), {"source": ""}, False),
    Come("said at its first second", DAY, {"said_at": NOW}, True),
    Come("said at its last second", DAY, {"said_at": NOW + 86_399}, True),
    Come("said the day after", DAY, {"said_at": NOW + 86_400}, False),
    Come("said the day before", DAY, {"said_at": NOW - 1}, False),
    Come("a former content", DAY, {"said_at": NOW + 99_999, "history": HISTORY}, True),
    Come("damaged", DAY, {"said_at": "yesterday", "history": [1, {}, {"said_at": []}]}, False),
    Come("damaged history", DAY, {"said_at": NOW - 1, "history": {"said_at": NOW}}, False),
]


@over("case", COME)
def test_came_from(case: Come) -> None:
    """Meta tells where a memory came from, whatever somebody has written into it."""
    assert came_from(memory("m", "a", meta=case.meta), case.origin) is case.came


@pytest.mark.parametrize(
    ("created", "updated", "came"), [(0, 1, True), (-1, 0, True), (-2, -1, False)]
)
def test_row_without_a_time_said(created: int, updated: int, came: bool) -> None:
    """Where nobody noted when it was said, the row's own times count."""
    row = memory("m", "a", created_at=NOW + created, updated_at=NOW + updated)
    assert came_from(row, DAY) is came


def archived(id: str, content: str, summary: str = "", **meta: Any) -> ArchivedMemory:
    """A memory in the archive."""
    return ArchivedMemory(memory(id, content, meta=meta), "", NOW, summary)


SUMMARY = memory("s", "User likes tea and rain.", meta={"summary_of": [{"id": "1"}, {"id": "2"}]})
ORIGINALS = [
    archived("1", "User likes tea.", SUMMARY.content, chat_id="c"),
    archived("2", "User likes rain.", SUMMARY.content, chat_id="d"),
    archived("3", "User likes snow.", chat_id="d"),
]


def test_what_was_made_of_it_goes_too() -> None:
    """A summary goes with any of its originals, and so does what was restored from the archive."""
    restored = memory("r", "User likes tea.", meta={"restored_from": "1"})
    rows = [SUMMARY, restored, memory("o", "User likes fog.")]
    assert origin_ids(rows, ORIGINALS, Origin("c")) == {"1", "s", "r"}


def test_summary_without_meta() -> None:
    """Where the host keeps no meta, a summary is known by its text."""
    bare = replace(SUMMARY, content="user likes  tea and rain.", meta={})
    assert origin_ids([bare], ORIGINALS, Origin("c")) == {"1", "s"}


def test_what_is_known_from_elsewhere() -> None:
    """Ids that the audit has told count, whether or not a row stands."""
    assert origin_ids([SUMMARY], ORIGINALS, Origin("x"), ["2", "gone"]) == {"2", "gone", "s"}
    assert origin_ids([], [], Origin("x")) == frozenset()


@pytest.mark.parametrize("meta", [{}, None])
def test_bereft_originals(meta: dict[str, Any] | None) -> None:
    """The originals from elsewhere are told, since their summary goes and they don't."""
    gone = [SUMMARY if meta is None else replace(SUMMARY, meta=meta)]
    assert bereft_originals(ORIGINALS, gone, frozenset("1s")) == ("2",)
    assert bereft_originals(ORIGINALS, [], frozenset("1")) == ()


@pytest.mark.parametrize(
    "meta",
    [{}, {"summary_of": 5}, {"summary_of": [1, {}, {"id": 2}], "restored_from": 3}, {"x": None}],
)
def test_made_of_nothing(meta: dict[str, Any]) -> None:
    """What is no id of a memory names none."""
    assert made_of(memory("m", "a", meta=meta)) == frozenset()
