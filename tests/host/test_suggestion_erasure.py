"""Erasing suggestions: everything takes rejected ones along, a chat or a day what waits of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from adaptive.host.archive_table import HostArchiveTable
from adaptive.host.erasure import Holdings, erase_held, find_held
from adaptive.host.suggestion_table import HostSuggestionTable
from adaptive.host.user_rows import UserRows
from adaptive.model import Provenance
from adaptive.privacy.origin import Origin
from adaptive.privacy.sealing import Sealer
from adaptive.suggestion_ports import Suggestion, WaitingSuggestion
from tests.fakes import ListedMemories
from tests.host.databases import DATABASES, Worker, two_workers

NOW = 1_700_000_000


class NoRows(ListedMemories):
    """``ErasableMemories`` of a user who has none."""

    keeps_history = True

    async def delete_all(self) -> None:
        """Nothing to do."""


def waiting(name: str, chat: str, said_at: int) -> WaitingSuggestion:
    """A suggestion that was said in a chat."""
    suggestion = Suggestion("goal", name, "General", (), "User plays chess.")
    return WaitingSuggestion(name, suggestion, Provenance(chat, f"m-{name}", said_at))


@pytest.fixture(params=DATABASES)
async def worker(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Worker, None]:
    """Two users of whom two suggestions wait and one was rejected."""
    async with two_workers(request.param, tmp_path, "adaptive_memory_suggestion") as (one, _):
        table = HostSuggestionTable(Sealer("secret"), one.sessions)
        for user_id in ("ada", "bob"):
            both = [waiting("a", "c", NOW), waiting("b", "d", NOW + 9)]
            await table.put(user_id, [*both, waiting("no", "c", NOW)], NOW)
            await table.reject(user_id, "no", NOW)
        yield one


def holdings(worker: Worker) -> Holdings:
    """What is held of Ada."""
    archive: Any = HostArchiveTable(worker.sessions)
    tables = UserRows("ada", worker.sessions)
    return Holdings("ada", NoRows(), tables, archive)


async def left(worker: Worker, user_id: str) -> set[str]:
    """Which of a user's suggestions are left."""
    query = f"SELECT digest FROM adaptive_memory_suggestion WHERE user_id = '{user_id}'"
    async with worker.sessions() as session:
        return set((await session.execute(text(query))).scalars().all())


async def test_everything(worker: Worker) -> None:
    """With everything go those that wait and those that were rejected, of this user alone."""
    assert (await find_held(holdings(worker))).counts == {"suggestion": 3, "memory": 0}
    report = await erase_held(holdings(worker))
    assert report.line == "Erased: 3 suggestions and everything noted about them."
    assert (await left(worker, "ada"), await left(worker, "bob")) == (set(), {"a", "b", "no"})


@pytest.mark.parametrize(
    ("origin", "stay"),
    [
        (Origin("c"), {"b", "no"}),
        (Origin(period=(NOW + 1, NOW + 10)), {"a", "no"}),
        (Origin(sources=("import",)), {"a", "b", "no"}),
    ],
    ids=["chat", "period", "source"],
)
async def test_origin(worker: Worker, origin: Origin, stay: set[str]) -> None:
    """What waits goes with the chat or the time of its message; a digest tells of neither."""
    gone = 3 - len(stay)
    found = await find_held(holdings(worker), origin)
    assert found.counts.get("suggestion", 0) == gone
    report = await erase_held(holdings(worker), origin)
    assert report.counts.get("suggestion", 0) == gone
    assert (await left(worker, "ada"), await left(worker, "bob")) == (stay, {"a", "b", "no"})
