"""Whose rows ``erase-user`` erases."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

from adaptive.core import AdaptiveMemoryError, with_detail
from adaptive.host.database import HOST_USERS, HostDatabase
from demo.erase_user import erase_user, user_named
from demo.install import InstallError
from tests.host.databases import Worker


async def test_whose_account_is_named(tmp_path: Path) -> None:
    """An address names its account in whatever case; what names several, or nobody, none at all."""
    worker = Worker(f"sqlite+aiosqlite:///{tmp_path / 'webui.db'}")
    await worker.change('CREATE TABLE "user" (id TEXT, email TEXT)')
    rows = [("1", "Ada@x.org"), ("12", "eve@x.org"), ("3", "Eve@x.org")]
    for id_, email in rows:
        await worker.change(
            'INSERT INTO "user" VALUES (:id, :email)', id=id_, email=email
        )
    plugin = SimpleNamespace(
        HOST_USERS=HOST_USERS,
        OUR_DATABASE=HostDatabase(worker.sessions, ()),
        func=func,
        select=select,
    )
    for name, user_id in [
        (" ada@X.org", "1"),
        ("1", "1"),
        ("gone", "gone"),
    ]:
        assert await user_named(plugin, name) == user_id
    with pytest.raises(InstallError, match="have this address: 12, 3"):
        await user_named(plugin, "eve@x.org")
    for name in ("", " "):
        with pytest.raises(InstallError, match="Name an account"):
            await user_named(plugin, name)
    await worker.engine.dispose()


async def test_locked_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the plug-in can't do for now is told in a sentence, with its cause and what helps."""
    broken = HostDatabase(locked_session, ())
    plugin = SimpleNamespace(
        AdaptiveMemoryError=AdaptiveMemoryError,
        HOST_USERS=HOST_USERS,
        OUR_DATABASE=broken,
        func=func,
        select=select,
        with_detail=with_detail,
    )
    monkeypatch.setattr("demo.erase_user._loaded", lambda _: plugin)
    file = tmp_path / "adaptive_memory.py"
    file.write_text("class Filter: ...")
    with pytest.raises(InstallError) as failed:
        await erase_user("ada@x.org", file, lambda _: True)
    assert str(failed.value) == (
        "Open WebUI's database can't be used right now"
        " (looking for a user: database is locked). Run this again; where"
        " that repeats, stop Open WebUI first"
    )


def locked_session() -> AbstractAsyncContextManager[Any]:
    """A session of a database that another process writes to."""
    cause = sqlite3.OperationalError("database is locked")
    raise OperationalError("SELECT", {}, cause)
