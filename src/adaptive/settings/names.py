"""Names in valves as admins write them: other spellings, plurals and slips are understood.

What is not understood is a value of its own, for the doctor and the log to tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType

# How alike two names must be to be the same with a slip, from 0 to 1 (``difflib``).
_NEAR = 0.8
_MOST_LISTS_READ = 200

# The kinds of personal data, and what else they are called.
PERSONAL_KINDS = MappingProxyType(
    {
        "email": "mail, email address, mail address",
        "phone": "telephone, phone number, telephone number, mobile, mobile number, cell phone",
        "address": "street address, postal address, home address",
        "birth_date": "date of birth, birthday, birthdate, dob",
        "coordinates": "coordinate, gps, geolocation, location, latitude, longitude",
        "card": "credit card, debit card, payment card, bank card, card number, credit card number",
        "iban": "bank account, account number, bank account number",
        "national_id": "id card, identity card, national identity, identification number, "
        "personal id, tax id, tax number",
        "ssn": "social security, social security number",
        "passport": "passport number",
        "ip": "ip address, ip number",
        "mac": "mac address, hardware address",
        "url_credentials": "url password, url login, credentials, login in url, password",
        "crypto_wallet": "wallet, crypto, crypto address, wallet address, bitcoin",
    }
)


@dataclass(frozen=True, slots=True)
class NamesRead:
    """The names that a list was understood to hold, and what was not understood."""

    names: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()


@lru_cache(_MOST_LISTS_READ)
def read_names(listed: str, allowed: tuple[str, ...]) -> NamesRead:
    """Read a list of names with commas; the allowed names are given as they are to come out."""
    spelled = {_plain(name): name for name in allowed}
    for name in allowed:
        others = split_names(PERSONAL_KINDS.get(name, ""))
        spelled.update({_plain(other): name for other in others})
    understood = set[str]()
    unknown = list[str]()
    for written in split_names(listed):
        plain = _plain(written)
        # Slips are looked for in what is not known only: that takes the square of a list's length.
        near = (
            [plain]
            if plain in spelled
            else get_close_matches(plain, spelled, 1, _NEAR)
        )
        if near:
            understood.add(spelled[near[0]])
        else:
            unknown.append(written)
    return NamesRead(frozenset(understood), tuple(unknown))


def split_names(listed: str) -> list[str]:
    """What stands between the commas."""
    return [name.strip() for name in listed.split(",") if name.strip()]


def read_kinds(listed: str) -> NamesRead:
    """Read a list of kinds of personal data."""
    return read_names(listed, tuple(PERSONAL_KINDS))


def not_understood(valve: str, read: NamesRead, instead: str) -> list[str]:
    """What an admin is told of names in a valve, in at most one line."""
    unknown = ", ".join(read.unknown)
    return (
        [f"`{valve}` names what is not known ({unknown}): {instead}"]
        if unknown
        else []
    )


def _plain(name: str) -> str:
    """Letters and digits alone, without case and the plural's ending; of signs alone the signs."""
    letters = (
        "".join(sign for sign in name.casefold() if sign.isalnum()) or name
    )
    if letters.endswith("sses"):
        return letters[:-2]
    is_short = len(letters) <= 3
    return (
        letters
        if is_short or letters.endswith("ss")
        else letters.removesuffix("s")
    )
