"""The stored replies of models (``replies.json``), and what may be taken from each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from adaptive.core.model import Memory

# The memories whose ids the model was shown.
OFFERED = (
    Memory(
        "m-1",
        "User likes tea.",
        1,
        1,
        ("preference",),
        "Personal",
        0.8,
        3,
        until="2027-01-31",
    ),
    Memory(
        "m-2",
        "User's dog is called Biscuit.",
        2,
        2,
        ("relationship",),
        "Personal",
        0.9,
        6,
    ),
    Memory(
        "7", "User works at the harbour.", 3, 3, ("identity",), "Work", 1.0, 7
    ),
    Memory(
        "5d9c1e7a-2f3b-4c6d-8e90-a1b2c3d4e5f6",
        "User plays chess.",
        4,
        4,
        bank="General",
    ),
)


@dataclass(frozen=True)
class ReplyCase:
    """A reply and its operations as kind, id and content; ``cut`` if the provider reported that."""

    id: str
    reply: str
    operations: tuple[tuple[str, str, str], ...]
    cut: bool


def stored_replies() -> list[ReplyCase]:
    """The set; a long reply is stored as its parts, those that repeat with their number."""
    path, cases = Path(__file__).parent / "replies.json", list[ReplyCase]()
    for one in json.loads(path.read_text(encoding="utf-8")):
        parts = [
            part if isinstance(part, str) else part[0] * part[1]
            for part in one["reply"]
        ]
        operations = tuple(
            (kind, id_, content) for kind, id_, content in one["operations"]
        )
        cases.append(
            ReplyCase(
                one["id"], "".join(parts), operations, one.get("cut", False)
            )
        )
    return cases
