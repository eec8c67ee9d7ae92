"""What commands ask of the host: how each part does.

An admin wants to know why memory does not work, and what helps. Each check fails on its own and
ends in time. Of other users nothing is told but counts.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator

from sqlalchemy import delete, false, func, select

from adaptive.core import (
    AdaptiveMemoryError,
    clipped_line,
    plain_line,
    with_detail,
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
from adaptive.privacy import Sealer, without_secrets
from adaptive.search import MemoryIndexes
from adaptive.settings import Hook

FOR_ADMINS = "Only an administrator can ask how Adaptive Memory is doing."
# The checks run side by side; what may be silent gets less than a check, so that it is named.
_CHECK_SECONDS = 28.0
_VECTORS_SECONDS = 10.0
_LONGEST_FINDING = 600
_USUAL_WAIT_SECONDS = 3600.0
_USERS_LOOKED_AT = 20
_REINDEX = "Admin Panel > Settings > Documents"
_WAIT_FOR_KEY = "with the former one all of it comes back"

# "OK", "Note" or "Problem"; then what was found, and what helps.
CheckFinding = tuple[str, str]
Findings = AsyncIterator[CheckFinding]


async def diagnosis(
    hook: Hook,
    indexes: MemoryIndexes,
    database: HostDatabase | None = None,
) -> str:
    """How all parts do, in Markdown with a line for each finding; for an admin alone."""
    if not hook.is_admin:
        return FOR_ADMINS
    # Anew: tables that are missing are made then.
    database = database or HostDatabase()
    checks = {
        "Open WebUI": _installed(database),
        "memory in Open WebUI": _feature(hook),
        "model for learning": _model(hook),
        "embedding": _embedding(hook, indexes),
        "tables": _tables(database),
        "Open WebUI's vectors": _vectors(database),
        "turns to be learned": _turns(database),
        "sealed": _sealed(database),
    }
    checked = await asyncio.gather(*map(_checked, checks.values()))
    keys = (hook.settings.llm_api_key, hook.settings.embedding_api_key)
    lines = list[str]()
    for part, findings in zip(checks, checked, strict=True):
        for level, text in findings:
            shown = _without_keys(f"{part}: {text}", keys)
            lines.append(
                f"- **{level}** {plain_line(clipped_line(shown, _LONGEST_FINDING))}"
            )
    return "\n".join(lines)


def _without_keys(text: str, keys: tuple[str, ...]) -> str:
    for key in filter(None, keys):
        text = text.replace(key, "***")
    return without_secrets(text)


async def _checked(check: Findings) -> list[CheckFinding]:
    """The findings of a check, up to where it failed."""
    findings = list[CheckFinding]()
    try:
        async with asyncio.timeout(_CHECK_SECONDS):
            with HostFaults("checking", sentence="this can't be checked"):
                async for finding in check:
                    findings.append(finding)
    except (TimeoutError, AdaptiveMemoryError) as error:
        findings.append(("Problem", with_detail(error)))
    return findings


async def _installed(database: HostDatabase) -> Findings:
    """The host's release, for which models this function is on in it, and its secret."""
    from open_webui.env import VERSION
    from open_webui.models.functions import Function

    yield "OK", f"release {VERSION}"
    query = select(Function.id).where(Function.is_global)
    functions = await database.rows("looking for functions", query)
    # The host names the module that it makes of a function's text so (host: utils/plugin.py).
    module = f"{diagnosis.__module__}_"
    if any(module.startswith(f"function_{row.id}_") for row in functions):
        yield "OK", "Adaptive Memory is on and global"
    else:
        yield (
            "Note",
            "Adaptive Memory is not global: only models that tick it have memory",
        )
    if not host_secret():
        yield (
            "Problem",
            "without WEBUI_SECRET_KEY what waits to be learned is lost at a restart",
        )


async def _feature(hook: Hook) -> Findings:
    """Whether the host lets this admin have memories, and what stands in the valves' way."""
    if not hook.settings.enabled:
        yield "Note", "you have switched memory off for yourself"
    for line in hook.settings.misread:
        yield "Problem", line
    sources = await hook.sources()
    await sources.store.stamp()
    yield "OK", "switched on, and you have the permission"


async def _model(hook: Hook) -> Findings:
    """The model that learns."""
    completer = await hook.completer()
    yield (
        "OK",
        f"{completer.key} is asked; llm_provider_type and llm_host_model choose another",
    )


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
        yield "OK", table.name


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
    found = (
        f"of the {len(memories)} users with the newest memories, {lacking}"
        f" memories have no vector, and {spare} vectors no memory"
    )
    if lacking or spare:
        yield "Note", f"{found}; reindex memories ({_REINDEX})"
    else:
        yield "OK", found


async def _turns(database: HostDatabase) -> Findings:
    """What waits in the queue of all users."""
    is_old = ENTRIES.c.created_at < time.time() - _USUAL_WAIT_SECONDS
    query = select(func.count(), func.count().filter(is_old)).where(
        ENTRIES.c.kind == "waiting"
    )
    [(waiting, old)] = await database.rows("reading turns", query)
    turns = f"waiting: {waiting}, for more than an hour: {old}"
    if old:
        yield (
            "Note",
            f"{turns}; they are tried with their users' next messages, the log says more",
        )
    else:
        yield "OK", turns


async def _sealed(database: HostDatabase) -> Findings:
    """What another secret has sealed, of all users; of turns that are done nobody misses it."""
    entries = HostTables(Sealer(host_secret()), database).entries
    counts = await entries.unopened()
    sealed = ", ".join(
        f"{kind}: {count}" for kind, count in counts.items() if kind != "done"
    )
    if sealed:
        yield (
            "Problem",
            f"{sealed} can't be opened: WEBUI_SECRET_KEY has changed; {_WAIT_FOR_KEY}",
        )
    else:
        yield "OK", "all that is kept can be opened"
