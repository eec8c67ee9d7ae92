"""Recognisers of national ids and passports."""

# ruff: noqa: RUF001 - words of many scripts

from __future__ import annotations

import re
from collections.abc import Callable

from adaptive.privacy.national_ids import (
    american_itin_holds,
    american_ssn_holds,
    brazilian_cnpj_holds,
    brazilian_cpf_holds,
    british_nhs_holds,
    canadian_sin_holds,
    chinese_id_holds,
    dutch_bsn_holds,
    french_nir_holds,
    german_card_holds,
    german_tax_id_holds,
    indian_aadhaar_holds,
    indonesian_nik_holds,
    iranian_id_holds,
    italian_code_holds,
    japanese_my_number_holds,
    korean_id_holds,
    mexican_curp_holds,
    polish_pesel_holds,
    portuguese_nif_holds,
    russian_inn_holds,
    russian_snils_holds,
    spanish_dni_holds,
    swiss_ahv_holds,
    thai_id_holds,
    turkish_id_holds,
)
from adaptive.privacy.recogniser import (
    GROUP_HEAD,
    GROUP_TAIL,
    HEAD,
    TAIL,
    Lead,
    PersonalKind,
    Recogniser,
)


def _british_nino_fits(match: re.Match[str]) -> bool:
    """None of the prefixes that are not given out (HMRC, NIM39110)."""
    return match[0][:2].upper() not in {"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"}


def _passport_fits(match: re.Match[str]) -> bool:
    """As many digits as a number needs; no year, no day written without separators."""
    digits = sum(map(str.isdigit, match[0]))
    if _PACKED_DAY.fullmatch(match[0]):
        return False
    if 3 <= digits < 5 and _MIXED_PASSPORT.fullmatch(match[0]):
        return True
    behind = match.string[match.end() : match.end() + 4].lower()
    return digits >= 5 and not behind.lstrip().startswith(("€", "$", "руб", "eur", "usd", "円"))


def _national_id(
    name: str,
    pattern: str,
    score: float,
    holds: Callable[[str], bool] | None,
    context: str,
    *leads: Lead,
    kind: PersonalKind = "national_id",
) -> Recogniser:
    return Recogniser(
        kind,
        name,
        "",
        GROUP_HEAD + pattern + GROUP_TAIL,
        score,
        0.95,
        context,
        holds=holds,
        # One in ten or eleven of all numbers in such groups holds by chance.
        against="another number" if score < 0.6 else "counter",
        leads=frozenset(leads),
    )


# German passports and cards have letters without vowels anywhere (BMI, "Seriennummer").
_PACKED_DAY = re.compile("(?:0[1-9]|[12][0-9]|3[01])(?:0[1-9]|1[0-2])(?:19|20)[0-9]{2}")
_MIXED_PASSPORT = re.compile("[CFGHJKLMNPRTVWXYZ][0-9CFGHJKLMNPRTVWXYZ]{8}")

ID_RECOGNISERS = (
    _national_id(
        "China",
        r"[1-9][0-9]{5}(?:19|20)[0-9]{2}[01][0-9][0-3][0-9]{4}[0-9Xx]",
        0.9,
        chinese_id_holds,
        "chinese_id",
        17,
        18,
    ),
    _national_id(
        "India, grouped",
        r"[2-9][0-9]{3}([ -])[0-9]{4}\1[0-9]{4}",
        0.55,
        indian_aadhaar_holds,
        "aadhaar",
        4,
    ),
    _national_id("India", r"[2-9][0-9]{11}", 0.3, indian_aadhaar_holds, "aadhaar", 12),
    _national_id(
        "India, tax", r"[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]", 0.6, None, "pan", "letters"
    ),
    _national_id(
        "Brazil, grouped",
        r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}",
        0.9,
        brazilian_cpf_holds,
        "cpf",
        3,
    ),
    _national_id("Brazil", r"[0-9]{9}-?[0-9]{2}", 0.35, brazilian_cpf_holds, "cpf", 9, 11),
    _national_id(
        "Brazil, trader",
        r"[0-9]{2}\.?[0-9]{3}\.?[0-9]{3}/[0-9]{4}-?[0-9]{2}",
        0.9,
        brazilian_cnpj_holds,
        "cnpj",
        2,
        5,
        8,
    ),
    _national_id(
        "Russia, SNILS",
        r"[0-9]{3}-[0-9]{3}-[0-9]{3}[ -][0-9]{2}",
        0.85,
        russian_snils_holds,
        "snils",
        3,
    ),
    _national_id("Russia, SNILS plain", r"[0-9]{11}", 0.2, russian_snils_holds, "snils", 11),
    _national_id("Russia, INN", r"[0-9]{12}", 0.4, russian_inn_holds, "inn", 12),
    _national_id(
        "Japan",
        r"[0-9]{4}([ -]?)[0-9]{4}\1[0-9]{4}",
        0.3,
        japanese_my_number_holds,
        "my_number",
        4,
        12,
    ),
    _national_id(
        "Mexico",
        r"[A-Z][AEIOUX][A-Z]{2}[0-9]{6}[HMX][A-Z]{2}[B-DF-HJ-NP-TV-Z]{3}[0-9A-Z][0-9]",
        0.95,
        mexican_curp_holds,
        "curp",
        "letters",
    ),
    _national_id(
        "Germany, grouped",
        r"[1-9][0-9] [0-9]{3} [0-9]{3} [0-9]{3}",
        0.55,
        german_tax_id_holds,
        "steuer_id",
        2,
    ),
    _national_id("Germany", r"[1-9][0-9]{10}", 0.3, german_tax_id_holds, "steuer_id", 11),
    _national_id(
        "Germany, card",
        r"[CFGHJKLMNPRTVWXYZ][0-9CFGHJKLMNPRTVWXYZ]{8}[0-9]",
        0.3,
        german_card_holds,
        "german_card",
        "letters",
    ),
    _national_id("Turkey", r"[1-9][0-9]{10}", 0.4, turkish_id_holds, "tckn", 11),
    _national_id("Iran", r"[0-9]{3}-?[0-9]{6}-?[0-9]", 0.3, iranian_id_holds, "melli", 3, 9, 10),
    _national_id(
        "Thailand, grouped",
        r"[1-8]([ -])[0-9]{4}\1[0-9]{5}\1[0-9]{2}\1[0-9]",
        0.85,
        thai_id_holds,
        "thai_id",
        1,
    ),
    _national_id("Thailand", r"[1-8][0-9]{12}", 0.3, thai_id_holds, "thai_id", 13),
    _national_id(
        "France",
        r"[1278] ?[0-9]{2} ?[0-9]{2} ?(?:[0-9]{2}|2[AB]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}",
        0.85,
        french_nir_holds,
        "nir",
        1,
        3,
        5,
        7,
        10,
        13,
        15,
    ),
    _national_id(
        "Britain, health",
        r"[0-9]{3}([ -]?)[0-9]{3}\1[0-9]{4}",
        0.3,
        british_nhs_holds,
        "nhs",
        3,
        10,
    ),
    Recogniser(
        "national_id",
        "Britain, insurance",
        "",
        HEAD + r"[A-CEGHJ-PR-TW-Za-ceghj-pr-tw-z][A-CEGHJ-NPR-TW-Za-ceghj-npr-tw-z]"
        r"([ -]?)[0-9]{2}\1[0-9]{2}\1[0-9]{2}\1[A-Da-d]" + TAIL,
        0.75,
        0.95,
        "nino",
        fits=_british_nino_fits,
        leads=frozenset({"word"}),
    ),
    _national_id(
        "Italy",
        r"[A-Za-z]{6}[0-9L-NP-Vl-np-v]{2}[A-EHLMPRSTa-ehlmprst][0-9L-NP-Vl-np-v]{2}[A-Za-z]"
        r"[0-9L-NP-Vl-np-v]{3}[A-Za-z]",
        0.9,
        italian_code_holds,
        "codice",
        "letters",
    ),
    _national_id(
        "Spain",
        r"(?:[0-9]{8}|[XYZxyz]-?[0-9]{7})-?[A-HJ-NP-TV-Za-hj-np-tv-z]",
        0.6,
        spanish_dni_holds,
        "dni",
        8,
        "word",
    ),
    _national_id(
        "Spain, dotted",
        r"[0-9]{2}\.[0-9]{3}\.[0-9]{3}[- ]?[A-HJ-NP-TV-Z]",
        0.7,
        spanish_dni_holds,
        "dni",
        2,
    ),
    _national_id("Poland", r"[0-9]{11}", 0.4, polish_pesel_holds, "pesel", 11),
    _national_id(
        "Netherlands",
        r"[0-9]{3}([. ]?)[0-9]{3}\1[0-9]{3}|[0-9]{4}\.[0-9]{2}\.[0-9]{3}",
        0.2,
        dutch_bsn_holds,
        "bsn",
        3,
        4,
        9,
    ),
    _national_id(
        "Portugal", r"[123][0-9]{2} ?[0-9]{3} ?[0-9]{3}", 0.2, portuguese_nif_holds, "nif", 3, 6, 9
    ),
    _national_id("Korea", r"[0-9]{6}-[1-8][0-9]{6}", 0.75, korean_id_holds, "rrn", 6),
    _national_id("Korea, plain", r"[0-9]{6}[1-8][0-9]{6}", 0.2, korean_id_holds, "rrn", 13),
    _national_id(
        "Canada", r"[1-79][0-9]{2}([ -]?)[0-9]{3}\1[0-9]{3}", 0.3, canadian_sin_holds, "sin", 3, 9
    ),
    _national_id("Indonesia", r"[0-9]{16}", 0.3, indonesian_nik_holds, "nik", 16),
    _national_id("Pakistan", r"[1-7][0-9]{4}-[0-9]{7}-[0-9]", 0.6, None, "cnic", 5),
    _national_id("Nigeria", r"[1-9][0-9]{10}", 0.1, None, "nin", 11),
    _national_id(
        "Switzerland", r"756\.?[0-9]{4}\.?[0-9]{4}\.?[0-9]{2}", 0.8, swiss_ahv_holds, "ahv", 3, 13
    ),
    _national_id(
        "United States",
        r"[0-8][0-9]{2}([- ])[0-9]{2}\1[0-9]{4}(?!-[A-Za-z])(?! ?(?:mm|cm|km|kg|m|ms|px)(?!\w))",
        0.65,
        american_ssn_holds,
        "ssn",
        3,
        kind="ssn",
    ),
    _national_id(
        "United States, plain", r"[0-8][0-9]{8}", 0.2, american_ssn_holds, "ssn", 9, kind="ssn"
    ),
    _national_id(
        "United States, tax",
        r"9[0-9]{2}([- ]?)[0-9]{2}\1[0-9]{4}",
        0.3,
        american_itin_holds,
        "ssn",
        3,
        9,
        kind="ssn",
    ),
    Recogniser(
        "passport",
        "number",
        "",
        HEAD + r"(?:[A-Z]{0,2}[0-9]{6,9}[A-Z]?|[CFGHJKLMNPRTVWXYZ][0-9CFGHJKLMNPRTVWXYZ]{8}"
        r"|[A-Z]{1,2}[ -][0-9]{6,8}|[A-Z]{3}[0-9]{6}|[0-9]{2}[A-Z]{2}[0-9]{5}|[a-z]{1,2}[0-9]{6,8}"
        r"|[A-Z]{2}[0-9A-Z]{6}[0-9]|[0-9]{2} ?[0-9]{2} (?:№ ?|номер |No\.? ?)?[0-9]{6}"
        r"|[0-9]{2} [0-9]{7})" + TAIL,
        0.1,
        0.85,
        "passport",
        reach=(42, 22),
        fits=_passport_fits,
        leads=frozenset({2, 4, 6, 7, 8, 9, 10, "word"}),
    ),
)
