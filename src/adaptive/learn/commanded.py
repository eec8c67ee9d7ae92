"""What the user asks for in so many words, done without a model."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive.learn.commands import ForgetCommand, MemoryCommand, matching_memories
from adaptive.learn.operations import Extraction
from adaptive.model import Draft, Memory, Operation, Outcome
from adaptive.settings import Settings

_MOST_NAMED = 5


def commanded(
    commands: Sequence[MemoryCommand], memories: Sequence[Memory], settings: Settings
) -> Extraction:
    """The user's own sentences to keep; what is to be forgotten is named, and not deleted.

    Words alone do not tell for certain which memory is meant, and what is deleted is gone.
    """
    operations: list[Operation] = []
    refused: list[Outcome] = []
    for command in commands:
        if isinstance(command, ForgetCommand):
            refused += _named(command, memories)
        else:
            draft = Draft(command.content, bank=settings.default_bank)
            operations.append(Operation("NEW", draft=draft))
    return Extraction(tuple(operations), tuple(refused))


def _named(command: ForgetCommand, memories: Sequence[Memory]) -> list[Outcome]:
    found = matching_memories(command, memories)
    if not found:
        return [Outcome("rejected", "", "no memory matches what is to be forgotten")]
    why = "not deleted, as no model confirmed it; delete it under Settings > Personalization"
    return [Outcome("rejected", one.content, why) for one in found[:_MOST_NAMED]]
