"""Which of the proposed changes may be written: named rules, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive.model import Memory, Operation, Outcome
from adaptive.settings import Settings


def screened(
    operations: Sequence[Operation], memories: Sequence[Memory], settings: Settings
) -> tuple[list[Operation], list[Outcome]]:
    """Split operations into those to carry out and the outcomes of those that are not.

    ``memories`` is the whole store as it is now: a NEW fact that it holds word for word, or that
    stands twice in the batch, is not written again. What the batch deletes is not held.
    """
    accepted: list[Operation] = []
    outcomes: list[Outcome] = []
    leaving = {operation.id for operation in operations if operation.kind == "DELETE"}
    held = {comparable(one.content): one for one in memories if one.id not in leaving}
    touched: set[str] = set()
    for operation in operations:
        outcome = _refusal(operation, held, touched, settings)
        if outcome:
            outcomes.append(outcome)
            continue
        accepted.append(operation)
        if operation.id:
            touched.add(operation.id)
        if operation.kind != "DELETE":
            held[comparable(operation.draft.content)] = Memory(operation.id, "", 0, 0)
    return accepted, outcomes


def comparable(text: str) -> str:
    """A text as it is compared word for word: case, spaces and the final stop do not count."""
    return " ".join(text.casefold().split()).rstrip(".!。")


def _refusal(
    operation: Operation, held: dict[str, Memory], touched: set[str], settings: Settings
) -> Outcome | None:
    draft = operation.draft
    if operation.id in touched and operation.id:
        return Outcome("rejected", draft.content, "the model changed the same memory twice")
    if operation.kind == "DELETE":
        return None
    twin = held.get(comparable(draft.content))
    if twin and twin.id == operation.id and operation.id:
        return Outcome("unchanged", draft.content, "it already says so")
    if twin:
        return Outcome("unchanged", draft.content, "already known")
    if len(draft.content) < settings.min_memory_length:
        return Outcome(
            "rejected", draft.content, f"shorter than {settings.min_memory_length} characters"
        )
    if draft.confidence < settings.min_confidence_threshold:
        return Outcome("rejected", draft.content, f"the model is not sure ({draft.confidence:.2f})")
    if draft.tags and not set(draft.tags) & set(settings.categories):
        return Outcome(
            "rejected", draft.content, f"{', '.join(draft.tags)} is not to be remembered"
        )
    return None
