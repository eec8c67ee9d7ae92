"""Memories that are proposed to the user in place of being saved without a word.

What extraction has found waits in a table until the user is asked. What the user has rejected once
is never proposed again; of that only a hash is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from adaptive.model import Draft, Operation, Turn
from adaptive.settings import Settings
from adaptive.suggestion_ports import Suggestion, SuggestionTable, WaitingSuggestion

MOST_SUGGESTIONS = 3

_LONGEST_SUGGESTED_TITLE = 80
# The category of what has no tag.
_ANY_FACT = "fact"


def suggestion_of(operation: Operation, settings: Settings) -> Suggestion:
    """A fact as it is proposed: its own words are the title; its first tag is the category."""
    draft = operation.draft
    title = draft.content.removeprefix("User ")[:_LONGEST_SUGGESTED_TITLE].strip(" .")
    category = draft.tags[0] if draft.tags else _ANY_FACT
    bank = draft.bank or settings.default_bank
    return Suggestion(category, title, bank, draft.tags, draft.content, draft.until, operation.id)


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


def suggestion_digest(suggestion: Suggestion) -> str:
    """SHA-256 of ``bank:category:title`` in lower case, as hexadecimal digits."""
    named = f"{suggestion.bank}:{suggestion.category}:{suggestion.title}".lower()
    return hashlib.sha256(named.encode(errors="replace")).hexdigest()


def suggested_operation(suggestion: Suggestion) -> Operation:
    """The change that a suggestion would be; it has to pass the gate of writes."""
    draft = Draft(suggestion.content, suggestion.tags, suggestion.bank, until=suggestion.until)
    kind = "UPDATE" if suggestion.memory_id else "NEW"
    return Operation(kind, suggestion.memory_id, draft)
