"""Lessons of ten people as a reader who plays the model has taken part in them.

``lessons.json`` holds each request of the plug-in in the order in which it came, and the reply:
``user``, ``words`` of the newest message, ``earlier`` turns, ``shown`` memories by id, ``reply``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from adaptive.core.model import Memory, Proposal, Provenance, Turn, Utterance
from adaptive.core.providers import Completion
from adaptive.learn.proposals import ExtractionSource, read_proposals
from adaptive.settings.merged import Settings

LESSONS = Path(__file__).with_name("lessons.json")


@dataclass(frozen=True)
class ReadLesson:
    """One request and what was answered to it."""

    user: str
    words: str
    earlier: tuple[Utterance, ...]
    shown: dict[str, str]
    reply: str

    @property
    def turn(self) -> Turn:
        return Turn(
            self.user,
            "saved",
            self.words,
            self.earlier,
            Provenance("chat", "message", 1795305600),
        )

    @property
    def memories(self) -> dict[str, Memory]:
        return {
            one: Memory(one, content, 0, 0)
            for one, content in self.shown.items()
        }

    def proposals(self, settings: Settings) -> list[Proposal]:
        """What the reply proposes."""
        completion = Completion(self.reply)
        source = ExtractionSource((), tuple(self.memories.values()))
        read = read_proposals(completion, source, settings)
        return [one for one in read if one.is_open]


@cache
def read_lessons() -> tuple[ReadLesson, ...]:
    """All lessons, in their order."""
    rows: list[dict[str, Any]] = json.loads(
        LESSONS.read_text(encoding="utf-8")
    )
    return tuple(
        ReadLesson(
            row["user"],
            row["words"],
            tuple(
                Utterance(one["role"], one["text"]) for one in row["earlier"]
            ),
            row["shown"],
            row["reply"],
        )
        for row in rows
    )
