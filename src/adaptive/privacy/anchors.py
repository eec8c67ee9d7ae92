"""Where in a text something may be: the places around an ``@``, a run of digits, a long word.

The patterns of the recognisers run in these windows only, so that a long text without any of it
costs a few scans for single characters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

Window = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Anchor:
    """What is looked for, and how many characters before and behind belong to the window."""

    pattern: str
    before: int
    behind: int


ANCHORS: Mapping[str, Anchor] = {
    "at": Anchor("@", 70, 270),
    "at word": Anchor(" dot ", 140, 60),
    "bracketed at": Anchor(r"[(\[](?i:at)[)\]]", 70, 270),
    "scheme": Anchor("://", 16, 300),
    "digit": Anchor(r"[0-9](?:[^0-9\n]{0,40}[0-9]){0,100}", 90, 60),
    "colons": Anchor(":[0-9A-Fa-f]{0,4}:", 40, 48),
    "hyphens": Anchor("-[0-9A-Fa-f]{2}-[0-9A-Fa-f]{2}-", 4, 16),
    "dotted": Anchor(r"\.[0-9A-Fa-f]{1,4}\.", 6, 12),
    "decimals": Anchor(r"[.°,][0-9]", 24, 60),
    "degrees": Anchor("°", 6, 50),
    "long word": Anchor(r"(?a:\b)[0-9A-Za-z]{25,120}", 20, 24),
}


def windows(text: str, name: str) -> list[Window]:
    """The windows of an anchor, rising, without overlaps."""
    anchor = ANCHORS[name]
    found: list[Window] = []
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
