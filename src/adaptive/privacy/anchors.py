"""Where in a text something may be: the places around an ``@``, a run of digits, a long word.

The patterns of the recognisers run in these windows only, so that a long text without any of it
costs a few scans for single characters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

Window = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Anchor:
    """What is looked for, and how many characters before and behind belong to the window.

    With ``least_word`` it stands within a run of so many letters and digits; with ``words``
    one of them, in small letters, stands in the text.
    """

    pattern: str
    before: int
    behind: int
    least_word: int = 0
    words: tuple[str, ...] = ()


ANCHORS: Mapping[str, Anchor] = {
    "at": Anchor("@", 70, 270),
    "at word": Anchor(
        "(?i: (?:dot|arroba|arobase|chiocciola|собака) )",
        140,
        80,
        words=("dot", "arroba", "arobase", "chiocciola", "собака"),
    ),
    "mac word": Anchor("[Mm][Aa][Cc]", 2, 60, words=("mac",)),
    "bracketed at": Anchor(r"[(\[](?i:at)[)\]]", 70, 270),
    "scheme": Anchor("://", 16, 300),
    "digit": Anchor(r"[0-9](?:[^0-9\n]{0,40}[0-9]){0,100}", 90, 60),
    "colons": Anchor(":[0-9A-Fa-f]{0,4}:", 40, 48),
    "hyphens": Anchor("-[0-9A-Fa-f]{2}-[0-9A-Fa-f]{2}-", 4, 16),
    "dotted": Anchor(r"\.[0-9A-Fa-f]{1,4}\.", 6, 12),
    "decimals": Anchor(r"[.°,][0-9]", 24, 60),
    "degrees": Anchor("°", 6, 50),
    "long word": Anchor(r"(?a:\b)[0-9A-Za-z]{25,120}", 20, 24, 25),
}


class DistinctWords:
    """What stands between the white space of a text, each once.

    The words of a long text are few thousand different ones; whether one of some hundred prefixes
    or key words occurs at all is asked of them, in a fraction of the time.
    """

    def __init__(self, text: str) -> None:
        self._words = frozenset(text.split())
        self._joined = "\n".join(self._words)

    @cached_property
    def in_small_letters(self) -> DistinctWords:
        """The same words in small letters."""
        return DistinctWords(self._joined.lower())

    def has(self, word: str) -> bool:
        """Whether it is one of them."""
        return word in self._words

    def hold(self, part: str) -> bool:
        """Whether a text may hold a part: each of its words stands in one of these."""
        if " " not in part:
            return part in self._joined
        return all(word in self._joined for word in part.split())

    def heads(self, size: int) -> frozenset[str]:
        """The first letters of each."""
        return frozenset(word[:size] for word in self._words)

    def of_length(self, least: int) -> str:
        """Those of so many characters or more, on lines of their own."""
        return "\n".join(word for word in self._words if len(word) >= least)


def windows(text: str, name: str, words: DistinctWords) -> list[Window]:
    """The windows of an anchor in a text, rising, without overlaps.

    ``words`` are those of the text, in small letters and without signs (``words_only``).
    """
    anchor = ANCHORS[name]
    found: list[Window] = []
    least = anchor.least_word
    if anchor.words and not any(map(words.has, anchor.words)):
        return found
    if least and not _pii_anchor(name).search(words.of_length(least)):
        return found
    low, high = -1, -1
    for match in _pii_anchor(name).finditer(text):
        start, end = match.span()
        start -= anchor.before
        if start > high:
            if high >= 0:
                found.append((max(low, 0), high))
            low = start
        high = end + anchor.behind
    if high >= 0:
        found.append((max(low, 0), high))
    return found


@cache
def _pii_anchor(name: str) -> re.Pattern[str]:
    return re.compile(ANCHORS[name].pattern)
