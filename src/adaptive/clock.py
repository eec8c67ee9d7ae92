"""Times of messages in the time zone of the user."""

from __future__ import annotations

from datetime import UTC, datetime
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
