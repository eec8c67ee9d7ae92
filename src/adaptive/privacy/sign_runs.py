"""Runs of signs of one sort in a text, found with numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adaptive.privacy.unicode_text import code_points

_NARROW = 128
_SHORT_LINE = 1000


class SignSort:
    """Some ASCII signs."""

    def __init__(self, signs: str) -> None:
        self._holds = np.zeros(_NARROW + 1, dtype=np.bool_)
        self._holds[[ord(sign) for sign in signs]] = True
        self._breaks_at_spaces = not any(sign.isspace() for sign in signs)
        self._as_bytes = self._holds[:_NARROW].tobytes().ljust(256, b"\0")

    def marked(self, codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """For each code point whether it is one of them."""
        return self._holds.take(codes, mode="clip")

    def runs(self, text: str, least: int) -> list[tuple[int, int]]:
        """Beginning and end of each run of so many or more of them, end exclusive."""
        # Faster than an array, and all that most sentences need.
        is_short = len(text) <= _SHORT_LINE and self._breaks_at_spaces
        if is_short and all(len(word) < least for word in text.split()):
            return []
        if text.isascii():
            marks = np.frombuffer(text.encode().translate(self._as_bytes), dtype=np.bool_)
        else:
            marks = self.marked(code_points(text))
        begins, ends = edges(marks)
        long = ends - begins >= least
        return list(zip(begins[long].tolist(), ends[long].tolist(), strict=True))


def edges(marks: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where runs of marks begin, and where they end, exclusive."""
    framed = np.zeros(len(marks) + 2, dtype=np.bool_)
    framed[1:-1] = marks
    turns = np.flatnonzero(framed[1:] != framed[:-1])
    return turns[::2], turns[1::2]
