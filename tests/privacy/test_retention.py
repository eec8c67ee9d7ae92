"""Which chats' state is kept, and which memories go with a chat, a day or a source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.privacy.retention import (
    FromChat,
    FromPeriod,
    FromSource,
    Origin,
    bereft_originals,
    came_from,
    kept_chats,
    made_of,
    origin_ids,
)
from adaptive.table_ports import ArchivedMemory
from tests.fakes import memory
from tests.rates import over

NOW = 1_700_000_000
DAY = FromPeriod(NOW, NOW + 86_400)


@dataclass(frozen=True)
class Kept:
    """Chats by the seconds since their last use, and which of them are kept."""

    id: str
    ages: dict[str, int]
    most: int
    kept: str


KEPT = [
    Kept("three newest", {"a": 5, "b": 4, "c": 3, "d": 2}, 3, "bcd"),
    Kept("fewer than may be", {"a": 5}, 3, "a"),
    Kept("too old", {"a": 101, "b": 100, "c": 99}, 3, "bc"),
    Kept("none may be", {"a": 1}, 0, ""),
    Kept("nonsense", {"a": 1}, -1, ""),
    Kept("of the same second", {"a": 1, "b": 1, "c": 1}, 2, "bc"),
    Kept("there are none", {}, 3, ""),
]


@over("case", KEPT)
def test_kept_chats(case: Kept) -> None:
    """The newest chats stay, as many as may, as long as they are young enough."""
    updated = {chat: NOW - age for chat, age in case.ages.items()}
    assert kept_chats(updated, case.most, NOW - 100) == set(case.kept)


@given(st.dictionaries(st.text(), st.integers()), st.integers(-2, 9), st.integers())
def test_any_chats(updated: dict[str, int], most: int, since: int) -> None:
    """No more are kept than may be, none too old, and none while a newer one goes."""
    kept = kept_chats(updated, most, since)
    assert len(kept) <= max(most, 0)
    assert all(updated[chat] >= since for chat in kept)
    oldest = min((updated[chat] for chat in kept), default=0)
    going = [at for chat, at in updated.items() if chat not in kept and at >= since]
    assert not (kept and going) or max(going) <= oldest
    assert len(kept) == max(most, 0) or not going


@dataclass(frozen=True)
class Come:
    """A row's meta, and whether the memory came from somewhere."""

    id: str
    origin: Origin
    meta: dict[str, Any]
    came: bool


HISTORY = [{"content": "a", "said_at": NOW + 7, "until": NOW + 99_999}]
COME = [
    Come("chat", FromChat("c"), {"chat_id": "c"}, True),
    Come("another chat", FromChat("c"), {"chat_id": "d"}, False),
    Come("no chat known", FromChat("c"), {}, False),
    Come("no chat wanted", FromChat(""), {"chat_id": ""}, False),
    Come("source", FromSource("adaptive_memory"), {"source": "adaptive_memory"}, True),
    Come("written by hand", FromSource("manual"), {"created_by": "manual"}, True),
    Come("another source", FromSource("manual"), {"source": "adaptive_memory"}, False),
    Come("no source wanted", FromSource(""), {"source": ""}, False),
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


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", date(2026, 3, 29), 23),
        ("Europe/Berlin", date(2026, 10, 25), 25),
        ("Asia/Kolkata", date(2026, 3, 29), 24),
    ],
)
def test_day_of_a_zone(zone: str, day: date, hours: int) -> None:
    """A day is one where the user lives, the clock changes included."""
    period = FromPeriod.of_day(day, ZoneInfo(zone))
    assert period.until - period.since == hours * 3600
    assert FromPeriod.of_day(date(1970, 1, 2), UTC) == FromPeriod(86_400, 172_800)


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
    assert origin_ids(rows, ORIGINALS, FromChat("c")) == {"1", "s", "r"}


def test_summary_without_meta() -> None:
    """Where the host keeps no meta, a summary is known by its text."""
    bare = replace(SUMMARY, content="user likes  tea and rain.", meta={})
    assert origin_ids([bare], ORIGINALS, FromChat("c")) == {"1", "s"}


def test_what_is_known_from_elsewhere() -> None:
    """Ids that the audit has told count, whether or not a row stands."""
    assert origin_ids([SUMMARY], ORIGINALS, FromChat("x"), ["2", "gone"]) == {"2", "gone", "s"}
    assert origin_ids([], [], FromChat("x")) == frozenset()


@pytest.mark.parametrize("meta", [{}, None])
def test_bereft_originals(meta: dict[str, Any] | None) -> None:
    """The originals from elsewhere are told, since their summary goes and they don't."""
    gone = [SUMMARY if meta is None else replace(SUMMARY, meta=meta)]
    assert bereft_originals(ORIGINALS, gone, {"1", "s"}) == ("2",)
    assert bereft_originals(ORIGINALS, [], {"1"}) == ()


@pytest.mark.parametrize(
    "meta",
    [{}, {"summary_of": 5}, {"summary_of": [1, {}, {"id": 2}], "restored_from": 3}, {"x": None}],
)
def test_made_of_nothing(meta: dict[str, Any]) -> None:
    """What is no id of a memory names none."""
    assert made_of(memory("m", "a", meta=meta)) == frozenset()
