"""Databases as they are: small pools, cut statements, an hour without writes, backups, other tools.

In each nothing is lost without a word, nothing of before is shown as if it were so now, every
message is answered, and the doctor says what has happened and what helps.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from adaptive.host.vector_database import history_collection
from demo.environment import (
    NEWEST,
    host_environment,
    with_postgres_drivers,
    with_qdrant_client,
)
from tests.e2e.driver.extraction import (
    learns,
    learns_nothing_else,
    new,
    operations,
)
from tests.e2e.driver.host import HASTY, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.services import (
    Services,
    running_services,
    running_workers,
)
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.told_facts import CAT, PORTO, held, lived, told
from tests.fakes import WordEmbedder

pytestmark = [pytest.mark.host, pytest.mark.soak, pytest.mark.timeout(900)]

# After a table was dropped all calibration texts are embedded once more.
PATIENCE_SECONDS = 120
TOWNS = ("Porto", "Lisbon", "Madrid", "Vienna")
CONTENTS = "SELECT user_id, content FROM memory"
WAITING = "SELECT 1 FROM adaptive_memory_entries WHERE kind = 'waiting'"
EVERY_CONNECTION = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
)
# What a database says whose disk is full, or whose standby serves.
REFUSE_WRITES = (
    "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
    " $$BEGIN RAISE read_only_sql_transaction; END$$;"
    + "".join(
        f"CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON {table}"
        " EXECUTE FUNCTION refuse();"
        for table in ("memory", "adaptive_memory_entries")
    )
)


def visits(town: str) -> str:
    """What is learned of somebody who says that they visit a town."""
    return f"User visits {town} each year."


async def doctor(host: RunningHost) -> str:
    """What the doctor tells the host's admin."""
    turn = await host.admin.new_chat().send("/memory doctor")
    return turn.content.replace("\\", "")


async def nothing_differs(host: RunningHost) -> None:
    """The doctor has compared all vectors with memories, and found neither too many nor too few."""
    told = await doctor(host)
    assert VECTORS_DIFFER not in told
    assert "**Problem**" not in told


def set_for_all(services: Services, setting: str) -> None:
    """Have every connection to PostgreSQL begin anew, with a setting."""
    services.told(
        f"SET TRANSACTION READ WRITE; ALTER DATABASE postgres SET {setting}"
    )
    services.told(EVERY_CONNECTION)


async def test_postgresql_in_hard_times(tmp_path: Path) -> None:
    """Two connections for six users, statements cut off, a locked table, a read-only hour."""
    environment = with_postgres_drivers(host_environment(NEWEST))
    async with running_services() as services:
        variables = {
            **services.variables(environment),
            "DATABASE_POOL_SIZE": "2",
        }
        async with RunningHost.running_on(
            environment, tmp_path / "host", variables
        ) as host:
            learns_nothing_else(host.model)
            for town in (*TOWNS, "Rome"):
                fact = operations(new(visits(town)))
                learns(host.model, f"visit {town}", fact)
            valves = {**HASTY, "history_recall_default": "all"}
            await host.install_filter(PLUGIN, valves=valves)
            people = [await host.user(f"user{at}") for at in range(6)]
            set_for_all(services, "statement_timeout = '1s'")
            await said_by_all(people, TOWNS[:2])
            locking = asyncio.create_task(asyncio.to_thread(lock, services))
            await said_by_all(people, TOWNS[2:])
            await locking
            await all_known(services, people, TOWNS)

            page = people[0]
            set_for_all(services, "default_transaction_read_only = on")
            await page.complete("Which towns do I visit?")
            assert visits("Porto") in host.model.last_prompt
            set_for_all(services, "default_transaction_read_only = off")

            services.told(REFUSE_WRITES)
            turn = await page.new_chat().send("I visit Rome each year.")
            assert (turn.error, turn.content) == (None, "Understood.")
            told = await doctor(host)
            assert "- **Problem** Open WebUI's database can't be used" in told
            assert "writing adaptive_memory_entries: read_only_sql" in told
            services.told("DROP FUNCTION refuse CASCADE")
            await page.wait_for_status(turn, f"Saved: {visits('Rome')}", 60)
            assert "- **Problem**" not in await doctor(host)


def lock(services: Services) -> None:
    """Hold our table, so that statements on it are cut off."""
    services.told(
        "SET statement_timeout = 0; BEGIN;"
        " LOCK TABLE adaptive_memory_entries IN ACCESS EXCLUSIVE MODE;"
        " SELECT pg_sleep(4); COMMIT"
    )


async def said_by_all(people: list[Page], towns: tuple[str, ...]) -> None:
    """Have everybody say all of it at the same time; every message is answered."""

    async def says(page: Page) -> None:
        for town in towns:
            turn = await page.new_chat().send(f"I visit {town} each year.")
            assert (turn.error, turn.content) == (None, "Understood.")

    await asyncio.gather(*map(says, people))


async def all_known(
    services: Services, people: list[Page], towns: tuple[str, ...]
) -> None:
    """Wait until each fact of everybody is there once."""
    wanted = sorted(
        (page.user_id, visits(town)) for page in people for town in towns
    )

    def stored() -> list[tuple[str, str]]:
        rows = services.rows(CONTENTS)
        return sorted((row["user_id"], row["content"]) for row in rows)

    await until(
        lambda: stored() == wanted,
        60,
        lambda: f"{[one for one in wanted if one not in stored()]}",
        poll_seconds=0.5,
    )
    await until(
        lambda: not services.rows(WAITING),
        60,
        "no turn that waits",
        poll_seconds=0.5,
    )
    assert stored() == wanted


BOAT = "User owns a boat called Freya."
DROP_COLLECTIONS = """
import chromadb, sys
client = chromadb.PersistentClient(sys.argv[1])
for collection in client.list_collections():
    if collection.name.startswith(sys.argv[2]):
        client.delete_collection(collection.name)
"""
VECTORS_DIFFER = "reindex memories"


@asynccontextmanager
async def stopped(host: RunningHost, *pages: Page) -> AsyncIterator[None]:
    """The server is stopped, and started again after; pages are loaded anew."""
    await host.rest(PATIENCE_SECONDS)
    await asyncio.to_thread(host.server.stop)
    yield
    host.server.spawn()
    await host.server.wait_until_healthy()
    for page in (host.admin, *pages):
        await page.reload()


def pruned(
    host: RunningHost, user_id: str, chat_id: str, memory_id: str
) -> None:
    """What a tool removes that knows nothing of us: an old chat, our collections, some rows."""
    data = host.server.data / "vector_db"
    command = [
        str(host.server.environment.python),
        "-c",
        DROP_COLLECTIONS,
        str(data),
        "user-memory-history-",
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    host.change("DELETE FROM chat WHERE id = ?", chat_id)
    host.change("DELETE FROM chat_message WHERE chat_id = ?", chat_id)
    host.change("DELETE FROM memory WHERE id = ?", memory_id)
    host.change(
        "DELETE FROM adaptive_memory_entries WHERE user_id = ? AND kind IN"
        " ('audit', 'chat', 'done', 'lease')",
        user_id,
    )
    host.change("DROP TABLE adaptive_memory_vector")


def copied(source: Path, target: Path) -> None:
    """A folder in the place of another one, without what the latter held."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)


def copied_database(source: Path, target: Path) -> None:
    """A database in the place of another one, what stands in its journal included."""
    with (
        contextlib.closing(sqlite3.connect(source)) as read,
        contextlib.closing(sqlite3.connect(target)) as written,
    ):
        read.backup(written)


async def test_pruned_and_restored(tmp_path: Path) -> None:
    """What a prune tool, or a backup of some of it, has taken away is not recalled, and made good."""
    environment = host_environment(NEWEST)
    async with RunningHost.running_on(environment, tmp_path / "host") as host:
        learns_nothing_else(host.model)
        await host.kept_filter(PLUGIN)
        await host.set_valves({"history_recall_default": "all"})
        page = await lived(host, "ann")
        units = history_collection(page.user_id)

        # A chat that is about to be pruned, and the memory of a cat.
        chat = page.new_chat()
        await chat.send("My boat is called Freya.")
        await host.rest(PATIENCE_SECONDS)
        indexed = host.vectors(units)
        ids = {one.content: one.id for one in await page.memories()}
        async with stopped(host, page):
            pruned(host, page.user_id, chat.id, ids[CAT])
        assert host.vectors(units) == 0
        for words in ("What is my cat called?", "What is my boat called?"):
            await page.new_chat().send(words)
            await host.rest(PATIENCE_SECONDS)
            assert "Miso" not in host.model.last_prompt.partition("Similar")[0]
            assert "Freya" not in host.model.last_prompt
        assert host.vectors(units) >= indexed
        assert VECTORS_DIFFER in await doctor(host)

        # Last week's backup of the vectors alone.
        data, week = host.server.data, tmp_path / "week"
        async with stopped(host, page):
            copied(data / "vector_db", week / "vector_db")
            copied_database(host.database, week / "webui.db")
        await told(host, page, "I own a boat called Freya.", BOAT)
        await host.rest(PATIENCE_SECONDS)
        indexed = host.vectors(units)
        async with stopped(host, page):
            copied(week / "vector_db", data / "vector_db")
        assert host.vectors(units) < indexed
        for _ in range(2):
            await page.new_chat().send("Which boat does the user own?")
            await host.rest(PATIENCE_SECONDS)
            assert BOAT in host.model.last_prompt
        assert host.vectors(units) >= indexed
        assert VECTORS_DIFFER in await doctor(host)
        await host.admin.request("POST", "/api/v1/memories/reindex")
        assert VECTORS_DIFFER not in await doctor(host)

        # Our tables of last week, beside rows that have changed since.
        boat = next(
            one for one in await page.memories() if one.content == BOAT
        )
        odin = "User owns a boat called Odin."
        await page.update_memory(boat.id, odin)
        await page.new_chat().send("Which boat does the user own?")
        await host.rest(PATIENCE_SECONDS)
        async with stopped(host, page):
            with contextlib.closing(sqlite3.connect(host.database)) as base:
                base.execute("ATTACH ? AS week", (str(week / "webui.db"),))
                for table in ("entries", "vector"):
                    ours = f"adaptive_memory_{table}"
                    base.execute(f"DELETE FROM main.{ours}")
                    base.execute(
                        f"INSERT INTO main.{ours} SELECT * FROM week.{ours}"
                    )
                base.commit()
        await page.new_chat().send("Which boat does the user own?")
        assert odin in host.model.last_prompt
        assert BOAT not in host.model.last_prompt

        # Last week's database, beside vectors of today.
        async with stopped(host, page):
            copied_database(week / "webui.db", host.database)
        await page.new_chat().send("Which boat does the user own?")
        await host.rest(PATIENCE_SECONDS)
        assert "Odin" not in host.model.last_prompt
        assert "Freya" not in host.model.last_prompt
        assert VECTORS_DIFFER in await doctor(host)
        await told(host, page, "I own a boat called Freya.", BOAT)


def erase_user(host: RunningHost, *arguments: str) -> tuple[int, str]:
    """The exit code and the words of the command for admins."""
    command = [
        sys.executable,
        "-m",
        "demo",
        "erase-user",
        *arguments,
        "--python",
        str(host.server.environment.python),
        "--data",
        str(host.server.data),
    ]
    done = subprocess.run(
        command,
        cwd=PLUGIN.parent,
        env=host.server.variables,
        input="no\n",
        capture_output=True,
        text=True,
        timeout=240,
    )
    return done.returncode, done.stdout + done.stderr


async def test_erase_user(tmp_path: Path) -> None:
    """An admin's command erases all of one account, deleted or not, and nothing of another one."""
    environment = host_environment(NEWEST)
    async with RunningHost.running_on(environment, tmp_path / "host") as host:
        learns_nothing_else(host.model)
        await host.kept_filter(PLUGIN)
        await host.set_valves({"history_recall_default": "all"})
        pages = [await lived(host, name) for name in ("ann", "bob", "eve")]
        gone, asked, other = pages
        kept = held(host, other)
        await host.admin.request("DELETE", f"/api/v1/users/{gone.user_id}")
        code, words = await asyncio.to_thread(erase_user, host, asked.email)
        assert (code, "Nothing was erased." in words) == (0, True), words
        code, words = await asyncio.to_thread(erase_user, host, "nobody")
        assert (code, "Nothing is kept of 'nobody'" in words) == (1, True)
        with contextlib.closing(sqlite3.connect(host.database)) as writer:
            writer.execute("BEGIN IMMEDIATE")
            code, words = await asyncio.to_thread(
                erase_user, host, asked.email, "--yes"
            )
        assert (code, "Traceback" in words) == (1, False), words
        assert "locked). Run this again" in words
        for name in (gone.user_id, asked.email):
            code, words = await asyncio.to_thread(
                erase_user, host, name, "--yes"
            )
            assert code == 0, words
            assert "Erased: memory: 2" in words
        for page in (gone, asked):
            remembered = "SELECT 1 FROM memory WHERE user_id = ?"
            assert host.query(remembered, page.user_id) == []
            assert held(host, page) == {}
            assert host.vectors(f"user-memory-{page.user_id}") == 0
            assert host.vectors(history_collection(page.user_id)) == 0
        assert held(host, other) == kept
        assert host.vectors(f"user-memory-{other.user_id}") == 2
        assert host.vectors(history_collection(other.user_id)) > 0
        await told(host, asked, "I own a boat called Freya.", BOAT)
        await asked.new_chat().send("Which boat does the user own?")
        assert BOAT in host.model.last_prompt


# Open WebUI makes a client for a server's address; this one keeps the vectors itself.
LOCAL_QDRANT = """
import os
import qdrant_client

class LocalClient(qdrant_client.QdrantClient):
    def __init__(self, **_):
        super().__init__(path=os.environ["QDRANT_LOCAL_PATH"])

qdrant_client.QdrantClient = LocalClient
"""


@pytest.mark.parametrize("one_for_all", ["true", "false"])
async def test_qdrant(tmp_path: Path, one_for_all: str) -> None:
    """With Qdrant facts and past conversation are kept, recalled, deleted and erased."""
    environment = with_qdrant_client(host_environment(NEWEST))
    (tmp_path / "sitecustomize.py").write_text(LOCAL_QDRANT)
    folders = (
        tmp_path,
        environment.soft_dependencies,
        environment.qdrant_client,
    )
    variables = {
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "VECTOR_DB": "qdrant",
        "QDRANT_URI": "http://127.0.0.1:9",
        "QDRANT_LOCAL_PATH": str(tmp_path / "qdrant"),
        "ENABLE_QDRANT_MULTITENANCY_MODE": one_for_all,
    }
    async with RunningHost.running_on(
        environment, tmp_path / "host", variables
    ) as host:
        learns_nothing_else(host.model)
        await host.kept_filter(PLUGIN)
        await host.set_valves({"history_recall_default": "all"})
        page, other = await lived(host, "ann"), await lived(host, "bob")
        await nothing_differs(host)
        host.model.when_chatting("A splendid boat!")
        await page.new_chat().send("My boat is called Freya.")
        host.model.when_chatting("I see.")
        await host.rest(PATIENCE_SECONDS)
        await page.new_chat().send("What is the name of my boat?")
        assert "My boat is called Freya." in host.model.last_prompt
        await other.new_chat().send("What is the name of my boat?")
        assert "Freya" not in host.model.last_prompt
        answer = await page.new_chat().send("/forget Miso")
        assert "Deleted" in answer.content
        await host.rest(PATIENCE_SECONDS)
        await nothing_differs(host)
        page.answers["input"] = "erase"
        turn = await page.new_chat().send("Forget everything about me")
        await page.wait_for_status(turn, "Erased: 1 memory")
        assert await page.memories() == []
        await page.new_chat().send("What is the name of my boat?")
        assert "Freya" not in host.model.last_prompt
        assert len(await other.memories()) == 2
        await nothing_differs(host)


STORED_VECTORS = (
    "SELECT embedder, memory.content, encode(vector, 'hex') AS vector"
    " FROM adaptive_memory_vector JOIN memory ON memory.id = memory_id"
)


async def made_by_words(services: Services) -> dict[str, set[bool]]:
    """By embedder, whether its vectors of memories are those of the scripted service."""
    found: dict[str, set[bool]] = {}
    rows = await asyncio.to_thread(services.rows, STORED_VECTORS)
    contents = [row["content"] for row in rows]
    wanted = await WordEmbedder(dimension=384).embed(contents, query=False)
    for row, vector in zip(rows, wanted, strict=True):
        stored = np.frombuffer(bytes.fromhex(row["vector"]), "<f4")
        cosine = stored @ vector / np.linalg.norm(vector)
        found.setdefault(row["embedder"], set()).add(bool(cosine > 0.99))
    return found


async def test_another_embedding_model(tmp_path: Path) -> None:
    """A model that one of two workers has loaded mixes with no other one, and both go on recalling."""
    environment = with_postgres_drivers(host_environment(NEWEST))
    async with (
        running_services(redis=True) as services,
        running_workers(environment, services, tmp_path, {}) as (host, second),
    ):
        learns_nothing_else(host.model)
        await host.install_filter(PLUGIN, valves=HASTY)
        page = await host.user("ann")
        await host.admin.request("GET", "/api/models")

        async def recalls(*facts: str) -> None:
            for url in (second.url, host.url):
                page.url = url
                for fact in facts:
                    await page.complete(fact)
                    assert fact in host.model.last_prompt

        await told(host, page, "I live in Porto.", PORTO)
        await told(host, page, "I have a cat called Miso.", CAT)
        await recalls(PORTO, CAT)
        await until(
            lambda: len(services.rows(STORED_VECTORS)) == 2, 30, "two vectors"
        )
        assert [*(await made_by_words(services)).values()] == [{False}]
        await host.admin.request(
            "POST",
            "/api/v1/retrieval/embedding/update",
            {
                "RAG_EMBEDDING_ENGINE": "openai",
                "RAG_EMBEDDING_MODEL": "words",
                "RAG_EMBEDDING_BATCH_SIZE": 8,
                "openai_config": {"url": host.model.url, "key": "none"},
            },
        )
        # The settings of before are trusted for so long.
        await asyncio.sleep(6)
        await recalls(PORTO, CAT)
        page.url = second.url
        await page.reload()
        await told(host, page, "I own a boat called Freya.", BOAT)
        for _ in range(2):
            await recalls(PORTO, CAT, BOAT)
            await asyncio.sleep(3)
        found = await made_by_words(services)
        assert {True} in found.values(), found
        assert {True, False} not in found.values(), found
