"""The words of a text as what a model quotes is compared with what a user typed."""

from __future__ import annotations

import re

from adaptive.search.tokens import folded_text

_UNSPACED_SIGNS = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3"
UNSPACED = re.compile(f"[{_UNSPACED_SIGNS}]")
_UNITS = re.compile(rf"{UNSPACED.pattern}|[^\W_{_UNSPACED_SIGNS}]+")


def word_units(text: str) -> list[str]:
    """The words of a text, or its signs where words are not spaced."""
    return _UNITS.findall(folded_text(text))


def word_places(folded: str) -> list[tuple[int, int]]:
    """Where the words of a folded text, or its signs, begin and end."""
    return [match.span() for match in _UNITS.finditer(folded)]
