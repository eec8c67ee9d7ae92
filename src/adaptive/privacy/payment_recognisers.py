"""Recognisers of bank accounts and payment cards."""

from __future__ import annotations

from collections.abc import Mapping

from adaptive.privacy.checksums import luhn_holds, mod_97
from adaptive.privacy.recogniser import HEAD, TAIL, Recogniser

# Characters of an IBAN by country (SWIFT IBAN Registry, release 99).
_IBAN_COUNTRIES: Mapping[int, str] = {
    int(length): countries.replace(",", "|")
    for length, countries in (
        line.split(":")
        for line in [
            "15:NO",
            "16:BE",
            "18:DK,FI,FO,GL,NL,SD,FK",
            "19:MK,SI",
            "20:AT,BA,EE,KZ,LT,LU,XK,MN",
            "21:CH,HR,LI,LV",
            "22:BG,BH,CR,DE,GB,GE,IE,ME,RS,VA",
            "23:AE,GI,IL,IQ,OM,TL,SO",
            "24:AD,CZ,ES,MD,PK,RO,SA,SE,SK,TN,VG",
            "25:LY,PT,ST",
            "26:IS,TR",
            "27:BI,DJ,FR,GR,IT,MC,MR,SM",
            "28:AL,AZ,BY,CY,DO,GT,HN,HU,LB,NI,PL,SV",
            "29:BR,EG,PS,QA,UA",
            "30:JO,KW,MU,YE",
            "31:MT,SC",
            "32:LC",
            "33:RU",
        ]
    )
}
_IBAN_PATTERN = "|".join(
    f"(?i:{countries})[0-9]{{2}}(?:[ \\-]?[0-9A-Za-z]){{{length - 4}}}"
    for length, countries in _IBAN_COUNTRIES.items()
)


def iban_holds(number: str) -> bool:
    """Whether an IBAN of its country's length has the remainder 1 by 97 (ISO 13616)."""
    return number.isascii() and mod_97(number[4:] + number[:4]) == 1


def card_holds(number: str) -> bool:
    """Whether digits begin and are as many as an issuer's cards, and fit Luhn (ISO/IEC 7812)."""
    if len(set(number)) < 3 and number[0] not in "345":
        return False
    return len(number) in _card_lengths(number) and luhn_holds(number)


def _card_lengths(number: str) -> tuple[int, ...]:
    """How long cards are whose number begins so; the ranges that the issuers publish."""
    two, four = int(number[:2]), int(number[:4])
    if number[0] == "4":
        return (13, 16, 19)
    if 51 <= two <= 55 or 2200 <= four <= 2204 or 2221 <= four <= 2720:
        return (16,)
    if two in {34, 37}:
        return (15,)
    if two == 36 or 3000 <= four <= 3059 or two in {38, 39}:
        return (14, 16)
    if 3528 <= four <= 3589 or four == 9792:
        return (16,)
    if two in {60, 62, 64, 65, 81, 82}:
        return (16, 17, 18, 19)
    if two == 50 or 56 <= two <= 69:
        return (16, 18, 19)
    return ()


PAYMENT_RECOGNISERS = (
    Recogniser(
        "iban",
        "spaced or not",
        "",
        rf"(?<![0-9A-Za-z])(?:{_IBAN_PATTERN})(?![0-9A-Za-z])",
        0.95,
        0.98,
        "iban",
        holds=iban_holds,
        countered=False,
        leads=frozenset({"letters"}),
    ),
    Recogniser(
        "card",
        "plain or in groups",
        "",
        HEAD + r"(?:[0-9]{4}([ .-])[0-9]{4}\1[0-9]{4}\1[0-9]{4}(?:\1[0-9]{3})?"
        r"|3[0-9]{3}([ -])[0-9]{6}\2[0-9]{4,5}|[2-9][0-9]{12,18})" + TAIL,
        0.75,
        0.97,
        "card",
        holds=card_holds,
        leads=frozenset({4, *range(13, 20)}),
    ),
)
