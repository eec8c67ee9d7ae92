"""Whether numbers are a day of the calendar, as birth dates and national ids write it."""

from __future__ import annotations

_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
# Nobody alive was born before; no clock is asked, so a few years ahead are taken too.
_FIRST_BIRTH = 1900
_LAST_BIRTH = 2035


def is_day(month: int, day: int) -> bool:
    """Whether there is such a day in some year."""
    return 1 <= month <= 12 and 1 <= day <= _DAYS[month - 1]


def is_birth(year: int, month: int, day: int) -> bool:
    """Whether somebody alive may have been born on that day."""
    return _FIRST_BIRTH <= year <= _LAST_BIRTH and is_day(month, day)
