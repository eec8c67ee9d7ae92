"""Restoring placeholders in an answer that comes in pieces."""

from __future__ import annotations

from adaptive.privacy.placeholders import (
    LONGEST_PLACEHOLDER,
    Redaction,
    placeholder_pattern,
    unfinished_placeholder_pattern,
)


class StreamRestorer:
    """Gives the pieces of an answer on with values for placeholders, wherever it was cut.

    Only what may be the beginning of a placeholder waits for the next piece: less than
    ``LONGEST_PLACEHOLDER`` characters. What all calls gave together is what
    ``Redaction.restore`` makes of the whole answer, or, where ``json_text``, what
    ``Redaction.restore_json`` makes of a JSON document.
    """

    def __init__(self, redaction: Redaction, *, json_text: bool = False) -> None:
        self._redaction = redaction
        self._value = redaction.restored_in_json if json_text else redaction.restored
        self._held = ""
        # The last character given on: a placeholder without brackets begins no word's middle.
        self._before = ""

    def feed(self, chunk: str) -> str:
        """What of this piece, and of what was held, is certain."""
        if self._redaction.is_empty:
            return chunk
        text = self._before + self._held + chunk
        first = len(self._before)
        unfinished = unfinished_placeholder_pattern().search(
            text, max(first, len(text) - LONGEST_PLACEHOLDER)
        )
        return self._given(text, first, unfinished.start() if unfinished else len(text))

    def finish(self) -> str:
        """What was still held; the answer is over."""
        text = self._before + self._held
        return self._given(text, len(self._before), len(text))

    def _given(self, text: str, first: int, until: int) -> str:
        parts: list[str] = []
        position = first
        for match in placeholder_pattern().finditer(text, first):
            if match.end() > until:
                until = min(until, match.start())
                break
            parts += text[position : match.start()], self._value(match)
            position = match.end()
        parts.append(text[position:until])
        self._held = text[until:]
        self._before = text[max(until - 1, 0) : until]
        return "".join(parts)
