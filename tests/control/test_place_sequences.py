"""Random lives of somebody with two folders: nothing of one comes out in the other.

``PLACE_SEQUENCES=1000 pytest tests/control/test_place_sequences.py`` runs as many as it says.
"""

from __future__ import annotations

import os
import random
import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from adaptive.control.places import PlaceCommands
from adaptive.control.turn import command_in
from adaptive.core.marks import Place, PlaceChoice
from adaptive.core.model import Draft, Memory, NewMemory
from adaptive.learn.addressing import leave_deleted_folders
from adaptive.memory.audit import Step
from adaptive.search.index import FoundMemory
from adaptive.search.indexes import MemoryIndexes
from tests.control.test_commands import ChatPage, House
from tests.fakes import SOURCE, memory
from tests.learn.world import World, reply

SEQUENCES = int(os.environ.get("PLACE_SEQUENCES", "25"))
STEPS = 12
FOLDERS = ("folder=sea", "folder=stable", "")
CHOICES: tuple[PlaceChoice, ...] = ("here", "here only", "everywhere")
KEEPS_BEES = memory("m", "User keeps bees.", tags=("possession",))
NOTHING_ENDS = '{"outdated": []}'
# Words that stand in no sentence but their own, so that it is known whose they are.
TOKEN = re.compile(r"qx\d+z")


@dataclass
class LifePage(ChatPage):
    """The page of a chat in a folder, or in none."""

    standing: frozenset[str] = frozenset(FOLDERS)

    async def standing_folders(self, scopes: Any) -> frozenset[str]:
        """The folders that nobody has deleted."""
        return self.standing


@dataclass
class Life:
    """What Ada does, by chance, and where each word that she said may be seen."""

    chance: random.Random
    world: World = field(default_factory=lambda: World(KEEPS_BEES))
    page: LifePage = field(default_factory=LifePage)
    choices: dict[str, PlaceChoice] = field(
        default_factory=dict[str, PlaceChoice]
    )
    # By each word the scope that it is known in, as Ada has it.
    known_in: dict[str, str] = field(default_factory=dict[str, str])
    sent: int = 0

    def __post_init__(self) -> None:
        house = House(world=self.world, page=self.page)
        self.commands: Any = house.commands
        self.commands.search.found.side_effect = self.found
        self.table = self.commands.places
        self.memories = self.commands.memories
        self.indexes = MemoryIndexes()

    # What may be seen, in words of its own: the rule of the product is not asked.

    def scope_of(self, folder: str) -> str:
        """Where what is said in a chat of this folder is known."""
        is_apart = self.choices.get(folder, "everywhere") != "everywhere"
        return folder if folder and is_apart else ""

    def visible(self, folder: str) -> set[str]:
        """The words that may be seen in a chat of this folder."""
        is_only = folder and self.choices.get(folder) == "here only"
        scopes = {folder} if is_only else {folder, ""}
        return {
            word for word, scope in self.known_in.items() if scope in scopes
        }

    def check(self, folder: str, *texts: str) -> None:
        """Nothing else is in these texts."""
        seen = {word for text in texts for word in TOKEN.findall(text)}
        assert seen <= self.visible(folder)

    # What Ada does.

    async def in_folder(self, folder: str) -> Place:
        """Open a chat there."""
        choices = dict(await self.table.read("ada", ""))
        place = Place(folder=folder, choices=choices)
        self.page.place = self.world.place = place
        return place

    def word(self, folder: str) -> str:
        """A new word, said in a chat of this folder."""
        word = f"qx{len(self.known_in)}z"
        self.known_in[word] = self.scope_of(folder)
        return word

    async def answer(self, folder: str, typed: str) -> str:
        """What a command is answered there, in which nothing may stand that is known elsewhere."""
        answer, asked = await self.answered(folder, typed)
        self.check(folder, answer, asked)
        return answer

    async def answered(self, folder: str, typed: str) -> tuple[str, str]:
        """What a command is answered there, and what is asked before."""
        await self.in_folder(folder)
        self.sent += 1
        self.page.question_id = f"m{self.sent}"
        command = command_in([{"role": "user", "content": typed}])
        assert command is not None
        answer = await self.commands.answer(self.page.hook, command)
        asked = str(self.page.asked)
        self.page.asked.clear()
        return answer, asked

    async def found(self, hook: Any, words: str) -> list[FoundMemory]:
        """What recall is given for a chat: all that its index holds."""
        index = await self.indexes.current(await hook.sources(), 1)
        return [FoundMemory(one, 90, True) for one in index.memories]

    async def choose(self, folder: str) -> None:
        """Choose what becomes of what is learned in a folder."""
        choice = self.chance.choice(CHOICES)
        typed = "everywhere" if choice == "everywhere" else choice
        await self.answer(folder, f"/memory {typed}")
        if folder:
            self.choices[folder] = choice

    async def learn(self, folder: str) -> None:
        """Say something new, or what becomes of something that the model is shown."""
        place = await self.in_folder(folder)
        word = self.word(folder)
        said = f"I keep a boat called {word}."
        operation = {
            "operation": "NEW",
            "content": f"User keeps a boat called {word}.",
            "tags": ["possession"],
            "evidence": [said],
        }
        shown = (await self.world.resources().index()).memories
        if shown and self.chance.random() < 0.4:
            operation["operation"] = "UPDATE"
            operation["id"] = self.chance.choice(shown).id
        known = {one.id: one for one in self.world.store.rows.values()}
        self.world.model._script[:] = [reply(operation), *[NOTHING_ENDS] * 3]
        begun = len(self.world.model.requests)
        lesson = await self.world.lesson(said)
        requests = self.world.model.requests[begun:]
        self.check(folder, *map(str, requests), lesson.report.line)
        self.check(folder, *lesson.report.details)
        changed = known.get(operation.get("id", ""))
        if changed and not place.scope:
            # What is corrected stays where it is known.
            self.known_in[word] = changed.scope

    async def move(self, folder: str) -> None:
        """Move a memory that is known there."""
        await self.in_folder(folder)
        index = (await self.world.resources().index()).memories
        if not index:
            return
        goal = self.chance.choice(("here", "everywhere"))
        if goal == "here" and not folder:
            return
        memory = self.chance.choice(index)
        numbers = await (await self.memories.of(self.page.hook)).numbers(
            [memory]
        )
        typed = f"/memory move {numbers[memory.id]} {goal}"
        scope = folder if goal == "here" else ""
        for word in told(memory):
            self.known_in[word] = scope
        # The answer repeats the memory in the chat in which it was known before.
        await self.answered(folder, typed)

    async def pin(self, folder: str) -> None:
        """Pin a memory that is known there: it stays where it is known."""
        await self.in_folder(folder)
        index = (await self.world.resources().index()).memories
        if index:
            memory = self.chance.choice(index)
            await self.world.memory().mark(memory, *memory.marks, "pinned")

    async def bring(self, folder: str) -> None:
        """Import two lines."""
        place = await self.in_folder(folder)
        words = [self.word(folder), self.word(folder)]
        new = [NewMemory(Draft(f"User knows {one}."), SOURCE) for one in words]
        carried = PlaceCommands.learned_at(place, new)
        line = await self.world.memory().bring_in(carried, "c")
        self.check(folder, line)

    async def delete(self, folder: str) -> None:
        """Delete another folder; the next turn archives what belonged to it."""
        gone = self.chance.choice(FOLDERS[:2])
        self.page.standing = frozenset(FOLDERS) - {gone}
        await self.in_folder(folder)
        line = await leave_deleted_folders(
            self.page.hook, self.indexes, self.memories
        )
        self.check(folder, line)
        assert not any(
            one.scope == gone for one in self.world.store.rows.values()
        )
        self.page.standing = frozenset(FOLDERS)

    async def restore(self, folder: str) -> None:
        """Bring back what is archived."""
        self.page.answer = True
        for copy in self.world.archive.rows.values():
            # Their folder is gone: they come back as known everywhere.
            for word in told(copy.memory):
                self.known_in[word] = ""
        await self.answer(folder, "/memory restore")

    async def undo(self, folder: str) -> None:
        """Take back the newest step; what it had moved is known where it was known before."""
        await self.in_folder(folder)
        steps = await self.steps()
        if steps:
            answer, _ = await self.answered(folder, "/undo")
            for change in steps[0].changes:
                row = self.world.store.rows.get(change.memory_id)
                for word in told(row) if row else ():
                    self.known_in[word] = row.scope
            self.check(folder, answer)

    async def steps(self) -> list[Step]:
        """What may be taken back, the newest first."""
        steps = await self.world.memory().steps()
        return [one for one in steps if one.standing and not one.is_undo]

    async def look(self, folder: str) -> None:
        """Look at all that commands show, and at what recall would be given."""
        for typed in ("/memory", "/memory log 50", "/memory find boat"):
            await self.answer(folder, typed)
        index = (await self.world.resources().index()).memories
        self.check(folder, *(one.content for one in index))
        self.check(folder, *(str(one.meta) for one in index))


def told(memory: Memory) -> list[str]:
    """The words of a memory, former ones included."""
    return TOKEN.findall(f"{memory.content} {memory.meta}")


ACTIONS = (
    "choose",
    "learn",
    "learn",
    "move",
    "pin",
    "bring",
    "delete",
    "restore",
    "undo",
)


@pytest.mark.parametrize("seed", range(SEQUENCES))
async def test_nothing_crosses(seed: int) -> None:
    """Whatever is done, no request and no answer in a folder holds what is known elsewhere alone."""
    life = Life(random.Random(seed))
    for _ in range(STEPS):
        folder = life.chance.choice(FOLDERS)
        await getattr(life, life.chance.choice(ACTIONS))(folder)
        await life.look(life.chance.choice(FOLDERS))


@pytest.mark.parametrize("seed", range(SEQUENCES))
async def test_all_taken_back(seed: int) -> None:
    """When all steps are taken back, the newest first, the store is as it was."""
    life = Life(random.Random(seed))
    first = stood(life)
    for _ in range(STEPS):
        folder = life.chance.choice(FOLDERS)
        await getattr(life, life.chance.choice(ACTIONS))(folder)
    while steps := await life.steps():
        await life.world.memory().undo(steps[0])
    assert stood(life) == first
    assert life.world.archive.rows == {}


def stood(life: Life) -> dict[str, tuple[str, tuple[str, ...]]]:
    """What the store says, and where."""
    return {
        id: (row.content, row.tags)
        for id, row in life.world.store.rows.items()
    }
