"""Run by a host's own interpreter: what scenarios end to end don't show of its memory API."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import sys
import time
from dataclasses import replace
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


async def in_step() -> None:
    """Wait until the host's own vectors are in step with the rows."""
    from adaptive.host.memory_vectors import VECTOR_UPKEEP

    while VECTOR_UPKEEP.tasks:
        await asyncio.sleep(0.01)


async def refused(
    store: Any, memory: Any, draft: Any, source: Any
) -> list[str]:
    """What is raised where adding, changing and deleting seem to have worked, and have not."""
    from adaptive.core.model import NewMemory, StoreError
    from adaptive.host import memories as ours

    async def nothing(*_: Any, **__: Any) -> Any:
        return SimpleNamespace(id="nowhere")

    writes = (
        lambda: store.write(NewMemory(draft, source)),
        lambda: store.write(NewMemory(draft, source, former=memory)),
        lambda: store.write(gone=[memory]),
    )
    told: list[str] = []
    ours.HOST_DATABASE.upsert = nothing
    for write in writes:
        try:
            await write()
        except StoreError as error:
            told.append(error.detail)
    del ours.HOST_DATABASE.upsert
    return told


async def at_once(
    store_of: Any, client: Any, draft: Any, source: Any
) -> dict[str, Any]:
    """Whether rows are written as the router does, and what a failure leaves."""
    from open_webui.routers import memories as router

    from adaptive.core.model import HostError, NewMemory
    from adaptive.host import database
    from adaptive.host.memory_rows import memory_fields
    from adaptive.search.index import stamp_of

    upsert, items = client.sync.upsert, []
    session = database.host_session

    def noting(collection_name: str, given: Any) -> None:
        items.append(
            [
                {**one, "id": "", "metadata": sorted(one["metadata"])}
                for one in given
            ]
        )
        upsert(collection_name, given)

    def failing() -> Any:
        raise OSError("disk full")

    client.sync.upsert = noting
    form = router.AddMemoryForm(
        **memory_fields(router.AddMemoryForm.model_fields, draft)
    )
    await router.add_memory(
        store_of("bea").request, form, store_of("bea").user
    )
    (alone,) = await store_of("bea").read()
    imported = NewMemory(draft, source, {"imported": 1})
    (among,) = await store_of("cleo").write(imported)
    await in_step()
    same = alone.stored == among.stored
    many, cause = store_of("dana"), ""
    (former,) = await many.write(NewMemory(draft, source))
    changed = replace(draft, content="User likes coffee.")
    await many.write(NewMemory(changed, source, former=former))
    await many.write(back=[former])
    await many.write(gone=[former])
    await many.write(back=[former])
    (back,) = await many.read()
    stamped = await many.stamp() == stamp_of([back])
    exact = replace(back, updated_at=former.updated_at) == former
    database.host_session = failing
    try:
        await many.write(*[NewMemory(draft, source)] * 30)
    except HostError as error:
        cause = error.detail
    database.host_session = session
    client.sync.upsert = upsert
    await in_step()
    found = await client.get("user-memory-dana")
    stopped = [len(await many.read()), len(found.ids[0]), cause]
    await many.delete_all()
    return {
        "same": [same, items[0] == items[1], exact, stamped],
        "stopped": stopped,
    }


async def swallowed(
    store: Any, client: Any, draft: Any, source: Any
) -> list[int]:
    """How many vectors are left of a deleted memory where so many deletions do nothing."""
    from adaptive.core.model import NewMemory

    left: list[int] = []
    delete = client.sync.delete
    for fails in (1, 2):
        kept = iter(range(fails))

        def deleting(*given: Any, _kept: Any = kept, **named: Any) -> None:
            if next(_kept, None) is None:
                delete(*given, **named)

        client.sync.delete = deleting
        (added,) = await store.write(NewMemory(draft, source))
        await in_step()
        await store.write(gone=[added])
        await in_step()
        client.sync.delete = delete
        found = await client.get(f"user-memory-{store.user.id}")
        left.append(len(found.ids[0]))
    return left


async def erased_meanwhile(
    store: Any, client: Any, draft: Any, source: Any
) -> int:
    """How many vectors stand of a memory that was erased while its vector was made."""
    from adaptive.core.model import NewMemory

    asked, go_on = asyncio.Event(), asyncio.Event()

    async def slow(texts: Any, **_: Any) -> Any:
        asked.set()
        await go_on.wait()
        return await embed(texts)

    store.request.app.state.EMBEDDING_FUNCTION = slow
    await store.write(NewMemory(draft, source))
    await asked.wait()
    await store.delete_all()
    go_on.set()
    await in_step()
    store.request.app.state.EMBEDDING_FUNCTION = embed
    found = await client.get(f"user-memory-{store.user.id}")
    return len(found.ids[0]) if found and found.ids else 0


async def replaced_while_away(
    store: Any, client: Any, draft: Any, source: Any
) -> bool:
    """Whether the vector of a memory goes that is replaced while no vectors can be made."""
    from adaptive.core.model import NewMemory

    async def failing(*_: Any, **__: Any) -> Any:
        raise OSError("away")

    (former,) = await store.write(NewMemory(draft, source))
    await in_step()
    store.request.app.state.EMBEDDING_FUNCTION = failing
    await store.write(NewMemory(draft, source), gone=[former])
    found = await client.get(f"user-memory-{store.user.id}")
    for _ in range(20):
        if former.id not in found.ids[0]:
            break
        await asyncio.sleep(0.01)
        found = await client.get(f"user-memory-{store.user.id}")
    store.request.app.state.EMBEDDING_FUNCTION = embed
    await in_step()
    return former.id not in found.ids[0]


async def main(arguments: dict[str, Any]) -> dict[str, Any]:
    """Write end dates, and erase vectors that have lost their rows."""
    sys.path.insert(0, arguments["source"])
    from fastapi import FastAPI, Request
    from open_webui.env import WEBUI_SECRET_KEY
    from open_webui.retrieval.vector.async_client import (
        ASYNC_VECTOR_DB_CLIENT as CLIENT,
    )

    from adaptive.core.model import Draft, NewMemory, Provenance
    from adaptive.host.database import HOST_DATABASE
    from adaptive.host.memories import HostMemoryStore
    from adaptive.host.memory_vectors import HostVectorTable
    from adaptive.host.tables import host_secret

    app = FastAPI()
    if (
        importlib.util.find_spec("open_webui.models.config") is None
    ):  # before 0.10
        features = {"features": {"memories": True}}
        app.state.config = SimpleNamespace(
            ENABLE_MEMORIES=True, USER_PERMISSIONS=features
        )
    app.state.EMBEDDING_FUNCTION = embed
    request = Request(
        {"type": "http", "app": app, "headers": [], "path": "/", "state": {}}
    )
    store = HostMemoryStore(request, SimpleNamespace(id="ada", role="admin"))
    source = Provenance("c", "m", int(time.time()))
    draft = Draft("User rents a boat.", until="2027-02-28")
    (lent,) = await store.write(NewMemory(draft, source))
    ends = [lent.until]
    for until in ("2027-03-31", ""):
        draft = Draft(lent.content, until=until)
        (lent,) = await store.write(NewMemory(draft, source, former=lent))
        (read,) = await store.read()
        ends += [read.until, read.content]
    await in_step()
    other = replace(lent, content="User rents a car.")
    both = [
        await HostVectorTable(HOST_DATABASE).held("ada", [one])
        for one in (lent, other)
    ]
    held = [
        [float(one) for row in found.values() for one in row] for found in both
    ]
    lies = await refused(store, lent, Draft("User sold the boat."), source)
    ghost = {
        "id": "ghost",
        "text": "ghost",
        "vector": [1.0, 1.0, 2.0],
        "metadata": {"at": 1},
    }
    counts: list[int] = []

    async def count() -> None:
        found = await CLIENT.search(
            "user-memory-ada", [[1.0, 1.0, 2.0]], limit=9
        )
        counts.append(len(found.ids[0]) if found and found.ids else 0)

    await in_step()
    await count()
    await store.delete_all()
    await CLIENT.upsert("user-memory-ada", [ghost])
    await count()
    await store.delete_all()
    await count()

    def store_of(name: str) -> Any:
        return HostMemoryStore(request, SimpleNamespace(id=name, role="admin"))

    draft = Draft(
        "User likes tea.", ("preference",), "Home", 0.8, 7, "2027-02-28"
    )
    return {
        "erased_meanwhile": await erased_meanwhile(
            store_of("finn"), CLIENT, draft, source
        ),
        "replaced_while_away": await replaced_while_away(
            store_of("gus"), CLIENT, draft, source
        ),
        "swallowed": await swallowed(store_of("eve"), CLIENT, draft, source),
        "at_once": await at_once(store_of, CLIENT, draft, source),
        "ends": ends,
        "held": held,
        "lies": lies,
        "vectors": counts,
        "provenance": store.keeps_history,
        "secret": host_secret() == WEBUI_SECRET_KEY.strip() != "",
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(json.loads(sys.argv[1])))))  # noqa: T201
