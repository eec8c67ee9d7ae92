"""Check digits, against the examples that their publishers give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adaptive.privacy.check_digits import card_holds, iban_holds, id_holds
from tests.rates import over


@dataclass(frozen=True)
class Case:
    """A published example, and one with a wrong character."""

    id: str
    holds: Callable[[str], bool]
    good: str
    bad: str


CASES = [
    Case("IBAN", iban_holds, "GB82WEST12345698765432", "GB82WEST12345698765433"),
    Case("Visa", card_holds, "4111111111111111", "4111111111111112"),
    Case("no issuer", card_holds, "378282246310005", "9999999999999995"),
    Case("China", id_holds, "11010519491231002X", "110105194912310021"),
    Case("Brazil, by its form alone", id_holds, "111.444.777-35", "111.444.777.35"),
    Case("Russia, by its form alone", id_holds, "112-233-445 95", "112-233-44595"),
    Case("France", id_holds, "2 69 05 49 588 157 80", "2 69 05 49 588 157 81"),
    Case("Spain", id_holds, "12345678Z", "12345678A"),
]


@over("case", CASES)
def test_check(case: Case) -> None:
    """A number that was published holds, and not with another character."""
    assert case.holds(case.good)
    assert not case.holds(case.bad)
