"""What tests of our tables share: two workers on one database, SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.host.databases import DATABASES, Worker, two_workers


@pytest.fixture(params=DATABASES)
async def workers(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncGenerator[tuple[Worker, Worker], None]:
    """Two workers on a database that has none of our tables yet, nor the host's chats."""
    async with two_workers(request.param, tmp_path) as both:
        yield both
