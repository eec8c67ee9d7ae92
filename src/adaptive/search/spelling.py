"""Words that people and models misspell."""

import difflib
import importlib
from collections.abc import Collection
from typing import Any

try:
    _rapidfuzz: Any = importlib.import_module("rapidfuzz")
except ImportError:  # words are compared by Python's own difflib
    _rapidfuzz = None

# A shorter word with another letter is another word.
_LEAST_ALIKE = 0.85
LEAST_LETTERS = 5


def as_spelled(word: str, known: Collection[str]) -> str:
    """The word, or the known one that it is spelled nearly like."""
    if word in known or len(word) < LEAST_LETTERS:
        return word
    if _rapidfuzz is None:
        alike = difflib.get_close_matches(word, known, 1, _LEAST_ALIKE)
        return next(iter(alike), word)
    nearest = _rapidfuzz.process.extractOne(
        word,
        known,
        scorer=_rapidfuzz.fuzz.ratio,
        score_cutoff=100 * _LEAST_ALIKE,
    )
    return nearest[0] if nearest else word
