"""National ids: the published formats with their check digits.

The ten largest countries by internet users whose id for persons has a public checksum (ITU figures
for 2023, with China, India, Brazil, Russia, Japan, Mexico, Germany, Turkey, Iran and Thailand ahead
of the rest); the United States, Indonesia, Nigeria and Pakistan lie between them, whose ids have
none. Further ones follow, as their speakers use the languages of the recognisers. Each function
takes the number without separators, letters in capitals.
"""

from __future__ import annotations

from adaptive.privacy.calendar_dates import is_birth, is_day
from adaptive.privacy.checksums import (
    luhn_holds,
    mod_11_2_holds,
    mod_11_10_holds,
    verhoeff_holds,
    weighted_sum,
)

_CHINESE_PROVINCES = frozenset(
    [
        "11",
        "12",
        "13",
        "14",
        "15",
        "21",
        "22",
        "23",
        "31",
        "32",
        "33",
        "34",
        "35",
        "36",
        "37",
        "41",
        "42",
        "43",
        "44",
        "45",
        "46",
        "50",
        "51",
        "52",
        "53",
        "54",
        "61",
        "62",
        "63",
        "64",
        "65",
        "71",
        "81",
        "82",
        "83",
    ]
)
_MEXICAN_STATES = frozenset(
    [
        "AS",
        "BC",
        "BS",
        "CC",
        "CL",
        "CM",
        "CS",
        "CH",
        "DF",
        "DG",
        "GT",
        "GR",
        "HG",
        "JC",
        "MC",
        "MN",
        "MS",
        "NT",
        "NL",
        "OC",
        "PL",
        "QT",
        "QR",
        "SP",
        "SL",
        "SR",
        "TC",
        "TS",
        "TL",
        "VZ",
        "YN",
        "ZS",
        "NE",
    ]
)
_CURP_ALPHABET = "0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ"
_SPANISH_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
# Letters that stand for digits where two Italians would share a code (omocodia).
_ITALIAN_DIGITS = str.maketrans("LMNPQRSTUV", "0123456789")
_ITALIAN_MONTHS = "ABCDEHLMPRST"
_ITALIAN_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22)
_ITALIAN_ODD_LETTERS = (*_ITALIAN_ODD, 25, 24, 23)


def _pii_uniform(digits: str) -> bool:
    return digits == digits[0] * len(digits)


def chinese_id_holds(number: str) -> bool:
    """Resident identity number: area, birth date, order, MOD 11-2 (GB 11643-1999)."""
    return (
        number[:2] in _CHINESE_PROVINCES
        and is_birth(int(number[6:10]), int(number[10:12]), int(number[12:14]))
        and mod_11_2_holds(number)
    )


def indian_aadhaar_holds(number: str) -> bool:
    """Aadhaar: twelve digits, first 2 to 9, Verhoeff (UIDAI, A UID Numbering Scheme, 2010)."""
    return number[0] not in "01" and number != number[::-1] and verhoeff_holds(number)


def brazilian_cpf_holds(number: str) -> bool:
    """CPF: nine digits, two check digits by MOD 11 (Receita Federal, IN RFB 1548/2015)."""
    if _pii_uniform(number):
        return False
    first = weighted_sum(number[:9], range(10, 1, -1)) * 10 % 11 % 10
    second = weighted_sum(number[:10], range(11, 1, -1)) * 10 % 11 % 10
    return number[9:] == f"{first}{second}"


def brazilian_cnpj_holds(number: str) -> bool:
    """CNPJ, which a sole trader has as well: twelve digits and two (IN RFB 1863/2018)."""
    if _pii_uniform(number):
        return False
    weights = (6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
    first = -weighted_sum(number[:12], weights[1:]) % 11 % 10
    second = -weighted_sum(number[:13], weights) % 11 % 10
    return number[12:] == f"{first}{second}"


def russian_snils_holds(number: str) -> bool:
    """SNILS: nine digits weighted 9 to 1, MOD 101, two check digits (Social Fund of Russia)."""
    check = weighted_sum(number[:9], range(9, 0, -1)) % 101 % 100
    return int(number[:9]) > 1_001_998 and int(number[9:]) == check


def russian_inn_holds(number: str) -> bool:
    """INN of a person: ten digits and two check digits by MOD 11 (FNS, order ЕД-7-14/559)."""
    if _pii_uniform(number):
        return False
    weights = (3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8)
    first = weighted_sum(number[:10], weights[1:]) % 11 % 10
    second = weighted_sum(number[:11], weights) % 11 % 10
    return number[10:] == f"{first}{second}"


def japanese_my_number_holds(number: str) -> bool:
    """Individual Number: eleven digits, MOD 11 (Ministry ordinance 85 of 2014, article 5)."""
    rest = weighted_sum(number[:11], (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return not _pii_uniform(number) and int(number[11]) == (0 if rest <= 1 else 11 - rest)


def mexican_curp_holds(number: str) -> bool:
    """CURP: name, birth date, sex, state, MOD 10 check (SEGOB, instructivo normativo, 2021)."""
    if number[11:13] not in _MEXICAN_STATES or not is_day(int(number[6:8]), int(number[8:10])):
        return False
    total = sum(
        _CURP_ALPHABET.index(character) * weight
        for character, weight in zip(number[:17], range(18, 1, -1), strict=True)
    )
    return int(number[17]) == -total % 10


def german_tax_id_holds(number: str) -> bool:
    """Steuer-ID: one digit of the first ten twice or thrice, MOD 11,10 (BZSt, § 139b AO)."""
    repeated = [number[:10].count(digit) for digit in set(number[:10])]
    return (
        number[0] != "0"
        and sum(count > 1 for count in repeated) == 1
        and max(repeated) <= 3
        and mod_11_10_holds(number)
    )


def german_card_holds(number: str) -> bool:
    """Identity card or passport: nine characters and a digit weighted 7, 3, 1 (ICAO Doc 9303)."""
    values = [int(character, 36) for character in number]
    return sum(v * w for v, w in zip(values[:9], (7, 3, 1) * 3, strict=True)) % 10 == values[9]


def turkish_id_holds(number: str) -> bool:
    """T.C. Kimlik No: nine digits, two check digits (Law 5490, General Directorate NVİ)."""
    digits = [int(digit) for digit in number]
    tenth = (sum(digits[0:9:2]) * 7 - sum(digits[1:8:2])) % 10
    return digits[0] > 0 and digits[9] == tenth and digits[10] == sum(digits[:10]) % 10


def iranian_id_holds(number: str) -> bool:
    """Code melli: nine digits and a check digit by MOD 11 (Civil Registration)."""
    rest = weighted_sum(number[:9], range(10, 1, -1)) % 11
    return not _pii_uniform(number) and int(number[9]) == (rest if rest < 2 else 11 - rest)


def thai_id_holds(number: str) -> bool:
    """Citizen number: twelve digits weighted 13 to 2, MOD 11 (Department of Provincial Admin.)."""
    total = weighted_sum(number[:12], range(13, 1, -1))
    return number[0] not in "09" and int(number[12]) == (11 - total % 11) % 10


def french_nir_holds(number: str) -> bool:
    """NIR: sex, year, month, place, order, key 97 (INSEE); Corsica's 2A and 2B as 19 and 18."""
    plain = number.replace("2A", "19", 1).replace("2B", "18", 1)
    if not plain.isdigit() or not (1 <= int(plain[3:5]) <= 12 or 20 <= int(plain[3:5]) <= 42):
        return False
    return plain[0] in "1278" and 97 - int(plain[:13]) % 97 == int(plain[13:])


def british_nhs_holds(number: str) -> bool:
    """NHS number: nine digits weighted 10 to 2, MOD 11 (NHS Data Dictionary)."""
    check = 11 - weighted_sum(number[:9], range(10, 1, -1)) % 11
    return not _pii_uniform(number) and int(number[9]) == check % 11


def italian_code_holds(number: str) -> bool:
    """Codice fiscale: name, birth date, place, control letter (DM 23 December 1976)."""
    plain = number[:6] + number[6:8].translate(_ITALIAN_DIGITS) + number[8]
    plain += number[9:11].translate(_ITALIAN_DIGITS)
    if not (plain[6:8] + plain[9:11]).isdigit():
        return False
    day = int(plain[9:11]) % 40
    if number[8] not in _ITALIAN_MONTHS or not is_day(_ITALIAN_MONTHS.index(number[8]) + 1, day):
        return False
    values = [int(c) if c.isdigit() else ord(c) - 65 for c in number[:15]]
    total = sum(_ITALIAN_ODD_LETTERS[value] for value in values[0::2]) + sum(values[1::2])
    return total % 26 == ord(number[15]) - 65


def spanish_dni_holds(number: str) -> bool:
    """DNI or NIE: number, MOD 23, letter (Real Decreto 1553/2005); X, Y, Z count as 0, 1, 2."""
    plain = number[0].translate(str.maketrans("XYZ", "012")) + number[1:8]
    return plain != "00000000" and _SPANISH_LETTERS[int(plain) % 23] == number[8]


def polish_pesel_holds(number: str) -> bool:
    """PESEL: birth date with the century in its month, MOD 10 (Act of 24 September 2010)."""
    month = int(number[2:4]) % 20
    total = weighted_sum(number[:10], (1, 3, 7, 9, 1, 3, 7, 9, 1, 3))
    return is_day(month, int(number[4:6])) and int(number[10]) == -total % 10


def dutch_bsn_holds(number: str) -> bool:
    """BSN: the eleven test, last weight minus one (Logisch ontwerp BSN, RvIG)."""
    total = weighted_sum(number, (9, 8, 7, 6, 5, 4, 3, 2, -1))
    return not _pii_uniform(number) and total % 11 == 0


def portuguese_nif_holds(number: str) -> bool:
    """NIF of a person: eight digits weighted 9 to 2, MOD 11 (Decreto-Lei 14/2013)."""
    check = 11 - weighted_sum(number[:8], range(9, 1, -1)) % 11
    return number[0] in "123" and int(number[8]) == (0 if check >= 10 else check)


def korean_id_holds(number: str) -> bool:
    """Resident registration number, first seven digits: birth date and century (Law 8422).

    The check digit is not asked for: numbers given since October 2020 have none.
    """
    return is_day(int(number[2:4]), int(number[4:6])) and number[6] in "12345678"


def canadian_sin_holds(number: str) -> bool:
    """SIN: nine digits by Luhn, first neither 0 nor 8 (Employment and Social Development)."""
    return number[0] not in "08" and not _pii_uniform(number) and luhn_holds(number)


def indonesian_nik_holds(number: str) -> bool:
    """NIK: province, birth date with 40 added to a woman's day; no checksum (Law 23/2006)."""
    day = int(number[6:8])
    return "11" <= number[:2] <= "97" and is_day(int(number[8:10]), day - 40 * (day > 40))


def swiss_ahv_holds(number: str) -> bool:
    """AHV number: 756, nine digits, EAN-13 check (Regulation 831.101, article 133)."""
    return weighted_sum(number, (1, 3) * 7) % 10 == 0


def american_ssn_holds(number: str) -> bool:
    """SSN: no area 000, 666 or from 900 on, no group 00, no serial 0000 (SSA, RM 10201.035)."""
    area, group, serial = number[:3], number[3:5], number[5:]
    if area in {"000", "666"} or group == "00" or serial == "0000" or _pii_uniform(number):
        return False
    return area < "900"


def american_itin_holds(number: str) -> bool:
    """ITIN: a nine in front, group 50 to 65, 70 to 88, 90 to 92 or 94 to 99 (IRS, Pub. 1915)."""
    group = int(number[3:5])
    return number[0] == "9" and group >= 50 and group not in {*range(66, 70), 89, 93}
