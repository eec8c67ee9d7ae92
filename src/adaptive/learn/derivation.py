"""What follows from the numbers and dates that were said, and what does not.

It is a closed list: halves and quarters, units of time and of measure, years and ages, twelve
hours, and days that are told from another day.
"""

import itertools
from collections.abc import Set
from datetime import date, timedelta
from decimal import Decimal

from adaptive.learn.figures import Figure, FigureReading, Figures

_FRACTIONS = frozenset(map(Decimal, ("0.25", "0.5", "0.75")))
_YEARS = range(1900, 2100)
_CENTURIES = (1900, 2000)
_LEAST_DIVIDED = 100
_OTHER_CALENDARS = (-543, 621)  # Buddhist, Persian
_MONTHS = 12
_LONGEST_MONTH = 31  # days
_MANY_OTHERS = 5
_OLDEST = 120  # years
_TIME_UNITS = (7, 12, 24, 60)
_LONGEST_WAIT = 60  # days or weeks
_NEAR_DAYS = (-2, -1, 0, 1, 2, 7, 14)
_NAMED_DAYS = range(-7, 21)  # "Friday week"
_NEAR_YEARS = range(-3, 4)


class Said:
    """What was said on a day, with all that follows from it."""

    def __init__(self, figures: Figures, today: date) -> None:
        """Work out what follows."""
        self._readings = set[FigureReading]()
        for figure in figures.numbers:
            self._readings.update(figure.readings())
            self._readings.update((part, "") for part in figure.parts)
        values = {value for value, _ in self._readings}
        self._measures = {
            measure
            for figure in figures.numbers
            for measure in figure.measures()
        }
        self._fractions = values & _FRACTIONS
        wholes = {int(value) for value in values if value == int(value)}
        self._numbers = values | _amounts(values, self._fractions)
        self._numbers |= _years_and_ages(wholes, figures, today)
        told = _told_days(figures, today)
        days = _days(wholes, figures, told)
        months = {
            (day.month + wait - 1) % 12 + 1
            for day in told
            for wait in (-1, 1, *wholes)
            if wait <= _MONTHS
        }
        months |= figures.named("m") | {day.month for day in days}
        self._dates = months | {day.day for day in days}
        self._named = {
            "m": months,
            "d": figures.named("d") | {day.weekday() for day in told},
        }

    def unsaid(self, sentence: Figures) -> str:
        """The first number, month or day of a sentence that does not follow; empty without one."""
        for figure in sentence.numbers:
            if figure.is_sure and not self._says(figure):
                return figure.written
        for name in sentence.names:
            follow = self._named.get(name.role, name.values)
            if name.is_sure and name.values.isdisjoint(follow):
                return name.written
        return ""

    def _says(self, figure: Figure) -> bool:
        """Whether a number was said or follows, as a whole or in parts; one is not counted."""
        if not self._readings.isdisjoint(figure.readings()):
            return True
        if figure.half:
            return False
        values = figure.values
        wanted = set(values)
        # A quarter to seven is in the hour before; one of three has two others.
        is_hour = figure.is_clock and self._fractions
        is_few = figure.written.isalpha() and max(values) < _MANY_OTHERS
        if is_hour or is_few:
            wanted |= {value + 1 for value in values}
        return (
            max(values | figure.parts) <= 1
            or not self._numbers.isdisjoint(wanted)
            or not self._measures.isdisjoint(figure.measures())
            or (bool(figure.parts) and figure.parts <= self._numbers)
            or (figure.is_in_date and not self._dates.isdisjoint(values))
        )


def _amounts(values: Set[Decimal], fractions: Set[Decimal]) -> set[Decimal]:
    """What halves and quarters are added to, and times in other units."""
    wholes = values - fractions
    amounts = {
        whole + fraction
        for whole in (*wholes, Decimal(1))
        for fraction in fractions
    }
    # "Half of my 300 euros"; of less, as of 30, any number might come by chance.
    amounts |= {
        whole * fraction
        for whole in wholes
        for fraction in fractions
        if whole >= _LEAST_DIVIDED
    }
    for time in (values | amounts) - {Decimal(1)}:
        amounts.update(time * unit for unit in _TIME_UNITS)
        amounts.update(time / unit for unit in _TIME_UNITS)
    amounts.update(60 * (1 - fraction) for fraction in fractions)
    return amounts


def _years_and_ages(
    wholes: Set[int], figures: Figures, today: date
) -> set[Decimal]:
    """Years of people of an age, ages of people of a year, and years told in other ways."""
    years = {year for year in wholes if year in _YEARS}
    years |= {era + count for era in figures.named("e") for count in wholes}
    now = {*years, today.year}
    ages = {late - early for late in now for early in years}
    counts = {count for count in wholes if count <= _OLDEST} | {0, 1, 2}
    numbers = years | ages | {age - 1 for age in ages}
    for year in now:
        for count in counts:
            numbers |= {year + count, year - count, year - count - 1}
    for figure in figures.numbers:
        if len(figure.written) == len("92"):
            numbers.update(
                century + int(min(figure.values)) for century in _CENTURIES
            )
    here = {whole + era for whole in wholes for era in _OTHER_CALENDARS}
    numbers |= here.intersection(_YEARS)
    return set(map(Decimal, numbers))


def _told_days(figures: Figures, today: date) -> set[date]:
    """Today and the days that are told by day and month, in the year that is meant."""
    told = set[tuple[int, int]]()
    months, weekdays = figures.named("m"), figures.named("d")
    before: list[int] = []
    for figure in figures.numbers:
        parts = _calendar_numbers(figure.parts)
        told.update(itertools.permutations(parts, 2))
        if figure.is_in_date:
            numbers = _calendar_numbers(figure.values)
            told.update(itertools.product(numbers, [*months, *before]))
            told.update(itertools.product(before, numbers))
            before = numbers
    days = {today}
    for near, (number, month) in itertools.product(_NEAR_YEARS, told):
        day = _day(today.year + near, month, number)
        # Where a day of the week is told, it is the one of that year; 29 February is of few years.
        is_of_now = near == 0 or _day(today.year, month, number) is None
        if day and (is_of_now or day.weekday() in weekdays):
            days.add(day)
    return days


def _calendar_numbers(values: Set[Decimal]) -> list[int]:
    """The numbers that a day or a month may have."""
    return [int(value) for value in values if value <= _LONGEST_MONTH]


def _days(wholes: Set[int], figures: Figures, told: Set[date]) -> set[date]:
    """The days that are so many days or weeks from one that is told, or have a name."""
    waits = {*_NEAR_DAYS}
    for count in wholes:
        if count <= _LONGEST_WAIT:
            waits |= {count, -count, 7 * count, -7 * count}
    weekdays = figures.named("d")
    named = {day + timedelta(wait) for day in told for wait in _NAMED_DAYS}
    return {day + timedelta(wait) for day in told for wait in waits} | {
        day for day in named if day.weekday() in weekdays
    }


def _day(year: int, month: int, day: int) -> date | None:
    """A day of the calendar, if there is one."""
    try:
        return date(year, month, day)
    except ValueError:
        return None
