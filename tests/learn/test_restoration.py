"""Which archived memories come back: each fact once, no more than fit, the newest first."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adaptive.learn.restoration import (
    MOST_RESTORED_AT_ONCE,
    RestorationPlan,
    asks_to_restore,
    plan_restoration,
    restoration_question,
    restored_line,
)
from adaptive.model import Memory
from adaptive.table_ports import ArchivedMemory
from tests.fakes import memory
from tests.learn.storerooms import NOW, MetaMemories, World
from tests.rates import labelled_set, over

REQUESTS = labelled_set("restore_requests")


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


async def restore(
    world: World, archived: list[ArchivedMemory], writing: asyncio.Semaphore | None = None
) -> str:
    """What is told once these were restored."""
    plan = RestorationPlan(tuple(one.memory for one in archived))
    return await restored_line(world.room(), plan, writing or asyncio.Semaphore(1), NOW)


def test_newest_archived_first() -> None:
    """The last archived come first; of the same time the most important."""
    archived = [
        put_away("old", at=NOW - 9, importance=10),
        put_away("small", importance=2),
        put_away("big", importance=8),
    ]
    assert chosen(plan_restoration(archived, [], 0)) == ["big", "small", "old"]


@over("words", [one["words"] for one in REQUESTS if not one["asks"]], at_least=0.6)
def test_look_alikes(words: str) -> None:
    """Of messages made to look like requests some are taken for one: they cost a dialog."""
    assert not asks_to_restore(words)


@over("words", [one["words"] for one in REQUESTS if one["asks"]], at_least=0.95)
def test_asking(words: str) -> None:
    """Whoever asks to bring archived memories back is understood."""
    assert asks_to_restore(words)


def test_long_or_quoted_message_is_none() -> None:
    """A request is short and not quoted, in capitals or not."""
    assert asks_to_restore("STELLE MEINE ARCHIVIERTEN ERINNERUNGEN WIEDER HER")
    assert not asks_to_restore("please " * 40 + "restore my archived memories")
    assert not asks_to_restore('He wrote "restore my archived memories"')


@pytest.mark.parametrize(("limit", "count"), [(0, 5), (9, 5), (5, 3), (2, 0), (1, 0)])
def test_limit(limit: int, count: int) -> None:
    """No more come back than the store has room for; the others are counted."""
    archived = [put_away(id, at=NOW - place) for place, id in enumerate("abcde")]
    plan = plan_restoration(archived, likes("x", "y"), limit)
    assert chosen(plan) == list("abcde")[:count]
    assert (f"Still archived: {5 - count} (the limit" in "".join(plan.staying)) == (count < 5)


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
    assert (chosen(plan), plan.staying) == (["a"], ())


def test_summaries_stand_for_their_originals() -> None:
    """Originals stay while their summary stands, known by its meta or by its text alone."""
    archived = [put_away("a", summary="User likes fruit."), put_away("b", summary="All of it.")]
    by_meta = memory("s", "User likes all fruit.", meta={"summary_of": [{"id": "a"}]})
    by_text = memory("t", "all of it")
    plan = plan_restoration(archived, [by_meta, by_text], 0)
    assert chosen(plan) == []
    assert "Still archived: 2 (a summary says the same" in plan.staying[0]
    assert set(chosen(plan_restoration(archived, [], 0))) == {"a", "b"}


def test_archived_summary_comes_back_alone() -> None:
    """A summary that was pruned comes back in the place of its originals, not beside them."""
    archived = [
        put_away("a", summary="User likes fruit."),
        put_away("s", "User likes fruit.", meta={"summary_of": [{"id": "a"}]}),
    ]
    assert chosen(plan_restoration(archived, [], 0)) == ["s"]


def test_many() -> None:
    """So many come back at once; the others are told, and ten are named in short lines."""
    archived = [
        put_away(str(number), f"User likes\n{number} " + "very " * 99)
        for number in range(MOST_RESTORED_AT_ONCE + 7)
    ]
    plan = plan_restoration(archived, [], 0)
    assert len(plan.chosen) == MOST_RESTORED_AT_ONCE
    question = restoration_question(plan)
    assert question.count("\n- User likes") == 10
    assert "… and 40 more\n\nStill archived: 7 (at most 50" in question
    assert max(map(len, question.splitlines())) <= 122


async def test_restored_rows() -> None:
    """What is restored stands in the store with its provenance, and in the archive no more."""
    world = World(MetaMemories())
    meta = {"chat_id": "c", "said_at": 7}
    one = put_away("a", tags=("goal",), bank="Work", importance=9, meta=meta)
    await world.archive.put("ada", [one, put_away("b")])
    assert await restore(world, [one]) == "Restored: 1 memory."
    (row,) = world.store.rows.values()
    told = (row.content, row.tags, row.bank, row.importance)
    assert told == ("User likes a.", ("goal",), "Work", 9)
    assert (row.meta["restored_from"], row.meta["said_at"]) == ("a", 7)
    assert set(world.archive.rows) == {"b"}
    assert world.audit.told() == [("restored", row.id)]


@pytest.mark.parametrize(
    ("host", "line", "left"),
    [
        ({"broken": ("User likes b.",)}, "Restored: 2 memories. Not restored, still", {"b"}),
        ({"refusal": "switched off"}, "Nothing restored. Not restored, still", set("abc")),
    ],
)
async def test_failures(host: dict[str, Any], line: str, left: set[str]) -> None:
    """What can't be written stays archived with its reason; the others come back."""
    world = World(MetaMemories(**host))
    archived = [put_away(id) for id in "abc"]
    await world.archive.put("ada", archived)
    assert (await restore(world, archived)).startswith(line)
    assert set(world.archive.rows) == left


async def test_gone_meanwhile() -> None:
    """What another worker has restored meanwhile is not restored again, and no failure."""
    world = World(MetaMemories())
    assert await restore(world, [put_away("a")]) == "Nothing restored."
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
    await restore(world, archived, writing)
    assert held == [True] * 3
    assert order == [1]
    assert not writing.locked()
