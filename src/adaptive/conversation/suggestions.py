"""Memories that are proposed to the user in place of being saved without a word.

Two questions to a model: which categories the turn says something durable about, three at most,
and one entry for each. What the user has rejected once is never proposed again; of that only a
hash is kept.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adaptive.conversation.reply_fields import ReplyFields, reply_fields, reply_line
from adaptive.errors import AdaptiveMemoryError, ReplyUnusable
from adaptive.llm.ask import AnswerFormats, ask
from adaptive.llm.envelope import ReplyForm
from adaptive.llm.prompts import render_prompt
from adaptive.llm.reply import read_reply
from adaptive.messages import head_and_tail
from adaptive.model import (
    CATEGORIES,
    Completion,
    CompletionRequest,
    Draft,
    Operation,
    Turn,
)
from adaptive.ports import Completer
from adaptive.privacy.gate import GatePolicy, Refused, gate
from adaptive.retry import RetryPolicy
from adaptive.shapes import listing, mapping
from adaptive.suggestion_ports import Suggestion, SuggestionTable, WaitingSuggestion

log_suggestions = logging.getLogger("adaptive_memory.conversation")

MOST_SUGGESTIONS = 3

_LONGEST_SUGGESTED_TITLE = 80
_LONGEST_SUGGESTED_FACT = 600
_LONGEST_TOLD_TURN = 6000
_LONGEST_CATEGORY_NAME = 80
_MOST_CANDIDATES = 20
_LONGEST_SUGGESTION_REPLY = 1200
_SUGGESTING_RETRY = RetryPolicy(retries=1)

CATEGORY_CHOICE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"categories": {"type": "array", "items": {"type": "string"}}},
    "required": ["categories"],
}
SUGGESTION_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "suggestions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "category": {"type": "string"},
                    "title": {"type": "string"},
                    "bank": {"type": "string"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "content": {"type": "string"},
                },
                "required": ["category", "title", "bank", "tags", "content"],
            },
        }
    },
    "required": ["suggestions"],
}


@dataclass(frozen=True, slots=True)
class SuggestionRules:
    """What may be proposed, and how a model is asked: seconds for each of the two questions.

    ``banks`` are the allowed ones, the first of them serves where none of them is named. Texts
    that ``gate_policy`` refuses are neither shown nor kept. The prompts replace the built-in ones
    unless they are empty.
    """

    categories: tuple[str, ...] = CATEGORIES
    banks: tuple[str, ...] = ("General",)
    language: str = ""
    deadline: float = 30.0
    gate_policy: GatePolicy | None = None
    category_prompt: str = ""
    entry_prompt: str = ""


@dataclass(frozen=True, slots=True)
class Suggested:
    """New suggestions of a turn; ``reason`` tells why there are none where something failed."""

    waiting: tuple[WaitingSuggestion, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Suggester:
    """A model that proposes memories, and the table of what waits and what was rejected."""

    completer: Completer
    formats: AnswerFormats
    table: SuggestionTable
    rules: SuggestionRules

    async def suggested(self, turn: Turn, answer: str, now: int) -> Suggested:
        """What to propose after a turn; it waits in the table already, so that nothing is lost.

        Without the table nobody could tell what was rejected, so nothing is proposed then.
        """
        try:
            chosen = await self._chosen(turn, answer)
            if not chosen:
                return Suggested()
            request = entry_request(turn, answer, chosen, self.rules)
            found = read_suggestions(await self._asked(request), chosen, self.rules)
            waiting = tuple(
                WaitingSuggestion(suggestion_digest(one), one, turn.source) for one in found
            )
            digests = [one.digest for one in waiting]
            rejected = await self.table.rejected(turn.user_id, digests)
            waiting = tuple(one for one in waiting if one.digest not in rejected)
            await self.table.put(turn.user_id, waiting, now)
        except AdaptiveMemoryError as error:
            log_suggestions.info("suggesting memories: %s", error)
            return Suggested(reason=str(error))
        return Suggested(waiting)

    async def _chosen(self, turn: Turn, answer: str) -> tuple[str, ...]:
        completion = await self._asked(category_request(turn, answer, self.rules))
        return read_categories(completion, self.rules.categories)

    async def _asked(self, request: CompletionRequest) -> Completion:
        return await ask(
            self.completer, request, self.formats, _SUGGESTING_RETRY, self.rules.deadline
        )


def category_request(turn: Turn, answer: str, rules: SuggestionRules) -> CompletionRequest:
    """The first question: which categories the turn says something durable about."""
    values = {"categories": ", ".join(rules.categories), "most": str(MOST_SUGGESTIONS)}
    system = render_prompt("suggest_categories", rules.category_prompt, values)
    return CompletionRequest(
        system,
        _told_turn(turn, answer),
        "memory_categories",
        CATEGORY_CHOICE_SCHEMA,
        _LONGEST_SUGGESTION_REPLY,
    )


def entry_request(
    turn: Turn, answer: str, categories: Sequence[str], rules: SuggestionRules
) -> CompletionRequest:
    """The second question: one entry for each of the chosen categories."""
    values = {
        "categories": ", ".join(categories),
        "banks": ", ".join(rules.banks),
        "tags": ", ".join(rules.categories),
        "language": rules.language.strip() or "the language of the message",
    }
    system = render_prompt("suggest_entries", rules.entry_prompt, values)
    return CompletionRequest(
        system,
        _told_turn(turn, answer),
        "memory_suggestions",
        SUGGESTION_SCHEMA,
        _LONGEST_SUGGESTION_REPLY,
    )


def _told_turn(turn: Turn, answer: str) -> str:
    words, reply = (head_and_tail(one, _LONGEST_TOLD_TURN) for one in (turn.words, answer))
    return (
        f"## Message of the user\n{words}\n\n"
        f"## Answer of the assistant, for reference only\n{reply}"
    )


def read_categories(completion: Completion, offered: Sequence[str]) -> tuple[str, ...]:
    """The first three of the offered categories that a reply names.

    Raises:
        ReplyUnusable: the reply holds no list of categories.
    """
    fields = reply_fields(completion, "choice", ["categories"])
    value = fields.value("categories")
    found = value.split(",") if isinstance(value, str) else listing(value)
    if not found and not isinstance(value, str | list):
        raise ReplyUnusable("the model's reply holds no list of categories")
    known = {one.casefold(): one for one in offered}
    named = [
        reply_line(mapping(one).get("category", one), _LONGEST_CATEGORY_NAME).casefold()
        for one in found[:_MOST_CANDIDATES]
    ]
    return tuple(dict.fromkeys(known[name] for name in named if name in known))[:MOST_SUGGESTIONS]


def read_suggestions(
    completion: Completion, categories: Sequence[str], rules: SuggestionRules
) -> tuple[Suggestion, ...]:
    """One entry for each of the categories that a reply has one for.

    An entry without a title or a sentence, or one that the gate refuses, is left out.

    Raises:
        ReplyUnusable: the reply holds no list of entries.
    """
    reply = read_reply(completion.text, ReplyForm("suggestions", _is_entry), cut=completion.cut)
    found: dict[str, Suggestion] = {}
    for item in reply.items[:_MOST_CANDIDATES]:
        suggestion = _suggestion_in(ReplyFields(mapping(item)), categories, rules)
        if suggestion:
            found.setdefault(suggestion.category, suggestion)
    return tuple(found[one] for one in categories if one in found)[:MOST_SUGGESTIONS]


def _is_entry(fields: Mapping[str, Any]) -> bool:
    return "content" in fields and "category" in fields


def _suggestion_in(
    fields: ReplyFields, categories: Sequence[str], rules: SuggestionRules
) -> Suggestion | None:
    known = {one.casefold(): one for one in categories}
    category = known.get(fields.line("category", _LONGEST_CATEGORY_NAME).casefold())
    title = fields.line("title", _LONGEST_SUGGESTED_TITLE)
    content = fields.line("content", _LONGEST_SUGGESTED_FACT)
    if not (category and title and content):
        return None
    policy = rules.gate_policy or GatePolicy()
    passed = gate(content, policy)
    if isinstance(passed, Refused) or isinstance(gate(title, GatePolicy()), Refused):
        return None
    banks = {one.casefold(): one for one in rules.banks}
    named = fields.line("bank", _LONGEST_CATEGORY_NAME).casefold()
    bank = banks.get(named) or (rules.banks[0] if rules.banks else "General")
    known_tags = {one.casefold(): one for one in rules.categories}
    said = fields.lines("tags", _MOST_CANDIDATES, _LONGEST_CATEGORY_NAME, split=True)
    tags = [known_tags[one.casefold()] for one in said if one.casefold() in known_tags]
    if not tags and category in rules.categories:
        tags = [category]
    return Suggestion(category, title, bank, tuple(dict.fromkeys(tags)), passed.text)


def suggestion_digest(suggestion: Suggestion) -> str:
    """SHA-256 of ``bank:category:title`` in lower case, as hexadecimal digits."""
    named = f"{suggestion.bank}:{suggestion.category}:{suggestion.title}".lower()
    return hashlib.sha256(named.encode(errors="replace")).hexdigest()


def suggestion_operation(suggestion: Suggestion) -> Operation:
    """The operation that an accepted suggestion stands for; it has to pass the gate of writes."""
    draft = Draft(suggestion.content, suggestion.tags, suggestion.bank)
    return Operation("NEW", draft=draft)
