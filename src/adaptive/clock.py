"""Times of messages in the time zone of the user, and days."""

from __future__ import annotations

import contextlib
import re
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

# How the names of months begin, in eleven languages, without accents.
_MONTHS = (
    "jan ene gen sty янв|feb fev lut фев|mar maa мар|apr avr abr kwi апр|may mai mag mei maj мая"
    "|jun juin giu cze июн|jul juil lug lip июл|aug aou ago sie авг|sep set wrz сен"
    "|oct okt out ott paz окт|nov lis ноя|dec dez dic gru дек"
)
_DATES = (
    r"(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})",
    r"(?:(?P<y>\d{4})年)?(?P<m>\d{1,2})月(?P<d>\d{1,2})日",
    r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|o)?[ ./-]{1,2}(?:of |de )?(?P<m>\d{1,2}|[^\W\d]{3,})"
    r"[ .,/-]*(?:de )?(?P<y>\d{4})?(?: года)?",
    r"(?P<m>[^\W\d]{3,}) (?P<d>\d{1,2})(?:st|nd|rd|th)?,? ?(?P<y>\d{4})?",
)


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


def without_day(plain: str, today: date) -> tuple[str, date | None]:
    """A folded text without the day that it names, and the last such day up to today.

    A day is written in figures, the day before the month, or with the name of its month.
    """
    for found in (found for form in _DATES for found in re.finditer(form, plain)):
        stems = enumerate(_MONTHS.split("|"), 1)
        months = (number for number, one in stems if found["m"].startswith(tuple(one.split())))
        month = int(found["m"]) if found["m"].isdecimal() else next(months, 0)
        for year in [int(found["y"])] if found["y"] else range(today.year, today.year - 9, -1):
            with contextlib.suppress(ValueError):
                if (day := date(year, month, int(found["d"]))) <= today:
                    return f"{plain[: found.start()]} {plain[found.end() :]}", day
    return plain, None
