"""Restoring by what is typed: asked first, told afterwards, and not learned from."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest
from fastapi import FastAPI, Request

from adaptive.errors import HostError
from adaptive.filter import Filter
from adaptive.host.hook import Hook
from adaptive.learn.archive import UserStore
from adaptive.learning import Learning
from adaptive.model import ConversationKind
from adaptive.restoring import (
    NOTHING_ARCHIVED,
    RESTORING_ASKED_FIRST,
    RESTORING_DECLINED,
    RESTORING_IN_TEMPORARY_CHAT,
    RESTORING_UNANSWERED,
    RESTORING_UNASKED,
    Restoring,
    asks_restoration,
)
from adaptive.table_ports import ArchivedMemory
from tests.fakes import hook_settings, memory
from tests.learn.storerooms import NOW, MetaMemories, World
from tests.rates import over

SAVED: dict[str, Any] = {"chat_id": "c", "session_id": "s", "user_message_id": "m"}
WORDS = "Restore my archived memories"


@dataclass
class House:
    """As much of ``Learning`` as restoring needs, over Ada's world, and her page."""

    world: World
    answer: object = True
    kind: ConversationKind = "saved"
    broken: str = ""
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
        if self.broken:
            raise HostError(self.broken)
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
        await restoring.restore(a_hook(metadata, **{"caller": self.call, **fields}))
        return self.lines[-1] if self.lines else ""

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


def put_away(id: str, at: int = NOW) -> ArchivedMemory:
    """A memory that was archived."""
    return ArchivedMemory(memory(id, f"User likes {id}."), "over the limit", at)


@pytest.fixture
async def house() -> House:
    """One memory in the store, three in the archive."""
    world = World(MetaMemories(memory("x", "User likes x.")))
    await world.archive.put("ada", [put_away("a"), put_away("b"), put_away("c", NOW - 9)])
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


async def test_host_refuses(house: House) -> None:
    """Where the host knows no user or allows no memories the reason is told."""
    house.broken = "the host knows no user 'ada'"
    assert await house.restore() == "Not restored: the host knows no user 'ada'"
    house.broken = ""
    house.world.store.refusal = "memories are switched off"
    assert await house.restore() == "Not restored: memories are switched off"


# --- which turns ask ------------------------------------------------------------------------------


def said(words: str) -> list[dict[str, Any]]:
    """The messages of a turn."""
    earlier = {"id": "a", "role": "user", "content": WORDS}
    return [earlier, {"id": "m", "role": "user", "content": words}]


@over(
    "metadata, asks",
    [
        (SAVED, True),
        ({**SAVED, "chat_id": "local:x"}, True),
        ({"chat_id": "", "session_id": None}, True),
        ({**SAVED, "chat_id": "channel:general"}, False),
        ({**SAVED, "internal": True}, False),
        ({**SAVED, "automation_id": "a"}, False),
        ({**SAVED, "user_message": {"meta": {"internal": True}}}, False),
    ],
)
def test_kinds_of_conversation(metadata: dict[str, Any], asks: bool) -> None:
    """Where others or programs write, nothing is a request."""
    assert asks_restoration(a_hook(metadata), said(WORDS)) == asks


def test_newest_message_asks() -> None:
    """Only the newest message counts; with learning switched off it does, too."""
    assert not asks_restoration(a_hook(), said("Thank you!"))
    answer = {"id": "b", "role": "assistant", "content": WORDS}
    assert not asks_restoration(a_hook(), [*said("Hello"), answer])
    assert asks_restoration(a_hook(valves={"save_mode": "off"}), said(WORDS))


async def outlet(plugin: Filter, words: str) -> tuple[list[str], int]:
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
    lines, put = await outlet(Filter(), words)
    assert put == queued
    assert (RESTORING_UNASKED in lines) == (not queued)


async def test_bug_is_told() -> None:
    """Whatever goes wrong in a way nobody thought of is told, and the chat goes on."""
    plugin = Filter()

    async def fails(hook: Hook) -> None:
        raise ZeroDivisionError

    plugin._restoring.restore = fails  # type: ignore[method-assign]
    lines, put = await outlet(plugin, WORDS)
    assert lines == ["Not restored: an unexpected error; the server's log tells more"]
    assert put == 0
