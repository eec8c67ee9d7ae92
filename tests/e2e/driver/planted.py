"""Made-up secrets and personal data to be planted in a run, each value once, so that it is traced.

None was ever issued to anybody. Values are built of pieces when a test runs, from a seed, so that
no secret stands in this file as a whole and every place where a value turns up tells its origin.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

# Who put a value into the run: the user, the model's extraction (of words that nobody typed), the
# assistant's answer, another tool as a memory, a model call that failed, a reply that is no JSON.
Origin = Literal["typed", "proposed", "answered", "row", "failed", "rubbish"]
ORIGINS: tuple[Origin, ...] = ("typed", "proposed", "answered", "row", "failed", "rubbish")

Chance: TypeAlias = random.Random
_LETTERS = string.ascii_letters + string.digits
# Words of the BIP-39 list.
_PHRASE = (
    *("ribbon", "garden", "orchard", "velvet", "puzzle", "cactus", "dolphin", "museum", "tunnel"),
    *("walnut", "pigeon", "rocket", "sunset", "umbrella", "violin", "zebra", "bamboo", "castle"),
    *("dentist", "eagle", "fabric", "galaxy", "hammer", "island", "jungle", "kitten", "ladder"),
)
# What is secret in an address.
_NEEDLE = re.compile(r"://sam:(\w+)")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of value: what it is called, what it is of, and how one is made up."""

    name: str
    called: str
    secret: bool
    made: Callable[[Chance], str]


@dataclass(frozen=True, slots=True)
class Planted:
    """One value; ``needle`` is the part that is looked for, of an address its password."""

    kind: Kind
    origin: Origin
    value: str
    needle: str

    @property
    def name(self) -> str:
        """Fit for a failed assertion: it repeats nothing of the value."""
        return f"{self.kind.name} ({self.origin})"

    @property
    def said(self) -> str:
        """As a user says it."""
        return f"My {self.kind.called} is {self.value}"

    @property
    def told(self) -> str:
        """As a model proposes it to be remembered, and as another tool may have stored it."""
        subject = self.kind.called if self.origin == "typed" else f"other {self.kind.called}"
        return f"User's {subject} is {self.value}"


def planted(seed: str, origin: Origin) -> list[Planted]:
    """A value of each kind; another seed or another origin gives other values."""
    return [_plant(kind, origin, random.Random(f"{seed} {origin} {kind.name}")) for kind in KINDS]


def _plant(kind: Kind, origin: Origin, chance: Chance) -> Planted:
    value = kind.made(chance)
    told = _NEEDLE.search(value)
    return Planted(kind, origin, value, told[1] if told else max(value.splitlines(), key=len))


def told_in(values: Iterable[Planted], text: str) -> list[Planted]:
    """Values that a text names by what they are called, whatever stands in their place."""
    return [one for one in values if f"My {one.kind.called} is " in text]


# --- how values are made --------------------------------------------------------------------------


def _signs(chance: Chance, count: int, alphabet: str = _LETTERS) -> str:
    """Chance signs that begin and end as keys do, with a figure among them."""
    made = "".join(chance.choices(alphabet, k=count - 2))
    return f"{chance.choice(string.ascii_letters)}{made}{chance.choice(string.digits)}"


def _figures(chance: Chance, count: int) -> str:
    return "".join(chance.choices("123456789", k=count))


def _private_key(chance: Chance) -> str:
    dashes, label = "-" * 5, "RSA PRIVATE" + " KEY"
    body = "\n".join(_signs(chance, 64) for _ in range(5))
    return f"{dashes}BEGIN {label}{dashes}\n{body}\n{dashes}END {label}{dashes}"


def _web_token(chance: Chance) -> str:
    def part(content: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")

    head, body = part({"alg": "HS256", "typ": "JWT"}), part({"sub": str(chance.random())})
    return f"{head}.{body}.{_signs(chance, 43)}"


def _address_with_password(chance: Chance) -> str:
    return f"{'postgres' + 'ql'}://sam:{_signs(chance, 16)}@db.example.net:5432/shop"


def _card(chance: Chance) -> str:
    """A number that satisfies Luhn's formula (ISO/IEC 7812-1)."""
    body = "4" + _figures(chance, 14)
    doubled = [int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(body)]
    check = -sum(number // 10 + number % 10 for number in doubled) % 10
    number = f"{body}{check}"
    return " ".join(number[at : at + 4] for at in range(0, 16, 4))


def _iban(chance: Chance) -> str:
    """A number with the check digits of ISO 13616: 98 minus the rest modulo 97."""
    account = _figures(chance, 18)
    return f"DE{98 - int(account + '131400') % 97:02}{account}"


def _email(chance: Chance) -> str:
    return f"sam.{''.join(chance.choices(string.ascii_lowercase, k=7))}@example.org"


def _address(chance: Chance) -> str:
    street = chance.choice(("Birchwood", "Maplewood", "Thornhill", "Larkfield", "Ashgrove"))
    return f"{chance.randint(1100, 9900)} {street} Avenue"


# One of each way in which the product finds a value: its beginning, its lines, its structure, the
# words before it, its words; for personal data what is kept, masked and refused by default.
KINDS: Sequence[Kind] = (
    Kind("provider's key", "model key", True, lambda one: "sk-" + "proj-" + _signs(one, 48)),
    Kind("private key", "private key", True, _private_key),
    Kind("password", "wifi password", True, lambda one: f"Vq{_signs(one, 5)}!{_signs(one, 5)}"),
    Kind("key in context", "api key", True, lambda one: _signs(one, 32)),
    Kind("connection string", "database URL", True, _address_with_password),
    Kind("web token", "session token", True, _web_token),
    Kind("seed phrase", "seed phrase", True, lambda one: " ".join(one.sample(_PHRASE, 12))),
    Kind("email", "e-mail address", False, _email),
    Kind(
        "phone", "phone number", False, lambda one: f"+49 30 {_figures(one, 4)} {_figures(one, 4)}"
    ),
    Kind("card", "credit card number", False, _card),
    Kind("iban", "IBAN", False, _iban),
    Kind("address", "home address", False, _address),
)
