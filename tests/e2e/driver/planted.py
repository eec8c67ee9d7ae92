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
_CAPITALS = string.ascii_uppercase + string.digits
_HEX = "0123456789abcdef"
_BASE64 = _LETTERS + "+/"
# Words of the BIP-39 list.
_PHRASE = (
    *("ribbon", "garden", "orchard", "velvet", "puzzle", "cactus", "dolphin", "museum", "tunnel"),
    *("walnut", "pigeon", "rocket", "sunset", "umbrella", "violin", "zebra", "bamboo", "castle"),
    *("dentist", "eagle", "fabric", "galaxy", "hammer", "island", "jungle", "kitten", "ladder"),
    *("magnet", "napkin", "oxygen", "pepper", "quantum", "raccoon", "salmon", "tobacco", "uncle"),
)
_MOST_TRIES = 200
# What is secret in an address or in a cookie.
_NEEDLE = re.compile(r"(?:://sam:|sessionid=)(\w+)")


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


# --- secrets --------------------------------------------------------------------------------------


def _signs(chance: Chance, count: int, alphabet: str = _LETTERS) -> str:
    """Chance signs, with letters and figures among them as keys have them."""
    for _ in range(_MOST_TRIES):
        made = "".join(chance.choices(alphabet, k=count))
        if 1 < sum(sign.isdigit() for sign in made) < count and made[0].isalnum():
            return made
    raise AssertionError(alphabet)


def _key(*pieces: str, count: int = 36, alphabet: str = _LETTERS) -> Callable[[Chance], str]:
    return lambda chance: "".join(pieces) + _signs(chance, count, alphabet)


def _chat_token(chance: Chance) -> str:
    numbers = ("".join(chance.choices(string.digits, k=12)) for _ in range(2))
    return "-".join(("xo" + "xb", *numbers, _signs(chance, 24)))


def _private_key(chance: Chance) -> str:
    dashes, label = "-" * 5, "RSA PRIVATE" + " KEY"
    body = "\n".join(_signs(chance, 64, _BASE64) for _ in range(5))
    return f"{dashes}BEGIN {label}{dashes}\n{body}\n{dashes}END {label}{dashes}"


def _web_token(chance: Chance) -> str:
    def part(content: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")

    head, body = part({"alg": "HS256", "typ": "JWT"}), part({"sub": str(chance.random())})
    return f"{head}.{body}.{_signs(chance, 43)}"


def _address_with_password(scheme: str) -> Callable[[Chance], str]:
    return lambda chance: f"{scheme}://sam:{_signs(chance, 16)}@db.example.net:5432/shop"


def _cookie(chance: Chance) -> str:
    return f"sessionid={_signs(chance, 32)}; HttpOnly"


def _phrase(chance: Chance) -> str:
    return " ".join(chance.sample(_PHRASE, 12))


def _password(chance: Chance) -> str:
    return f"Vq{_signs(chance, 5)}!{_signs(chance, 5)}"


# --- personal data --------------------------------------------------------------------------------


def _figures(chance: Chance, count: int) -> str:
    return "".join(chance.choices("123456789", k=count))


def _email(chance: Chance) -> str:
    return f"sam.{''.join(chance.choices(string.ascii_lowercase, k=7))}@example.org"


def _phone(chance: Chance) -> str:
    return f"+49 30 {_figures(chance, 4)} {_figures(chance, 4)}"


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


def _national_id(chance: Chance) -> str:
    """A Brazilian CPF: two check digits modulo 11."""
    digits = [int(digit) for digit in _figures(chance, 9)]
    for _ in range(2):
        weighed = zip(range(len(digits) + 1, 1, -1), digits, strict=True)
        rest = sum(weight * digit for weight, digit in weighed) * 10 % 11
        digits.append(rest % 10)
    text = "".join(map(str, digits))
    return f"{text[:3]}.{text[3:6]}.{text[6:9]}-{text[9:]}"


def _social_security(chance: Chance) -> str:
    return f"{chance.randint(101, 599)}-{chance.randint(11, 99)}-{chance.randint(1001, 9998)}"


def _passport(chance: Chance) -> str:
    return f"C{_figures(chance, 8)}"


def _ip(chance: Chance) -> str:
    return ".".join(str(chance.randint(120, 219)) for _ in range(4))


def _mac(chance: Chance) -> str:
    return ":".join(["00", *(f"{chance.randint(16, 255):02x}" for _ in range(5))])


def _address(chance: Chance) -> str:
    street = chance.choice(("Birchwood", "Maplewood", "Thornhill", "Larkfield", "Ashgrove"))
    return f"{chance.randint(1100, 9900)} {street} Avenue"


def _birth_date(chance: Chance) -> str:
    """A date that hardly stands anywhere by chance."""
    month = chance.choice(("January", "March", "April", "June", "August", "October"))
    return f"{chance.randint(10, 28)} {month} {chance.randint(1930, 1999)}"


def _wallet(chance: Chance) -> str:
    return "0x" + _signs(chance, 40, _HEX)


def _coordinates(chance: Chance) -> str:
    north, east = chance.uniform(36, 59), chance.uniform(3, 29)
    return f"{north:.6f}, {east:.6f}"


SECRET_KINDS: Sequence[Kind] = (
    Kind("model provider's key", "model key", True, _key("sk-", "proj-", count=48)),
    Kind("cloud access key", "cloud key", True, _key("AK", "IA", count=16, alphabet=_CAPITALS)),
    Kind("code host's token", "code host token", True, _key("gh", "p_")),
    Kind("map service's key", "map key", True, _key("AI", "za", "Sy", count=33)),
    Kind("payment key", "payment key", True, _key("sk", "_live_", count=24)),
    Kind("chat token", "chat bot token", True, _chat_token),
    Kind("private key", "private key", True, _private_key),
    Kind("password", "password", True, _password),
    Kind("wifi password", "wifi password", True, _password),
    Kind("key in context", "api key", True, _key(count=32)),
    Kind("connection string", "database URL", True, _address_with_password("postgres" + "ql")),
    Kind("web token", "session token", True, _web_token),
    Kind("cookie", "cookie: header", True, _cookie),
    Kind("seed phrase", "seed phrase", True, _phrase),
    Kind("bearer token", "header Authorization: Bearer", True, _key(count=44)),
)
PERSONAL_KINDS: Sequence[Kind] = (
    Kind("email", "e-mail address", False, _email),
    Kind("phone", "phone number", False, _phone),
    Kind("card", "credit card number", False, _card),
    Kind("iban", "IBAN", False, _iban),
    Kind("national_id", "CPF", False, _national_id),
    Kind("ssn", "social security number", False, _social_security),
    Kind("passport", "passport number", False, _passport),
    Kind("ip", "IP address", False, _ip),
    Kind("mac", "MAC address", False, _mac),
    Kind("url_credentials", "page with login", False, _address_with_password("https")),
    Kind("address", "home address", False, _address),
    Kind("birth_date", "date of birth", False, _birth_date),
    Kind("crypto_wallet", "Ethereum wallet", False, _wallet),
    Kind("coordinates", "house's coordinates", False, _coordinates),
)
KINDS: Sequence[Kind] = (*SECRET_KINDS, *PERSONAL_KINDS)
