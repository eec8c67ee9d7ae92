"""Check digits of cards, bank accounts and the commonest national ids, separators left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_ISSUERS = re.compile(
    "4[0-9]{12}(?:[0-9]{3}){0,2}|[56][0-9]{15}(?:[0-9]{2,3})?|(?:2[2-7]|35|36|8[12]|97)[0-9]{14}"
    "|3[47][0-9]{13}|3[068][0-9]{12}"
)


def card_holds(digits: str) -> bool:
    """Whether digits begin and are as many as on an issuer's cards, and fit Luhn."""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    fits = (doubled + sum(map(int, digits[-1::-2]))) % 10 == 0
    return fits and len(set(digits)) > 1 and _ISSUERS.fullmatch(digits) is not None


def iban_holds(code: str) -> bool:
    """Whether a code in capitals has the remainder 1 (ISO 13616)."""
    return int("".join(str(int(sign, 36)) for sign in code[4:] + code[:4])) % 97 == 1


def _chinese_holds(code: str) -> bool:
    """ISO 7064 MOD 11-2."""
    values = [10 if sign == "X" else int(sign) for sign in code]
    return sum(value << place for place, value in enumerate(reversed(values))) % 11 == 1


def _nir_holds(code: str) -> bool:
    digits = code.replace("2A", "19").replace("2B", "18")
    return 97 - int(digits[:13]) % 97 == int(digits[13:])


def _dni_holds(code: str) -> bool:
    number = code[:-1].translate(str.maketrans("XYZ", "012"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == code[-1]


# How ids are written that tell themselves, in capitals, and their checks.
_IDS: Mapping[str, Callable[[str], bool]] = {
    r"[1-9]\d{5}(?:19|20)\d{9}[\dX]": _chinese_holds,
    r"\d{3}\.\d{3}\.\d{3}-\d\d": bool,  # Brazil
    r"\d{3}-\d{3}-\d{3}[ -]\d\d": bool,  # Russia
    r"[12](?: ?\d\d){2} ?(?:\d\d|2[AB])(?: ?\d{3}){2} ?\d\d": _nir_holds,  # France
    r"(?:\d\d(?:\.?\d{3}){2}|[XYZ][ -]?\d{7})[ -]?[A-Z]": _dni_holds,  # Spain
    r"[A-Z]{6}\d\d[A-Z]\d\d[A-Z]\d{3}[A-Z]": bool,  # Italy
    r"[A-Z]{4}\d{6}[HMX][A-Z]{5}\w\d": bool,  # Mexico
    r"\d{6}-[1-4]\d{6}": bool,  # Korea
}


def id_holds(written: str) -> bool:
    """Whether this, in capitals, is an id by its form and its check."""
    code = "".join(filter(str.isalnum, written))
    return any(re.fullmatch(form, written) and holds(code) for form, holds in _IDS.items())
