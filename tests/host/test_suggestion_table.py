"""Suggestions in a real database, as two workers see them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.dialects import postgresql

from adaptive.errors import TablesUnavailable
from adaptive.host.suggestion_table import HostSuggestionTable
from adaptive.model import Provenance
from adaptive.privacy.sealing import Sealer
from adaptive.suggestion_ports import Suggestion, WaitingSuggestion
from tests.host.databases import DATABASES, Worker, two_workers

NOW = 1_700_000_000
DAY = 24 * 3600
SECRET = "made-up secret of a host"
Workers = tuple[Worker, Worker]


def waiting(name: str, content: str = "User drinks tea.") -> WaitingSuggestion:
    """A suggestion whose digest is its name."""
    suggestion = Suggestion("preference", f"Title {name}", "Home", ("preference", "goal"), content)
    return WaitingSuggestion(name, suggestion, Provenance("chat", f"message-{name}", NOW - 5))


@pytest.fixture(params=DATABASES)
async def workers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Workers, None]:
    """Two workers on a database without the table."""
    async with two_workers(request.param, tmp_path, "adaptive_memory_suggestion") as both:
        yield both


@pytest.fixture
def tables(workers: Workers) -> list[HostSuggestionTable]:
    """The table as each of them has it."""
    return [HostSuggestionTable(Sealer(SECRET), worker.sessions) for worker in workers]


def digests(found: tuple[WaitingSuggestion, ...]) -> list[str]:
    """Their digests."""
    return [one.digest for one in found]


async def test_waits(tables: list[HostSuggestionTable]) -> None:
    """What one worker lets wait another one reads whole, of this user alone, oldest first."""
    here, there = tables
    await here.put("ada", [waiting("b")], NOW)
    await here.put("ada", [waiting("a"), waiting("c")], NOW + 1)
    await here.put("bob", [waiting("d")], NOW)
    assert await there.waiting("ada") == (waiting("b"), waiting("a"), waiting("c"))
    assert digests(await there.waiting("bob")) == ["d"]
    assert await there.waiting("cy") == ()
    await here.put("ada", [], NOW)


async def test_replaced(tables: list[HostSuggestionTable]) -> None:
    """A suggestion of the same digest takes the place of the former one."""
    here, there = tables
    await here.put("ada", [waiting("a")], NOW)
    again = waiting("a", "User loves tea.")
    await there.put("ada", [waiting("a"), again], NOW + 1)
    assert await here.waiting("ada") == (again,)


async def test_discarded(tables: list[HostSuggestionTable]) -> None:
    """What was answered waits no longer, others and other users' do."""
    here, there = tables
    await here.put("ada", [waiting("a"), waiting("b")], NOW)
    await here.put("bob", [waiting("a")], NOW)
    await there.discard("ada", ["a", "never"])
    await there.discard("ada", [])
    assert digests(await here.waiting("ada")) == ["b"]
    assert digests(await here.waiting("bob")) == ["a"]


async def test_rejected_for_good(tables: list[HostSuggestionTable]) -> None:
    """What was rejected can't wait again, on any worker; other users may be asked."""
    here, there = tables
    await here.put("ada", [waiting("a"), waiting("b")], NOW)
    await there.reject("ada", "a", NOW + 1)
    await there.reject("ada", "a", NOW + 2)
    await there.reject("ada", "never seen", NOW + 2)
    await here.put("ada", [waiting("a"), waiting("b")], NOW + 400 * DAY)
    await here.discard("ada", ["a"])
    assert digests(await here.waiting("ada")) == ["b"]
    assert await here.rejected("ada", ["a", "b", "never seen"]) == {"a", "never seen"}
    assert await here.rejected("ada", []) == frozenset()
    assert await here.rejected("bob", ["a"]) == frozenset()


async def test_asked_once_at_a_time(tables: list[HostSuggestionTable]) -> None:
    """Of two workers one asks, the newest first; then the chat has rest and others have not."""
    here, there = tables
    await here.put("ada", [waiting("old")], NOW)
    await here.put("ada", [waiting("new")], NOW + 1)
    await here.put("bob", [waiting("his")], NOW + 2)
    assert await here.claim("ada", "c", NOW + 5, 1) == (waiting("new"),)
    assert await there.claim("ada", "c", NOW + 5, 9) == (waiting("old"),)
    for worker, chat in ((here, "c"), (there, "d")):
        assert await worker.claim("ada", chat, NOW + 6, 9) == ()
    await here.release("ada", ["new"])
    await here.release("ada", [])
    assert await here.claim("ada", "c", NOW + 7, 9) == ()
    assert await there.claim("ada", "d", NOW + 8, 9) == (waiting("new"),)
    # Whoever asked about the old one is gone: its dialog is surely over after a while.
    assert await here.claim("ada", "d", NOW + 200, 9) == (waiting("old"),)
    assert await there.claim("ada", "d", NOW + 9 + 9999, 9) == (waiting("new"), waiting("old"))
    await here.reject("ada", "old", NOW)
    assert await here.claim("ada", "e", NOW + 99_999, 9) == (waiting("new"),)
    assert await here.claim("ada", "e", NOW + 99_999, 9) == ()


async def test_two_workers_claim(tables: list[HostSuggestionTable]) -> None:
    """Workers that ask at the same time never ask about the same, and pass by what is damaged."""
    names = [f"n{number}" for number in range(6)]
    await tables[0].put("ada", [waiting(name) for name in names], NOW)
    claims = [table.claim("ada", "c", NOW, 4) for table in tables for _ in range(3)]
    found = [one for some in await asyncio.gather(*claims) for one in some]
    assert len({one.digest for one in found}) == len(found) >= 4
    other = HostSuggestionTable(Sealer("another secret"), tables[0]._table._sessions)
    assert await other.claim("ada", "d", NOW + 9999, 9) == ()


async def test_two_workers_at_once(tables: list[HostSuggestionTable]) -> None:
    """Workers that propose and reject the same at the same time agree that it is rejected."""
    names = [f"n{number}" for number in range(6)]
    work = [table.put("ada", [waiting(one) for one in names], NOW) for table in tables]
    await asyncio.gather(*work, *(tables[1].reject("ada", name, NOW) for name in names))
    assert await tables[0].waiting("ada") == ()
    assert await tables[0].rejected("ada", names) == set(names)


async def test_twenty_for_a_month(tables: list[HostSuggestionTable], workers: Workers) -> None:
    """A user's newest twenty wait, each for a month; rejections outlast them."""
    here = tables[0]
    await here.put("bob", [waiting("old")], NOW)
    await here.reject("bob", "rejected", NOW)
    for number in range(25):
        await here.put("ada", [waiting(f"{number:02}")], NOW + number)
    assert digests(await here.waiting("ada")) == [f"{number:02}" for number in range(5, 25)]
    await here.put("ada", [waiting(f"x{number:02}") for number in range(30)], NOW + 31 * DAY)
    assert digests(await here.waiting("ada")) == [f"x{number:02}" for number in range(10, 30)]
    assert await here.waiting("bob") == ()
    assert await here.rejected("bob", ["rejected"]) == {"rejected"}
    assert len(await workers[1].rows("SELECT * FROM adaptive_memory_suggestion")) == 21


async def test_nothing_personal_in_clear(
    tables: list[HostSuggestionTable], workers: Workers
) -> None:
    """No word of a suggestion stands in the table, and of a rejected one its digest alone."""
    await tables[0].put("ada", [waiting("a"), waiting("b")], NOW)
    await tables[0].reject("ada", "b", NOW)
    rows = await workers[1].rows("SELECT * FROM adaptive_memory_suggestion ORDER BY digest")
    told = json.dumps([tuple(row) for row in rows])
    for word in ("tea", "Title", "Home", "preference", "goal"):
        assert word not in told
    assert tuple(rows[1]) == ("ada", "b", "rejected", "", "", "", 0, NOW, "", 0, 0)


@pytest.mark.parametrize("payload", ["", "{", "[1]", '{"title": 5}', "am1:garbage"])
async def test_damaged(tables: list[HostSuggestionTable], workers: Workers, payload: str) -> None:
    """What can't be opened is absent; the rest is read."""
    await tables[0].put("ada", [waiting("a"), waiting("b")], NOW)
    async with workers[1].sessions() as session:
        change = "UPDATE adaptive_memory_suggestion SET payload = :payload WHERE digest = 'a'"
        await session.execute(text(change), {"payload": payload})
        await session.commit()
    assert digests(await tables[0].waiting("ada")) == ["b"]


async def test_another_secret(tables: list[HostSuggestionTable], workers: Workers) -> None:
    """With another secret nothing waits, and rejections stand."""
    await tables[0].put("ada", [waiting("a")], NOW)
    await tables[0].reject("ada", "b", NOW)
    other = HostSuggestionTable(Sealer("another secret"), workers[1].sessions)
    assert await other.waiting("ada") == ()
    assert await other.rejected("ada", ["a", "b"]) == {"b"}


async def test_no_table() -> None:
    """Where the host's database can't be had, that is told."""
    table = HostSuggestionTable(Sealer(SECRET))
    with pytest.raises(TablesUnavailable, match="keeping suggestions"):
        await table.put("ada", [waiting("a")], NOW)
    with pytest.raises(TablesUnavailable, match="reading suggestions"):
        await table.waiting("ada")
    with pytest.raises(TablesUnavailable, match="asking about suggestions"):
        await table.claim("ada", "c", NOW, 9)
    with pytest.raises(TablesUnavailable, match="releasing suggestions"):
        await table.release("ada", ["a"])
    with pytest.raises(TablesUnavailable, match="dropping suggestions"):
        await table.discard("ada", ["a"])
    with pytest.raises(TablesUnavailable, match="rejecting a suggestion"):
        await table.reject("ada", "a", NOW)
    with pytest.raises(TablesUnavailable, match="reading rejected suggestions"):
        await table.rejected("ada", ["a"])


async def test_on_postgresql() -> None:
    """PostgreSQL gets its own form of the statement, which leaves rejected rows alone."""
    dialect = postgresql.dialect()
    statements: list[str] = []

    class Session:
        def get_bind(self) -> Any:
            return SimpleNamespace(dialect=dialect)

        async def execute(self, statement: Any) -> Any:
            statements.append(str(statement.compile(dialect=dialect)))
            empty = SimpleNamespace(all=list)
            return SimpleNamespace(scalars=lambda: empty)

        async def commit(self) -> None: ...

    @asynccontextmanager
    async def sessions() -> AsyncGenerator[Any, None]:
        yield Session()

    table = HostSuggestionTable(Sealer(SECRET), sessions)
    table._table._created = True
    await table.put("ada", [waiting("a")], NOW)
    assert "ON CONFLICT (user_id, digest) DO UPDATE SET" in statements[0]
    assert "WHERE adaptive_memory_suggestion.state =" in statements[0]
    assert "INSERT" not in "".join(statements[1:])
