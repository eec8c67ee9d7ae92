"""A table of ours in the host's own database, SQLite or PostgreSQL, created when first used."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import Table
from sqlalchemy.schema import CreateTable

from adaptive.errors import TablesUnavailable
from adaptive.host.faults import HostFaults


class OwnTable:
    """Opens the host's database with the table in it."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._created = False

    @asynccontextmanager
    async def session(self, doing: str) -> AsyncGenerator[Any, None]:
        """A session of the host's; the caller commits what it changes.

        Raises:
            TablesUnavailable: the database refuses; the text says what was being done.
        """
        with HostFaults(doing, TablesUnavailable):
            from open_webui.internal.db import get_async_db_context

            async with get_async_db_context() as session:
                if not self._created:
                    await session.execute(CreateTable(self._table, if_not_exists=True))
                    await session.commit()
                    self._created = True
                yield session
