"""Plays the judge of memories: a request in, a score for each memory out."""

from __future__ import annotations

import re

from demo.standin.words import overlap, question_words

_MESSAGE = "## Message of the user\n"
_ENTRY = re.compile(r"- id=(?P<id>\S+) \| (?P<text>.+)")


def scores(request: str) -> list[dict[str, object]]:
    """A score for each memory that the request lists: 1 where it shares telling words, else 0."""
    before, _, message = request.rpartition(_MESSAGE)
    wanted = question_words(message)
    entries = (_ENTRY.fullmatch(line.strip()) for line in before.splitlines())
    return [
        {"id": entry["id"], "score": float(overlap(wanted, entry["text"]) > 0)}
        for entry in entries
        if entry
    ]
