"""The shapes in which personal data is written, and what each needs to be believed."""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Set
from dataclasses import dataclass

from adaptive.core.texts import word_table
from adaptive.privacy.scanning import any_of
from adaptive.privacy.secrets import is_placeholder


@dataclass(frozen=True)
class Shape:
    """One form of one kind of personal data.

    ``pattern`` is bounded in width; a group ``value`` narrows what is found. ``words`` are the
    subjects that name it; those ``against`` it, nearer before it, say it is none. ``holds`` checks
    the match, and whether it is named; where nothing checks it, one of the words must stand near.
    """

    kind: str
    pattern: re.Pattern[str]
    holds: Callable[[re.Match[str], bool], bool] | None = None
    words: Set[str] = frozenset()
    against: Set[str] = frozenset()


def _code_of(match: re.Match[str]) -> str:
    """Letters and digits alone, in capitals."""
    return "".join(filter(str.isalnum, match[0])).upper()


def _ahead(match: re.Match[str], size: int) -> str:
    """What stands before a match."""
    return match.string[max(match.start() - size, 0) : match.start()]


def _sign_before(match: re.Match[str]) -> str:
    """The sign before a match, or before the space before it."""
    return _ahead(match, 2).rstrip()[-1:]


# Of scripts that part words by spaces; others would draw in the words around.
_LETTER = "0-9A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
_MAIL = re.compile(
    rf"[{_LETTER}_](?<![{_LETTER}_%+\-].)(?<![{_LETTER}]\..)[{_LETTER}._%+'\-]{{0,63}}"
    rf"@[{_LETTER}][{_LETTER}-]{{0,62}}(?:\.[{_LETTER}][{_LETTER}-]{{0,62}}){{1,8}}"
)
# Files and packages that carry an at sign, hosts of no network, and addresses of manuals.
_NO_MAIL = re.compile(
    r"(?i).*\.(?:png|jpe?g|gif|svg|webp|css|m?js|tsx?|json|html?|php|py|rb|md|pdf|zip"
    r"|ya?ml|toml"
    r"|local|localdomain|internal|lock)|(?:your[._]?)?(?:name|user|email"
    r"|someone)@example\..*"
    r"|.*(?:\.\.|\.@).*|.*\d"
)
_CREDENTIALS = re.compile(
    r"[A-Za-z](?<![0-9A-Za-z].)[0-9A-Za-z+.\-]{1,15}://"
    r"(?:[^\s/@:\"'<>?#]{0,64}:(?P<secret>[^\s/@\"'<>]{1,128})|[0-9A-Za-z_\-]{12,128})"
    r"@[^\s/@\"'<>,;]{1,253}(?:/[^\s\"'<>]{0,200})?"
)


def _email_holds(match: re.Match[str], _named: bool) -> bool:
    """No image, repository, handle or manual's account."""
    before = _ahead(match, 70)
    is_repository = match[0].startswith("git@") and match.string.startswith(
        ("/", ":"), match.end()
    )
    is_in_url = before.endswith(":") and "://" in before
    if is_repository or is_in_url or before.endswith("@"):
        return False
    return _NO_MAIL.fullmatch(match[0]) is None


def _credentials_hold(match: re.Match[str], _named: bool) -> bool:
    """No password that stands for another."""
    return match["secret"] is None or not is_placeholder(match["secret"])


_IPV4 = re.compile(
    r"(?P<value>\d(?<![0-9A-Za-z.].)(?<![0-9A-Za-z][-+_/].)\d{0,2}(?:\.\d{1,3}){3})"
    r"(?:/\d{1,2})?(?![0-9A-Za-z]|\.\d|[-+][0-9A-Za-z])"
)
_IPV6 = re.compile(
    r"(?P<value>[0-9A-Fa-f:](?<![0-9A-Za-z:.].)[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,8})"
    r"(?:%[0-9A-Za-z]{1,16})?(?:/\d{1,3})?(?![0-9A-Za-z:])"
)
_MAC = re.compile(
    r"[0-9A-Fa-f](?<![0-9A-Za-z:.\-].)[0-9A-Fa-f]([:\-])[0-9A-Fa-f]{2}"
    r"(?:\1[0-9A-Fa-f]{2}){4}"
    r"(?![0-9A-Za-z]|[.:\-][0-9A-Za-z])"
    r"|(?<![0-9A-Za-z.])(?=[0-9.]{0,13}[A-Fa-f])(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}"
    r"(?![0-9A-Za-z])"
)


def _ip_holds(match: re.Match[str], named: bool) -> bool:
    """No mask, loopback or fingerprint; one of low numbers, as versions have, must be named."""
    try:
        address = ipaddress.ip_address(match["value"])
    except ValueError:
        return False
    if (
        address.is_loopback
        or address.is_unspecified
        or re.search(r"\.0/\d+$", match[0])
    ):
        return False
    if address.version == 6:
        groups = match["value"].split(":")
        return len(groups) > 3 and any(
            len(group) not in (0, 2) for group in groups
        )
    octets = address.packed
    if (
        octets[0] == 0
        or octets[0] >= 224
        or _sign_before(match) in tuple("第§^~=@")
    ):
        return False
    is_low = octets[0] <= 25 and octets[0] != 10 and max(octets) < 100
    return not is_low or named


def _mac_holds(match: re.Match[str], _named: bool) -> bool:
    """No row of one sign."""
    return len(set(match[0])) > 2


# Heads of numbers in groups, which may be the middle of a longer one.
_HEAD = r"(?<![0-9A-Za-z].)(?<!\d[-./].)(?<!\d{2} .)"
_PHONE = re.compile(
    r"(?P<number>[(+0-9](?:(?<![0-9A-Za-z/=_#&?%].)(?<![0-9A-Za-z][-.+,:(].)"
    r"|(?<=(?i:tel|one|fax|ell|ile)[:.=].))(?<!\d{2} .)\+? ?\d?(?:[ ().\-/]{0,3}\d){6,14})"
    r"(?:,? ?(?:ext\.?|extension|x|доб\.?|Durchwahl|poste|int\.) ?\d{1,5})?"
    r"(?![0-9A-Za-z_@])(?![-./:,]\d)(?!-[A-Za-z])(?! \d{2})"
)
# North America, Russia, and a zero to dial within a country.
_TELLING_PHONE = re.compile(
    r"(?:1[-. ])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[-. ])[2-9]\d{2}[-. ]\d{4}"
    r"|8[ -]?\(?[3-9]\d{2}\)?[ -]?\d{3}[ -]?\d{2}[ -]?\d{2}|\(\d\d\) ?9?\d{4}-\d{4}"
    r"|\(?0[1-9]\d{0,4}\)?(?:[ ./\-]{1,3}\d{2,8}){1,4}"
)
_DAY = re.compile(r"(?:19|20)?\d\d?([-./ ])\d\d?\1(?:19|20)?\d\d?")
_MEASURE = re.compile(
    r"(?i) ?(?:[€$£¥₹₽%°元円]|(?:eur|usd|euros?|dollars?|[mck]?m|m?s|kg|px|[kmg]b|db"
    r"|points)\b)"
)


def _priced(match: re.Match[str]) -> bool:
    """Whether it is an amount of something."""
    if _sign_before(match) in tuple("€$£¥₹₽₩₺₪#"):
        return True
    return _MEASURE.match(match.string, match.end()) is not None


def _phone_holds(match: re.Match[str], named: bool) -> bool:
    """As many digits as with a country code (E.164), a form that tells, or a number so named."""
    number = match["number"]
    digits = "".join(filter(str.isdigit, number.replace("(0)", "")))
    if "+" in number[:2]:
        fits = (
            len(digits) == 11 if digits[0] in "17" else 8 <= len(digits) <= 15
        )
    else:
        fits = (named and 7 <= len(digits) <= 15) or _TELLING_PHONE.fullmatch(
            number
        ) is not None
    return fits and not (_DAY.fullmatch(match[0]) or _priced(match))


_CARD = re.compile(
    rf"\d{_HEAD}\d{{3}}(?:([ .-])\d{{4}}\1\d{{4}}\1\d{{4}}(?:\1\d{{3}})?"
    r"|([ -])\d{6}\2\d{4,5}|\d{9,15})(?![0-9A-Za-z])(?![-./]\d)"
)
_IBAN = re.compile(
    r"[A-Za-z](?<![0-9A-Za-z].)[A-Za-z]\d{2}(?:[0-9A-Za-z]{11,30}"
    r"|(?:[ \-][0-9A-Z]{4}){2,7}(?:[ \-]\d[0-9A-Z]{0,2})?)(?![0-9A-Za-z])"
)
_SSN = re.compile(
    rf"\d{_HEAD}\d{{2}}(?<!000)(?<!666)([- ]?)(?!00)\d{{2}}\1(?!0000)\d{{4}}"
    r"(?!-?[0-9A-Za-z])(?![./]\d)(?! \d{2})"
)
_PASSPORT = re.compile(
    r"[0-9A-Z](?<![0-9A-Za-z].)(?=(?:[A-Z ]{0,6}\d){3})(?:[0-9A-Z]{5,8}|[A-Z]?[ -]\d{6,8}"
    r"|(?:\d ?)?\d{1,2} (?:№ ?|номер |No\.? ?)?\d{6,7})(?![0-9A-Za-z]|[-./]\d)"
)
_ID = re.compile(
    rf"[0-9A-Z]{_HEAD}(?:(?<=\d)|(?=[A-Z]{{0,6}}\d|[A-Z](?: \d{{2}}){{3}}))"
    r"(?=(?:[A-Z .\-/]{0,7}\d){4})"
    r"[0-9A-Z]{0,17}(?:[ .\-/]{1,2}(?:[0-9A-Z]{0,8}\d[0-9A-Z]{0,8}"
    r"|[A-Z]{1,2}(?![A-Za-z]))){0,7}(?![0-9A-Za-z])"
)


def _id_holds(match: re.Match[str], named: bool) -> bool:
    """As many signs as ids have, where it is named; else a form that tells."""
    digits = sum(map(str.isdigit, match[0]))
    fits = named and digits >= 5 and 7 <= len(_code_of(match)) <= 18
    return fits or _TELLING_ID.fullmatch(match[0]) is not None


def _ssn_holds(match: re.Match[str], named: bool) -> bool:
    """Named, or in groups; with a nine ahead it is a tax number."""
    return (named or (match[1] != "" and match[0][0] != "9")) and not _priced(
        match
    )


# Month names by their heads; what follows may be an ending.
_MONTH = rf"(?i:{any_of(' '.join(word_table('months')['heads']).split())})[^\W\d_]{{0,10}}"
_YEAR = r"(?:19|20|25)\d{2}"
_BIRTH = re.compile(
    r"(?<![0-9A-Za-z])(?<!\d[-./])(?:"
    rf"[0-3]?\d([-./ ]) ?[0-3]?\d\1 ?(?:19|20)?\d{{2}}"
    rf"|{_YEAR}([-./ ]) ?[0-3]?\d\2 ?[0-3]?\d|{_YEAR}[01]\d[0-3]\d"
    r"|[0-3]?\d(?:st|nd|rd|th|er|re|[º°ª.]|-го)?,? ?(?:of |de |d'|di |-)?"
    rf"(?:{_MONTH}\.?(?:,? ?(?:de |del |в |-)?(?:{_YEAR}|'\d{{2}})(?: г(?:ода|\.)?)?)?"
    rf"|[^\s\d.,;:]{{2,12}}\.? (?:năm )?{_YEAR}|tháng [01]?\d(?: năm {_YEAR})?)"
    rf"|{_MONTH}\.? (?:the )?[0-3]?\d(?:st|nd|rd|th)?(?:,? (?:of )?{_YEAR})?"
    r"|(?:(?:昭和|平成|令和)?\d{1,4} ?[年년] ?)?[01]?\d ?[月월] ?[0-3]?\d ?[日号일]?"
    r")(?![0-9A-Za-z])(?![-./]\d)"
)
_WALLET = re.compile(
    "(?<![0-9A-Za-z])(?:0x[0-9A-Fa-f]{40}|(?:bc|tb|ltc|addr|stake"
    "|cosmos)1[02-9ac-hj-np-z]{25,100}"
    "|[13](?=[0-9A-Z]{0,30}[a-z])[1-9A-HJ-NP-Za-km-z]{25,33})(?![0-9A-Za-z])"
)
_CODED = re.compile(
    r"(?<![0-9A-Za-z])(?=\d{0,30}[A-Za-z])[0-9A-Za-z]{26,110}(?![0-9A-Za-z])"
)
_PAIR = re.compile(
    r"[-+0-9](?<![0-9A-Za-z_.,].)(?<![0-9A-Za-z_.,][-+].)\d{0,2}\.\d{2,15}"
    r"(?: ?[,;/] ?| | and | und | et | y |[,;&、，度]{0,2} ?[\"']?"
    r"(?:(?i:long?(?:itude)?|lng)|[経经]度)[\"':=：は ]{0,4})"
    r"[-+]?\d{1,3}\.\d{2,15}(?![0-9A-Za-z_%])"
)
_DEGREES = (
    r"(?:[.,]\d{1,12})? ?(?:[°度][0-9 .,'\"\u2032\u2033\u201d分秒]{0,20})?"
)
_PLACE = re.compile(
    rf"\d(?<![0-9A-Za-z.,].)(?=\d?[.,°度])\d?{_DEGREES}(?:(?i:nord|north|[ns])"
    rf"|[сю]\. ?ш\.),?"
    rf" {{0,2}}\d{{1,3}}{_DEGREES}(?:(?i:ost|east|west|[ewo])|[вз]\. ?д\.)(?![0-9A-Za-z])"
    rf"|[NS] ?\d\d?{_DEGREES},? {{0,2}}[EWO] ?\d{{1,3}}{_DEGREES}"
    rf"|[北南][纬緯]\d\d?{_DEGREES}[、，, ]{{0,2}}[东東西][经経]\d{{1,3}}{_DEGREES}"
)


def _coordinates_hold(match: re.Match[str], named: bool) -> bool:
    """Within the globe, and no measure, no call of a drawing, no part of a list of numbers."""
    latitude, longitude = re.findall(r"\d+\.\d+", match[0])
    around = (
        _ahead(match, 3) + "_" + match.string[match.end() : match.end() + 5]
    )
    if _priced(match) or re.search(
        r"\d[,;] ?_|_ ?[,;] ?[-+]?\d|\w\(_", around
    ):
        return False
    if float(latitude) > 90 or float(longitude) > 180:
        return False
    # Two shares of one, as in vectors, are on the open sea off Ghana.
    if float(latitude) + float(longitude) <= 1:
        return False
    return named or min(len(latitude), len(longitude)) >= 6


# Check digits, separators left out.
_CARD_ISSUERS = re.compile(
    "4[0-9]{12}(?:[0-9]{3}){0,2}|[56][0-9]{15}(?:[0-9]{2,3})?|(?:2[2-7]|35|36|8[12]"
    "|97)[0-9]{14}"
    "|3[47][0-9]{13}|3[068][0-9]{12}"
)


def _card_holds(match: re.Match[str], _named: bool) -> bool:
    """Whether digits begin and are as many as on an issuer's cards, and fit Luhn."""
    digits = _code_of(match)
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    fits = (doubled + sum(map(int, digits[-1::-2]))) % 10 == 0
    return (
        fits
        and len(set(digits)) > 1
        and _CARD_ISSUERS.fullmatch(digits) is not None
    )


def _iban_holds(match: re.Match[str], _named: bool) -> bool:
    """Whether a code has the remainder 1 (ISO 13616)."""
    code = _code_of(match)
    return (
        int("".join(str(int(sign, 36)) for sign in code[4:] + code[:4])) % 97
        == 1
    )


# Ids that their form tells: China, Korea, Brazil, Russia, Spain's foreigners, Italy, Mexico.
_TELLING_ID = re.compile(
    r"[1-9]\d{5}(?:19|20)\d{2}[01]\d[0-3]\d{4}[\dX]|\d{6}-[1-4]\d{6}"
    r"|\d{3}\.\d{3}\.\d{3}-\d\d"
    r"|\d{3}-\d{3}-\d{3}[ -]\d\d|[XYZ][ -]?\d{7}[ -]?[A-Z]"
    r"|[A-Z]{6}\d\d[A-Z]\d\d[A-Z]\d{3}[A-Z]"
    r"|[A-Z]{4}\d{6}[HMX][A-Z]{5}\w\d"
)
_NUMBERS = {"counter", "passport", "ssn", "phone", "id"}
SHAPES = (
    Shape("email", _MAIL, _email_holds),
    Shape("url_credentials", _CREDENTIALS, _credentials_hold),
    Shape("ip", _IPV4, _ip_holds, words={"ip"}, against={"counter"}),
    Shape("ip", _IPV6, _ip_holds),
    Shape("mac", _MAC, _mac_holds),
    Shape("card", _CARD, _card_holds, against={"counter"}),
    Shape("iban", _IBAN, _iban_holds),
    Shape("phone", _PHONE, _phone_holds, words={"phone"}, against=_NUMBERS),
    Shape("national_id", _ID, _id_holds, words={"id"}, against=_NUMBERS),
    Shape("ssn", _SSN, _ssn_holds, words={"ssn"}, against=_NUMBERS),
    Shape(
        "passport", _PASSPORT, words={"passport"}, against={"counter", "id"}
    ),
    Shape("birth_date", _BIRTH, words={"birth"}),
    Shape("crypto_wallet", _WALLET),
    Shape("crypto_wallet", _CODED, words={"wallet"}),
    Shape(
        "coordinates",
        _PAIR,
        _coordinates_hold,
        words={"coordinates"},
        against={"counter"},
    ),
    Shape("coordinates", _PLACE),
)
