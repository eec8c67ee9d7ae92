"""How the notes of a chat come about: what its first message tells is kept."""

from __future__ import annotations

from dataclasses import replace

from adaptive.conversation.preprocess import Preprocessing
from adaptive.conversation_ports import ChatNotes

LONGEST_CHAT_SUMMARY = 1000


def categorised_notes(notes: ChatNotes, found: Preprocessing | None) -> ChatNotes:
    """With category, tags and icons of a chat's first message; those that stand are kept."""
    if found is None:
        return notes
    return replace(
        notes,
        category=notes.category or found.category,
        tags=notes.tags or found.tags,
        icons=notes.icons or found.icon_names,
    )
