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

from adaptive.core.messages import clipped_line, mapping, plain_line
from adaptive.core.model import AdaptiveMemoryError, with_detail
from adaptive.host.faults import HostFaults
from adaptive.host.own_table import OwnTable, Sessions, host_rows, host_session
from adaptive.host.pending_table import PENDING, HostPendingTable
from adaptive.host.tables import ENTRIES, VECTORS, SealedEntries, host_secret
from adaptive.llm.ask import AnswerFormats, answers_test_question
from adaptive.privacy.sealing import Sealer
from adaptive.privacy.secrets import without_secrets
from adaptive.search.indexes import MemoryIndexes
from adaptive.settings.hook import Hook

FOR_ADMINS = "Only an administrator can ask how Adaptive Memory is doing."
# The checks run side by side; what may be silent gets less than a check, so that it is named.
_CHECK_SECONDS = 28.0
_MODEL_SECONDS = 25.0
_VECTORS_SECONDS = 10.0
_OVERDUE_SECONDS = 3600
_LONGEST_FINDING = 600
_WAIT_FOR_KEY = "with the former one all of it comes back"
_TESTED_RELEASES = ("0.9", "0.10", "0.11", "0.12")
_PACKAGES = ("numpy", "sentence-transformers", "rapidfuzz")

# "OK", "Note" or "Problem"; then what was found, and what helps.
CheckFinding = tuple[str, str]
Findings = AsyncIterator[CheckFinding]


async def diagnosis(
    hook: Hook,
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
    except TimeoutError:
        findings.append(("Problem", f"nothing within {_CHECK_SECONDS:g} s"))
    except AdaptiveMemoryError as error:
        findings.append(("Problem", with_detail(error)))
    return findings


async def _installed(sessions: Sessions) -> Findings:
    """The host's release, this function in it, and other filters that keep memories."""
    from open_webui.env import VERSION
    from open_webui.models.functions import Function

    if VERSION.rpartition(".")[0] in _TESTED_RELEASES:
        yield "OK", f"release {VERSION}"
    else:
        yield "Note", f"release {VERSION} is not tested"
    # Of the texts themselves, which are long, none is read.
    remembers = or_(
        Function.id.icontains("memor"),
        Function.name.icontains("memor"),
        Function.content.like("%open_webui.%.memories import%"),
    )
    query = select(
        Function.id, Function.meta, Function.is_active, Function.is_global
    )
    query = query.where(remembers, Function.type == "filter")
    filters = await host_rows("looking for functions", query, sessions)
    # The host names the module that it makes of a function's text so (host: utils/plugin.py).
    module = f"{diagnosis.__module__}_"
    candidates = [
        row for row in filters if module.startswith(f"function_{row.id}_")
    ]
    own = max(candidates, key=lambda row: len(row.id), default=None)
    manifest = mapping(getattr(own, "meta", None), "manifest")
    name = f"Adaptive Memory {manifest.get('version', 'unknown')}"
    if own is None or not own.is_active:
        how = "switch it on under Admin Panel > Functions"
        yield "Problem", f"{name} is switched off: {how}"
    elif not own.is_global:
        yield (
            "Note",
            f"{name} is on, but not global: only models that tick it have memory",
        )
    else:
        yield "OK", f"{name} is on and global"
    others = [row.id for row in filters if row.is_active and row is not own]
    if others:
        ids = ", ".join(others)
        yield (
            "Note",
            f"other active filters keep memories, too; switch off all but one: {ids}",
        )


async def _feature(hook: Hook) -> Findings:
    """Whether the host lets this admin have memories, and users without a group's permission."""
    if not hook.settings.enabled:
        yield (
            "Note",
            "you have switched memory off for yourself, in your settings or the Valves",
        )
    if hook.settings.save_mode != "auto":
        yield (
            "Note",
            f"nothing is learned of itself: save_mode is {hook.settings.save_mode}",
        )
    for line in hook.settings.misread:
        yield "Problem", line
    sources = await hook.sources()
    await sources.store.stamp()
    if await hook.native.permits_memories():
        yield "OK", "switched on, and users have the permission"
    else:
        yield (
            "Note",
            "users lack the permission: Users > Groups > Default permissions > Memories",
        )


async def _model(hook: Hook, formats: AnswerFormats) -> Findings:
    """The model that learns, asked where somebody lives."""
    completer = await hook.completer()
    yield (
        "OK",
        f"{completer.key} is asked; llm_provider_type and llm_host_model choose another",
    )
    seconds = min(hook.settings.llm_timeout_seconds, _MODEL_SECONDS)
    began = time.perf_counter()
    is_right = await answers_test_question(completer, formats, seconds)
    took = f"answered within {time.perf_counter() - began:.1f} s"
    if is_right:
        yield "OK", f"{took}, in JSON and rightly"
    else:
        yield "Note", f"{took}, but wrongly: a larger one learns better"


async def _embedding(hook: Hook, indexes: MemoryIndexes) -> Findings:
    async for finding in indexes.findings(
        await hook.sources(), _VECTORS_SECONDS
    ):
        yield finding


async def _turns(sessions: Sessions) -> Findings:
    """What waits in the queue of all users, and who is at work."""
    now = time.time()
    row = PENDING.c
    waits = row.state == "waiting"
    is_learned = (row.state == "lease") & (row.lease_until >= now)
    query = select(
        func.count().filter(is_learned).label("learned"),
        func.count().filter(waits).label("waiting"),
        func.count().filter(waits & (row.attempts > 0)).label("failed"),
        func.min(row.queued_at).filter(waits).label("oldest"),
    )
    (turns,) = await OwnTable(PENDING, sessions).rows("reading turns", query)
    yield (
        "OK",
        f"users whose turns are learned from at this moment: {turns.learned}",
    )
    waiting = f"waiting: {turns.waiting}, failed before: {turns.failed}"
    if turns.oldest:
        oldest = datetime.fromtimestamp(turns.oldest, UTC)
        waiting += f", the oldest since {oldest:%Y-%m-%d %H:%M} UTC"
    is_overdue = turns.oldest and turns.oldest < now - _OVERDUE_SECONDS
    if turns.failed or is_overdue:
        when = (
            "they are tried with their users' next messages, the log says more"
        )
        yield "Note", f"{waiting}; {when}"
    else:
        yield "OK", waiting


async def _rows(sessions: Sessions) -> Findings:
    """How many rows each table of ours has, which is made where it is missing."""
    for table in (ENTRIES, PENDING, VECTORS):
        # Of all columns: a table of another release may lack some.
        query: Any = select(func.count()).select_from(select(table).subquery())
        rows = await OwnTable(table, sessions).rows(
            f"reading {table.name}", query
        )
        yield "OK", f"{table.name}: {rows[0][0]}"


async def _sealed(sessions: Sessions) -> Findings:
    """What another secret has sealed, of all users."""
    sealer = Sealer(host_secret())
    counts = Counter[str](await SealedEntries(sealer, sessions).unopened())
    counts["waiting"] = await HostPendingTable(sealer, sessions).unopened()
    sealed = ", ".join(
        f"{kind}: {count}" for kind, count in counts.items() if count
    )
    if sealed:
        yield (
            "Problem",
            f"{sealed} can't be opened: WEBUI_SECRET_KEY has changed; {_WAIT_FOR_KEY}",
        )
    else:
        yield "OK", "all that is kept can be opened"


async def _versions() -> Findings:
    """Of Python and packages; and whether what is sealed can be opened after a restart."""
    distributions = await asyncio.to_thread(
        lambda: [*metadata.distributions()]
    )
    versions = [
        f"{one.name} {one.version}"
        for one in distributions
        if one.name in _PACKAGES
    ]
    yield "OK", ", ".join([f"Python {platform.python_version()}", *versions])
    if not host_secret():
        yield (
            "Problem",
            "without WEBUI_SECRET_KEY what waits to be learned is lost at a restart",
        )
