"""Any text that somebody sends, as databases can store it and Unicode can normalise it."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

# Marks that follow a letter are sorted when a text is normalised, which takes the square of their
# number. No language needs more of them (Unicode Standard Annex 15, section 13).
_MOST_MARKS = 30
_MARKS_IN_A_ROW = re.compile(rf"[^\w\x00-\x7f]{{{_MOST_MARKS + 1},}}")


def storable_text(text: str) -> str:
    """The text with a question mark for what databases refuse: NUL, and halves of characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode(errors="replace").decode()
    return text.replace("\0", "?")


def normalised_text(text: str, form: Literal["NFKC", "NFKD"]) -> str:
    """The text in a normal form of Unicode, in linear time; of endless marks the first stay."""
    return unicodedata.normalize(
        form, _MARKS_IN_A_ROW.sub(_with_few_marks, text)
    )


def _with_few_marks(row: re.Match[str]) -> str:
    signs = row[0]
    others = (
        sign for sign in signs[_MOST_MARKS:] if not unicodedata.combining(sign)
    )
    return signs[:_MOST_MARKS] + "".join(others)
