"""Asking a model which durable facts a turn holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from adaptive.llm.prompts import render_prompt
from adaptive.messages import head_and_tail
from adaptive.model import CATEGORIES, CompletionRequest, Memory, Turn
from adaptive.privacy.escaping import escaped_entry
from adaptive.settings import Settings

_LONGEST_WORDS = 12000
_LONGEST_UTTERANCE = 1000
_LONGEST_MEMORY = 1000

EXTRACT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "operations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "operation": {"type": "string", "enum": ["NEW", "UPDATE", "DELETE"]},
                    "id": {"type": "string"},
                    "content": {"type": "string"},
                    "tags": {
                        "type": "array",
                        "items": {"type": "string", "enum": list(CATEGORIES)},
                    },
                    "memory_bank": {"type": "string"},
                    "confidence": {"type": "number"},
                    "importance": {"type": "integer"},
                    "kind": {"type": "string", "enum": ["FACT", "META"]},
                },
                "required": ["operation"],
            },
        }
    },
    "required": ["operations"],
}


def extraction_request(
    turn: Turn, offered: Sequence[Memory], settings: Settings, now: datetime
) -> CompletionRequest:
    """The question to the model; ``now`` is the message's time in the user's time zone."""
    system = render_prompt(
        "extract",
        settings.memory_identification_prompt,
        {
            "date": now.strftime("%A, %d %B %Y, %H:%M"),
            "timezone": str(now.tzinfo or "UTC"),
            "categories": ", ".join(settings.categories),
            "banks": ", ".join(settings.banks),
            "language": settings.memory_language.strip() or "the language of the message",
            "admin": settings.keeping_rules,
        },
    )
    sections: list[str] = []
    if turn.earlier:
        lines = [f"{one.role}: {_one_line(one.text, _LONGEST_UTTERANCE)}" for one in turn.earlier]
        sections.append("## Earlier turns, for reference only\n" + "\n".join(lines))
    if offered:
        shown = {one.id: _one_line(one.content, _LONGEST_MEMORY) for one in offered}
        lines = [f"- id={id} | {escaped_entry(text)}" for id, text in shown.items()]
        sections.append("## Existing memories\n" + "\n".join(lines))
    sections.append("## Newest message of the user\n" + head_and_tail(turn.words, _LONGEST_WORDS))
    return CompletionRequest(system, "\n\n".join(sections), "memory_operations", EXTRACT_SCHEMA)


def _one_line(text: str, limit: int) -> str:
    return " ".join(head_and_tail(text, limit).split())
