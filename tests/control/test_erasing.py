"""Erasing by what is typed: asked first, told afterwards, and nothing comes back."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from fastapi import FastAPI, Request
from sqlalchemy import true

from adaptive.answer.suggestions import Suggestions
from adaptive.control.erasing import (
    NO_PAGE,
    Erasing,
    erasure_question,
    period_of_day,
)
from adaptive.control.spoken_requests import ErasureRequest, spoken_request
from adaptive.errors import HostError, StoreError
from adaptive.filter import Filter
from adaptive.host.archive_table import HostArchiveTable
from adaptive.host.audit_table import HostAuditTable
from adaptive.host.chat_table import HostChatTable
from adaptive.host.erasure import ErasureReport, HeldHistory, Holdings
from adaptive.host.hook import Hook
from adaptive.host.lease_table import HostLeaseTable
from adaptive.host.pending_table import HostPendingTable
from adaptive.host.sealed_tables import (
    SealedArchiveTable,
    SealedAuditTable,
    SealedChatTable,
    SealedPendingTable,
)
from adaptive.host.tables import HostTables
from adaptive.host.usage_table import HostUsageTable
from adaptive.host.user_rows import UserRows
from adaptive.learn.apply import apply_operations
from adaptive.learn.archive import AuditTrail, UserStore
from adaptive.learn.queue import LearningQueue
from adaptive.learn.turn_work import TurnWork
from adaptive.learning import Learning
from adaptive.llm.ask import AnswerFormats
from adaptive.model import Draft, Memory, Operation
from adaptive.privacy.sealing import Sealer
from adaptive.search.indexes import MemoryIndexes
from adaptive.table_ports import ArchivedMemory, AuditEntry, PendingTurn
from tests.fakes import SOURCE, ListedMemories, hook_settings, memory
from tests.host.databases import DATABASES, Worker, two_workers
from tests.rates import over

KINDS = ("archive", "audit", "chat", "lease", "pending", "usage", "vector")
TABLES = tuple(f"adaptive_memory_{kind}" for kind in KINDS)
NOW = int(time.time())
SAVED: dict[str, Any] = {"chat_id": "c", "session_id": "s", "user_message_id": "m"}
EVERYTHING = ErasureRequest("everything")
ASKED_FIRST = "You are asked before anything is erased"
NOTHING_TO_ERASE = "There is nothing to erase"
NOT_ANSWERED = "Nothing erased: the question was not answered"


@dataclass
class Tab:
    """The page of a user: what is answered, what was asked."""

    answer: object = "erase"
    asked: list[dict[str, Any]] = field(default_factory=list)
    meanwhile: Callable[[], Any] | None = None

    async def call(self, event: dict[str, Any]) -> object:
        """Answer a question."""
        self.asked.append(event["data"])
        if self.meanwhile is not None:
            await self.meanwhile()
        return self.answer


@dataclass
class Told:
    """As much of ``Learning`` as erasing needs, with the lines that were shown."""

    lines: list[str] = field(default_factory=list)
    writing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    forgotten: list[str] = field(default_factory=list)
    room: UserStore | None = None

    async def tell(self, hook: Hook, line: str) -> None:
        """Show a line."""
        assert hook.user_id == "ada"
        self.lines.append(line)

    def forget(self, user_id: str) -> None:
        """Let go of a user."""
        self.forgotten.append(user_id)

    async def storeroom(self, hook: Hook) -> UserStore:
        """The user's store with what is kept beside it."""
        assert self.room is not None
        return self.room


class Rows(ListedMemories):
    """``ErasableMemories`` that are listed; ``before_deletion`` is called before all go."""

    before_deletion: Callable[[], Any] | None = None

    async def delete_all(self) -> None:
        """No row."""
        if self.before_deletion is not None:
            await self.before_deletion()
        self.rows.clear()


def row(id: str, chat: str, **meta: Any) -> Memory:
    """A memory that was said in a chat now."""
    meta = {"source": "adaptive_memory", "chat_id": chat, "said_at": NOW, **meta}
    return memory(id, f"User likes {id}.", created_at=NOW, meta=meta)


class House:
    """Ada's rows, and our tables with rows of Ada's and Bob's, as an instance of ours has them."""

    def __init__(self, worker: Worker) -> None:
        self.worker, sessions, sealer = worker, worker.sessions, Sealer("secret")
        self.rows = Rows(row("c1", "c"), row("c2", "c"), row("d1", "d"), row("e1", "e"))
        self.pending = SealedPendingTable(HostPendingTable(sessions), sealer)
        self.audit = SealedAuditTable(HostAuditTable(sessions), sealer)
        self.archive = SealedArchiveTable(HostArchiveTable(sessions), sealer)
        self.chats = SealedChatTable(HostChatTable(sessions), sealer)
        self.leases = HostLeaseTable(sessions)
        usage, trail = HostUsageTable(sessions), AuditTrail(self.audit)
        self.told = Told(room=UserStore("ada", self.rows, self.archive, usage, trail))
        self.cached: list[str] = []
        self.tab = Tab()
        self.history: HeldHistory | None = None

    async def fill(self) -> None:
        """What both users have after some turns."""
        for user_id in ("ada", "bob"):
            for chat in "cd":
                await self.pending.put(PendingTurn(user_id, f"m-{chat}", chat, "words", NOW, NOW))
                await self.chats.write(user_id, chat, "[]", NOW)
                change = AuditEntry("saved", f"{chat}1", NOW, "", "x", "y", chat, f"m-{chat}")
                await self.audit.append(user_id, [change], NOW)
            await self.archive.put(user_id, [ArchivedMemory(row("c9", "c"), "old", NOW)])

    async def count(self, user_id: str) -> int:
        """How many rows of a user our tables have."""
        rows = UserRows(user_id, self.worker.sessions)
        return sum([await rows.count(table, true()) for table in (await rows.tables()).values()])

    async def holdings(self, hook: Hook, archive: Any) -> Holdings:
        """What is held of Ada."""
        assert archive is self.archive
        rows = UserRows(hook.user_id, self.worker.sessions)
        return Holdings(hook.user_id, self.rows, rows, archive)

    async def erase(
        self, request: ErasureRequest, metadata: dict[str, Any] | None = None, **fields: Any
    ) -> str:
        """What is told at the end."""
        erasing = Erasing(
            cast(Learning, self.told),
            (self.cached.append,),
            self.holdings,
            self.history,
        )
        hook = a_hook(metadata, **{"caller": self.tab.call, **fields})
        return await erasing.erase(hook, request)


def a_hook(metadata: dict[str, Any] | None = None, **fields: Any) -> Hook:
    """A hook of Ada's."""
    request = Request({"type": "http", "headers": [], "app": FastAPI()})
    settings = hook_settings(**fields.pop("valves", {}))
    metadata = dict(SAVED if metadata is None else metadata)
    return Hook(settings, {"id": "ada"}, metadata, request, None, None, **fields)


@pytest.fixture(params=DATABASES)
async def house(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[House, None]:
    """A filled house on a real database."""
    async with two_workers(request.param, tmp_path, *TABLES) as (worker, _):
        filled = House(worker)
        await filled.fill()
        yield filled


# --- what is asked and what goes ------------------------------------------------------------------


async def test_everything(house: House) -> None:
    """After the word was typed nothing of this user is left, all of the other's, and it is told."""
    others = await house.count("bob")
    line = await house.erase(EVERYTHING)
    assert house.rows.rows == {}
    assert await house.count("ada") == 0
    assert await house.count("bob") == others
    assert house.told.lines[0] == ASKED_FIRST
    assert line == "Erased: 4 memories, 1 archived memory and everything noted about them."
    assert set(house.cached) == set(house.told.forgotten) == {"ada"}


class IndexedPast:
    """``HeldHistory`` of chats ``c`` and ``z``."""

    def __init__(self) -> None:
        self.chats, self.broken = {"c", "z"}, False

    async def held(self, user_id: str, chat_id: str = "") -> int:
        """How many."""
        if self.broken:
            raise HostError("the vector database is away")
        return len(self.chats & {chat_id} if chat_id else self.chats) * (user_id == "ada")

    async def erase(self, user_id: str, chat_id: str = "") -> int:
        """Remove them."""
        count = await self.held(user_id, chat_id)
        self.chats -= {chat_id} if chat_id else set(self.chats)
        return count


async def test_past_conversation(house: House) -> None:
    """The index of past conversation is asked about, goes, and is told; with a chat, its part."""
    house.history = past = IndexedPast()
    line = await house.erase(ErasureRequest("chat"))
    assert past.chats == {"z"}
    assert "1 chat's index and everything" in line
    await house.erase(ErasureRequest("imported"))
    house.tab.answer = "no"
    await house.erase(EVERYTHING)
    assert past.chats == {"z"}
    house.tab.answer = "erase"
    assert "1 chat's index" in await house.erase(EVERYTHING)
    assert past.chats == set()
    past.broken = True
    line = await house.erase(EVERYTHING)
    assert line == "Not everything could be erased: the vector database is away."
    past.chats, past.broken = {"z"}, False
    assert (await house.erase(EVERYTHING)).startswith("Erased: 1 chat's index and everything")
    assert "1 chat's index" in house.tab.asked[-1]["message"]


async def test_question(house: House) -> None:
    """The question tells how much would go and what, and which word is to be typed."""
    await house.erase(ErasureRequest("everything", None, "löschen"))
    (asked,) = house.tab.asked
    assert asked["title"] == "Erase everything that is remembered about you?"
    assert "4 memories, 1 archived memory and everything noted about them" in asked["message"]
    assert "User likes c1" in asked["message"]
    assert 'Type "erase" or "löschen" to erase it' in asked["message"]
    assert asked["placeholder"] == 'Type "löschen" here'


EXPECTED = 'Nothing erased: "erase" was expected, but'
NOT_TYPED = f"{EXPECTED} nothing was typed"
TYPED_OTHERWISE = f"{EXPECTED} something else was typed"


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (None, NOT_ANSWERED),
        ({"error": "gone"}, NOT_ANSWERED),
        ("", NOT_TYPED),
        (True, NOT_TYPED),
        (False, NOT_TYPED),
        ("yes", TYPED_OTHERWISE),
        ("erase not", TYPED_OTHERWISE),
    ],
)
@pytest.mark.parametrize("scope", ["everything", "chat"])
async def test_declined(house: House, answer: object, line: str, scope: Any) -> None:
    """Unanswered, left with Enter or answered otherwise, nothing goes and it is told."""
    before = await house.count("ada")
    house.tab.answer = answer
    assert await house.erase(ErasureRequest(scope)) == line
    assert len(house.rows.rows) == 4
    assert await house.count("ada") == before
    assert house.cached == []


@pytest.mark.parametrize(
    "fields", [{"caller": None}, {"metadata": {"chat_id": "", "session_id": None}}]
)
async def test_no_page(house: House, fields: dict[str, Any]) -> None:
    """Where nobody can be asked nothing goes, and it is told how to."""
    assert await house.erase(EVERYTHING, **fields) == NO_PAGE
    assert house.tab.asked == []
    assert len(house.rows.rows) == 4


async def test_this_chat(house: House) -> None:
    """What came from this chat goes, from our tables too; other chats' stays."""
    line = await house.erase(ErasureRequest("chat"))
    assert sorted(house.rows.rows) == ["d1", "e1"]
    assert line == "Erased: 2 memories, 1 archived memory and everything noted about them."
    states = await house.worker.rows("SELECT chat_id FROM adaptive_memory_chat")
    assert sorted(states) == [("c",), ("d",), ("d",)]
    waiting = "SELECT user_id, chat_id FROM adaptive_memory_pending WHERE state = 'waiting'"
    assert sorted(await house.worker.rows(waiting)) == [("ada", "d"), ("bob", "c"), ("bob", "d")]
    assert house.tab.asked[0]["title"] == "Erase what was learned from this chat?"
    assert house.told.forgotten == []


async def test_day(house: House) -> None:
    """A day is one where the user lives: an hour before its midnight belongs to the day before."""
    zone = ZoneInfo("Asia/Tokyo")
    midnight = datetime(2026, 11, 3, tzinfo=zone).timestamp()
    for id, at in (("before", midnight - 3600), ("within", midnight + 3600)):
        house.rows.rows[id] = row(id, "z", said_at=int(at))
    request = ErasureRequest("day", date(2026, 11, 3))
    metadata = {**SAVED, "variables": {"{{CURRENT_TIMEZONE}}": "Asia/Tokyo"}}
    await house.erase(request, metadata)
    assert sorted(house.rows.rows) == ["before", "c1", "c2", "d1", "e1"]
    assert house.tab.asked[0]["title"] == "Erase what was learned on 3 November 2026?"


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", date(2026, 3, 29), 23),
        ("Europe/Berlin", date(2026, 10, 25), 25),
        ("Asia/Kolkata", date(2026, 3, 29), 24),
    ],
)
def test_day_of_a_zone(zone: str, day: date, hours: int) -> None:
    """A day is one where the user lives, the clock changes included."""
    since, until = period_of_day(day, ZoneInfo(zone))
    assert until - since == hours * 3600
    assert period_of_day(date(1970, 1, 2), UTC) == (86_400, 172_800)


async def test_sources(house: House) -> None:
    """What the host's tools wrote goes, by each of their names, and what was imported."""
    for id, source in (("t", "tool"), ("r", "background_review"), ("i", "import"), ("m", "manual")):
        house.rows.rows[id] = row(id, "z", source="", created_by=source)
    assert "2 memories" in await house.erase(ErasureRequest("tools"))
    assert "1 memory" in await house.erase(ErasureRequest("imported"))
    assert sorted(house.rows.rows) == ["c1", "c2", "d1", "e1", "m"]


async def test_nothing_to_erase(house: House) -> None:
    """Where there is nothing, nobody is asked."""
    assert await house.erase(ErasureRequest("imported")) == NOTHING_TO_ERASE
    assert await house.erase(EVERYTHING, {**SAVED}) != NOTHING_TO_ERASE
    house.tab.asked.clear()
    assert await house.erase(EVERYTHING) == NOTHING_TO_ERASE
    assert house.tab.asked == []


@pytest.mark.parametrize("broken", [(), ("User likes d9.",)])
async def test_originals_come_back(house: House, broken: tuple[str, ...]) -> None:
    """Forgetting one chat takes a summary along; its originals of other chats come back.

    Where they can't, what was erased is told all the same.
    """
    house.rows.broken = frozenset(broken)
    summary = row("s", "", summary_of=[{"id": "c9"}, {"id": "d9"}])
    house.rows.rows["s"] = summary
    stands = ArchivedMemory(row("d9", "d"), "summarised", NOW, summary.content)
    gone = ArchivedMemory(row("c9", "c"), "summarised", NOW, summary.content)
    await house.archive.put("ada", [stands, gone])
    line = await house.erase(ErasureRequest("chat"))
    assert "s" not in house.rows.rows
    assert line.startswith("Erased: 3 memories, 1 archived memory and everything")
    assert ("User likes d9." in house.rows.contents) == (not broken)
    assert ("What a summary stood for is still archived:" in line) == bool(broken)
    assert ("Restored, as they came from elsewhere: 1." in line) == (not broken)


async def test_host_refuses(house: House) -> None:
    """What the host keeps is told with its reason."""
    house.rows.refusal = "memories are switched off"
    line = await house.erase(EVERYTHING)
    assert "Not everything could be erased: memories are switched off." in line
    assert await house.count("ada") == 0


def test_long_question() -> None:
    """Ten memories are named, one line each, the others counted; markup is left to the dialog."""
    many = tuple(memory(str(number), f"fact {number}\n" * 50) for number in range(12))
    _, message, _ = erasure_question(EVERYTHING, ErasureReport(Counter(memory=12), memories=many))
    assert message.count("\n- fact") == 10
    assert "… and 2 more" in message
    assert max(map(len, message.splitlines())) < 200


# --- which turns ask ------------------------------------------------------------------------------


def said(words: str, **fields: Any) -> list[dict[str, Any]]:
    """The messages of a turn."""
    earlier = {"id": "a", "role": "user", "content": "Forget everything"}
    return [earlier, {"id": "m", "role": "user", "content": words, **fields}]


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
    found = spoken_request(a_hook(metadata), said("Forget everything about me"))
    assert (found is not None) == asks


def test_newest_message_asks() -> None:
    """Only the newest message counts, not what an earlier one asked, nor an assistant's words.

    With learning switched off it counts, too.
    """
    assert spoken_request(a_hook(), said("Thank you!")) is None
    answer = {"id": "b", "role": "assistant", "content": "Forget everything"}
    assert spoken_request(a_hook(), [*said("Hello"), answer]) is None
    assert spoken_request(a_hook(valves={"save_mode": "off"}), said("Forget everything"))
    assert spoken_request(a_hook(), said("Restore my archived memories")) == "restore"


def test_day_where_the_user_lives() -> None:
    """Yesterday is the day before the message's, in the user's time zone."""
    at = datetime(2026, 11, 3, 20, tzinfo=UTC).timestamp()
    metadata = {**SAVED, "variables": {"{{CURRENT_TIMEZONE}}": "Asia/Tokyo"}}
    messages = said("Forget what I told you yesterday", timestamp=int(at))
    found = spoken_request(a_hook(metadata), messages)
    assert found == ErasureRequest("day", date(2026, 11, 3))


# --- what runs meanwhile --------------------------------------------------------------------------


def noted(content: str) -> Operation:
    """A fact to write."""
    return Operation("NEW", draft=Draft(content))


@dataclass
class UnderWay:
    """A lesson on Ada's turn of the house, held up until ``gate`` opens."""

    house: House
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    results: list[Any] = field(default_factory=list)

    async def teach(self, work: TurnWork) -> None:
        """Write two facts, as a lesson does once the model has answered."""
        self.begun.set()
        await self.gate.wait()
        found = [noted("User has a boat."), noted("User has a dog.")]
        store: Any = SimpleNamespace(store=self.house.rows)
        await apply_operations(found, (), store, SOURCE, work.held, 1)

    async def run(self) -> None:
        """Learn what waits."""
        queue = LearningQueue(self.house.pending)
        self.results += await queue.resume("ada", self.teach)


async def test_lesson_under_way_writes_nothing_back(house: House) -> None:
    """A lesson that has Ada's turns while all is erased finds them gone, and writes nothing."""
    lesson = UnderWay(house)
    task = asyncio.create_task(lesson.run())
    await lesson.begun.wait()
    await house.erase(EVERYTHING)
    lesson.gate.set()
    await task
    assert house.rows.rows == {}
    assert await house.count("ada") == 0
    assert [one.verdict for one in lesson.results] == ["lost"]


async def test_lesson_of_a_forgotten_chat_writes_nothing_back(house: House) -> None:
    """So does one on turns of a chat that is forgotten; the other chat's is learned."""
    lesson = UnderWay(house)
    task = asyncio.create_task(lesson.run())
    await lesson.begun.wait()
    await house.erase(ErasureRequest("chat"))
    lesson.gate.set()
    await task
    contents = sorted(one.content for one in house.rows.rows.values())
    assert contents == ["User has a boat.", "User has a dog.", "User likes d1.", "User likes e1."]
    assert [one.verdict for one in lesson.results] == ["lost", "learned"]


async def test_write_that_had_begun_is_erased(house: House) -> None:
    """A write that began before the queue was emptied is found by the second look."""
    writes = 0

    async def late() -> None:
        nonlocal writes
        writes += 1
        if writes == 1:
            house.rows.before_deletion = None
            asyncio.get_running_loop().call_soon(asyncio.create_task, begun())

    async def begun() -> None:
        await house.rows.add(Draft("User has a boat."), SOURCE)

    house.rows.before_deletion = late
    line = await house.erase(EVERYTHING)
    assert house.rows.rows == {}
    assert "5 memories" in line


async def test_changed_while_asked(house: House) -> None:
    """What is learned while the question stands goes as well: it is looked again afterwards."""

    async def meanwhile() -> None:
        await house.rows.add(Draft("User has a boat."), SOURCE)

    house.tab.meanwhile = meanwhile
    assert "5 memories" in await house.erase(EVERYTHING)
    assert house.rows.rows == {}


async def test_nobody_writes_beside_it(house: House) -> None:
    """While it is erased no lesson of this process writes: it holds what they wait for."""
    locked: list[bool] = []

    async def look() -> None:
        locked.append(house.told.writing.locked())

    house.rows.before_deletion = look
    await house.erase(EVERYTHING)
    assert locked[0] is True
    assert not house.told.writing.locked()


# --- what an instance holds -----------------------------------------------------------------------


def test_learning_forgets_one_user() -> None:
    """What an instance holds for its pages is let go of for one user, and kept for others."""
    tables = HostTables.sealed(Sealer("secret"))
    learning = Learning(
        MemoryIndexes(),
        tables,
        AnswerFormats(),
        lambda _: None,
        AuditTrail(tables.audit),
        Suggestions(tables.suggestions),
    )
    for user_id in ("ada", "bob"):
        learning._resumed[user_id] = 1.0
        hook = dataclasses.replace(a_hook(), user={"id": user_id})
        learning._lines.expect(PendingTurn(user_id, "m", "c", "words", 1, 1), hook)
        learning._lines._first_refusal(hook)
    learning.forget("ada")
    lines = learning._lines
    held = (lines._hooks, lines._refusals)
    assert [[key[0] for key in one] for one in held] == [["bob"]] * 2
    assert list(learning._resumed) == ["bob"]


async def test_stuck_row_is_told(house: House) -> None:
    """A row that the host does not delete is told, and what went is counted."""

    async def stuck(memory: Memory) -> None:
        if memory.id == "c1":
            raise StoreError("the row is stuck")
        del house.rows.rows[memory.id]

    house.rows.delete = stuck  # type: ignore[method-assign]
    line = await house.erase(ErasureRequest("chat"))
    assert "1 memory" in line
    assert line.endswith("Not everything could be erased: the row is stuck.")


@pytest.mark.parametrize(
    ("words", "queued"), [("Forget everything about me", 0), ("I live in Porto.", 1)]
)
async def test_request_is_not_learned(words: str, queued: int) -> None:
    """The turn that asks waits nowhere to be learned; any other one does."""
    lines: list[str] = []

    async def emit(event: dict[str, Any]) -> None:
        lines.append(event["data"]["description"])

    plugin = Filter()
    plugin._supported = True
    put: list[Any] = []

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
    assert len(put) == queued
    assert (NO_PAGE in lines) == (not queued)
