"""What of personal data is stored."""

from __future__ import annotations

from dataclasses import dataclass

from adaptive.privacy.masking import StoringRefusal, mask, storable
from adaptive.privacy.personal_data import find_personal_data
from adaptive.privacy.personal_shapes import PersonalKind
from tests.rates import over


@dataclass(frozen=True)
class Case:
    """A value and its mask."""

    id: str
    kind: PersonalKind
    value: str
    masked: str


CASES = [
    Case("e-mail", "email", "ana.k@example.org", "…@example.org"),
    Case("phone", "phone", "+49 30 901820-17", "…17"),
    Case("card", "card", "4111 1111 1111 1111", "…1111"),
    Case("IBAN", "iban", "DE89 3704 0044 0532 0130 00", "…3000"),
    Case("too short to show some", "passport", "A1234", "…"),
    Case("URL", "url_credentials", "https://bob:pw123@example.org/x", "https://…@example.org"),
    Case("URL with a token", "url_credentials", "https://a.org/x?token=t1", "https://a.org/…"),
    Case("birth", "birth_date", "3 May 1990", "…1990"),
    Case("address", "address", "12 Main Street", "…"),
]


@over("case", CASES)
def test_mask(case: Case) -> None:
    """A mask keeps what is harmless."""
    assert mask(case.kind, case.value) == case.masked


@over("case", CASES)
def test_mask_is_none(case: Case) -> None:
    """A mask is no personal data any more, so that masking twice changes nothing."""
    assert find_personal_data(f"my address, phone, card, born: {case.masked} ") == ()


def test_keeps_masks_refuses() -> None:
    """Each kind goes its own way; a refusal names kinds and repeats no value."""
    text = "ana@example.org pays with card 4111 1111 1111 1111"
    assert storable(text, {"card"}, ()) == "ana@example.org pays with card …1111"
    refused = storable(text, {"email", "card"}, {"card"})
    assert isinstance(refused, StoringRefusal)
    assert refused == StoringRefusal(("card",))
    assert "4111" not in refused.reason
