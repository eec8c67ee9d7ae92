"""Made-up secrets and personal data to be planted in a run, each value once, so that it is traced.

None was ever issued to anybody. Values are built of pieces when a test runs, from a seed, so that
no secret stands in this file as a whole and every place where a value turns up tells its origin.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

# Who put a value into the run: the user, the model's extraction (of words that nobody typed), the
# assistant's answer, another tool as a memory, a model call that failed, a reply that is no JSON.
Origin = Literal["typed", "proposed", "answered", "row", "failed", "rubbish"]
ORIGINS: tuple[Origin, ...] = (
    "typed",
    "proposed",
    "answered",
    "row",
    "failed",
    "rubbish",
)

# Words of the BIP-39 list.
_PHRASE = (
    *(
        "ribbon",
        "garden",
        "orchard",
        "velvet",
        "puzzle",
        "cactus",
        "dolphin",
        "museum",
        "tunnel",
    ),
    *(
        "walnut",
        "pigeon",
        "rocket",
        "sunset",
        "umbrella",
        "violin",
        "zebra",
        "bamboo",
        "castle",
    ),
    *(
        "dentist",
        "eagle",
        "fabric",
        "galaxy",
        "hammer",
        "island",
        "jungle",
        "kitten",
        "ladder",
    ),
)
_KEY_LABEL = "RSA PRIVATE" + " KEY" + "-" * 5
# What stands around the secret of an address, and between the lines of a key.
_AROUND = re.compile(r"\n|://sam:|@db\.")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of value: what it is called, what it is of, and how one looks.

    Of ``form`` each ``?`` stands for a chance sign, ``#`` for a figure from 1 to 9, ``~`` for a
    word, and ``%`` for the check digit of Luhn's formula (ISO/IEC 7812-1).
    """

    name: str
    called: str
    secret: bool
    form: str


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
        subject = (
            self.kind.called
            if self.origin == "typed"
            else f"other {self.kind.called}"
        )
        return f"User's {subject} is {self.value}"


def planted(seed: str, origin: Origin) -> list[Planted]:
    """A value of each kind; another seed or another origin gives other values."""
    return [
        _plant(kind, origin, random.Random(f"{seed} {origin} {kind.name}"))
        for kind in KINDS
    ]


def _plant(kind: Kind, origin: Origin, chance: random.Random) -> Planted:
    words = iter(chance.sample(_PHRASE, 12))
    value = ""
    for sign in kind.form:
        match sign:
            case "?":  # keys begin with a letter and hold figures
                figure = value[-1:].isalnum() and chance.random() < 0.3
                value += chance.choice(
                    string.digits if figure else string.ascii_letters
                )
            case "#":
                value += chance.choice("123456789")
            case "~":
                value += next(words)
            case "%":
                value += str(
                    _check_digit([int(one) for one in value if one.isdigit()])
                )
            case _:
                value += sign
    return Planted(kind, origin, value, max(_AROUND.split(value), key=len))


def _check_digit(digits: Sequence[int]) -> int:
    doubled = [
        digit * (2 if place % 2 == 0 else 1)
        for place, digit in enumerate(digits)
    ]
    return -sum(number // 10 + number % 10 for number in doubled) % 10


def told_in(values: Iterable[Planted], text: str) -> list[Planted]:
    """Values that a text names by what they are called, whatever stands in their place."""
    return [one for one in values if f"My {one.kind.called} is " in text]


# One of each way in which the product finds a value: its beginning, its lines, its structure, the
# words before it, its words; for personal data what is kept, masked and refused by default.
KINDS: Sequence[Kind] = (
    Kind("provider's key", "model key", True, "sk-" + "proj-" + "?" * 48),
    Kind(
        "private key",
        "private key",
        True,
        f"{'-' * 5}BEGIN {_KEY_LABEL}\n"
        + f"{'?' * 64}\n" * 5
        + f"{'-' * 5}END {_KEY_LABEL}",
    ),
    Kind("password", "wifi password", True, "Vq?????!?????"),
    Kind("key in context", "api key", True, "?" * 32),
    Kind(
        "connection string",
        "database URL",
        True,
        f"{'postgres' + 'ql'}://sam:{'?' * 30}@db.de/shop",
    ),
    Kind("seed phrase", "seed phrase", True, " ".join("~" * 12)),
    Kind("email", "e-mail address", False, "sam.#######@example.org"),
    Kind("phone", "phone number", False, "+49 30 #### ####"),
    Kind("card", "credit card number", False, "4### #### #### ###%"),
    Kind("address", "home address", False, "#### Birchwood Avenue"),
)


@dataclass(frozen=True, slots=True)
class PlantedMemory:
    """A fact as a user tells it and as it is remembered, and the word in it that is looked for.

    Who asks for the fact needs not say that word, so where it turns up it comes from the memory.
    """

    said: str
    memory: str
    needle: str
    bank: str = "Personal"


# The bank of what only local models may see.
LOCAL_BANK = "Health"
PLANTED_MEMORIES: Sequence[PlantedMemory] = (
    PlantedMemory(
        said="I play a lute that is called Quillandra.",
        memory="User plays a lute that is called Quillandra.",
        needle="Quillandra",
    ),
    PlantedMemory(
        said="I was born in a town called Vellmarch.",
        memory="User was born in a town called Vellmarch.",
        needle="Vellmarch",
    ),
    PlantedMemory(
        said="My blood pressure pills are called Zorvamine.",
        memory="User's blood pressure pills are called Zorvamine.",
        needle="Zorvamine",
        bank=LOCAL_BANK,
    ),
)
