"""What the user asks for in so many words, done without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adaptive.learn.commands import (
    ForgetCommand,
    MemoryCommand,
    RememberCommand,
    matching_memories,
)
from adaptive.learn.operations import Extraction
from adaptive.model import Draft, Memory, Operation, Outcome
from adaptive.search.tokens import tokens
from adaptive.settings import Settings

# A fact of which so much stands in "Remember that ..." is what the user asked for; the same share
# lifts rules of the screen (``learn.screen``).
_LEAST_ASKED_SHARE = 0.6


def commanded(
    commands: Sequence[MemoryCommand], memories: Sequence[Memory], settings: Settings
) -> Extraction:
    """The user's own sentences to keep; what is to be forgotten is to be confirmed.

    Words alone do not tell for certain which memory is meant, and what is deleted is gone.
    """
    operations: list[Operation] = []
    refused: list[Outcome] = []
    to_confirm: dict[str, None] = {}
    for command in commands:
        if isinstance(command, ForgetCommand):
            found = matching_memories(command, memories)
            to_confirm |= dict.fromkeys(one.id for one in found)
            if not found:
                why = "no memory matches what is to be forgotten"
                refused.append(Outcome("kept", "", why))
        else:
            draft = Draft(command.content, bank=settings.default_bank)
            operations.append(Operation("NEW", draft=draft))
    return Extraction(tuple(operations), tuple(refused), to_confirm=tuple(to_confirm))


def asked_alone(
    found: Extraction,
    commands: Sequence[MemoryCommand],
    memories: Sequence[Memory],
    settings: Settings,
) -> Extraction:
    """What a model found without what the user did not ask for in so many words.

    Where the model has neither found nor refused what was to be remembered, the user's own
    sentences stand for it.
    """
    asked = [one for one in commands if isinstance(one, RememberCommand)]
    wanted = {word for one in asked for word in tokens(one.content)}
    forgets = len(asked) < len(commands)
    kept = [
        one
        for one in found.operations
        if (forgets if one.kind == "DELETE" else _is_asked_for(one.draft, wanted))
    ]
    if asked and not found.refused and all(one.kind == "DELETE" for one in kept):
        kept += commanded(asked, memories, settings).operations
    return replace(found, operations=tuple(kept))


def _is_asked_for(draft: Draft, wanted: set[str]) -> bool:
    telling = set(tokens(draft.content))
    return bool(telling) and len(telling & wanted) >= _LEAST_ASKED_SHARE * len(telling)
