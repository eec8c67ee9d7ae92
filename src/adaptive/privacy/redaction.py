"""Placeholders for personal data in what one model call sends, and the way back in its answer."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import get_args

from adaptive.privacy.personal_data import Finding, find_personal_data
from adaptive.privacy.personal_shapes import PersonalKind

_SHORTER_NAMES: Mapping[str, str] = {"url_credentials": "URL", "crypto_wallet": "WALLET"}
_PERSONAL_KINDS: tuple[PersonalKind, ...] = get_args(PersonalKind)
PLACEHOLDER_NAMES: Mapping[PersonalKind, str] = {
    kind: _SHORTER_NAMES.get(kind, kind.upper()) for kind in _PERSONAL_KINDS
}
# No placeholder is longer, however a model writes it.
LONGEST_PLACEHOLDER = 36
# Shorter values are looked for by their recogniser alone; of more values only those it finds.
_SHORTEST_LOOKED_FOR = 6
_MOST_LOOKED_FOR = 200
_NOWHERE = re.compile(r"(?!)")
_WORDS = "|".join(PLACEHOLDER_NAMES.values())
# As models write it back: brackets may be escaped or full-width, letters small, the underscore a
# blank or hyphen. Without brackets in capitals only: ``email_1`` is a fine name in a program.
PLACEHOLDER = re.compile(
    r"(?P<opening>\\{0,2})[\[\u3010\uff3b] ?(?i:" + _WORDS.replace("_", r"\\{0,2}[_ -]") + ")"
    r"\\{0,2}[_ -][0-9]{1,6} ?(?P<closing>\\{0,2})[\]\u3011\uff3d]"
    r"|(?<![0-9A-Za-z_])(?:" + _WORDS.replace("_", r"\\{0,2}_") + ")"
    r"\\{0,2}_[0-9]{1,6}(?![0-9A-Za-z_])",
    re.ASCII,
)
# What, at the end of a text, may be the beginning of a placeholder, or one that may go on.
_UNFINISHED = re.compile(
    r"(?:\\{0,2}[\[\u3010\uff3b] ?(?:[A-Za-z][A-Za-z0-9_ \\-]{0,30})?"
    r"|(?<![0-9A-Za-z_])[A-Z][A-Z0-9_\\]{0,32}|\\{1,2})\Z"
)


class Redaction:
    """The placeholders of one call: of one user, for one request and its reply.

    A value has the same placeholder in all texts of the call. What a text holds by itself that
    looks like a placeholder stays, and its number is not given out.
    """

    def __init__(self, find: Callable[[str], Sequence[Finding]] = find_personal_data) -> None:
        self._find = find
        self._names: dict[str, str] = {}
        self._values: dict[str, str] = {}
        self._reserved: set[str] = set()
        self._numbers: Counter[str] = Counter()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was replaced, so that a reply need not be looked at."""
        return not self._values

    def redact(self, text: str) -> str:
        """The text with a placeholder for each finding."""
        return self.redact_all([text])[0]

    def redact_all(self, texts: Sequence[str]) -> list[str]:
        """Several texts of the call, each with a placeholder for each finding.

        A value that was found once is replaced wherever else it stands, whether or not the words
        around it tell what it is. Numbers follow the order of the texts, so texts that come later
        change no earlier number; placeholders of this call that stand in a text stay.
        """
        for text in texts:
            self._reserved.update(map(_name_of, PLACEHOLDER.finditer(text)))
        found = [self._find(text) for text in texts]
        for text, findings in zip(texts, found, strict=True):
            for one in findings:
                self._give_placeholder(PLACEHOLDER_NAMES[one.kind], text[one.start : one.end])
        known = self._known_values()
        return [
            self._replaced(text, findings, known)
            for text, findings in zip(texts, found, strict=True)
        ]

    def restore(self, text: str, *, json_text: bool = False) -> str:
        """The text with the values of this call's placeholders; others stay as they are.

        ``json_text``: it is that of a JSON document, in which values are escaped.
        """
        if not self._values:
            return text
        return PLACEHOLDER.sub(lambda match: self.value_of(match, json_text=json_text), text)

    def value_of(self, match: re.Match[str], *, json_text: bool = False) -> str:
        """The value of one match of ``PLACEHOLDER``, or the match itself."""
        value = self._values.get(_name_of(match))
        if value is None:
            return match[0]
        if json_text:
            value = json.dumps(value, ensure_ascii=False)[1:-1]
        # Where only one of the brackets is escaped, the backslash is one of the text's own.
        opening, closing = match["opening"] or "", match["closing"] or ""
        return value if opening == closing else f"{opening}{value}{closing}"

    def _known_values(self) -> re.Pattern[str]:
        """Where known values stand, as words of their own; of a call with few values."""
        values = [value for value in self._names if len(value) >= _SHORTEST_LOOKED_FOR]
        if not values or len(self._names) > _MOST_LOOKED_FOR:
            return _NOWHERE
        words = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
        return re.compile(rf"(?<![^\W_])(?:{words})(?![^\W_])")

    def _replaced(self, text: str, findings: Sequence[Finding], known: re.Pattern[str]) -> str:
        """The text with placeholders for what was found in it, and for known values between."""
        parts: list[str] = []
        position = 0
        for one in findings:
            parts.append(known.sub(self._name, text[position : one.start]))
            parts.append(self._names[text[one.start : one.end]])
            position = one.end
        return "".join([*parts, known.sub(self._name, text[position:])])

    def _name(self, value: re.Match[str]) -> str:
        return self._names[value[0]]

    def _give_placeholder(self, kind: str, value: str) -> None:
        while value not in self._names:
            self._numbers[kind] += 1
            name = f"{kind}_{self._numbers[kind]}"
            if name not in self._reserved:
                self._names[value] = f"[{name}]"
                self._values[name] = value


class StreamRestorer:
    """Gives the pieces of an answer on with values for placeholders, wherever it was cut.

    Only what may be the beginning of a placeholder waits for the next piece: less than
    ``LONGEST_PLACEHOLDER`` characters. What all calls gave together is what ``Redaction.restore``
    makes of the whole answer.
    """

    def __init__(self, redaction: Redaction, *, json_text: bool = False) -> None:
        self._redaction, self._json_text = redaction, json_text
        self._held = ""
        # The last character given on: a placeholder without brackets begins no word's middle.
        self._before = ""

    def feed(self, chunk: str) -> str:
        """What of this piece, and of what was held, is certain."""
        if self._redaction.is_empty:
            return chunk
        text, first = self._before + self._held + chunk, len(self._before)
        unfinished = _UNFINISHED.search(text, max(first, len(text) - LONGEST_PLACEHOLDER))
        return self._given(text, first, unfinished.start() if unfinished else len(text))

    def finish(self) -> str:
        """What was still held; the answer is over."""
        text = self._before + self._held
        return self._given(text, len(self._before), len(text))

    def _given(self, text: str, first: int, until: int) -> str:
        parts: list[str] = []
        position = first
        for match in PLACEHOLDER.finditer(text, first):
            if match.end() > until:
                until = min(until, match.start())
                break
            value = self._redaction.value_of(match, json_text=self._json_text)
            parts += text[position : match.start()], value
            position = match.end()
        parts.append(text[position:until])
        self._held = text[until:]
        self._before = text[max(until - 1, 0) : until]
        return "".join(parts)


def _name_of(match: re.Match[str]) -> str:
    """The name that we gave: ``[Birth date 02]`` is ``BIRTH_DATE_2``."""
    name, _, number = re.sub(r"[\W_]+", "_", match[0]).strip("_").rpartition("_")
    return f"{name.upper()}_{int(number)}"
