"""Times in the user's time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.clock import iso_day, local_time
from tests.rates import over

# 1 July 2026, 12:00 and 1 January 2026, 12:00, both UTC.
SUMMER = datetime(2026, 7, 1, 12, tzinfo=UTC).timestamp()
WINTER = datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp()


@dataclass(frozen=True)
class Case:
    """Names of zones in the order they count, and the local time and zone that come out."""

    id: str
    names: tuple[str, ...]
    local: str
    at: float = SUMMER


CASES = [
    Case("named", ("Asia/Tokyo",), "2026-07-01 21:00:00+09:00"),
    Case("first counts", ("Asia/Tokyo", "Europe/Lisbon"), "2026-07-01 21:00:00+09:00"),
    Case("empty is passed over", ("", "  ", "Asia/Tokyo"), "2026-07-01 21:00:00+09:00"),
    Case("spaces around", (" Asia/Tokyo ",), "2026-07-01 21:00:00+09:00"),
    Case("unknown is passed over", ("Atlantis/Capital", "Asia/Tokyo"), "2026-07-01 21:00:00+09:00"),
    Case("a path is passed over", ("../../etc/passwd", "Asia/Tokyo"), "2026-07-01 21:00:00+09:00"),
    Case("an absolute path", ("/etc/passwd", "Asia/Tokyo"), "2026-07-01 21:00:00+09:00"),
    Case("a folder of zones", ("Europe", "Asia/Tokyo"), "2026-07-01 21:00:00+09:00"),
    Case("a null character", ("Asia/\0Tokyo",), "2026-07-01 12:00:00+00:00"),
    Case("too long a name", ("A" * 5000,), "2026-07-01 12:00:00+00:00"),
    Case("half a character", ("\ud800",), "2026-07-01 12:00:00+00:00"),
    Case("none", (), "2026-07-01 12:00:00+00:00"),
    Case("daylight saving in summer", ("Europe/Lisbon",), "2026-07-01 13:00:00+01:00"),
    Case("none in winter", ("Europe/Lisbon",), "2026-01-01 12:00:00+00:00", WINTER),
    Case("a quarter of an hour", ("Asia/Kathmandu",), "2026-07-01 17:45:00+05:45"),
]


@over("case", CASES)
def test_local_time(case: Case) -> None:
    """The first zone that exists gives the time, UTC where none does."""
    assert str(local_time(case.at, *case.names)) == case.local


def test_hour_that_comes_twice() -> None:
    """In the night when clocks go back, the two moments stay an hour apart."""
    before = datetime(2026, 10, 25, 0, 30, tzinfo=UTC).timestamp()
    first, second = (local_time(before + hours * 3600, "Europe/Lisbon") for hours in (0, 1))
    assert (str(first), str(second)) == ("2026-10-25 01:30:00+01:00", "2026-10-25 01:30:00+00:00")


def test_zone_is_named() -> None:
    """The time carries the zone's name, which the prompt shows."""
    assert str(local_time(SUMMER, "Europe/Lisbon").tzinfo) == "Europe/Lisbon"
    assert str(local_time(SUMMER).tzinfo) == "UTC"


@settings(deadline=None)
@given(st.lists(st.text(), max_size=3))
def test_any_names(names: list[str]) -> None:
    """Whatever a browser or a user calls a time zone, there is a time: the same moment."""
    assert local_time(SUMMER, *names).timestamp() == SUMMER


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2027-02-28", "2027-02-28"),
        ("2027-02-29", ""),
        ("20270228", ""),
        ("2027-W08-7", ""),
        ("February", ""),
        (" 2027-02-28", ""),
        ("", ""),
        (20270228, ""),
        (None, ""),
    ],
)
def test_day(value: object, day: str) -> None:
    """Only a day of the calendar, in the one form that can be compared as text, is one."""
    assert iso_day(value) == day
