"""Placeholders for personal data in what one model call sends, and the way back in its reply."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from adaptive.privacy.personal_data import Finding, find_personal_data
from adaptive.privacy.recogniser import PersonalKind

PLACEHOLDER_NAMES: Mapping[PersonalKind, str] = {
    "email": "EMAIL",
    "phone": "PHONE",
    "card": "CARD",
    "iban": "IBAN",
    "national_id": "NATIONAL_ID",
    "ssn": "SSN",
    "passport": "PASSPORT",
    "ip": "IP",
    "mac": "MAC",
    "url_credentials": "URL",
    "address": "ADDRESS",
    "birth_date": "BIRTH_DATE",
    "crypto_wallet": "WALLET",
    "coordinates": "COORDINATES",
}
ALL_PERSONAL_KINDS = frozenset(PLACEHOLDER_NAMES)
# Longer numbers are nobody's: a call does not hold so many values.
_PLACEHOLDER_DIGITS = 6
# As models write them back: brackets escaped or full-width, other case, a blank or hyphen for the
# underscore; without brackets in capitals only, since ``email_1`` is a fine name in a program.
# Both brackets are escaped, or none: a backslash of the text before one of ours is not eaten.
_PLACEHOLDER_BRACKETS = (
    ((r"\\", r"\[", " ?"), (" ?", r"\\", r"\]")),
    ((r"[\[\u3010\uff3b]", " ?"), (" ?", r"[\]\u3011\uff3d]")),
)
_PLACEHOLDER_JOINTS = (r"\\?", "[_ -]")
_BARE_JOINTS = (r"\\?", "_")
_BARE_START = "(?<![0-9A-Za-z_])"
_BARE_END = "(?![0-9A-Za-z_])"
LONGEST_PLACEHOLDER = max(map(len, PLACEHOLDER_NAMES.values())) + _PLACEHOLDER_DIGITS + 12


def _placeholder_name(name: str, joints: tuple[str, ...], any_case: bool) -> list[str]:
    """The pieces of a pattern for a name and the joint before its number."""
    pieces: list[str] = []
    for letter in f"{name}_":
        if letter == "_":
            pieces += joints
        else:
            pieces.append(f"[{letter}{letter.lower()}]" if any_case else letter)
    return pieces


@cache
def placeholder_pattern() -> re.Pattern[str]:
    """Any writing of a placeholder."""
    names = sorted(PLACEHOLDER_NAMES.values(), key=lambda name: (-len(name), name))
    number = f"[0-9]{{1,{_PLACEHOLDER_DIGITS}}}"
    bracketed = "|".join(
        "".join(_placeholder_name(name, _PLACEHOLDER_JOINTS, True)) for name in names
    )
    bare = "|".join("".join(_placeholder_name(name, _BARE_JOINTS, False)) for name in names)
    forms = [
        f"{''.join(opening)}(?:{bracketed}){number}{''.join(closing)}"
        for opening, closing in _PLACEHOLDER_BRACKETS
    ]
    return re.compile("|".join([*forms, f"{_BARE_START}(?:{bare}){number}{_BARE_END}"]))


@cache
def unfinished_placeholder_pattern() -> re.Pattern[str]:
    """What, at the end of a text, may be the beginning of a placeholder, or one that may go on."""
    number = ("[0-9]", f"[0-9]{{0,{_PLACEHOLDER_DIGITS - 1}}}")
    forms: list[str] = []
    for name in PLACEHOLDER_NAMES.values():
        inner = _placeholder_name(name, _PLACEHOLDER_JOINTS, True)
        for opening, closing in _PLACEHOLDER_BRACKETS:
            forms.append(_beginning([*opening, *inner, *number, *closing[:-1]]))
        bare = _placeholder_name(name, _BARE_JOINTS, False)
        forms.append(_BARE_START + _beginning([*bare, *number]))
    return re.compile(rf"(?=[\\\[\u3010\uff3bA-Z])(?:{'|'.join(forms)})\Z")


def _beginning(pieces: Sequence[str]) -> str:
    """A pattern for every beginning of the sequence of pieces, none left out in between."""
    pattern = ""
    for piece in reversed(pieces):
        pattern = f"(?:{piece}{pattern})?" if pattern else f"(?:{piece})?"
    return pattern


# A place of a text, and the name of what stands there.
_NamedSpan = tuple[int, int, str]
# Shorter values are looked for by their recogniser alone; of more values only those it finds.
_SHORTEST_LOOKED_FOR = 6
_MOST_LOOKED_FOR = 200


class Redaction:
    """The placeholders of one call: of one user, for one request and its reply.

    A value has the same placeholder in all texts of the call. What a text holds by itself that
    looks like a placeholder is never mistaken for one of ours: its number is not given out, and if
    it was given out before, the look-alike gets a placeholder of its own.
    """

    def __init__(
        self,
        kinds: Collection[PersonalKind] = ALL_PERSONAL_KINDS,
        find: Callable[[str], Sequence[Finding]] = find_personal_data,
    ) -> None:
        self._kinds = frozenset(kinds)
        self._find = find
        self._by_value: dict[tuple[str, str], str] = {}
        self._values: dict[str, str] = {}
        self._reserved: set[str] = set()
        self._next: dict[str, int] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing was replaced, so that a reply need not be looked at."""
        return not self._values

    def redact(self, text: str) -> str:
        """The text with a placeholder for each finding of the chosen kinds.

        A value that was found once is replaced wherever else it stands in this text, and in later
        ones, whether or not the words around it tell what it is.
        """
        self._reserve(text)
        return self._redacted(text, self._found(text))

    def redact_all(self, texts: Sequence[str], *, again: bool = False) -> list[str]:
        """Several texts of the call, as if each had come after all others.

        Numbers follow the order of the texts, so texts that come later change no earlier number.
        ``again`` is for texts in which placeholders of this call may stand already: these stay.
        """
        for text in texts:
            self._reserve(text)
        found = [self._found(text) for text in texts]
        for text, spans in zip(texts, found, strict=True):
            for start, end, name in spans:
                self._placeholder(name, text[start:end])
        return [
            self._redacted(text, spans, again) for text, spans in zip(texts, found, strict=True)
        ]

    def _found(self, text: str) -> list[_NamedSpan]:
        return [
            (one.start, one.end, PLACEHOLDER_NAMES[one.kind])
            for one in self._find(text)
            if one.kind in self._kinds
        ]

    def _reserve(self, text: str) -> None:
        """Numbers that a text uses itself are not given out."""
        self._reserved.update(name for _, _, name in _look_alikes(text) if name not in self._values)

    def _redacted(self, text: str, found: Sequence[_NamedSpan], again: bool = False) -> str:
        for start, end, name in found:
            self._placeholder(name, text[start:end])
        spans = [*found, *self._known_again(text)]
        if not again:
            spans += (
                (start, end, name.rpartition("_")[0])
                for start, end, name in _look_alikes(text)
                if name in self._values
            )
        parts: list[str] = []
        position = 0
        for start, end, name in _not_overlapping(found, spans):
            parts += text[position:start], self._placeholder(name, text[start:end])
            position = end
        return "".join([*parts, text[position:]])

    def _known_again(self, text: str) -> Iterator[_NamedSpan]:
        """Where known values stand, as words of their own; of a call with few values."""
        if len(self._by_value) > _MOST_LOOKED_FOR:
            return
        for name, value in self._by_value:
            at = text.find(value) if len(value) >= _SHORTEST_LOOKED_FOR else -1
            while at >= 0:
                end = at + len(value)
                if not (text[max(at - 1, 0) : at].isalnum() or text[end : end + 1].isalnum()):
                    yield at, end, name
                at = text.find(value, at + 1)

    def redact_parsed(self, value: Any) -> Any:
        """The same for the texts within lists and objects; names of fields stay."""
        if isinstance(value, str):
            return self.redact(value)
        return _replaced_within(value, self.redact_parsed, keys=None)

    def restore(self, text: str) -> str:
        """The text with the values of this call's placeholders; others stay as they are.

        Not for the text of a JSON document, whose quotes a value might break: that is for
        ``restore_json``, or for ``restore_parsed`` once it is parsed.
        """
        if not self._values:
            return text
        return placeholder_pattern().sub(self.restored, text)

    def restore_json(self, text: str) -> str:
        """The text of a JSON document with values, escaped, for the placeholders in its strings."""
        if not self._values:
            return text
        return placeholder_pattern().sub(self.restored_in_json, text)

    def restore_parsed(self, value: Any) -> Any:
        """A parsed reply with values for placeholders in all its texts and names of fields."""
        if isinstance(value, str):
            return self.restore(value)
        return _replaced_within(value, self.restore_parsed, keys=self.restore)

    def restored(self, match: re.Match[str]) -> str:
        """The value of one match of ``placeholder_pattern``, or the match itself."""
        return self._values.get(_canonical_name(match), match[0])

    def restored_in_json(self, match: re.Match[str]) -> str:
        """The same as it stands between the quotes of a JSON document."""
        value = self._values.get(_canonical_name(match))
        return match[0] if value is None else json.dumps(value, ensure_ascii=False)[1:-1]

    def _placeholder(self, name: str, value: str) -> str:
        known = self._by_value.get((name, value))
        if known is None:
            number = self._next.get(name, 1)
            while f"{name}_{number}" in self._reserved:
                number += 1
            self._next[name] = number + 1
            known = self._by_value[name, value] = f"{name}_{number}"
            self._values[known] = value
        return f"[{known}]"


def _look_alikes(text: str) -> list[_NamedSpan]:
    return [
        (*match.span(), _canonical_name(match)) for match in placeholder_pattern().finditer(text)
    ]


def _replaced_within(
    value: Any, replaced: Callable[[Any], Any], keys: Callable[[str], str] | None
) -> Any:
    if isinstance(value, list):
        return [replaced(one) for one in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {
            keys(key) if keys and isinstance(key, str) else key: replaced(one)
            for key, one in value.items()  # pyright: ignore[reportUnknownVariableType]
        }
    return value


def _not_overlapping(found: Sequence[_NamedSpan], spans: Sequence[_NamedSpan]) -> list[_NamedSpan]:
    """Spans by place, without those that overlap an earlier one or one of the found."""
    first = set(found)
    ends = sorted(found)
    starts = [start for start, _, _ in ends]
    chosen: list[_NamedSpan] = []
    for span in sorted(spans, key=lambda one: (one[0], -one[1])):
        start, end, _ = span
        if chosen and start < chosen[-1][1]:
            continue
        after = bisect_right(starts, start)
        if span in first or after == len(starts) or starts[after] >= end:
            chosen.append(span)
    return chosen


def _canonical_name(match: re.Match[str]) -> str:
    """The name that we gave: ``[Birth date 02]`` is ``BIRTH_DATE_2``."""
    plain = match[0].replace("\\", "").strip("[]\u3010\u3011\uff3b\uff3d ")
    name, _, number = plain.replace("-", "_").replace(" ", "_").rpartition("_")
    return f"{name.upper()}_{int(number)}"
