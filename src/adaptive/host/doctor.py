"""What commands ask of the host: how each part does.

An admin wants to know why memory does not work, and what helps. Each check fails on its own and
ends in time. Of other users nothing is told but counts.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from itertools import chain

from sqlalchemy import delete, false, func, select

from adaptive.core import (
    AdaptiveMemoryError,
    clipped_line,
    phrase,
    plain_line,
)
from adaptive.host.database import (
    ENTRIES,
    HOST_MEMORIES,
    OUR_TABLES,
    HostDatabase,
)
from adaptive.host.faults import HostFaults
from adaptive.host.memory_vectors import memory_collection, standing_vectors
from adaptive.host.tables import HostTables, host_secret
from adaptive.privacy import UNDER_FORMER_KEY, Sealer, without_secrets
from adaptive.search import MemoryIndexes
from adaptive.settings import Hook

# The checks run side by side; what may be silent gets less than a check, so that it is named.
_CHECK_SECONDS = 28.0
_VECTORS_SECONDS = 10.0
_LONGEST_FINDING = 600
_USUAL_WAIT_SECONDS = 3600.0
_USERS_LOOKED_AT = 20

# The phrases "ok", "note" or "problem"; then what was found, and what helps.
CheckFinding = tuple[str, str]
Findings = AsyncIterator[CheckFinding]


async def diagnosis(
    hook: Hook,
    indexes: MemoryIndexes,
    database: HostDatabase | None = None,
) -> str:
    """How all parts do, in Markdown with a line for each finding; for an admin alone."""
    if not hook.is_admin:
        return phrase("doctor_does")
    # Anew: tables that are missing are made then.
    database = database or HostDatabase()
    checks = {
        "Open WebUI": _installed(database),
        "memories": _feature(hook),
        "model": _model(hook),
        "vectors": _embedding(hook, indexes),
        "tables": _tables(database),
        "memory vectors": _vectors(database),
        "waiting turns": _turns(database),
        "sealed": _sealed(database),
    }
    checked = await asyncio.gather(
        *(_checked(part, checks[part]) for part in checks)
    )
    keys = (hook.settings.llm_api_key, hook.settings.embedding_api_key)
    lines = list[str]()
    for level, text in chain.from_iterable(checked):
        shown = clipped_line(_without_keys(text, keys), _LONGEST_FINDING)
        lines.append(f"- **{phrase(level)}** {plain_line(shown)}")
    return "\n".join(lines)


def _without_keys(text: str, keys: tuple[str, ...]) -> str:
    for key in filter(None, keys):
        text = text.replace(key, "***")
    return without_secrets(text)


async def _checked(part: str, check: Findings) -> list[CheckFinding]:
    """The findings of a check, up to where it failed."""
    findings = list[CheckFinding]()
    try:
        async with asyncio.timeout(_CHECK_SECONDS):
            with HostFaults(part):
                async for finding in check:
                    findings.append(finding)
    except AdaptiveMemoryError as error:
        findings.append(("problem", f"{error} ({error.detail or part})"))
    except TimeoutError:
        findings.append(("problem", f"{phrase('too_long')} ({part})"))
    return findings


async def _installed(database: HostDatabase) -> Findings:
    """The host's release, for which models this function is on in it, and its secret."""
    from open_webui.env import VERSION
    from open_webui.models.functions import Function

    yield "ok", f"Open WebUI {VERSION}"
    query = select(Function.id).where(Function.is_global)
    functions = await database.rows("looking for functions", query)
    # The host names the module that it makes of a function's text so (host: utils/plugin.py).
    module = f"{diagnosis.__module__}_"
    if not any(module.startswith(f"function_{row.id}_") for row in functions):
        yield "note", phrase("not_global")
    if not host_secret():
        yield "problem", phrase("no_key")


async def _feature(hook: Hook) -> Findings:
    """Whether the host lets this admin have memories, and what stands in the valves' way."""
    if not hook.settings.enabled:
        yield "note", phrase("memory_off")
    for line in hook.settings.misread:
        yield "problem", line
    sources = await hook.sources()
    await sources.store.stamp()


async def _model(hook: Hook) -> Findings:
    """The model that learns."""
    completer = await hook.completer()
    yield "ok", phrase("learns_with", model=completer.key)


async def _embedding(hook: Hook, indexes: MemoryIndexes) -> Findings:
    async for finding in indexes.findings(
        await hook.sources(), _VECTORS_SECONDS
    ):
        yield finding


async def _tables(database: HostDatabase) -> Findings:
    """Tables of ours, each of which is made where it is missing, and may be written."""
    for table in OUR_TABLES:
        # Of all columns: a table of another release may lack some.
        await database.rows(f"reading {table.name}", select(table).limit(1))
        nothing = delete(table).where(false())
        await database.change(f"writing {table.name}", nothing)
        yield "ok", table.name


async def _vectors(database: HostDatabase) -> Findings:
    """Whether Open WebUI's own vectors are those of its memories, as after a backup they are not."""
    memory = HOST_MEMORIES.c
    last_change = func.max(memory.updated_at).desc()
    newest = select(memory.user_id).group_by(memory.user_id)
    users = newest.order_by(last_change).limit(_USERS_LOOKED_AT)
    doing = "comparing vectors with memories"
    rows = await database.rows(
        doing,
        select(memory.user_id, memory.id).where(memory.user_id.in_(users)),
    )
    memories = defaultdict[str, set[str]](set)
    for row in rows:
        memories[row.user_id].add(row.id)
    lacking = spare = 0
    for user_id, ids in memories.items():
        vectors = await standing_vectors(memory_collection(user_id))
        lacking += len(ids - vectors)
        spare += len(vectors - ids)
    if lacking or spare:
        yield (
            "note",
            phrase(
                "vectors_differ",
                n=len(memories),
                lacking=lacking,
                spare=spare,
            ),
        )


async def _turns(database: HostDatabase) -> Findings:
    """What waits in the queue of all users."""
    is_old = ENTRIES.c.created_at < time.time() - _USUAL_WAIT_SECONDS
    query = select(func.count(), func.count().filter(is_old)).where(
        ENTRIES.c.kind == "waiting"
    )
    [(waiting, old)] = await database.rows("reading turns", query)
    told = phrase("still_to_learn", n=waiting)
    if old:
        yield "note", f"{told}; {phrase('waits_long', n=old)}"
    else:
        yield "ok", told


async def _sealed(database: HostDatabase) -> Findings:
    """What another secret has sealed, of all users; of turns that are done nobody misses it."""
    entries = HostTables(Sealer(host_secret()), database).entries
    counts = await entries.unopened()
    sealed = ", ".join(
        f"{kind}: {count}" for kind, count in counts.items() if kind != "done"
    )
    if sealed:
        yield "problem", f"{UNDER_FORMER_KEY} ({sealed})"
