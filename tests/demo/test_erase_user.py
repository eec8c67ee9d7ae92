"""Whose rows ``erase-user`` erases."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import func, select

from adaptive.host.database import HOST_USERS, HostDatabase
from demo.erase_user import user_named
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
