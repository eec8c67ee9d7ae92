"""Times of messages in the time zone of the user, and days."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def local_time(epoch_seconds: float, *zone_names: str) -> datetime:
    """The time in the first of the named zones that exists, else in UTC."""
    for name in zone_names:
        try:
            zone = ZoneInfo(name.strip()) if name.strip() else None
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
        if zone:
            return datetime.fromtimestamp(epoch_seconds, zone)
    return datetime.fromtimestamp(epoch_seconds, UTC)


def iso_day(value: object) -> str:
    """The value if it is a day of the calendar as "YYYY-MM-DD", else nothing."""
    try:
        return value if isinstance(value, str) and str(date.fromisoformat(value)) == value else ""
    except ValueError:
        return ""
