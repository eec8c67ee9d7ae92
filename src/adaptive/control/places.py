"""Folders and models with memories of their own: what a user chooses for them, and moves there."""

import time
from collections.abc import Collection, Sequence
from dataclasses import replace

from adaptive.control.numbers import NumberedMemories
from adaptive.control.requests import Withheld, listed
from adaptive.control.turn import Command, for_example
from adaptive.core import (
    Memory,
    NewMemory,
    Place,
    PlaceChoice,
    PlaceChoices,
    Tagged,
    frozen,
    phrase,
)
from adaptive.memory import AuditEntry, Memories, PlaceTable, UserMemory
from adaptive.settings import HiddenMemories, Hook

# What is told of a choice, once it is made and in the list of memories.
_NOTES: dict[PlaceChoice, str] = {
    "here": "note_here",
    "here only": "note_here_only",
}


@frozen
class PlaceCommands:
    """Answers what a user says about where memories are known."""

    table: PlaceTable
    memories: Memories
    numbered: NumberedMemories

    async def choose(self, hook: Hook, command: Command) -> str:
        """Choose for the chat's folder, or its model, what becomes of what is learned there."""
        words = command.words.casefold().split()
        choice: PlaceChoice = "everywhere"
        if command.name == "here":
            choice = "here only" if "only" in words else "here"
        if not {"only", "model"}.issuperset(words):
            return for_example(
                "/memory here",
                "/memory here only",
                "/memory here model",
                "/memory everywhere",
            )
        scope, lacking = _named(hook.place, words)
        if not scope:
            return phrase(lacking)
        choices = dict(hook.place.choices)
        choices[scope] = choice
        await self._write(hook, choices)
        told = phrase(
            _NOTES.get(choice, "now_everywhere"), place=_within(scope)
        )
        return told[0].upper() + told[1:]

    async def move(self, hook: Hook, command: Command) -> str:
        """Make a memory known in the chat's folder or with its model alone, or everywhere."""
        words = command.words.casefold().split()
        goal: list[str] = []
        while words and words[-1] in ("here", "everywhere", "model"):
            goal.insert(0, words.pop())
        if not words or goal[:1] not in (["here"], ["everywhere"]):
            return for_example(
                "/memory move 3 here",
                "/memory move 3 here model",
                "/memory move 3 everywhere",
            )
        scope, lacking = _named(hook.place, goal)
        if goal[0] == "everywhere":
            scope = ""
        elif not scope:
            return phrase(lacking)
        chosen = await self.numbered.chosen(hook, " ".join(words))
        if isinstance(chosen, str):
            return chosen
        memory = chosen.memory
        moved = replace(memory, tags=memory.tags_in(scope))
        await self.keep_apart(hook, [moved])
        of_user = await self.memories.of(hook)
        await of_user.mark(memory, *moved.marks)
        words_told = listed(memory)
        if chosen.withheld:
            words_told = phrase("not_repeated")
        told = f"{phrase('updated')}: {words_told}"
        if scope:
            told += f" ({_within(scope)})"
        return f"{told}\n\n{phrase('undo_hint')}"

    async def keep_apart(self, hook: Hook, drafts: Sequence[Tagged]) -> None:
        """Note in which scopes there are memories now, though nothing was chosen for them.

        From then on it is looked whether their folders stand, and that the host shows none of them.
        """
        choices = dict(hook.place.choices)
        for scope in {draft.scope for draft in drafts if draft.scope}:
            choices[scope] = hook.place.choice(scope)
        if choices != hook.place.choices:
            await self._write(hook, choices)

    async def _write(self, hook: Hook, choices: PlaceChoices) -> None:
        await self.table.write(hook.user_id, "", choices, int(time.time()))

    @staticmethod
    def learned_at(
        place: Place, carried: Sequence[NewMemory]
    ) -> list[NewMemory]:
        """What a user brings along, as it is known at the place, or where it was known already."""
        placed: list[NewMemory] = []
        for memory in carried:
            draft = memory.draft
            tags = draft.tags_in(draft.scope or place.scope)
            placed.append(replace(memory, draft=replace(draft, tags=tags)))
        return placed

    @staticmethod
    def notes(hidden: HiddenMemories, memories: Sequence[Memory]) -> list[str]:
        """What the list of memories says of the place, and of those that are not shown there."""
        place = hidden.place
        here = [one for one in memories if place.admits(one.scope)]
        elsewhere = len(memories) - len(here)
        withheld = len(here) - len(hidden.without(here))
        notes: list[str] = []
        if not place.known:
            notes.append(phrase("folder_unread"))
        note = _NOTES.get(place.choice(place.scope))
        if note:
            notes.append(phrase(note, place=_within(place.scope)))
        if elsewhere:
            notes.append(phrase("n_elsewhere", n=elsewhere))
        if withheld:
            notes.append(f"{phrase('kept_from_model')}: {withheld}")
        return notes

    @staticmethod
    async def withheld(
        hook: Hook, memory: UserMemory, changes: Sequence[AuditEntry]
    ) -> Withheld:
        """Tells which changes, the newest first, are not repeated in a chat: those of other places.

        A memory's words are known where it is known now, or was when it went. Where a model reads
        the chat that may not see every memory none is repeated, since what a bank held once is not
        known for sure.
        """
        hidden = await hook.hidden_from()
        known_in = {
            change.memory_id: change.before.scope
            for change in reversed(changes)
            if change.before
        }
        known_in |= {row.id: row.scope for row in await memory.store.read()}

        def is_withheld(change: AuditEntry) -> bool:
            """Whether a change is not repeated; where it is known is told, or all is everywhere."""
            scope = known_in.get(change.memory_id)
            if scope is None:
                return bool(hidden.names) or hidden.place.is_divided
            return bool(hidden.names) or not hidden.place.admits(scope)

        return is_withheld


def _named(place: Place, words: Collection[str]) -> tuple[str, str]:
    """The scope of the model or the folder that words name, and what to tell where there is none."""
    if "model" in words:
        return place.model, "none_found"
    return place.folder, "no_folder"


def _within(scope: str) -> str:
    is_folder = scope.startswith("folder=")
    return phrase("in_folder" if is_folder else "with_model")
