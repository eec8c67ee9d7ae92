"""Tags, bank and end date inside a memory's text, for releases without columns for them.

``[Tags: preference, goal] User likes tea. [Memory Bank: Personal] [Until: 2027-02-28]`` is how they
are written; rows of older releases of Adaptive Memory, which had no end date, are read alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from adaptive.clock import iso_day

# No two neighbouring parts may take the same character, and a run of spaces is entered at its
# start only: a text of the user may be long, and is read in linear time.
_TAGS = re.compile(r"^\s*\[Tags:([^\[\]]*)\]\s*", re.IGNORECASE)
_BANK = re.compile(r"(?<!\s)\s*\[Memory Bank:([^\[\]]*)\]\s*", re.IGNORECASE)
_UNTIL = re.compile(r"(?<!\s)\s*\[Until:\s*([\d-]{10})\]\s*", re.IGNORECASE)
_CONFIDENCE = re.compile(r"(?<!\s)\s*\[Confidence:\s*[\d.]+\]\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NotedText:
    """A plain sentence with the tags, the bank and the end date that stood around it."""

    content: str
    tags: tuple[str, ...] = ()
    bank: str = ""
    until: str = ""


def read_notation(text: str) -> NotedText:
    """Take tags, bank, end date and the former confidence mark out of a stored text."""
    tags: tuple[str, ...] = ()
    bank = until = ""
    if found := _TAGS.match(text):
        tags = tuple(tag.strip() for tag in found.group(1).split(",") if tag.strip())
        text = text[found.end() :]
    if found := _BANK.search(text):
        bank = found.group(1).strip()
        text = f"{text[: found.start()]} {text[found.end() :]}"
    if (found := _UNTIL.search(text)) and (until := iso_day(found.group(1))):
        text = f"{text[: found.start()]} {text[found.end() :]}"
    return NotedText(_CONFIDENCE.sub(" ", text).strip(), tags, bank, until)


def write_notation(noted: NotedText) -> str:
    """The text to store for a sentence with its tags, bank and end date."""
    tags = f"[Tags: {', '.join(noted.tags)}] " if noted.tags else ""
    bank = f" [Memory Bank: {noted.bank}]" if noted.bank else ""
    until = f" [Until: {noted.until}]" if iso_day(noted.until) else ""
    return f"{tags}{noted.content}{bank}{until}"
