"""What of personal data is stored."""

from __future__ import annotations

from dataclasses import dataclass

from adaptive.privacy.masking import (
    DEFAULT_STORING,
    StoredText,
    StoringPolicy,
    StoringRefusal,
    mask,
    storable,
)
from adaptive.privacy.personal_data import find_personal_data
from adaptive.privacy.placeholders import ALL_PERSONAL_KINDS
from adaptive.privacy.recogniser import PersonalKind
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
    Case("e-mail in words", "email", "ana [at] example [dot] org", "…@example [dot] org"),
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
    assert storable(text, StoringPolicy({"email": "keep", "card": "mask"})) == StoredText(
        "ana@example.org pays with card …1111", ("card",)
    )
    refused = storable(text, StoringPolicy({"email": "mask", "card": "refuse"}))
    assert refused == StoringRefusal(("card",))
    assert isinstance(refused, StoringRefusal)
    assert "4111" not in refused.reason


def test_unnamed_kind_is_masked() -> None:
    """A policy that does not know a kind masks it."""
    assert storable("ana@example.org", StoringPolicy({})) == StoredText("…@example.org", ("email",))


def test_plain_text_stays() -> None:
    """A text without personal data is stored as it is."""
    assert storable("User likes tea.", StoringPolicy()) == StoredText("User likes tea.")


def test_default_names_every_kind() -> None:
    """The default policy decides on every kind."""
    assert DEFAULT_STORING.keys() == ALL_PERSONAL_KINDS
