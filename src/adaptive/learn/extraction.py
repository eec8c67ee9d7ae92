"""Asking a model which durable facts a turn holds, and once more where its answer can't be used."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from adaptive.errors import ModelError, ReplyUnusable
from adaptive.learn.operations import Extraction, read_extraction, retry_note
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.llm.prompts import render_prompt
from adaptive.measures import staged
from adaptive.messages import head_and_tail
from adaptive.model import CATEGORIES, Completion, CompletionRequest, Memory, Turn
from adaptive.ports import Completer
from adaptive.privacy.escaping import escaped_entry
from adaptive.privacy.secrets import without_secrets
from adaptive.retry import RetryPolicy
from adaptive.settings import Settings

log_extraction = logging.getLogger("adaptive_memory.learn")

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
                    "evidence": {
                        "anyOf": [
                            {"type": "string"},
                            {"type": "array", "items": {"type": "string"}},
                        ]
                    },
                    "about": {"type": "string", "enum": ["user", "other", "assistant", "world"]},
                    "kind": {
                        "type": "string",
                        "enum": ["FACT", "STYLE", "STATE", "META", "IMAGINED", "QUOTED"],
                    },
                    "until": {"type": ["string", "null"]},
                    "tags": {
                        "type": "array",
                        "items": {"type": "string", "enum": list(CATEGORIES)},
                    },
                    "memory_bank": {"type": "string"},
                    "confidence": {"type": "number"},
                    "importance": {"type": "integer"},
                },
                "required": ["operation"],
            },
        }
    },
    "required": ["operations"],
}


class LessonWork(Protocol):
    """The work in hand, which may have been begun before (see ``TurnWork``)."""

    journal: str
    calls: int

    async def held(self) -> bool:
        """Whether it is this worker's still."""
        ...

    async def keep(self, journal: str) -> bool:
        """Keep what is to be done before it is begun."""
        ...


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """A model to ask about a lesson; each call is counted in ``work``."""

    completer: Completer
    formats: AnswerFormats
    settings: Settings
    work: LessonWork

    async def answered(self, request: CompletionRequest) -> Completion:
        """The model's answer to one question.

        Raises:
            ModelError: there is none.
        """
        settings = self.settings
        self.work.calls += 1
        policy = RetryPolicy(settings.max_retries, settings.retry_delay)
        deadline = settings.llm_timeout_seconds
        completion = await ask(self.completer, request, self.formats, policy, deadline)
        if log_extraction.isEnabledFor(logging.DEBUG):
            log_extraction.debug("the model's reply: %r", without_secrets(completion.text))
        return completion


@staged("extraction")
async def extraction(
    model: ModelAccess, turn: Turn, shown: Sequence[Memory], now: datetime
) -> Extraction:
    """What a model finds in a turn: its answer, and what a second one adds where it is broken.

    ``shown`` are the memories that the model is shown, ``now`` the time of the message in the
    user's time zone.

    Raises:
        ModelError: there is no usable answer.
    """
    request = extraction_request(turn, shown, model.settings, now)
    first: Extraction | None = None
    try:
        first = read_extraction(await model.answered(request), shown, model.settings)
        note = retry_note(first)
    except ReplyUnusable as error:
        note = retry_note(error)
    if first is not None and not note:
        return first
    again = replace(request, user=f"{request.user}\n\n{note}")
    try:
        second = read_extraction(await model.answered(again), shown, model.settings)
    except ModelError:
        if first is None:
            raise
        return first
    return first.joined(second) if first else second


def extraction_request(
    turn: Turn, shown: Sequence[Memory], settings: Settings, now: datetime
) -> CompletionRequest:
    """The question to the model."""
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
    if shown:
        sections.append("## Existing memories\n" + listed_memories(shown))
    sections.append("## Newest message of the user\n" + head_and_tail(turn.words, _LONGEST_WORDS))
    return CompletionRequest(system, "\n\n".join(sections), "memory_operations", EXTRACT_SCHEMA)


def listed_memories(memories: Sequence[Memory]) -> str:
    """Memories as a model is shown them, one a line, each with its id."""
    return "\n".join(
        f"- id={one.id} | {escaped_entry(_one_line(one.content, _LONGEST_MEMORY))}"
        for one in memories
    )


def _one_line(text: str, limit: int) -> str:
    return " ".join(head_and_tail(text, limit).split())
