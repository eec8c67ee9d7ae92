"""Check digits, against the examples that their publishers give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adaptive.privacy import national_ids as ids
from adaptive.privacy.checksums import luhn_holds, mod_11_2_holds, mod_11_10_holds, verhoeff_holds
from adaptive.privacy.payment_recognisers import card_holds, iban_holds
from adaptive.privacy.phone_numbers import international_phone_holds, possible_phones
from adaptive.privacy.wallet_checksums import (
    base58check_holds,
    bech32_holds,
    cashaddr_holds,
    ethereum_capitals_hold,
    keccak_256,
)
from tests.rates import over


@dataclass(frozen=True)
class Case:
    """A published example, and one with a wrong character."""

    id: str
    holds: Callable[[str], bool]
    good: str
    bad: str


CASES = [
    Case("Luhn", luhn_holds, "79927398713", "79927398714"),
    Case("Verhoeff", verhoeff_holds, "2363", "2364"),
    Case("MOD 11-2", mod_11_2_holds, "079X", "0791"),
    Case("MOD 11,10", mod_11_10_holds, "86095742719", "86095742718"),
    Case("IBAN", iban_holds, "GB82WEST12345698765432", "GB82WEST12345698765433"),
    Case("Visa", card_holds, "4111111111111111", "4111111111111112"),
    Case("no issuer", card_holds, "378282246310005", "9999999999999995"),
    Case("China", ids.chinese_id_holds, "11010519491231002X", "110105194912310021"),
    Case("China, no such day", ids.chinese_id_holds, "11010519491231002X", "11010519491331002X"),
    Case("India", ids.indian_aadhaar_holds, "234123412346", "234123412347"),
    Case("Brazil", ids.brazilian_cpf_holds, "11144477735", "11111111111"),
    Case("Brazil, trader", ids.brazilian_cnpj_holds, "11222333000181", "11222333000182"),
    Case("Russia, SNILS", ids.russian_snils_holds, "11223344595", "11223344596"),
    Case("Russia, INN", ids.russian_inn_holds, "500100732259", "500100732258"),
    Case("Japan", ids.japanese_my_number_holds, "123456789018", "123456789012"),
    Case("Mexico", ids.mexican_curp_holds, "HEGG560427MVZRRL04", "HEGG560427MVZRRL05"),
    Case("Germany", ids.german_tax_id_holds, "86095742719", "11111111111"),
    Case("Germany, card", ids.german_card_holds, "T220001293", "T220001294"),
    Case("Turkey", ids.turkish_id_holds, "10000000146", "10000000147"),
    Case("Iran", ids.iranian_id_holds, "0499370899", "0499370898"),
    Case("Thailand", ids.thai_id_holds, "3100600445635", "3100600445636"),
    Case("France", ids.french_nir_holds, "295109912611193", "295109912611194"),
    Case("Britain", ids.british_nhs_holds, "9434765919", "9434765918"),
    Case("Italy", ids.italian_code_holds, "RSSMRA85T10A562S", "RSSMRA85T10A562T"),
    Case("Spain", ids.spanish_dni_holds, "12345678Z", "12345678A"),
    Case("Spain, foreigner", ids.spanish_dni_holds, "X1234567L", "X1234567M"),
    Case("Poland", ids.polish_pesel_holds, "44051401359", "44051401358"),
    Case("Netherlands", ids.dutch_bsn_holds, "111222333", "111222334"),
    Case("Portugal", ids.portuguese_nif_holds, "123456789", "123456788"),
    Case("Canada", ids.canadian_sin_holds, "130692544", "130692545"),
    Case("Switzerland", ids.swiss_ahv_holds, "7569217076985", "7569217076986"),
    Case("Korea", ids.korean_id_holds, "9001011234567", "9013011234567"),
    Case("Indonesia", ids.indonesian_nik_holds, "3171011708450001", "3171019908450001"),
    Case("United States", ids.american_ssn_holds, "536904399", "666904399"),
    Case("United States, tax", ids.american_itin_holds, "912903456", "912933456"),
    Case(
        "Bitcoin",
        base58check_holds,
        "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
        "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3",
    ),
    Case(
        "Bitcoin, Bech32",
        bech32_holds,
        "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
        "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdp",
    ),
    Case(
        "Bitcoin Cash",
        cashaddr_holds,
        "qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a",
        "qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6q",
    ),
    Case(
        "Ethereum",
        ethereum_capitals_hold,
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD",
    ),
    Case("phone, length of a country", international_phone_holds, "+1 212 555 0123", "+1 212 555"),
    Case("phone, country", international_phone_holds, "0044 20 7946 0958", "+999 20 7946 0958"),
]


@over("case", CASES)
def test_holds(case: Case) -> None:
    """The published example holds, and not with another character."""
    assert case.holds(case.good)
    assert not case.holds(case.bad)


def test_ripple_alphabet() -> None:
    """Ripple's genesis account holds in its own alphabet only."""
    account = "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"
    assert base58check_holds(account, ripple=True)
    assert not base58check_holds(account)


def test_keccak_of_nothing() -> None:
    """The hash of no bytes that Ethereum's yellow paper gives."""
    assert keccak_256(b"").hex().startswith("c5d2460186f7233c927e7db2dcc703c0")


class Library:
    """What is asked of ``phonenumbers``: it can't parse a 0 at the end, nor believe a 1."""

    class NumberParseException(Exception):
        """A text that is no number."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def parse(self, number: str) -> str:
        """A number in international form."""
        self.asked.append(number)
        if number.endswith("0"):
            raise self.NumberParseException
        return number

    def is_possible_number(self, number: str) -> bool:
        """Whether its length is one of the country's."""
        return not number.endswith("1")


def test_phone_library_decides() -> None:
    """Where ``phonenumbers`` is installed, it has the last word on international numbers."""
    library = Library()
    numbers = ["+49 30 12", "0049 30 11", "+49 30 10"]
    assert possible_phones(numbers, library) == [True, False, False]
    assert library.asked == ["+493012", "+493011", "+493010"]


def test_phone_library_is_slow() -> None:
    """It is asked for the first hundred numbers, and all are taken where it is missing."""
    library = Library()
    assert len(possible_phones(["+49 30 12"] * 150, library)) == 150
    assert len(library.asked) == 100
    assert possible_phones(["+49 30 11"], None) == [True]
