"""What of personal data may be stored: kept, masked or refused, kind by kind."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from adaptive.privacy.personal_data import find_personal_data
from adaptive.privacy.personal_shapes import PersonalKind

_ELLIPSIS = "\u2026"
# How many letters and digits stay at the end: so many that their owner knows which one it is.
_KEPT_LETTERS: Mapping[PersonalKind, int] = {
    **dict.fromkeys(("phone", "national_id", "passport", "mac"), 2),
    **dict.fromkeys(("card", "iban", "ssn", "crypto_wallet"), 4),
}


@dataclass(frozen=True, slots=True)
class StoringRefusal:
    """A text that may not be written, which is not repeated here: for these kinds, by place."""

    kinds: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Why, fit for a status line and for the log."""
        named = ", ".join(kind.replace("_", " ") for kind in self.kinds)
        return f"it holds personal data that is not to be stored: {named}"


def storable(text: str, masked: Collection[str], refused: Collection[str]) -> str | StoringRefusal:
    """The text as it may be stored, or why it may not; a kind of neither collection is kept."""
    found = find_personal_data(text)
    if unwanted := [one.kind for one in found if one.kind in refused]:
        return StoringRefusal(tuple(dict.fromkeys(unwanted)))
    for one in reversed(found):
        if one.kind in masked:
            text = text[: one.start] + mask(one.kind, text[one.start : one.end]) + text[one.end :]
    return text


def mask(kind: PersonalKind, value: str) -> str:
    """What is harmless of a value, behind an ellipsis; a mask is no personal data any more."""
    if kind == "email":
        return _ELLIPSIS + "@" + value.rpartition("@")[2]
    if kind == "url_credentials":
        scheme, _, rest = value.partition("://")
        host = re.split(r"[/?#]", rest.rpartition("@")[2], maxsplit=1)[0]
        return f"{scheme}://{_ELLIPSIS}@{host}" if "@" in rest else f"{scheme}://{host}/{_ELLIPSIS}"
    if kind == "birth_date":
        year = re.search(r"(?:19|20)[0-9]{2}", value)
        return f"{_ELLIPSIS}{year[0]}" if year else _ELLIPSIS
    letters = "".join(filter(str.isalnum, value))
    count = _KEPT_LETTERS.get(kind, 0)
    return _ELLIPSIS + (letters[-count:] if count and len(letters) >= 3 * count else "")
