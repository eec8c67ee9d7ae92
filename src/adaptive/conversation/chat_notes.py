"""What is noted of a chat from turn to turn: category, summary and tags."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from adaptive.conversation.preprocess import LONGEST_CHAT_TAG, MOST_CHAT_TAGS, Preprocessing
from adaptive.conversation.reply_fields import distinct_lines, reply_line
from adaptive.shapes import listing, mapping

LONGEST_CHAT_SUMMARY = 1000
_LONGEST_NOTED_CATEGORY = 40


@dataclass(frozen=True, slots=True)
class ChatNotes:
    """Of one chat: a summary of a few sentences, at most 10 tags, and what it is about."""

    category: str = ""
    summary: str = ""
    tags: tuple[str, ...] = ()

    def categorised(self, found: Preprocessing | None) -> ChatNotes:
        """With the category and tags of a chat's first message; those that stand are kept."""
        if found is None:
            return self
        return replace(self, category=self.category or found.category, tags=self.tags or found.tags)


def written_notes(notes: ChatNotes) -> str:
    """The notes as a text that ``read_notes`` takes."""
    return json.dumps(
        {"category": notes.category, "summary": notes.summary, "tags": list(notes.tags)}
    )


def read_notes(text: str | None) -> ChatNotes:
    """Notes as they were written; of a damaged text what can be read of it."""
    try:
        fields = mapping(json.loads(text)) if text else mapping(None)
    except (ValueError, RecursionError):
        return ChatNotes()
    tags = [reply_line(tag, LONGEST_CHAT_TAG) for tag in listing(fields.get("tags"))]
    return ChatNotes(
        reply_line(fields.get("category"), _LONGEST_NOTED_CATEGORY),
        reply_line(fields.get("summary"), LONGEST_CHAT_SUMMARY),
        distinct_lines(tags, MOST_CHAT_TAGS),
    )
