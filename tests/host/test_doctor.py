"""What the doctor tells an admin: each part on its own, without a key, and counts of others."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Boolean, Column, MetaData, String, Table
from sqlalchemy.schema import CreateTable

from adaptive.core.embedding import Sources
from adaptive.core.texts import phrase
from adaptive.host.doctor import diagnosis
from adaptive.host.hook import HookArguments, HostHook
from adaptive.host.tables import HostTables
from adaptive.memory.turn_table import QueuedTurn
from adaptive.privacy.sealing import Sealer
from adaptive.search.indexes import MemoryIndexes
from tests.fakes import (
    ListedMemories,
    ScriptedModel,
    WordEmbedder,
    hook_settings,
    memory,
    turn,
)
from tests.host.databases import Worker
from tests.host.test_application import running_request

SECRET = "sk-proj-4fXq81LmZpT0vWc2Rb7YkN3uHd6JgA9s"
FUNCTIONS = Table(
    "function",
    MetaData(),
    Column("id", String),
    Column("is_global", Boolean),
)


class Patient(HostHook):
    """An admin's hook, whose memories, model and embedder a test brings along."""

    model = ScriptedModel()
    words = WordEmbedder()
    store = ListedMemories()

    async def sources(self) -> Sources:
        return Sources("ada", self.store, self.words, self.tables.vectors)

    async def embedder(self) -> WordEmbedder:
        return self.words

    async def completer(self) -> ScriptedModel:
        return self.model


@pytest.fixture
async def lines(
    workers: tuple[Worker, Worker], monkeypatch: pytest.MonkeyPatch
) -> Any:
    """What is found in a host with two functions and a turn of somebody's that waits."""
    worker, tables = (
        workers[0],
        HostTables(Sealer("secret"), workers[0].database),
    )
    function = SimpleNamespace(**{one.name: one for one in FUNCTIONS.c})
    monkeypatch.setitem(
        sys.modules, "open_webui.env", SimpleNamespace(VERSION="0.12.4")
    )
    module = SimpleNamespace(Function=function)
    monkeypatch.setitem(sys.modules, "open_webui.models.functions", module)
    monkeypatch.setattr(diagnosis, "__module__", "function_mine_2_0af3")
    await worker.change("DROP TABLE IF EXISTS function")
    await worker.change(str(CreateTable(FUNCTIONS)))
    async with worker.sessions() as session:
        await session.execute(
            FUNCTIONS.insert(),
            [
                {"id": "mine", "is_global": False},
                {"id": "mine_2", "is_global": True},
            ],
        )
        await session.commit()
    await tables.pending.put(
        QueuedTurn(turn("Bob's words", user_id="bob"), 1.0, 1.0)
    )

    async def found(
        model: ScriptedModel, role: str = "admin", **store: Any
    ) -> list[str]:
        request = running_request()
        user = {"id": "ada", "role": role}
        settings = hook_settings(llm_api_key="only-ours")
        arguments = HookArguments(user=user, metadata={}, request=request)
        hook = Patient.of(settings, arguments, request, tables)
        monkeypatch.setattr(Patient, "model", model)
        monkeypatch.setattr(
            Patient,
            "store",
            ListedMemories(memory("1", "User is Ada."), **store),
        )
        told = await diagnosis(hook, MemoryIndexes(), worker.database)
        return told.split("\n")

    return found


async def test_findings(lines: Any) -> None:
    """All is told that was found; of another user's turn neither the words nor whose it is."""
    told = "\n".join(await lines(ScriptedModel('{"city": "Porto"}')))
    for expected in (
        "**OK** Open WebUI 0.12.4",
        "**OK** scripted learns",
        "makes the vectors: 64 numbers",
        "1 message still to learn from; 1 of them for more than an hour",
        r"**OK** adaptive\_memory\_entries",
    ):
        assert expected in told
    assert "not global" not in told
    assert "not embedded" not in told
    assert "bob" not in told.casefold()


async def test_failures(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails is a problem of its own, told without keys; only admins are told anything."""
    monkeypatch.setitem(sys.modules, "open_webui.models.functions", None)
    failing = ScriptedModel()
    refusal = f"memories are switched off for {SECRET} or only-ours"
    told = "\n".join(await lines(failing, refusal=refusal))
    assert told.count("**Problem**") >= 3
    assert "memories are switched off" in told
    assert not any(secret in told for secret in ("bob", SECRET, "only-ours"))
    assert await lines(failing, role="user") == [phrase("doctor_does")]
