"""Erase what is kept of an account, by the plug-in's own code, inside an installed Open WebUI.

It runs under the server's interpreter, with the environment variables that the server has.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from demo.install import InstallError, read_plugin


async def erase_user(
    name: str, plugin: Path, agreed: Callable[[str], bool]
) -> str:
    """Erase all of a user, whom an id or an e-mail address names; what was done.

    ``agreed`` is asked first. Raises ``InstallError`` where nothing is kept of such a user, or
    something can't be erased.
    """
    module = _loaded(read_plugin(plugin))
    try:
        return await _erased(module, name, agreed)
    except module.AdaptiveMemoryError as error:
        what = module.with_detail(error)
        raise InstallError(
            f"{what}. Run this again; where that repeats, stop Open WebUI first"
        ) from error


async def _erased(
    module: Any, name: str, agreed: Callable[[str], bool]
) -> str:
    """Erase all of a user, by the plug-in's own code; what was done."""
    user_id = await user_named(module, name)
    counts = await _counts(module, user_id)
    if not any(counts.values()):
        raise InstallError(
            f"Nothing is kept of {name!r}; of a deleted account give the id"
        )
    kept = ", ".join(f"{table}: {count}" for table, count in counts.items())
    if not agreed(f"Rows of {user_id}: {kept}. Erase them, and all vectors?"):
        return "Nothing was erased."
    tables = module.HostTables(module.Sealer(module.host_secret()))
    sweep = module.HostSweep(tables, module.HostHistoryVectors())
    await sweep.erase(user_id)
    left = await _counts(module, user_id)
    if any(left.values()):
        raise InstallError(f"Rows are left of {user_id}; run this again")
    return f"Erased: {kept}, and all vectors."


def _loaded(source: str) -> Any:
    """The plug-in as a module, as the host makes one."""
    os.environ |= {"FROM_INIT_PY": "true", "ENABLE_DB_MIGRATIONS": "false"}
    # Nothing is opened here that it has sealed, and the host refuses to load without one.
    os.environ.setdefault("WEBUI_SECRET_KEY", "none")
    module = types.ModuleType("function_adaptive_memory_erase_user")
    sys.modules[module.__name__] = module
    exec(compile(source, "adaptive_memory.py", "exec"), module.__dict__)  # noqa: S102
    return module


async def user_named(module: Any, name: str) -> str:
    """The id of the account with this address, in whatever case, else what was given."""
    address = name.strip().lower()
    if not address:
        raise InstallError("Name an account; what has no user is everybody's")
    user = module.HOST_USERS.c
    is_named = module.func.lower(user.email) == address
    query = module.select(user.id).where(is_named)
    rows = await module.OUR_DATABASE.rows("looking for a user", query)
    if len(rows) > 1:
        ids = ", ".join(sorted(row.id for row in rows))
        raise InstallError(f"Several accounts have this address: {ids}")
    return rows[0].id if rows else name


async def _counts(module: Any, user_id: str) -> dict[str, int]:
    """How many rows of a user there are, by table."""
    counts: dict[str, int] = {}
    for table in (module.HOST_MEMORIES, *module.OUR_TABLES):
        query = module.select(module.func.count()).where(
            table.c.user_id == user_id
        )
        [(count,)] = await module.OUR_DATABASE.rows("counting rows", query)
        counts[table.name] = count
    return counts
