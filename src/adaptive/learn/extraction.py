"""Asking a model which durable facts a turn holds, and once more where its answer can't be used."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from adaptive.errors import ModelError, ReplyUnusable
from adaptive.learn.operations import END_NOTE, TOO_MANY, Extraction, read_extraction
from adaptive.llm.prompts import render_prompt
from adaptive.llm.reply import REPLY_REASONS
from adaptive.measures import staged
from adaptive.messages import head_and_tail
from adaptive.model import (
    ABOUT,
    FACT_KINDS,
    Completion,
    CompletionRequest,
    Memory,
    Turn,
)
from adaptive.privacy.escaping import escaped_entry
from adaptive.privacy.secrets import without_secrets
from adaptive.settings import Settings

_LONGEST_WORDS = 12000
_LONGEST_UTTERANCE = 1000
_LONGEST_MEMORY = 1000
_AGAIN = """## Your last answer
It could not be used as it was:
- {}
Answer again, in full: one JSON object of the form above, and nothing else."""

AskModel = Callable[[CompletionRequest], Awaitable[Completion]]


def list_schema(key: str, fields: Mapping[str, Any], *required: str) -> Mapping[str, Any]:
    """The JSON schema of one list of objects; a field is given by its type, or whole."""
    properties: dict[str, Any] = {
        name: {"type": one} if isinstance(one, str | list) else one for name, one in fields.items()
    }
    item = {"type": "object", "properties": properties, "required": list(required)}
    listed = {"type": "array", "items": item}
    return {"type": "object", "properties": {key: listed}, "required": [key]}


def _one_of(values: Sequence[str]) -> Mapping[str, Any]:
    return {"enum": list(values)}


EXTRACT_SCHEMA = list_schema(
    "operations",
    {
        "operation": _one_of(("NEW", "UPDATE", "DELETE")),
        "id": "string",
        "content": "string",
        "evidence": {"type": "array", "items": {"type": "string"}},
        "about": _one_of(ABOUT),
        "kind": _one_of(FACT_KINDS),
        "until": ["string", "null"],
        "tags": {"type": "array", "items": {"type": "string"}},
        "memory_bank": "string",
        "confidence": "number",
        "importance": "integer",
    },
    "operation",
)


@staged("extraction")
async def extraction(
    ask_model: AskModel, turn: Turn, shown: Sequence[Memory], settings: Settings, now: datetime
) -> Extraction:
    """What a model finds in a turn: its answer, and what a second one adds where it is broken.

    ``shown`` are the memories that the model is shown, ``now`` the time of the message in the
    user's time zone.

    Raises:
        ModelError: there is no usable answer.
    """
    request = extraction_request(turn, shown, settings, now)
    try:
        first = read_extraction(await ask_model(request), shown, settings)
        wrong = list(dict.fromkeys(one.reason for one in first.refused if one.reason != TOO_MANY))
    except ReplyUnusable as error:
        first = Extraction((), ())
        # A provider's own error may quote the user.
        wrong = [str(error) if str(error) in REPLY_REASONS else "it held no JSON that can be read"]
    if not wrong:
        return first
    note = _AGAIN.format("\n- ".join(wrong))
    again = f"{request.user}\n\n{note}"
    try:
        second = read_extraction(await ask_model(replace(request, user=again)), shown, settings)
    except ModelError:
        if not first:
            raise
        return first
    return first.joined(second)


def extraction_request(
    turn: Turn, shown: Sequence[Memory], settings: Settings, now: datetime
) -> CompletionRequest:
    """The question to the model."""
    values = {
        "date": now.strftime("%A, %d %B %Y, %H:%M"),
        "timezone": str(now.tzinfo or "UTC"),
        "categories": ", ".join(settings.categories),
        "banks": ", ".join(settings.banks),
        "language": settings.memory_language.strip() or "the language of the message",
        "admin": settings.keeping_rules,
    }
    system = render_prompt("extract", settings.memory_identification_prompt, values)
    sections: list[str] = []
    if turn.earlier:
        lines = [f"{one.role}: {_one_line(one.text, _LONGEST_UTTERANCE)}" for one in turn.earlier]
        sections.append("## Earlier turns, for reference only\n" + "\n".join(lines))
    if shown:
        sections.append("## Existing memories\n" + listed_memories(shown))
    words = head_and_tail(without_secrets(turn.words), _LONGEST_WORDS)
    sections.append("## Newest message of the user\n" + words)
    return CompletionRequest(system, "\n\n".join(sections), "memory_operations", EXTRACT_SCHEMA)


def listed_memories(memories: Sequence[Memory]) -> str:
    """Memories as a model is shown them: one a line, with its id and the day on which it ends."""
    lines: list[str] = []
    for one in memories:
        end = END_NOTE.format(one.until) if one.until else ""
        content = escaped_entry(_one_line(one.content, _LONGEST_MEMORY) + end)
        lines.append(f"- id={one.id} | {content}")
    return "\n".join(lines)


def _one_line(text: str, limit: int) -> str:
    # A secret is known by what stands around it, which a cut may take away.
    return " ".join(head_and_tail(without_secrets(text), limit).split())
