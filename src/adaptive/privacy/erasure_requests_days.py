"""Days that people write in messages: by figures, by the month's name, without a year."""

# ruff: noqa: RUF001 - the months are in several scripts

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta
from functools import cache

# January first; all forms in which the eleven languages write a month after its day.
_ERASURE_MONTHS = (
    "january jan januar jänner januari janvier janv enero ene janeiro gennaio gen styczeń stycznia"
    " январь января",
    "february feb februar februari février fevrier févr febrero fevereiro fev febbraio luty lutego"
    " февраль февраля",
    "march mar märz maart mars marzo março marzec marca март марта",
    "april apr avril avr abril abr aprile kwiecień kwietnia апрель апреля",
    "may mai mei mayo maio maggio mag maj maja май мая",
    "june jun juni juin junio junho giugno giu czerwiec czerwca июнь июня",
    "july jul juli juillet juil julio julho luglio lug lipiec lipca июль июля",
    "august aug augustus août aout agosto ago sierpień sierpnia август августа",
    "september sep sept septembre septiembre setiembre setembro settembre set wrzesień września"
    " сентябрь сентября",
    "october oct oktober okt octobre octubre outubro out ottobre ott październik października"
    " октябрь октября",
    "november nov novembre noviembre novembro listopad listopada ноябрь ноября",
    "december dec dezember dez décembre decembre déc diciembre dic dezembro dicembre grudzień"
    " grudnia декабрь декабря",
)
_LEAP_YEAR = 2000


def erasure_day(text: str, today: date, relative: tuple[str, str, str], code: str) -> date | None:
    """The day that a text in small letters names; ``None`` where it names none, or leaves doubt.

    ``relative`` are the language's words for today, yesterday and the day before. Without a year
    it is the last such day; a day to come is none. In figures, "3/11" leaves doubt in English.
    """
    said = text.strip(" .")
    for past, words in enumerate(relative):
        if said in words.split("|"):
            return today - timedelta(days=past)
    for form in _day_forms():
        if match := form.fullmatch(said):
            return _calendar_day(match.groupdict(), today, code)
    return None


def _calendar_day(found: Mapping[str, str | None], today: date, code: str) -> date | None:
    day, month = int(found["day"] or 0), _month_number(found["month"] or "")
    if found.get("slash") and code == "en" and day <= 12 and day != month:
        return None
    if year := found.get("year"):
        named = _existing_day(int(year), month, day)
        return named if named is not None and named <= today else None
    if _existing_day(_LEAP_YEAR, month, day) is None:
        return None
    past = (_existing_day(today.year - ago, month, day) for ago in range(9))
    return next((one for one in past if one is not None and one <= today), None)


def _month_number(text: str) -> int:
    return int(text) if text.isdecimal() else _month_names()[text]


def _existing_day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


@cache
def _month_names() -> dict[str, int]:
    return {
        name: number for number, names in enumerate(_ERASURE_MONTHS, 1) for name in names.split()
    }


@cache
def _day_forms() -> tuple[re.Pattern[str], ...]:
    """How a day is written; ``slash`` stands where day and month may be in either order."""
    names = "|".join(sorted(_month_names(), key=len, reverse=True))
    year = r"(?P<year>[12]\d{3})"
    forms = (
        rf"{year}[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}})",
        rf"(?P<day>\d{{1,2}})\. ?(?P<month>\d{{1,2}})\. ?(?:{year})?",
        rf"(?P<day>\d{{1,2}})(?P<slash>[-/])(?P<month>\d{{1,2}})[-/]{year}",
        rf"(?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|º|°|ª|\.|-го|-е|e|o)? (?:of |de |di )?"
        rf"(?P<month>{names})\.?(?:,? (?:de |del |di )?{year}(?: ?(?:года|год|г|r))?)?",
        rf"(?P<month>{names})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,? {year})?",
        rf"(?:{year}年)?(?P<month>\d{{1,2}})月(?P<day>\d{{1,2}})[日号號]",
    )
    return tuple(re.compile(form) for form in forms)
