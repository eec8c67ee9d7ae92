"""Restoring by what is typed: asked first, told afterwards, and not learned from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from fastapi import FastAPI, Request

from adaptive.control.restoring import (
    MOST_RESTORED_AT_ONCE,
    Restoring,
    bring_back,
    named_memories,
    plan_restoration,
)
from adaptive.errors import HostError
from adaptive.filter import Filter
from adaptive.host.hook import Hook
from adaptive.learn.archive import UserStore
from adaptive.learning import Learning
from adaptive.model import ConversationKind, Memory
from adaptive.table_ports import ArchivedMemory
from tests.fakes import hook_settings, memory
from tests.learn.storerooms import NOW, MetaMemories, World

SAVED: dict[str, Any] = {"chat_id": "c", "session_id": "s", "user_message_id": "m"}
WORDS = "Restore my archived memories"
NOTHING_ARCHIVED = "Nothing is archived"
RESTORING_ASKED_FIRST = "You are asked before anything is restored"
RESTORING_UNANSWERED = "Nothing restored: the question was not answered"
RESTORING_DECLINED = "Nothing restored: you did not confirm it"
RESTORING_UNASKED = "Nothing restored: you can be asked in a chat of the page only"
RESTORING_IN_TEMPORARY_CHAT = "Nothing restored: ask for it in a chat that is not temporary"


@dataclass
class House:
    """As much of ``Learning`` as restoring needs, over Ada's world, and her page."""

    world: World
    answer: object = True
    kind: ConversationKind = "saved"
    meanwhile: Callable[[], None] | None = None
    lines: list[str] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    writing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    async def tell(self, hook: Hook, line: str) -> None:
        """Show a line; nobody may hold the right to write then, since the host stores it."""
        assert hook.user_id == "ada"
        assert not self.writing.locked()
        self.lines.append(line)

    async def storeroom(self, hook: Hook) -> UserStore:
        """Ada's."""
        return self.world.room()

    async def call(self, event: dict[str, Any]) -> object:
        """Answer a question of the page."""
        assert event["type"] == "confirmation"
        assert not self.writing.locked()
        self.asked.append(event["data"])
        if self.meanwhile is not None:
            self.meanwhile()
        return self.answer

    async def kind_of(self, hook: Hook) -> ConversationKind:
        """What the host says."""
        return self.kind

    async def restore(self, metadata: dict[str, Any] | None = None, **fields: Any) -> str:
        """What is told at the end."""
        restoring = Restoring(cast(Learning, self), self.kind_of)
        return await restoring.restore(a_hook(metadata, **{"caller": self.call, **fields}))

    @property
    def untouched(self) -> bool:
        """Whether nothing came back."""
        return self.world.contents == ["User likes x."] and len(self.world.archive.rows) == 3


def a_hook(metadata: dict[str, Any] | None = None, **fields: Any) -> Hook:
    """A hook of Ada's."""
    request = Request({"type": "http", "headers": [], "app": FastAPI()})
    settings = hook_settings(**fields.pop("valves", {}))
    metadata = dict(SAVED if metadata is None else metadata)
    return Hook(settings, {"id": "ada"}, metadata, request, None, None, **fields)


def put_away(
    id: str, content: str = "", at: int = NOW, summary: str = "", **fields: Any
) -> ArchivedMemory:
    """A memory that was archived."""
    return ArchivedMemory(memory(id, content or f"User likes {id}.", **fields), "why", at, summary)


def likes(*ids: str) -> list[Memory]:
    """Rows of a store."""
    return [memory(id, f"User likes {id}.") for id in ids]


def chosen(archived: list[ArchivedMemory], rows: list[Memory] | None = None) -> list[str]:
    """Ids of what would come back, in its order."""
    return [one.id for one in plan_restoration(archived, rows or [], 0)[0]]


async def restore(
    world: World, archived: list[ArchivedMemory], writing: asyncio.Semaphore | None = None
) -> tuple[int, list[str]]:
    """How many came back, and what failed."""
    ids = [one.memory.id for one in archived]
    return await bring_back(world.room(), ids, writing or asyncio.Semaphore(1))


@pytest.fixture
async def house() -> House:
    """One memory in the store, three in the archive."""
    world = World(MetaMemories(memory("x", "User likes x.")))
    await world.archive.put("ada", [put_away("a"), put_away("b"), put_away("c", at=NOW - 9)])
    return House(world)


async def test_restored(house: House) -> None:
    """Confirmed, all come back, and it is told before and afterwards."""
    assert await house.restore() == "Restored: 3 memories."
    assert house.lines[0] == RESTORING_ASKED_FIRST
    assert len(house.world.contents) == 4
    assert house.world.archive.rows == {}
    (asked,) = house.asked
    assert "from the archive: 3 memories" in asked["message"]
    assert "User likes c." in asked["message"]
    assert await house.restore() == NOTHING_ARCHIVED


async def test_limit(house: House) -> None:
    """No more come back than fit, the newest archived first, and it is told."""
    line = await house.restore(valves={"max_total_memories": 3})
    assert line == "Restored: 2 memories. Still archived: 1 (the limit is 3 memories)."
    assert house.world.contents == ["User likes a.", "User likes b.", "User likes x."]
    line = await house.restore(valves={"max_total_memories": 3})
    assert line == "Nothing restored. Still archived: 1 (the limit is 3 memories)."
    assert len(house.asked) == 1


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (False, RESTORING_DECLINED),
        (None, RESTORING_UNANSWERED),
        ("yes", RESTORING_UNANSWERED),
        ({"error": "gone"}, RESTORING_UNANSWERED),
    ],
)
async def test_declined(house: House, answer: object, line: str) -> None:
    """Without a yes nothing comes back, and it is told."""
    house.answer = answer
    assert await house.restore() == line
    assert house.untouched


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"caller": None}, RESTORING_UNASKED),
        ({"metadata": {"chat_id": "", "session_id": None}}, RESTORING_UNASKED),
        ({"metadata": {**SAVED, "chat_id": "local:x"}}, RESTORING_IN_TEMPORARY_CHAT),
        ({"metadata": {**SAVED, "chat_id": "temporary:x"}}, RESTORING_IN_TEMPORARY_CHAT),
    ],
)
async def test_nobody_to_ask(house: House, fields: dict[str, Any], line: str) -> None:
    """Where nobody can be asked, or nothing is kept, nothing is done, and it is told."""
    assert await house.restore(**fields) == line
    assert house.asked == []
    assert house.untouched


async def test_chat_of_somebody_else(house: House) -> None:
    """In a chat that somebody else owns nothing is done, asked or told."""
    house.kind = "shared"
    assert await house.restore() == ""
    assert house.asked == []
    assert house.untouched


async def test_answered_twice(house: House) -> None:
    """What came back by another tab while the question stood does not come back again."""
    house.meanwhile = house.world.archive.rows.clear
    assert await house.restore() == "Nothing restored."
    assert house.world.contents == ["User likes x."]


# --- what comes back ------------------------------------------------------------------------------


def test_newest_archived_first() -> None:
    """The last archived come first; of the same time the most important."""
    archived = [
        put_away("old", at=NOW - 9, importance=10),
        put_away("small", importance=2),
        put_away("big", importance=8),
    ]
    assert chosen(archived) == ["big", "small", "old"]


@pytest.mark.parametrize(("limit", "count"), [(0, 5), (9, 5), (5, 3), (2, 0), (1, 0)])
def test_room(limit: int, count: int) -> None:
    """No more come back than the store has room for; the others are counted."""
    archived = [put_away(id, at=NOW - place) for place, id in enumerate("abcde")]
    coming, staying = plan_restoration(archived, likes("x", "y"), limit)
    assert [one.id for one in coming] == list("abcde")[:count]
    assert (f"Still archived: {5 - count} (the limit" in "".join(staying)) == (count < 5)


def test_each_fact_once() -> None:
    """What the store says already, or the archive says twice, takes no room and comes back once."""
    archived = [
        put_away("a", "User likes tea."),
        put_away("b", "user likes  tea"),
        put_away("c", "User likes x."),
    ]
    coming, staying = plan_restoration(archived, likes("x"), 2)
    assert ([one.id for one in coming], staying) == (["a"], [])


def test_summaries_stand_for_their_originals() -> None:
    """Originals stay while their summary stands, known by its meta or by its text alone."""
    archived = [put_away("a", summary="User likes fruit."), put_away("b", summary="All of it.")]
    by_meta = memory("s", "User likes all fruit.", meta={"summary_of": [{"id": "a"}]})
    by_text = memory("t", "all of it")
    coming, staying = plan_restoration(archived, [by_meta, by_text], 0)
    assert coming == []
    assert "Still archived: 2 (a summary says the same" in staying[0]
    assert set(chosen(archived)) == {"a", "b"}


def test_archived_summary_comes_back_alone() -> None:
    """A summary that was pruned comes back in the place of its originals, not beside them."""
    archived = [
        put_away("a", summary="User likes fruit."),
        put_away("s", "User likes fruit.", meta={"summary_of": [{"id": "a"}]}),
    ]
    assert chosen(archived) == ["s"]


def test_many() -> None:
    """So many come back at once; the others are told, and ten are named in short lines."""
    archived = [
        put_away(str(number), f"User likes\n{number} " + "very " * 99)
        for number in range(MOST_RESTORED_AT_ONCE + 7)
    ]
    coming, staying = plan_restoration(archived, [], 0)
    assert len(coming) == MOST_RESTORED_AT_ONCE
    assert "Still archived: 7 (at most 50" in staying[0]
    named = named_memories(coming)
    assert named.count("- User likes") == 10
    assert named.endswith("… and 40 more")
    assert max(map(len, named.splitlines())) <= 122


async def test_restored_rows() -> None:
    """What is restored stands in the store with its provenance, and in the archive no more."""
    world = World(MetaMemories())
    meta = {"chat_id": "c", "said_at": 7}
    one = put_away("a", tags=("goal",), bank="Work", importance=9, meta=meta)
    await world.archive.put("ada", [one, put_away("b")])
    assert await restore(world, [one]) == (1, [])
    (row,) = world.store.rows.values()
    told = (row.content, row.tags, row.bank, row.importance)
    assert told == ("User likes a.", ("goal",), "Work", 9)
    assert (row.meta["restored_from"], row.meta["said_at"]) == ("a", 7)
    assert set(world.archive.rows) == {"b"}
    assert world.audit.told() == [("restored", row.id)]


async def test_failures(house: House) -> None:
    """What can't be written stays archived with its reason; the others come back."""
    house.world.store.broken = frozenset({"User likes b."})
    line = await house.restore()
    assert line.startswith("Restored: 2 memories. Not restored, still archived: ")
    assert [key[-1] for key in house.world.archive.rows] == ["b"]


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


# --- which turns ask ------------------------------------------------------------------------------


def said(words: str) -> list[dict[str, Any]]:
    """The messages of a turn."""
    earlier = {"id": "a", "role": "user", "content": WORDS}
    return [earlier, {"id": "m", "role": "user", "content": words}]


async def outlet_lines(plugin: Filter, words: str) -> tuple[list[str], int]:
    """The lines that are shown with a turn's answer, and how many turns wait to be learned."""
    plugin._supported = True
    lines: list[str] = []
    put: list[Any] = []

    async def emit(event: dict[str, Any]) -> None:
        lines.append(event["data"]["description"])

    async def noted_turn(_hook: Hook, turn: Any) -> None:
        put.append(turn)

    plugin._learning.put = noted_turn  # type: ignore[method-assign]
    body: dict[str, Any] = {"messages": said(words)}
    request = Request({"type": "http", "headers": [], "app": FastAPI()})
    returned = await plugin.outlet(
        body,
        __user__={"id": "ada"},
        __metadata__=dict(SAVED),
        __request__=request,
        __event_emitter__=emit,
    )
    background = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*background, return_exceptions=True)  # type: ignore[arg-type]
    assert returned is body
    return lines, len(put)


@pytest.mark.parametrize(
    ("words", "queued"), [(WORDS, 0), ("I have archived my memories in a box.", 1)]
)
async def test_request_is_not_learned(words: str, queued: int) -> None:
    """The turn that asks waits nowhere to be learned; any other one does."""
    lines, put = await outlet_lines(Filter(), words)
    assert put == queued
    assert (RESTORING_UNASKED in lines) == (not queued)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ZeroDivisionError(), "an unexpected error; the server's log tells more"),
        (HostError("the host knows no user 'ada'"), "the host knows no user 'ada'"),
    ],
)
async def test_failure_is_told(error: Exception, told: str) -> None:
    """Whatever goes wrong, foreseen or not, is told, and the chat goes on."""
    plugin = Filter()

    async def fails(hook: Hook) -> str:
        raise error

    plugin._restoring.restore = fails  # type: ignore[method-assign]
    lines, put = await outlet_lines(plugin, WORDS)
    assert lines == [f"Not restored: {told}"]
    assert put == 0
