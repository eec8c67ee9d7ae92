"""Recognisers of dates of birth: a day near a word of birth."""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

import re

from adaptive.privacy.calendar_dates import is_birth
from adaptive.privacy.recogniser import Lead, Recogniser

# Month names by their heads, English to Indonesian; what follows may be an ending.
_MONTHS = (
    "jan|feb|fév|fev|mar|mär|apr|avr|abr|may|mai|maj|mei|mag|jun|jui|giu|jul|lug|aug|aoû|ago|sep"
    "|set|oct|okt|out|ott|nov|dec|dez|déc|dic|ene|gen|mrt|maa|sty|lut|kwi|cze|lip|sie|wrz|paź|lis"
    "|gru|янв|фев|мар|апр|мая|май|июн|июл|авг|сен|окт|ноя|дек|oca|şub|nis|haz|tem|ağu|eyl|eki|kas"
    "|ara|agu|des|gennaio|يناير|فبراير|مارس|أبريل|ابريل|مايو|يونيو|يوليو|أغسطس|اغسطس|سبتمبر|أكتوبر"
    "|اكتوبر|نوفمبر|ديسمبر|जनवरी|फरवरी|फ़रवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|सितम्बर|अक्टूबर"
    "|अक्तूबर|नवंबर|नवम्बर|दिसंबर|दिसम्बर"
)
_MONTH = rf"(?i:{_MONTHS})[^\W\d_]{{0,10}}"
_YEAR = r"(?:19|20)[0-9]{2}"
_BIRTH_HEAD = r"(?<![0-9A-Za-z])(?<![0-9][-./])"
_BIRTH_TAIL = r"(?![0-9A-Za-z])(?![-./][0-9])"


def _birth_fits(match: re.Match[str]) -> bool:
    """Numbers that are a day, in one of the two orders."""
    numbers = [int(number) for number in re.findall("[0-9]+", match[0])]
    if len(match[0]) == 8 and len(numbers) == 1:
        packed = match[0]
        numbers = [int(packed[:4]), int(packed[4:6]), int(packed[6:])]
    if len(numbers) != 3:
        return False
    first, middle, last = numbers
    if first > 31:
        return is_birth(first, middle, last)
    year = last if last > 99 else 1900 + last
    return is_birth(year, middle, first) or is_birth(year, first, middle)


def _birth(name: str, pattern: str, *leads: Lead, numeric: bool = False) -> Recogniser:
    return Recogniser(
        "birth_date",
        name,
        "",
        _BIRTH_HEAD + pattern + _BIRTH_TAIL,
        0.1,
        0.85,
        "birth",
        reach=(44, 20),
        fits=_birth_fits if numeric else None,
        against="no birth",
        leads=frozenset(leads),
    )


BIRTH_RECOGNISERS = (
    _birth("year first", rf"{_YEAR}([-./ ])[0-9]{{1,2}}\1 ?[0-9]{{1,2}}", 4, numeric=True),
    _birth("year last", rf"[0-9]{{1,2}}([-./ ]) ?[0-9]{{1,2}}\1 ?{_YEAR}", 1, 2, numeric=True),
    _birth("two digits of a year", r"[0-9]{1,2}([-./])[0-9]{1,2}\1[0-9]{2}", 1, 2, numeric=True),
    _birth("packed", rf"{_YEAR}[01][0-9][0-3][0-9]", 8, numeric=True),
    _birth(
        "day and month",
        r"[0-3]?[0-9](?:st|nd|rd|th|er|re|º|°|\.|ª|-го)?,? ?(?:of |de |d'|di |-)?"
        rf"{_MONTH}\.?(?:,? ?(?:de |del |в |-)?(?:{_YEAR}|'[0-9]{{2}}))?",
        1,
        2,
    ),
    _birth(
        "month and day",
        rf"{_MONTH}\.? (?:the )?[0-3]?[0-9](?:st|nd|rd|th)?(?:,? (?:of )?{_YEAR})?",
        "word",
    ),
    _birth(
        "Chinese and Japanese",
        r"(?:(?:昭和|平成|令和|大正)?[0-9]{1,4} ?年 ?)?[01]?[0-9] ?月 ?[0-3]?[0-9] ?[日号]?",
        1,
        2,
        4,
    ),
    _birth("Korean", r"(?:[0-9]{2,4}년 ?)?[01]?[0-9]월 ?[0-3]?[0-9]일", 1, 2, 4),
)
