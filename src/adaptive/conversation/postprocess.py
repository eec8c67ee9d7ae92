"""One model call after the answer: what to note of the chat, to suggest next, and to learn.

Without a usable reply in time there is no result: the notes of the chat stay as they were.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from adaptive.conversation.chat_notes import LONGEST_CHAT_SUMMARY
from adaptive.conversation.disclosure import Confidential, without_confidential
from adaptive.conversation.preprocess import (
    HIGHEST_HARM,
    LONGEST_CHAT_TAG,
    MOST_CHAT_TAGS,
    offered_names,
)
from adaptive.conversation.reply_fields import (
    ReplyFields,
    distinct_lines,
    reply_fields,
    reply_line,
)
from adaptive.conversation_ports import ChatNotes
from adaptive.errors import AdaptiveMemoryError
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.llm.prompts import render_prompt
from adaptive.messages import head_and_tail
from adaptive.model import Completion, CompletionRequest, Draft, Memory, Operation
from adaptive.ports import Completer
from adaptive.retry import RetryPolicy
from adaptive.shapes import listing, mapping

log_postprocess = logging.getLogger("adaptive_memory.conversation")

MOST_FOLLOW_UPS = 6
CALM_ANSWER_THRESHOLD = 8.0

_LONGEST_FOLLOW_UP_LINE = 250
_MOST_LEARNINGS = 10
_LONGEST_LEARNING = 600
_LONGEST_SPOKEN = 8000
_LONGEST_POSTPROCESS_REPLY = 1500
_ONE_RETRY = RetryPolicy(retries=1)

_TEXT_LIST: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}
POSTPROCESS_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "chat_summary": {"type": "string"},
        "chat_tags": _TEXT_LIST,
        "harmful_response": {"type": "number"},
        "follow_up_suggestions": _TEXT_LIST,
        "new_chat_suggestions": _TEXT_LIST,
        "new_learnings": _TEXT_LIST,
        "relevant_memory_categories": _TEXT_LIST,
    },
    "required": [
        "chat_summary",
        "chat_tags",
        "harmful_response",
        "follow_up_suggestions",
        "new_chat_suggestions",
        "new_learnings",
        "relevant_memory_categories",
    ],
}


@dataclass(frozen=True, slots=True)
class AnsweredTurn:
    """What was said, how the chat stood before, and the memories that the answer was given."""

    words: str
    answer: str
    notes: ChatNotes = field(default_factory=ChatNotes)
    injected: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class Postprocessing:
    """What a model says of an answered turn; a field that it left out has its default.

    Attributes:
        notes: the chat's, updated; they hold no contents of memories.
        harmful_response: 0 to 10.
        follow_ups: at most 6 things that the user may want to say next.
        new_chat_suggestions: at most 6 for another chat.
        new_learnings: facts to store, as NEW operations that no gate has seen yet.
        relevant_categories: categories and banks of memories, as they were offered.
    """

    notes: ChatNotes = field(default_factory=ChatNotes)
    harmful_response: float = 0
    follow_ups: tuple[str, ...] = ()
    new_chat_suggestions: tuple[str, ...] = ()
    new_learnings: tuple[Operation, ...] = ()
    relevant_categories: tuple[str, ...] = ()

    def flag(self, threshold: float = CALM_ANSWER_THRESHOLD) -> str:
        """A line on a harmful answer for status, log and audit; empty below the threshold."""
        score = self.harmful_response
        return f"the answer may be harmful ({score:g} of 10)" if 0 < threshold <= score else ""


@dataclass(frozen=True, slots=True)
class PostprocessRules:
    """How a model is asked, for how many seconds, and with which names of categories and banks.

    ``default_bank`` is the bank of what is to be learned, ``keeping_rules`` are lines of the admin
    on that; ``prompt`` replaces the built-in one unless it is empty.
    """

    deadline: float = 30.0
    names: tuple[str, ...] = ()
    default_bank: str = "General"
    prompt: str = ""
    keeping_rules: str = ""


@dataclass(frozen=True, slots=True)
class Postprocessor:
    """A model that looks at a turn after it was answered."""

    completer: Completer
    formats: AnswerFormats
    rules: PostprocessRules

    async def postprocessed(self, turn: AnsweredTurn) -> Postprocessing | None:
        """What it says of the turn; ``None`` when it is late, fails or can't be read."""
        try:
            request = postprocess_request(turn, self.rules)
            completion = await ask(
                self.completer, request, self.formats, _ONE_RETRY, self.rules.deadline
            )
            return read_postprocessing(completion, turn, self.rules)
        except AdaptiveMemoryError as error:
            log_postprocess.info("post-processing: %s", error)
            return None


def postprocess_request(turn: AnsweredTurn, rules: PostprocessRules) -> CompletionRequest:
    """The question to the model; memories are not shown to it."""
    values = {"names": ", ".join(rules.names) or "none", "admin": rules.keeping_rules}
    system = render_prompt("postprocess", rules.prompt, values)
    sections = [
        f"## Summary so far\n{turn.notes.summary or 'none'}",
        f"## Tags so far\n{', '.join(turn.notes.tags) or 'none'}",
        f"## Last message of the user\n{head_and_tail(turn.words, _LONGEST_SPOKEN)}",
        f"## Last answer\n{head_and_tail(turn.answer, _LONGEST_SPOKEN)}",
    ]
    return CompletionRequest(
        system,
        "\n\n".join(sections),
        "postprocessing",
        POSTPROCESS_SCHEMA,
        _LONGEST_POSTPROCESS_REPLY,
    )


def read_postprocessing(
    completion: Completion, turn: AnsweredTurn, rules: PostprocessRules
) -> Postprocessing:
    """What a model's reply says, field by field.

    Raises:
        ReplyUnusable: it has none of the fields.
    """
    fields = reply_fields(completion, "postprocessing", list(POSTPROCESS_SCHEMA["properties"]))
    return Postprocessing(
        notes=_updated_notes(fields, turn),
        harmful_response=fields.score("harmful_response", HIGHEST_HARM) or 0,
        follow_ups=fields.lines("follow_up_suggestions", MOST_FOLLOW_UPS, _LONGEST_FOLLOW_UP_LINE),
        new_chat_suggestions=fields.lines(
            "new_chat_suggestions", MOST_FOLLOW_UPS, _LONGEST_FOLLOW_UP_LINE
        ),
        new_learnings=_learnings(fields, rules.default_bank),
        relevant_categories=offered_names(fields, "relevant_memory_categories", rules.names),
    )


def _updated_notes(fields: ReplyFields, turn: AnsweredTurn) -> ChatNotes:
    """Summary and tags of the reply without what tells a memory; former ones where none is left.

    What the user said in this chat is no secret in it, and the former notes hold nothing else.
    """
    former = turn.notes
    said = " ".join([head_and_tail(turn.words, _LONGEST_SPOKEN), former.summary, *former.tags])
    confidential = Confidential.among(turn.injected, said)
    summary = without_confidential(fields.line("chat_summary", LONGEST_CHAT_SUMMARY), confidential)
    tags = fields.lines("chat_tags", 2 * MOST_CHAT_TAGS, LONGEST_CHAT_TAG, split=True)
    clean = [tag for tag in tags if not confidential.is_hinted_at_by(tag)]
    return replace(
        former,
        summary=summary or former.summary,
        tags=distinct_lines(clean, MOST_CHAT_TAGS) or former.tags,
    )


def _learnings(fields: ReplyFields, bank: str) -> tuple[Operation, ...]:
    """The facts of a list of sentences, or of objects with a ``content``."""
    value = fields.value("new_learnings")
    found = [value] if isinstance(value, str) else listing(value)
    lines = [
        reply_line(mapping(one).get("content", one), _LONGEST_LEARNING)
        for one in found[: 10 * _MOST_LEARNINGS]
    ]
    kept = distinct_lines(lines, _MOST_LEARNINGS)
    return tuple(Operation("NEW", draft=Draft(line, bank=bank)) for line in kept)
