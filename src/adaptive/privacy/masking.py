"""What of personal data may be stored: kept, masked or refused, kind by kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from adaptive.privacy.personal_data import Finding, find_personal_data
from adaptive.privacy.recogniser import PersonalKind

Storing = Literal["keep", "mask", "refuse"]

# Facts that people want to be remembered by are kept; numbers with which others can pay, sign or
# log in in somebody's name are not needed in full to remember that they exist.
DEFAULT_STORING: Mapping[PersonalKind, Storing] = {
    "email": "keep",
    "phone": "keep",
    "address": "keep",
    "birth_date": "keep",
    "coordinates": "keep",
    "crypto_wallet": "mask",
    "ip": "mask",
    "mac": "mask",
    "iban": "mask",
    "national_id": "mask",
    "passport": "mask",
    "card": "refuse",
    "ssn": "refuse",
    "url_credentials": "refuse",
}
_ELLIPSIS = "\u2026"


@dataclass(frozen=True, slots=True)
class StoringPolicy:
    """What happens to each kind; a kind that is not named is masked."""

    by_kind: Mapping[PersonalKind, Storing] = field(default_factory=lambda: DEFAULT_STORING)

    def storing(self, kind: PersonalKind) -> Storing:
        """What happens to a kind."""
        return self.by_kind.get(kind, "mask")


@dataclass(frozen=True, slots=True)
class StoredText:
    """A text that may be written.

    Attributes:
        text: with masks in place of what the policy masks.
        masked: the kinds that were masked, each once, by place.
    """

    text: str
    masked: tuple[PersonalKind, ...] = ()


@dataclass(frozen=True, slots=True)
class StoringRefusal:
    """A text that may not be written; it is not repeated here.

    Attributes:
        kinds: the kinds that the policy refuses, each once, by place.
    """

    kinds: tuple[PersonalKind, ...]

    @property
    def reason(self) -> str:
        """Why, fit for a status line and for the log."""
        named = ", ".join(kind.replace("_", " ") for kind in self.kinds)
        return f"it holds personal data that is not to be stored: {named}"


def storable(
    text: str,
    policy: StoringPolicy,
    find: Callable[[str], Sequence[Finding]] = find_personal_data,
) -> StoredText | StoringRefusal:
    """The text as the policy lets it be stored, or why it is not."""
    found = find(text)
    refused: dict[PersonalKind, None] = {}
    for one in found:
        if policy.storing(one.kind) == "refuse":
            refused[one.kind] = None
    if refused:
        return StoringRefusal(tuple(refused))
    parts: list[str] = []
    position = 0
    masked: dict[PersonalKind, None] = {}
    for one in found:
        if policy.storing(one.kind) == "mask":
            parts += text[position : one.start], mask(one.kind, text[one.start : one.end])
            position = one.end
            masked[one.kind] = None
    return StoredText("".join([*parts, text[position:]]), tuple(masked))


def mask(kind: PersonalKind, value: str) -> str:
    """What is harmless of a value, behind an ellipsis; a mask is no personal data any more."""
    if kind == "email":
        return _ELLIPSIS + "@" + re.split(r"@|[(\[]at[)\]]| at ", value, maxsplit=1)[-1].strip()
    if kind == "url_credentials":
        scheme, _, rest = value.partition("://")
        host = re.split(r"[/?#]", rest.rpartition("@")[2] if "@" in rest else rest, maxsplit=1)[0]
        return f"{scheme}://{_ELLIPSIS}@{host}" if "@" in rest else f"{scheme}://{host}/{_ELLIPSIS}"
    if kind in _KEPT_LETTERS:
        return _ELLIPSIS + _last_letters(value, _KEPT_LETTERS[kind])
    if kind == "birth_date":
        year = re.search(r"(?:19|20)[0-9]{2}", value)
        return f"{_ELLIPSIS}{year[0]}" if year else _ELLIPSIS
    return _ELLIPSIS


# How many letters and digits stay at the end: so many that their owner knows which one it is.
_KEPT_LETTERS: Mapping[PersonalKind, int] = {
    "phone": 2,
    "card": 4,
    "iban": 4,
    "national_id": 2,
    "ssn": 4,
    "passport": 2,
    "mac": 2,
    "crypto_wallet": 4,
}


def _last_letters(value: str, count: int) -> str:
    """The last letters and digits of a value at least three times as long."""
    letters = "".join(filter(str.isalnum, value))
    return letters[-count:] if len(letters) >= 3 * count else ""
