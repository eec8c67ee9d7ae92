"""Phone numbers: international ones, those whose form tells, and any number called so."""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from adaptive.privacy.recogniser import Lead, Recogniser
from adaptive.soft import soft_import

# How many digits follow a country code (ITU-T E.164 and the national plans in Operational
# Bulletin annexes); other countries have 6 to 12.
_NATIONAL_LENGTHS: Mapping[str, tuple[int, int]] = {
    **dict.fromkeys(("1",), (10, 10)),
    **dict.fromkeys(("7", "90", "91", "92", "63", "98"), (10, 10)),
    "52": (10, 11),  # with the one that mobile numbers had until 2019
    **dict.fromkeys(("33", "34", "31", "32", "48", "61", "27", "30", "41", "46", "351"), (8, 10)),
    **dict.fromkeys(("44", "55", "81", "82", "86", "234", "880", "54", "57"), (8, 11)),
    **dict.fromkeys(("45", "47", "65", "852", "971", "966", "972", "420", "353"), (8, 9)),
}
_COUNTRY_CODES = frozenset(
    [
        "1",
        "7",
        "20",
        "27",
        "30",
        "31",
        "32",
        "33",
        "34",
        "36",
        "39",
        "40",
        "41",
        "43",
        "44",
        "45",
        "46",
        "47",
        "48",
        "49",
        "51",
        "52",
        "53",
        "54",
        "55",
        "56",
        "57",
        "58",
        "60",
        "61",
        "62",
        "63",
        "64",
        "65",
        "66",
        "81",
        "82",
        "84",
        "86",
        "90",
        "91",
        "92",
        "93",
        "94",
        "95",
        "98",
        "800",
        "808",
        "850",
        "852",
        "853",
        "855",
        "856",
        "870",
        "878",
        "880",
        "881",
        "882",
        "883",
        "886",
        "888",
        "960",
        "961",
        "962",
        "963",
        "964",
        "965",
        "966",
        "967",
        "968",
        "970",
        "971",
        "972",
        "973",
        "974",
        "975",
        "976",
        "977",
        "979",
        "992",
        "993",
        "994",
        "995",
        "996",
        "998",
    ]
)
_MORE_COUNTRY_CODES = r"2[1-69][0-9]|3[578][0-9]|42[013]|5[09][0-9]|6[789][0-9]"
_NO_PHONE = (
    r"(?:19|20)[0-9]{2}[-./ ][0-9]{1,2}[-./ ][0-9]{1,2}"  # a date
    r"|[0-9]{1,2}[-./ ][0-9]{1,2}[-./ ](?:19|20)?[0-9]{2}"
    r"|[0-9]{1,2}[-./ ][0-9]{1,2}[-./ ](?:19|20)[0-9]{2} [0-9]{1,2}"
    r"|(?:19|20)[0-9]{2} ?[-/] ?(?:19|20)[0-9]{2}"  # years
    r"|[0-9]{1,3}(?:\.[0-9]{1,3}){3}"  # an internet address
    r"|[0-9]{1,3}(?:\.[0-9]{3}){1,4}"  # thousands
    r"|[1-9][0-9]{0,2}(?: 000){1,4}"
    r"|[0-9]{1,9}\.[0-9]{1,9}"  # a fraction
    r"|0[0-9](?:[-. ]0[0-9]){3}"  # steps
    r"|([0-9])\1{6,14}"
)
_MONEY_BEFORE = "€$£¥₹₽₩₺₪#"
_MONEY_BEHIND = (
    r"[ ]?(?:[€$£¥₹₽₩₺%°]|(?:EUR|USD|GBP|JPY|CNY|INR|RUB|PLN|BRL|TRY|CHF|euros?|dollars?|pounds"
    r"|yen|rupees|reais|pesos|zł|руб|km|kg|people|users|views|votes|bytes|MB|GB)\b|[元円원万])"
)
_PHONE_HEAD = (
    r"(?:(?<![0-9A-Za-z/=_#&?%])(?<![0-9A-Za-z][-.+,:(])|(?<=(?i:tel|one|fax|ell|ile)[:.=]))"
    r"(?<![0-9]{2} )"
)
_PHONE_TAIL = r"(?![0-9A-Za-z_@])(?![-./:,][0-9])(?![-][A-Za-z])(?! [0-9]{2})"
_PHONE_EXTENSION = r"(?:,? ?(?:ext\.?|extension|x|доб\.?|Durchwahl|poste|int\.) ?[0-9]{1,5})?"


def _phone_fits(match: re.Match[str]) -> bool:
    """No date, sum, share or address, and no amount of money around it."""
    text = match.string
    before = text[max(match.start() - 2, 0) : match.start()].rstrip()
    if before and before[-1] in _MONEY_BEFORE:
        return False
    return not (
        _phone_pattern(_NO_PHONE).fullmatch(match[0])
        or _phone_pattern(_MONEY_BEHIND).match(text, match.end())
    )


@cache
def _phone_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _international_fits(match: re.Match[str]) -> bool:
    return international_phone_holds(match["number"]) and _phone_fits(match)


def international_phone_holds(number: str) -> bool:
    """Whether digits with a country code are as many as that country's numbers have."""
    digits = "".join(filter(str.isdigit, number.replace("(0)", "")))
    digits = digits.removeprefix("00")
    for size in (1, 2, 3):
        code = digits[:size]
        if code in _COUNTRY_CODES or (
            size == 3 and _phone_pattern(_MORE_COUNTRY_CODES).fullmatch(code)
        ):
            fewest, most = _NATIONAL_LENGTHS.get(code, (6, 12))
            return fewest <= len(digits) - size <= most
    return False


@cache
def phone_library() -> Any | None:
    """The package ``phonenumbers``, or ``None`` where it is not installed."""
    return soft_import("phonenumbers", "phone numbers are judged by country code and length alone")


def possible_phones(numbers: Sequence[str], library: Any | None) -> list[bool]:
    """Which of some international numbers are possible, in the view of ``phonenumbers``.

    Without the library all are. It takes about 0.1 ms for a number, so that it is asked for the
    first hundred only.
    """
    if library is None:
        return [True] * len(numbers)
    verdicts = [_possible_phone(number, library) for number in numbers[:100]]
    return verdicts + [True] * (len(numbers) - len(verdicts))


def _possible_phone(number: str, library: Any) -> bool:
    try:
        parsed = library.parse("+" + "".join(filter(str.isdigit, number)).removeprefix("00"))
    except library.NumberParseException:
        return False
    return bool(library.is_possible_number(parsed))


def _national_phone(name: str, pattern: str, score: float, *leads: Lead) -> Recogniser:
    return Recogniser(
        "phone",
        name,
        "",
        _PHONE_HEAD + pattern + _PHONE_EXTENSION + _PHONE_TAIL,
        score,
        0.85,
        "phone",
        fits=_phone_fits,
        against="another number",
        leads=frozenset(leads),
    )


PHONE_RECOGNISERS = (
    Recogniser(
        "phone",
        "international",
        "",
        r"(?<![0-9A-Za-z/=_&?%+])(?P<number>\(?\+ ?[1-9](?:[ ().\-/]{0,3}[0-9]){6,14})"
        + _PHONE_EXTENSION
        + r"(?![0-9A-Za-z_@])(?![,:][0-9])",
        0.8,
        0.9,
        "phone",
        fits=_international_fits,
        countered=False,
        leads=frozenset({"+"}),
    ),
    Recogniser(
        "phone",
        "international with zeros",
        "",
        _PHONE_HEAD
        + r"(?P<number>00[ ]?[1-9](?:[ ().\-/]{0,3}[0-9]){8,14})"
        + _PHONE_EXTENSION
        + _PHONE_TAIL,
        0.6,
        0.9,
        "phone",
        fits=_international_fits,
        leads=frozenset({"any"}),
    ),
    _national_phone(
        "North America",
        r"(?:1[-. ])?(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[-. ])[2-9][0-9]{2}[-. ][0-9]{4}",
        0.6,
        1,
        3,
        "(",
    ),
    _national_phone("France", r"0[1-9](?:[ .\-][0-9]{2}){4}", 0.65, 2),
    _national_phone(
        "Russia", r"8[ -]?\(?[3489][0-9]{2}\)?[ -]?[0-9]{3}[ -][0-9]{2}[ -][0-9]{2}", 0.6, 1, 4, 7
    ),
    _national_phone("Brazil", r"\(0?[1-9][0-9]\) ?(?:9 ?)?[0-9]{4}[- ][0-9]{4}", 0.65, "("),
    _national_phone("Spain", r"[6-9][0-9]{2} [0-9]{2} [0-9]{2} [0-9]{2}", 0.5, 3),
    _national_phone("Brazil, mobile", r"[1-9][1-9] 9[0-9]{4}-[0-9]{4}", 0.55, 2),
    _national_phone(
        "China, mobile", r"1[3-9][0-9](?:[0-9]{8}|[- ][0-9]{4}[- ][0-9]{4})", 0.5, 3, 11
    ),
    _national_phone("Turkey", r"0?\(?5[0-9]{2}\)? [0-9]{3} [0-9]{2} [0-9]{2}", 0.6, 1, 3, 4, "("),
    # A zero in front to dial within the country, and the number in groups.
    _national_phone(
        "trunk zero",
        r"(?=[0-9 ()/\-]{10,17}(?![0-9]))\(?0[1-9][0-9]{0,4}\)?[ /\-]{1,3}[0-9]{2,8}"
        r"(?:[ \-][0-9]{2,5}){0,3}",
        0.55,
        2,
        3,
        4,
        5,
        6,
        "(",
    ),
    _national_phone("India", r"0?[6-9][0-9]{4}[- ][0-9]{5}", 0.3, 5, 6),
    _national_phone("any", r"\(?[0-9](?:[ ().\-/]{0,2}[0-9]){6,11}", 0.1, "any", "("),
)
