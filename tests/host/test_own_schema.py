"""Our tables, and the host's that we name, in a schema of the host's own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event

from adaptive.core.model import StoredVector
from adaptive.host.database import TABLES
from adaptive.host.erasure import HostEraser
from adaptive.host.tables import HostTables
from adaptive.memory.tables import ChatNotes
from adaptive.memory.turn_table import QueuedTurn
from adaptive.privacy.sealing import Sealer
from tests.fakes import ListedMemories, turn
from tests.host.databases import OUR_TABLES, Worker
from tests.host.test_erasure import NoHistory

SCHEMA = "chats"
NOW = 1_700_000_000
SAY_TABLES = "from adaptive.filter import Filter; from adaptive.host.database import TABLES"


@pytest.fixture
async def worker(
    workers: tuple[Worker, Worker], tmp_path: Path
) -> AsyncGenerator[Worker]:
    """A worker whose tables all stand in a schema; SQLite's is a second file."""
    worker = Worker(workers[0].address, SCHEMA)
    if worker.engine.dialect.name == "sqlite":

        @event.listens_for(worker.engine.sync_engine, "connect")
        def _attach(connection: Any, _record: Any) -> None:
            connection.execute(
                f"ATTACH '{tmp_path / 'schema.db'}' AS {SCHEMA}"
            )
    else:
        await worker.change(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        await worker.change(f"CREATE SCHEMA {SCHEMA}")
    await worker.change(f"CREATE TABLE {SCHEMA}.chat (id VARCHAR(255))")
    await worker.change(
        f"CREATE TABLE {SCHEMA}.memory (id VARCHAR(64), user_id VARCHAR(64))"
    )
    yield worker
    await worker.engine.dispose()


async def test_all_stands_in_the_schema(worker: Worker) -> None:
    """All is written, read, tidied and erased there, the host's tables included."""
    tables = HostTables(Sealer("secret"), worker.database)
    await tables.chat_notes.write("ada", "a", ChatNotes("a"), NOW)
    assert await tables.chat_notes.read("ada", "a") == ChatNotes("a")
    await worker.change(f"INSERT INTO {SCHEMA}.memory VALUES ('m1', 'ada')")
    one = StoredVector("hash", np.ones(2, np.float32))
    await tables.vectors.write("ada", "e", {"m1": one, "m2": one})
    await tables.vectors.tidy("ada", "e")
    assert list(await tables.vectors.read("ada", "e")) == ["m1"]
    await tables.pending.put(QueuedTurn(turn("words"), NOW, NOW))
    assert len((await tables.pending.waiting("ada", NOW)).turns) == 1
    assert await tables.leases.acquire("tidy:ada", NOW, 9)
    store: Any = ListedMemories()
    eraser = HostEraser(store, "ada", tables, NoHistory())
    found = await eraser.find(None)
    assert +found.counts == {"chat_notes": 1, "waiting": 1}
    first = "main" if worker.engine.dialect.name == "sqlite" else "public"
    for table in OUR_TABLES:
        assert await worker.rows(f"SELECT user_id FROM {SCHEMA}.{table}")
        with pytest.raises(Exception, match=table):
            await worker.rows(f"SELECT user_id FROM {first}.{table}")


def test_schema_is_the_hosts(tmp_path: Path) -> None:
    """Where the host's environment names a schema each table that we name stands in it."""
    (tmp_path / "open_webui").mkdir()
    (tmp_path / "open_webui" / "env.py").write_text(
        f"DATABASE_SCHEMA = {SCHEMA!r}\n"
    )
    code = f"{SAY_TABLES}; print({{one.schema for one in TABLES.tables.values()}})"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str({SCHEMA})
    assert {one.schema for one in TABLES.tables.values()} == {None}
