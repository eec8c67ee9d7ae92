"""Which archived memories come back: each fact once, no more than fit, the newest first."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adaptive.errors import MemoryUnavailable
from adaptive.learn.restoration import (
    MOST_RESTORED_AT_ONCE,
    RestorationPlan,
    RestorationReport,
    plan_restoration,
    restoration_line,
    restoration_question,
    restore_planned,
    unrestored_line,
)
from adaptive.model import Memory
from adaptive.table_ports import ArchivedMemory
from tests.fakes import memory
from tests.learn.storerooms import NOW, MetaMemories, World


def put_away(
    id: str, content: str = "", at: int = NOW, summary: str = "", **fields: Any
) -> ArchivedMemory:
    """A memory that was archived."""
    return ArchivedMemory(memory(id, content or f"User likes {id}.", **fields), "why", at, summary)


def likes(*ids: str) -> list[Memory]:
    """Rows of a store."""
    return [memory(id, f"User likes {id}.") for id in ids]


def chosen(plan: RestorationPlan) -> list[str]:
    """Ids of what would come back, in its order."""
    return [one.id for one in plan.chosen]


def test_newest_archived_first() -> None:
    """The last archived come first; of the same time the most important, then the last changed."""
    archived = [
        put_away("old", at=NOW - 9, importance=10),
        put_away("small", importance=2),
        put_away("big", importance=8),
        put_away("bigger", importance=8, updated_at=5),
    ]
    assert chosen(plan_restoration(archived, [], 0)) == ["bigger", "big", "small", "old"]


@pytest.mark.parametrize(
    ("limit", "count", "over"), [(0, 5, 0), (9, 5, 0), (5, 3, 2), (2, 0, 5), (1, 0, 5)]
)
def test_limit(limit: int, count: int, over: int) -> None:
    """No more come back than the store has room for; the others are counted."""
    archived = [put_away(id, at=NOW - place) for place, id in enumerate("abcde")]
    plan = plan_restoration(archived, likes("x", "y"), limit)
    assert (chosen(plan), plan.over) == (list("abcde")[:count], over)


def test_each_fact_once() -> None:
    """What the store says already, or the archive says twice, takes no room and comes back once."""
    archived = [
        put_away("a", "User likes tea."),
        put_away("b", "user likes  tea"),
        put_away("c", "User likes x."),
        put_away("d"),
        put_away("e"),
    ]
    rows = [*likes("x", "d"), memory("f", "User likes it.", meta={"restored_from": "e"})]
    plan = plan_restoration(archived, rows, 4)
    assert chosen(plan) == ["a"]
    assert plan == RestorationPlan(plan.chosen, 4, 3)
    assert plan_restoration(archived[2:], rows, 4).nothing_archived


def test_summaries_stand_for_their_originals() -> None:
    """Originals stay while their summary stands, known by its meta or by its text alone."""
    archived = [put_away("a", summary="User likes fruit."), put_away("b", summary="All of it.")]
    by_meta = memory("s", "User likes all fruit.", meta={"summary_of": [{"id": "a"}]})
    by_text = memory("t", "all of it")
    plan = plan_restoration(archived, [by_meta, by_text], 0)
    assert (chosen(plan), plan.summarised) == ([], 2)
    assert "2 stay archived: a summary says the same" in unrestored_line(plan)
    assert set(chosen(plan_restoration(archived, [], 0))) == {"a", "b"}


def test_archived_summary_comes_back_alone() -> None:
    """A summary that was pruned comes back in the place of its originals, not beside them."""
    archived = [
        put_away("a", summary="User likes fruit."),
        put_away("s", "User likes fruit.", meta={"summary_of": [{"id": "a"}]}),
    ]
    plan = plan_restoration(archived, [], 0)
    assert (chosen(plan), plan.summarised) == (["s"], 1)


def test_many() -> None:
    """So many come back at once; the others are told, and ten are named in the question."""
    archived = [put_away(str(number)) for number in range(MOST_RESTORED_AT_ONCE + 7)]
    plan = plan_restoration(archived, [], 0)
    assert (len(plan.chosen), plan.later) == (MOST_RESTORED_AT_ONCE, 7)
    question = restoration_question(plan)
    assert question.title == "Restore these 50 memories?"
    assert question.message.count("\n- User likes") + 1 == 10 + 1
    assert "… and 40 more" in question.message
    assert "7 more stay archived: ask again for more" in question.message


def test_only_what_was_asked_about() -> None:
    """What was archived while the question stood neither comes back nor takes the others' room."""
    archived = [put_away("late", at=NOW + 9), put_away("a"), put_away("b"), put_away("c")]
    plan = plan_restoration(archived, likes("x"), 3, frozenset("ab"))
    assert (chosen(plan), plan.over, plan.later) == (["a", "b"], 2, 0)
    plan = plan_restoration(archived, likes("x"), 9, frozenset("ab"))
    assert (chosen(plan), plan.over, plan.later) == (["a", "b"], 0, 2)


def test_question_of_one() -> None:
    """One memory is one, and a long one is clipped to a line."""
    plan = plan_restoration([put_away("a", "User likes\n" + "very " * 99 + "much.")], [], 1)
    question = restoration_question(plan)
    assert question.title == "Restore this memory?"
    assert question.message.startswith("This would come back from the archive: 1 memory.\n\n- User")
    assert max(map(len, question.message.splitlines())) <= 122


@pytest.mark.parametrize(
    ("plan", "report", "line"),
    [
        (RestorationPlan((), 0, 2), RestorationReport(5, {}), "Restored: 5 memories."),
        (
            RestorationPlan(tuple(likes("a")), 200, 199, over=3),
            RestorationReport(1, {}),
            "Restored: 1 memory. 3 more stay archived: the limit is 200 memories."
            " The store is full (200 memories): what is learned next moves others to the archive,"
            " unless the admin raises the limit.",
        ),
        (
            RestorationPlan(tuple(likes("a", "b")), 9, 2, summarised=1),
            RestorationReport(1, {"the table is locked": 1}),
            "Restored: 1 memory. Not restored, still archived: 1 (the table is locked)."
            " 1 more stays archived: a summary says the same, as long as it is not deleted.",
        ),
        (
            RestorationPlan(tuple(likes("a")), 0),
            RestorationReport(0, {"switched off": 1}),
            "Nothing restored. Not restored, still archived: 1 (switched off).",
        ),
    ],
)
def test_line(plan: RestorationPlan, report: RestorationReport, line: str) -> None:
    """The line tells what came back, what failed and why, what stays, and whether it will last."""
    assert restoration_line(plan, report) == line


def test_full_store() -> None:
    """Where there is no room nothing comes back, and it is told what to do."""
    line = unrestored_line(plan_restoration([put_away("a"), put_away("b")], likes("x", "y"), 2))
    assert line == (
        "Nothing restored. 2 stay archived: the limit is 2 memories."
        " Delete some under Settings > Personalization, or ask the admin for more."
    )


async def test_restored_rows() -> None:
    """What is restored stands in the store with its provenance, and in the archive no more."""
    world = World(MetaMemories())
    meta = {"chat_id": "c", "said_at": 7}
    one = put_away("a", tags=("goal",), bank="Work", importance=9, meta=meta)
    await world.archive.put("ada", [one, put_away("b")])
    report = await restore_planned(world.room(), [one.memory], asyncio.Semaphore(1), NOW)
    assert report == RestorationReport(1, {})
    (row,) = world.store.rows.values()
    assert (row.content, row.tags, row.bank, row.importance) == (
        "User likes a.",
        ("goal",),
        "Work",
        9,
    )
    assert (row.meta["restored_from"], row.meta["said_at"]) == ("a", 7)
    assert set(world.archive.rows) == {"b"}
    assert world.audit.told() == [("restored", row.id)]


async def test_one_failure_leaves_the_others() -> None:
    """A row that can't be written stays archived with its reason; the others come back."""
    world = World(MetaMemories(broken=("User likes b.",)))
    archived = [put_away(id) for id in "abc"]
    await world.archive.put("ada", archived)
    memories = [one.memory for one in archived]
    report = await restore_planned(world.room(), memories, asyncio.Semaphore(1), NOW)
    assert report.restored == 2
    assert list(report.failed.values()) == [1]
    assert world.contents == ["User likes a.", "User likes c."]
    assert set(world.archive.rows) == {"b"}


async def test_refusal_ends_it() -> None:
    """Where the host allows no memories nothing more is tried, and all that stays is counted."""
    world = World(MetaMemories(refusal="memories are switched off"))
    archived = [put_away(id) for id in "abc"]
    await world.archive.put("ada", archived)
    memories = [one.memory for one in archived]
    report = await restore_planned(world.room(), memories, asyncio.Semaphore(1), NOW)
    assert (report.restored, sum(report.failed.values())) == (0, 3)
    assert report.failed[str(MemoryUnavailable("memories are switched off"))] == 1
    assert set(world.archive.rows) == {"a", "b", "c"}


async def test_gone_meanwhile() -> None:
    """What another worker has restored meanwhile is not restored again, and no failure."""
    world = World(MetaMemories())
    report = await restore_planned(world.room(), [put_away("a").memory], asyncio.Semaphore(1), NOW)
    assert report == RestorationReport(0, {})
    assert world.contents == []


async def test_others_write_in_between() -> None:
    """The right to write is held for one memory at a time, and is free at the end."""
    writing = asyncio.Semaphore(1)
    held: list[bool] = []

    class Watched(MetaMemories):
        async def add(self, *given: Any, **named: Any) -> Memory:
            """A new row, written while nobody else writes."""
            held.append(writing.locked())
            if len(held) == 1:
                asyncio.get_running_loop().create_task(between())
                await asyncio.sleep(0)
            return await super().add(*given, **named)

    world = World(Watched())
    order: list[int] = []

    async def between() -> None:
        async with writing:
            order.append(len(world.store.rows))

    archived = [put_away(id) for id in "abc"]
    await world.archive.put("ada", archived)
    await restore_planned(world.room(), [one.memory for one in archived], writing, NOW)
    assert held == [True] * 3
    assert order == [1]
    assert not writing.locked()
