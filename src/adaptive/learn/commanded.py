"""What the user asks for in so many words, done without a model."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive.learn.commands import ForgetCommand, MemoryCommand, matching_memories
from adaptive.learn.operations import Extraction
from adaptive.model import Draft, Memory, Operation, Outcome
from adaptive.settings import Settings


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
                refused.append(Outcome("rejected", "", why))
        else:
            draft = Draft(command.content, bank=settings.default_bank)
            operations.append(Operation("NEW", draft=draft))
    return Extraction(tuple(operations), tuple(refused), to_confirm=tuple(to_confirm))
