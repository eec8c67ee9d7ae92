"""What an admin wants to know when memory does not work: how each part does, and what helps.

Each check fails on its own and ends in time. Of other users nothing is told but counts.
"""

from __future__ import annotations

import asyncio
import platform
import time
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from sqlalchemy import func, or_, select

from adaptive.core.errors import AdaptiveMemoryError, with_detail
from adaptive.core.markdown import clipped_line, plain_line
from adaptive.core.shapes import mapping
from adaptive.host.entries import ENTRIES, SealedEntries
from adaptive.host.faults import HostFaults
from adaptive.host.hook import HostHook
from adaptive.host.own_table import OwnTable, Sessions, host_rows, host_session
from adaptive.host.pending_table import PENDING, HostPendingTable
from adaptive.host.requests import host_settings
from adaptive.host.tables import VECTORS, host_secret
from adaptive.llm.ask import AnswerFormats
from adaptive.llm.fields import answers_test_question
from adaptive.privacy.sealing import Sealer
from adaptive.privacy.secrets import without_secrets
from adaptive.search.indexes import MemoryIndexes

FOR_ADMINS = "Only an administrator can ask how Adaptive Memory is doing."
# The checks run side by side; what may be silent gets less than a check, so that it is named.
_CHECK_SECONDS, _MODEL_SECONDS, _VECTORS_SECONDS = 28.0, 25.0, 10.0
_OVERDUE_SECONDS = 3600
_LONGEST_FINDING = 600
_WAIT_FOR_KEY = "with the former one all of it comes back"
_TESTED_RELEASES = ("0.9", "0.10", "0.11", "0.12")
_PACKAGES = ("numpy", "sentence-transformers", "rapidfuzz", "cachetools")

# "OK", "Note" or "Problem"; then what was found, and what helps.
Findings = AsyncIterator[tuple[str, str]]


async def diagnosis(
    hook: HostHook,
    indexes: MemoryIndexes,
    formats: AnswerFormats,
    sessions: Sessions = host_session,
) -> str:
    """How all parts do, in Markdown with a line for each finding; for an admin alone."""
    if not hook.is_admin:
        return FOR_ADMINS
    checks = {
        "Open WebUI": _installed(sessions),
        "memory in Open WebUI": _feature(hook),
        "model for learning": _model(hook, formats),
        "embedding": _embedding(hook, indexes),
        "turns to be learned": _turns(sessions),
        "rows": _rows(sessions),
        "sealed": _sealed(sessions),
        "versions": _versions(),
    }
    found = await asyncio.gather(*map(_checked, checks.values()))
    keys = [key for key in (hook.settings.llm_api_key, hook.settings.embedding_api_key) if key]

    def line(level: str, told: str) -> str:
        """A finding without keys and without markup."""
        for key in keys:
            told = told.replace(key, "***")
        return f"- **{level}** {plain_line(clipped_line(without_secrets(told), _LONGEST_FINDING))}"

    named = zip(checks, found, strict=True)
    return "\n".join(line(level, f"{part}: {told}") for part, some in named for level, told in some)


async def _checked(findings: Findings) -> list[tuple[str, str]]:
    """What a check has found, up to where it failed."""
    found = list[tuple[str, str]]()
    try:
        async with asyncio.timeout(_CHECK_SECONDS):
            with HostFaults("checking", sentence="this can't be checked"):
                async for one in findings:
                    found.append(one)
    except TimeoutError:
        found.append(("Problem", f"nothing within {_CHECK_SECONDS:g} s"))
    except AdaptiveMemoryError as error:
        found.append(("Problem", with_detail(error)))
    return found


async def _installed(sessions: Sessions) -> Findings:
    """The host's release, this function in it, and other filters that keep memories."""
    from open_webui.env import VERSION
    from open_webui.models.functions import Function

    supported = VERSION.rpartition(".")[0] in _TESTED_RELEASES
    yield "OK" if supported else "Note", f"release {VERSION}{'' if supported else ' is not tested'}"
    # Of the texts themselves, which are long, none is read.
    remembers = or_(
        Function.id.icontains("memor"),
        Function.name.icontains("memor"),
        Function.content.like("%open_webui.%.memories import%"),
    )
    columns = (Function.id, Function.meta, Function.is_active, Function.is_global)
    query = select(*columns).where(remembers, Function.type == "filter")
    filters = await host_rows("looking for functions", query, sessions)
    # The host names the module that it makes of a function's text so (host: utils/plugin.py).
    named = [one for one in filters if f"{HostHook.__module__}_".startswith(f"function_{one.id}_")]
    own = max(named, key=lambda one: len(one.id), default=None)
    version = mapping(mapping(own.meta if own else None).get("manifest")).get("version", "unknown")
    if own is None or not own.is_active:
        level, state = "Problem", "switched off: switch it on under Admin Panel > Functions"
    elif not own.is_global:
        level, state = "Note", "on, but not global: only models that tick it have memory"
    else:
        level, state = "OK", "on and global"
    yield level, f"Adaptive Memory {version} is {state}"
    if others := [one.id for one in filters if one.is_active and one is not own]:
        listed = ", ".join(others)
        yield "Note", f"other active filters keep memories, too; switch off all but one: {listed}"


async def _feature(hook: HostHook) -> Findings:
    """Whether the host lets this admin have memories, and users without a group's permission."""
    if not hook.settings.enabled:
        yield "Note", "you have switched memory off for yourself, in your settings or the Valves"
    if hook.settings.save_mode != "auto":
        yield "Note", f"nothing is learned of itself: save_mode is {hook.settings.save_mode}"
    for line in hook.settings.misread:
        yield "Problem", line
    await (await hook.sources()).store.stamp()
    given = (await host_settings(hook.request, "user_permissions"))["user_permissions"]
    if mapping(mapping(given).get("features")).get("memories", True):
        yield "OK", "switched on, and users have the permission"
    else:
        yield "Note", "users lack the permission: Users > Groups > Default permissions > Memories"


async def _model(hook: HostHook, formats: AnswerFormats) -> Findings:
    """The model that learns, asked where somebody lives."""
    completer, began = await hook.completer(), time.perf_counter()
    yield "OK", f"{completer.key} is asked; llm_provider_type and llm_host_model choose another"
    seconds = min(hook.settings.llm_timeout_seconds, _MODEL_SECONDS)
    is_right = await answers_test_question(completer, formats, seconds)
    took = f"answered within {time.perf_counter() - began:.1f} s"
    if is_right:
        yield "OK", f"{took}, in JSON and rightly"
    else:
        yield "Note", f"{took}, but wrongly: a larger one learns better"


async def _embedding(hook: HostHook, indexes: MemoryIndexes) -> Findings:
    async for one in indexes.findings(await hook.sources(), _VECTORS_SECONDS):
        yield one


async def _turns(sessions: Sessions) -> Findings:
    """What waits in the queue of all users, and who is at work."""
    row, now, count = PENDING.c, time.time(), func.count()
    waits, at_work = row.state == "waiting", (row.state == "lease") & (row.lease_until >= now)
    counts = [count.filter(one) for one in (waits, waits & (row.attempts > 0), at_work)]
    query = select(func.min(row.queued_at).filter(waits), *counts)
    table = OwnTable(PENDING, sessions)
    [(since, waiting, failed, busy)] = await table.rows("reading turns", query)
    yield "OK", f"users whose turns are learned from at this moment: {busy}"
    told = f"waiting: {waiting}, failed before: {failed}"
    if since:
        told += f", the oldest since {datetime.fromtimestamp(since, UTC):%Y-%m-%d %H:%M} UTC"
    if failed or (since and since < now - _OVERDUE_SECONDS):
        yield "Note", f"{told}; they are tried with their users' next messages, the log says more"
    else:
        yield "OK", told


async def _rows(sessions: Sessions) -> Findings:
    """How many rows each table of ours has, which is made where it is missing."""
    for one in (ENTRIES, PENDING, VECTORS):
        # Of all columns: a table of another release may lack some.
        query: Any = select(func.count()).select_from(select(one).subquery())
        [(count,)] = await OwnTable(one, sessions).rows(f"reading {one.name}", query)
        yield "OK", f"{one.name}: {count}"


async def _sealed(sessions: Sessions) -> Findings:
    """What another secret has sealed, of all users."""
    sealer = Sealer(host_secret())
    counts = Counter[str](await SealedEntries(sealer, sessions).unopened())
    counts["waiting"] = await HostPendingTable(sealer, sessions).unopened()
    if listed := ", ".join(f"{kind}: {count}" for kind, count in counts.items() if count):
        yield "Problem", f"{listed} can't be opened: WEBUI_SECRET_KEY has changed; {_WAIT_FOR_KEY}"
    else:
        yield "OK", "all that is kept can be opened"


async def _versions() -> Findings:
    """Of Python and packages; and whether what is sealed can be opened after a restart."""
    there = await asyncio.to_thread(lambda: list(metadata.distributions()))
    told = [f"{one.name} {one.version}" for one in there if one.name in _PACKAGES]
    yield "OK", ", ".join([f"Python {platform.python_version()}", *told])
    if not host_secret():
        yield "Problem", "without WEBUI_SECRET_KEY what waits to be learned is lost at a restart"
