"""Memories that are proposed to the user in place of being saved without a word.

Two questions to a model: which categories the turn says something durable about, three at most,
and one entry for each. What the user has rejected once is never proposed again; of that only a
hash is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from adaptive.conversation.reply_fields import ReplyFields, reply_fields, reply_line
from adaptive.errors import ReplyUnusable
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
    Turn,
)
from adaptive.ports import Completer
from adaptive.privacy.gate import GatePolicy, Passed, gate
from adaptive.retry import RetryPolicy
from adaptive.shapes import listing, mapping
from adaptive.suggestion_ports import Suggestion, SuggestionTable, WaitingSuggestion

MOST_SUGGESTIONS = 3

_LONGEST_SUGGESTED_TITLE = 80
_LONGEST_SUGGESTED_FACT = 600
_LONGEST_TOLD_TURN = 6000
_LONGEST_CATEGORY_NAME = 80
_MOST_CANDIDATES = 20
_LONGEST_SUGGESTION_REPLY = 1200
_LONGEST_EARLIER_TOLD = 1000
# The category of what was found beside the two questions.
_ANY_FACT = "fact"

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

    ``banks`` are the allowed ones, the first of them serves where none of them is named. Titles
    that ``gate_policy`` refuses give way to the category. ``keeping_rules`` are lines of the admin
    on what is kept. The prompts replace the built-in ones unless they are empty.
    """

    categories: tuple[str, ...] = CATEGORIES
    banks: tuple[str, ...] = ("General",)
    language: str = ""
    keeping_rules: str = ""
    deadline: float = 30.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    gate_policy: GatePolicy = field(default_factory=GatePolicy)
    category_prompt: str = ""
    entry_prompt: str = ""


@dataclass(frozen=True, slots=True)
class Suggester:
    """A model that proposes memories; ``counted`` is called for each question that it is asked."""

    completer: Completer
    formats: AnswerFormats
    rules: SuggestionRules
    counted: Callable[[], None]

    async def suggested(self, turn: Turn, now: datetime) -> tuple[Suggestion, ...]:
        """What to propose after a turn; ``now`` is the time of its message for the user.

        Raises:
            ModelError: one of the questions has no usable answer.
        """
        if not self.rules.categories:
            return ()
        completion = await self._asked(category_request(turn, self.rules))
        chosen = read_categories(completion, self.rules.categories)
        if not chosen:
            return ()
        request = entry_request(turn, chosen, self.rules, now)
        return read_suggestions(await self._asked(request), chosen, self.rules)

    async def _asked(self, request: CompletionRequest) -> Completion:
        self.counted()
        return await ask(
            self.completer, request, self.formats, self.rules.retry, self.rules.deadline
        )


async def not_rejected(
    table: SuggestionTable, turn: Turn, suggestions: Sequence[Suggestion]
) -> tuple[WaitingSuggestion, ...]:
    """Suggestions of a turn without what its user has rejected before.

    Raises:
        TablesUnavailable: nobody can tell what was rejected, so nothing is to be proposed.
    """
    waiting = [WaitingSuggestion(suggestion_digest(one), one, turn.source) for one in suggestions]
    rejected = await table.rejected(turn.user_id, [one.digest for one in waiting])
    return tuple(one for one in waiting if one.digest not in rejected)


def category_request(turn: Turn, rules: SuggestionRules) -> CompletionRequest:
    """The first question: which categories the turn says something durable about."""
    values = {
        "categories": ", ".join(rules.categories),
        "most": str(MOST_SUGGESTIONS),
        "admin": rules.keeping_rules,
    }
    system = render_prompt("suggest_categories", rules.category_prompt, values)
    return CompletionRequest(
        system,
        _told_turn(turn),
        "memory_categories",
        CATEGORY_CHOICE_SCHEMA,
        _LONGEST_SUGGESTION_REPLY,
    )


def entry_request(
    turn: Turn, categories: Sequence[str], rules: SuggestionRules, now: datetime
) -> CompletionRequest:
    """The second question: one entry for each of the chosen categories."""
    values = {
        "categories": ", ".join(categories),
        "banks": ", ".join(rules.banks),
        "tags": ", ".join(rules.categories),
        "language": rules.language.strip() or "the language of the message",
        "date": now.strftime("%A, %d %B %Y"),
        "admin": rules.keeping_rules,
    }
    system = render_prompt("suggest_entries", rules.entry_prompt, values)
    return CompletionRequest(
        system,
        _told_turn(turn),
        "memory_suggestions",
        SUGGESTION_SCHEMA,
        _LONGEST_SUGGESTION_REPLY,
    )


def _told_turn(turn: Turn) -> str:
    earlier = [
        f"{one.role}: {' '.join(head_and_tail(one.text, _LONGEST_EARLIER_TOLD).split())}"
        for one in turn.earlier
    ]
    sections = ["## Earlier turns, for reference only\n" + "\n".join(earlier)] if earlier else []
    sections.append("## Message of the user\n" + head_and_tail(turn.words, _LONGEST_TOLD_TURN))
    return "\n\n".join(sections)


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

    An entry without a title or a sentence is left out. What may be stored is for others to tell.

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
    passed = gate(title, replace(rules.gate_policy, statements=False))
    banks = {one.casefold(): one for one in rules.banks}
    named = fields.line("bank", _LONGEST_CATEGORY_NAME).casefold()
    bank = banks.get(named) or (rules.banks[0] if rules.banks else "General")
    known_tags = {one.casefold(): one for one in rules.categories}
    said = fields.lines("tags", _MOST_CANDIDATES, _LONGEST_CATEGORY_NAME, split=True)
    tags = [known_tags[one.casefold()] for one in said if one.casefold() in known_tags]
    if not tags and category in rules.categories:
        tags = [category]
    title = passed.text if isinstance(passed, Passed) else category
    return Suggestion(category, title, bank, tuple(dict.fromkeys(tags)), content)


def found_suggestion(draft: Draft, default_bank: str) -> Suggestion:
    """A fact that was found as it is proposed: its own words are the title, so is what is rejected.

    Its category is the first of its tags, else that of any fact.
    """
    title = draft.content.removeprefix("User ")[:_LONGEST_SUGGESTED_TITLE].strip(" .")
    category = draft.tags[0] if draft.tags else _ANY_FACT
    return Suggestion(category, title, draft.bank or default_bank, draft.tags, draft.content)


def suggestion_digest(suggestion: Suggestion) -> str:
    """SHA-256 of ``bank:category:title`` in lower case, as hexadecimal digits."""
    named = f"{suggestion.bank}:{suggestion.category}:{suggestion.title}".lower()
    return hashlib.sha256(named.encode(errors="replace")).hexdigest()


def suggestion_draft(suggestion: Suggestion) -> Draft:
    """The memory that a suggestion would be; it has to pass the gate of writes."""
    return Draft(suggestion.content, suggestion.tags, suggestion.bank)
