"""What no longer holds: memories that a change of another one has silently made untrue.

When a fact about where somebody lives, works, with whom, what they own or plan is changed, ended
or deleted, the model is shown the memories nearest to the old and the new sentence and asked which
of them ended with it. What it names is believed only of memories that it was shown, and only where
its reason speaks of the change.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from pydantic import BaseModel, ValidationError

from adaptive.errors import ModelError
from adaptive.learn.extraction import ModelAccess, listed_memories
from adaptive.learn.grounding import beginnings
from adaptive.learn.operations import last_day
from adaptive.learn.shown import in_turns
from adaptive.llm.prompts import render_prompt
from adaptive.llm.reply import read_items
from adaptive.measures import staged
from adaptive.model import Completion, CompletionRequest, Draft, Memory, Operation
from adaptive.privacy.escaping import escaped_entry
from adaptive.privacy.local_only import LocalOnlyBanks
from adaptive.search.fusion import Asked, rank
from adaptive.search.index import MemoryIndex
from adaptive.search.tokens import comparable
from adaptive.shapes import mapping

log_outdated = logging.getLogger("adaptive_memory.learn")

# What hangs on a preference or a habit is seldom another memory.
_FAR_REACHING = frozenset({"identity", "relationship", "possession", "goal"})
_MOST_COMPARED = 24
# A model that ends more than these has not understood the question.
_MOST_ENDED = 8
_LARGEST_ENDED_SHARE = 0.5
# Of a rewritten sentence so many telling words must stand in the change or in the memory.
_LEAST_KNOWN = 0.6
_LONGEST_SAID = 2000

OUTDATED_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "outdated": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "because": {"type": "string"},
                    "until": {"type": ["string", "null"]},
                    "now": {"type": "string"},
                },
                "required": ["id", "because", "now"],
            },
        }
    },
    "required": ["outdated"],
}


class OutdatedItem(BaseModel):
    """One item of the reply; ``until`` is a date after which the memory ends."""

    id: str
    because: str = ""
    until: str | None = None
    now: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a memory; ``after`` is empty where it was deleted."""

    memory: Memory
    after: str


def far_reaching_changes(
    operations: Iterable[Operation], memories: Mapping[str, Memory]
) -> tuple[Change, ...]:
    """The changes after which other memories may no longer hold."""
    found: list[Change] = []
    for operation in operations:
        memory = memories.get(operation.id)
        if memory is None or operation.kind == "NEW":
            continue
        tags = {*memory.tags, *operation.draft.tags}
        if not tags or tags & _FAR_REACHING:
            after = "" if operation.kind == "DELETE" else operation.draft.content
            found.append(Change(memory, after))
    return tuple(found)


@staged("outdated")
async def outdated_by(
    changes: Sequence[Change],
    index: MemoryIndex,
    hidden: LocalOnlyBanks,
    model: ModelAccess,
    words: str,
    now: datetime,
) -> tuple[Operation, ...]:
    """What ends or is rewritten because of changes; nothing where the model can't be asked.

    Each operation is an END: with another content it is rewritten, with a later ``until`` it ends
    then, else it goes to the archive.
    """
    changed = {change.memory.id for change in changes}
    near = await asyncio.to_thread(_nearest, changes, index)
    shown = [one for one in hidden.without(near) if one.id not in changed][:_MOST_COMPARED]
    if not shown:
        return ()
    try:
        completion = await model.answered(outdated_request(changes, shown, words, now))
        return read_outdated(completion, changes, shown, words, now.date())
    except ModelError as error:
        log_outdated.warning("what no longer holds is not known: %s", error)
        return ()


def outdated_request(
    changes: Sequence[Change], shown: Sequence[Memory], words: str, now: datetime
) -> CompletionRequest:
    """The question to the model."""
    system = render_prompt("outdated", "", {"date": now.strftime("%A, %d %B %Y")})
    lines = [
        f"- Before: {escaped_entry(one.memory.content)}\n  "
        + (f"Now: {escaped_entry(one.after)}" if one.after else "Now: the user wants it forgotten")
        for one in changes
    ]
    user = "## What changed\n" + "\n".join(lines)
    user += f"\nThe user's words: {escaped_entry(' '.join(words.split())[:_LONGEST_SAID])}"
    user += "\n\n## Other memories\n" + listed_memories(shown)
    return CompletionRequest(system, user, "outdated_memories", OUTDATED_SCHEMA)


def read_outdated(
    completion: Completion,
    changes: Sequence[Change],
    shown: Sequence[Memory],
    words: str,
    today: date,
) -> tuple[Operation, ...]:
    """The operations in a reply, each grounded in the change.

    Raises:
        ReplyUnusable: the reply holds no list.
    """
    known = {one.id: one for one in shown}
    said = "\n".join([words, *(f"{one.memory.content}\n{one.after}" for one in changes)])
    found: dict[str, Operation] = {}
    for item in read_items(completion, "outdated", _names_memory).items:
        try:
            read = OutdatedItem.model_validate(mapping(item))
        except ValidationError:
            continue
        memory = known.get(read.id.strip())
        if memory is None or not beginnings(read.because) & beginnings(f"{said}\n{memory.content}"):
            continue
        if (operation := _operation(read, memory, said, today)) is not None:
            found.setdefault(memory.id, operation)
    if len(found) > max(_MOST_ENDED, _LARGEST_ENDED_SHARE * len(shown)):
        log_outdated.warning(
            "the model ends %d of %d memories: none is ended", len(found), len(shown)
        )
        return ()
    return tuple(found.values())


def _names_memory(fields: Mapping[str, Any]) -> bool:
    return "id" in fields


def _operation(read: OutdatedItem, memory: Memory, said: str, today: date) -> Operation | None:
    """The end of a memory now or on a later day, or its new content; none where it stays."""
    kept = Draft(
        memory.content, memory.tags, memory.bank, memory.confidence, memory.importance, memory.until
    )
    if (until := last_day(read.until)) > today.isoformat():
        return Operation("END", memory.id, replace(kept, until=until))
    rewritten = " ".join(read.now.split())
    if comparable(rewritten) == comparable(memory.content):
        return None
    telling = beginnings(rewritten)
    known = telling & beginnings(f"{said}\n{memory.content}")
    if not telling or len(known) < _LEAST_KNOWN * len(telling):
        return Operation("END", memory.id, kept)
    return Operation("END", memory.id, replace(kept, content=rewritten))


def _nearest(changes: Sequence[Change], index: MemoryIndex) -> list[Memory]:
    """The memories nearest to the old and the new sentences, in turns; of a small store all."""
    if len(index.memories) <= _MOST_COMPARED:
        return list(index.memories)
    asked: list[Asked] = []
    for change in changes:
        place = index.places.get(change.memory.id)
        embedded = place is not None and index.embedded[place]
        vector = index.shelf.vectors[place] if embedded else None
        asked.append(Asked(change.memory.content, vector))
        asked += [Asked(change.after, None)] if change.after else []
    rankings = [[one.place for one in rank(index.shelf, each)] for each in asked]
    return [index.memories[place] for place in in_turns(rankings)]
