"""Run by a host's own interpreter: writes and erases memories through the host's memory API."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
import time
from types import SimpleNamespace
from typing import Any

# As `open-webui serve` has it, which knows where the package keeps its files; the tables of the
# host are made when it is imported.
os.environ |= {"FROM_INIT_PY": "true", "ENABLE_DB_MIGRATIONS": "true"}


async def embed(texts: Any, **_: Any) -> Any:
    """Vectors, without a model."""
    if isinstance(texts, str):
        return [float(len(texts)), 1.0, 2.0]
    return [await embed(one) for one in texts]


async def main(arguments: dict[str, Any]) -> dict[str, Any]:
    """Fill the store of two users, erase from one in three ways, and look at both."""
    sys.path.insert(0, arguments["source"])
    from fastapi import FastAPI, Request
    from open_webui.env import WEBUI_SECRET_KEY
    from open_webui.retrieval.vector.async_client import ASYNC_VECTOR_DB_CLIENT as CLIENT

    from adaptive.core.kept import ChatNotes
    from adaptive.core.model import Draft, Provenance
    from adaptive.core.table_ports import AuditEntry
    from adaptive.host.erasure import HostEraser, UserRows
    from adaptive.host.memories import HostMemoryStore
    from adaptive.host.tables import HostTables, host_secret
    from adaptive.privacy.origin import Origin
    from adaptive.privacy.sealing import Sealer

    app = FastAPI()
    if importlib.util.find_spec("open_webui.models.config") is None:  # before 0.10
        features = {"features": {"memories": True}}
        app.state.config = SimpleNamespace(ENABLE_MEMORIES=True, USER_PERMISSIONS=features)
    app.state.EMBEDDING_FUNCTION = embed
    request = Request({"type": "http", "app": app, "headers": [], "path": "/", "state": {}})
    tables = HostTables(Sealer(host_secret()))
    now = int(time.time())
    stores: dict[str, HostMemoryStore] = {}
    for name in ("ada", "bob"):
        stores[name] = HostMemoryStore(request, SimpleNamespace(id=name, role="admin"))
        for chat in "cd":
            source = Provenance(chat, f"m-{chat}", now)
            row = await stores[name].add(Draft(f"User likes tea in {chat}."), source)
            entry = AuditEntry("saved", row.id, now, "", row.content, "", chat, f"m-{chat}")
            await tables.audit.append(name, [entry], now)
        for chat in ("deleted", "temporary"):
            await tables.chat_notes.write(name, chat, ChatNotes("Tea."), now)

    async def noted(name: str) -> list[str]:
        chats = ("deleted", "temporary")
        return [(await tables.chat_notes.read(name, chat)).summary for chat in chats]

    async def searchable(name: str) -> int:
        found = await CLIENT.search(f"user-memory-{name}", [[1.0, 1.0, 2.0]], limit=9)
        return len(found.ids[0]) if found and found.ids else 0

    # An end date is written, changed, and taken away again.
    lent = await stores["bob"].add(Draft("User rents a boat.", until="2027-02-28"), source)
    ends = [lent.until]
    for until in ("2027-03-31", ""):
        lent = await stores["bob"].update(lent, Draft(lent.content, until=until), source)
        (read,) = [one for one in await stores["bob"].read() if one.id == lent.id]
        ends += [read.until, read.content]
    await stores["bob"].delete(lent)
    eraser = HostEraser(stores["ada"], UserRows("ada"), tables.archive)
    told: dict[str, Any] = {
        "ends": ends,
        "secret": host_secret() == WEBUI_SECRET_KEY.strip() != "",
        "provenance": stores["ada"].keeps_history,
        "noted chats": await noted("ada"),
        "before": [await searchable("ada"), await searchable("bob")],
    }
    report = await eraser.erase(Origin("c"))
    told["chat"] = [report.counts["memory"], not report.failed, int(bool(report.note))]
    told["after chat"] = [one.content for one in await stores["ada"].read()]
    told["vectors after chat"] = await searchable("ada")
    report = await eraser.erase(None)
    told["all"] = [report.counts["memory"], not report.failed, int(bool(report.note))]
    told["after all"] = [await searchable("ada"), await searchable("bob")]
    ghost = {"id": "ghost", "text": "ghost", "vector": [1.0, 1.0, 2.0], "metadata": {"at": 1}}
    await CLIENT.upsert("user-memory-ada", [ghost])
    told["ghosts"] = await searchable("ada")
    told["ghosts erased"] = not (await eraser.erase(None)).failed
    told["after ghosts"] = await searchable("ada")
    told["bob"] = len(await stores["bob"].read())
    return told


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.loads(sys.argv[1])))))  # noqa: T201
