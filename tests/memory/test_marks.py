"""What a user wants of a memory is a mark among its tags, and no model's to give or take."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from adaptive.control.transfer import exported, read_import
from adaptive.core.marks import Place
from adaptive.core.model import Draft, Proposal
from adaptive.host.memory_rows import (
    memory_fields,
    memory_of_row,
    write_notation,
)
from adaptive.learn.queue import always
from adaptive.memory.archive import prune_store
from adaptive.memory.gate import Gate
from tests.fakes import (
    SOURCE,
    ListedEntries,
    hook_settings,
    memory,
    number_table,
)
from tests.learn.test_summary import GUITAR, Household, rows
from tests.learn.world import NOW, World, reply
from tests.rates import over

FOLDER = "in folder=2f6c-1"
MODEL = "in model=hf.co/qwen:7b"
MARKS = ("pinned", FOLDER)
RUNS = memory("m-1", "User runs.", tags=("goal", *MARKS), bank="General")
WORDS = "I run marathons now and train for it daily."
MARATHON = {
    "operation": "UPDATE",
    "id": "m-1",
    "content": "User runs marathons.",
    "tags": ["goal", "quiet", MODEL],
    "evidence": ["I run marathons now"],
}


@over(
    "tags, topics, scope",
    [
        (("goal", "pinned", "sports"), ("goal", "sports"), ""),
        (("quiet",), (), ""),
        ((FOLDER, "work"), ("work",), "folder=2f6c-1"),
        ((MODEL,), (), "model=hf.co/qwen:7b"),
        (("in folder=two words", "in", "Pinned"), None, ""),
    ],
)
def test_marks(
    tags: tuple[str, ...], topics: tuple[str, ...] | None, scope: str
) -> None:
    """A mark is one of few fixed texts; every other tag says what a memory is about."""
    draft = Draft("User runs.", tags)
    assert draft.topics == (tags if topics is None else topics)
    assert {*draft.topics, *draft.marks} == {*tags}
    assert draft.scope == scope
    assert draft.is_pinned is ("pinned" in tags)
    assert draft.is_quiet is ("quiet" in tags)


async def test_a_lesson_keeps_marks() -> None:
    """A change of what a memory says leaves its marks, and a model gives none."""
    world = World(RUNS, script=[reply(MARATHON)])
    world.place = Place(folder=RUNS.scope)
    await world.lesson(WORDS)
    (row,) = world.store.rows.values()
    assert row.content == "User runs marathons."
    assert row.tags == ("goal", *MARKS)


async def test_a_mark_changes_nothing_else() -> None:
    """What a lesson has written since a command has read the memory stays."""
    world = World(RUNS)
    ada = world.memory()
    async with ada.lock:
        marking = asyncio.create_task(ada.mark(RUNS, "quiet"))
        await asyncio.sleep(0)
        world.store.edit(RUNS.id, "User runs marathons.")
    await marking
    (row,) = world.store.rows.values()
    assert (row.content, row.marks) == ("User runs marathons.", ("quiet",))


async def test_two_workers_number_at_once() -> None:
    """A number means one memory for good, also where two workers list memories at once."""

    class SlowEntries(ListedEntries):
        async def keys(self, *asked: Any, **more: Any) -> list[str]:
            found = await super().keys(*asked, **more)
            await asyncio.sleep(0)
            return found

    table = number_table(SlowEntries())
    listings = [["tea", "milk"], ["rum", "tea"], ["milk"], ["rum"]]
    told = await asyncio.gather(
        *(table.numbers("ada", ids) for ids in listings)
    )
    final = await table.numbers("ada", [])
    assert sorted(final.values()) == [1, 2, 3]
    for ids, numbers in zip(listings, told, strict=True):
        assert {each: numbers[each] for each in ids}.items() <= final.items()


async def test_a_model_marks_nothing() -> None:
    """What a model writes as a mark of a new memory is dropped."""
    new = {**MARATHON, "operation": "NEW"}
    world = World(script=[reply(new)])
    await world.lesson(WORDS)
    (row,) = world.store.rows.values()
    assert row.tags == ("goal",)


async def test_a_late_change_keeps_marks() -> None:
    """A change that was proposed before its memory was marked, or unmarked, does not undo that."""
    for now, then in ((MARKS, ()), ((), MARKS)):
        row = replace(RUNS, tags=("goal", *now))
        world = World(row)
        draft = Draft("User runs far.", ("behavior", *then))
        ada = world.memory()
        async with ada.lock:
            await ada.apply(
                [Proposal("UPDATE", "m-1", draft)], [row], SOURCE, always
            )
        assert world.store.rows["m-1"].tags == ("behavior", *now)


async def test_marked_and_taken_back() -> None:
    """Marking is a step of the log, which is taken back exactly; where it was said stays."""
    row = replace(RUNS, meta={"chat_id": "c-9", "message_id": "q-9"})
    world = World(row)
    ada = world.memory()
    await ada.mark(row, "quiet")
    marked = world.store.rows["m-1"]
    assert marked.tags == ("goal", "quiet")
    assert marked.meta["chat_id"] == "c-9"
    assert marked.meta["message_id"] == "q-9"
    (step,) = await ada.steps()
    await ada.undo(step)
    assert world.store.rows["m-1"].tags == RUNS.tags


async def test_pinned_memories_stay() -> None:
    """A full store never loses a memory that is pinned."""
    pinned = memory("m-0", "User swims.", tags=("pinned",))
    world = World(pinned, memory("m-2", "User rows.", created_at=2))
    settings = hook_settings(max_total_memories=1)
    await prune_store(world.room(), settings, SOURCE, frozenset())
    assert list(world.store.rows) == ["m-0"]


@pytest.mark.parametrize("mark", ["pinned", "quiet", FOLDER])
async def test_no_summary_mixes_marks(mark: str) -> None:
    """A marked memory is not summarised with unmarked ones: one is too few, or another place's."""
    household = Household(*GUITAR)
    household.place = Place(folder=RUNS.scope)
    household.store.rows = {
        row.id: replace(row, tags=(mark,)) if row.content == GUITAR[0] else row
        for row in rows(*GUITAR)
    }
    await household.run()
    assert set(household.store.contents) == set(GUITAR)


async def test_a_summary_stays_in_its_place() -> None:
    """What is summarised of one folder stays in it."""
    household = Household(*GUITAR)
    household.place = Place(folder=RUNS.scope)
    household.store.rows = {
        row.id: replace(row, tags=("behavior", FOLDER))
        for row in rows(*GUITAR)
    }
    await household.run()
    (summary,) = household.store.rows.values()
    assert summary.tags == ("behavior", FOLDER)


def test_carried_away_and_brought_back() -> None:
    """An export holds the marks, and an import brings them back through the gate."""
    (carried,) = read_import(exported([RUNS], NOW)).memories
    draft = carried.new_memory(NOW).draft
    judged = Gate(
        hook_settings(blacklist_topics="pinned, folder")
    ).judged_draft(draft)
    assert isinstance(judged, Draft)
    assert judged.tags == RUNS.tags


@over("columns", [{"content"}, {"content", "type", "path", "meta"}])
def test_rows_of_any_release(columns: set[str]) -> None:
    """Marks are no categories of the host's, and are read back on every release."""
    draft = Draft("User runs.", MARKS, "Work")
    fields = memory_fields(columns, draft)
    assert fields.get("path", "Work") == "Work"
    stored = SimpleNamespace(
        id="m", content=write_notation(draft), created_at=1, updated_at=2
    )
    assert memory_of_row(stored).tags == MARKS


async def test_nothing_new_of_a_marked_memory() -> None:
    """An update that says what a marked memory says already changes nothing."""
    again = {**MARATHON, "content": "User runs.", "evidence": ["I run"]}
    world = World(RUNS, script=[reply(again)])
    world.place = Place(folder=RUNS.scope)
    lesson = await world.lesson(WORDS)
    assert [outcome.status for outcome in lesson.outcomes] == ["unchanged"]
