"""Asking a model which durable facts a turn holds: what it is shown, and asked once more."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from adaptive.core.errors import ModelError, ReplyUnusable
from adaptive.core.measures import staged
from adaptive.core.messages import head_and_tail
from adaptive.core.model import Completion, CompletionRequest, Memory, Turn
from adaptive.core.ports import Vectors
from adaptive.learn.operations import (
    ABOUT,
    END_NOTE,
    FACT_KINDS,
    Extraction,
    read_extraction,
)
from adaptive.learn.prefilter import spoken_parts
from adaptive.llm.prompts import render_prompt
from adaptive.llm.reply import REPLY_REASONS
from adaptive.privacy.escaping import escaped_entry
from adaptive.privacy.secrets import without_secrets
from adaptive.search.fusion import Asked, asked_for, rank
from adaptive.search.index import MemoryIndex
from adaptive.settings.local_only import LocalOnlyBanks
from adaptive.settings.merged import Settings

_LONGEST_WORDS = 12000
_LONGEST_UTTERANCE = 1000
_LONGEST_MEMORY = 1000
# With more memories than this only some are shown to the model.
MOST_SHOWN = 20
# Of these so many are the most important ones, whatever the message says: an allergy is near to
# few messages that it matters for.
_BY_IMPORTANCE = 5
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


EXTRACT_SCHEMA = list_schema(
    "operations",
    {
        "operation": {"enum": ["NEW", "UPDATE", "DELETE"]},
        "id": "string",
        "content": "string",
        "evidence": {"type": "array", "items": {"type": "string"}},
        "about": {"enum": list(ABOUT)},
        "kind": {"enum": list(FACT_KINDS)},
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
    """What a model finds in a turn: its answer, and what a second one adds where it is broken."""
    request = extraction_request(turn, shown, settings, now)
    try:
        first = read_extraction(await ask_model(request), shown, settings)
        wrong = list(dict.fromkeys(one.reason for one in first.refused))
    except ReplyUnusable as error:
        first = Extraction((), ())
        # A provider's own error may quote the user.
        wrong = [str(error) if str(error) in REPLY_REASONS else "it held no JSON that can be read"]
    if not wrong:
        return first
    note = _AGAIN.format("\n- ".join(wrong))
    again = replace(request, user=f"{request.user}\n\n{note}")
    try:
        return first.joined(read_extraction(await ask_model(again), shown, settings))
    except ModelError:
        if not first:
            raise
        return first


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
    system = render_prompt("extract", "", values)
    sections: list[str] = []
    if turn.earlier:
        lines = [f"{one.role}: {_one_line(one.text, _LONGEST_UTTERANCE)}" for one in turn.earlier]
        sections.append("## Earlier turns, for reference only\n" + "\n".join(lines))
    if shown:
        sections.append("## Existing memories\n" + listed_memories(shown))
    words = head_and_tail(without_secrets(turn.words), _LONGEST_WORDS)
    sections.append("## Newest message of the user\n" + words)
    return CompletionRequest(system, "\n\n".join(sections), "memory_operations", EXTRACT_SCHEMA)


async def shown_memories(
    index: MemoryIndex, words: str, vectors: Vectors | None, hidden: LocalOnlyBanks
) -> Sequence[Memory]:
    """All memories of a small store; of another those that may matter for a message."""
    if len(index.memories) <= MOST_SHOWN:
        return hidden.without(index.memories)
    # What several turns say that are learned together is near to none of what it corrects: each
    # part is looked for by its own words, rare ones first.
    parts = [Asked(one, None) for one in spoken_parts(words)]
    asked = [asked_for(words, "", vectors, index.dimension), *parts]
    near = await asyncio.to_thread(nearest_memories, index, asked)
    weighty = sorted(index.memories, key=lambda one: -one.importance)[:_BY_IMPORTANCE]
    chosen = [*near[: MOST_SHOWN - len(weighty)], *weighty, *near]
    return hidden.without({one.id: one for one in chosen}.values())[:MOST_SHOWN]


def nearest_memories(index: MemoryIndex, asked: Sequence[Asked]) -> Sequence[Memory]:
    """The nearest to each of several questions, then the second of each; of a small store all."""
    rankings = [[one.place for one in rank(index.shelf, each)] for each in asked]
    places = itertools.chain.from_iterable(itertools.zip_longest(*rankings))
    return [index.memories[place] for place in dict.fromkeys(places) if place is not None]


def listed_memories(memories: Sequence[Memory]) -> str:
    """Memories as a model is shown them: one a line, with its id and the day on which it ends."""
    shown = {one.id: _one_line(one.content, _LONGEST_MEMORY) for one in memories}
    ends = {one.id: END_NOTE.format(one.until) if one.until else "" for one in memories}
    return "\n".join(f"- id={id} | {escaped_entry(shown[id] + ends[id])}" for id in shown)


def _one_line(text: str, limit: int) -> str:
    # A secret is known by what stands around it, which a cut may take away.
    return " ".join(head_and_tail(without_secrets(text), limit).split())
