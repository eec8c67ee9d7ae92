"""PostgreSQL with a schema of its own, for a role that may not write ``public``."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo.environment import NEWEST, host_environment, with_postgres_drivers
from tests.e2e.driver.extraction import (
    learns,
    learns_nothing_else,
    new,
    operations,
)
from tests.e2e.driver.host import HASTY, RunningHost
from tests.e2e.driver.services import running_services
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.told_facts import PORTO

ROLE, SCHEMA = (
    "webui",
    "chats",
)  # PostgreSQL finds by itself what bears the name of the role
OURS = "SELECT schemaname, tablename FROM pg_tables WHERE tablename LIKE 'adaptive_memory_%'"

pytestmark = [pytest.mark.host, pytest.mark.soak, pytest.mark.timeout(900)]


async def test_schema_of_its_own(tmp_path: Path) -> None:
    """The fact is learned, recalled, listed and erased; our tables stand beside the host's."""
    environment = with_postgres_drivers(host_environment(NEWEST))
    async with running_services() as services:
        variables = {
            "PYTHONPATH": services.variables(environment)["PYTHONPATH"],
            "DATABASE_URL": services.with_own_schema(ROLE, SCHEMA),
            "DATABASE_SCHEMA": SCHEMA,
        }
        async with RunningHost.running_on(
            environment, tmp_path / "host", variables
        ) as host:
            learns_nothing_else(host.model)
            valves = {**HASTY, "history_recall_default": "all"}
            await host.install_filter(PLUGIN, valves=valves)
            page = await host.user("ann")
            learns(host.model, "Porto", operations(new(PORTO)))
            await page.say("I live in Porto.", f"Saved: {PORTO}")

            await page.new_chat().send("In which town do I live?")
            assert PORTO in host.model.last_prompt
            listed = await page.new_chat().send("/memory")
            assert PORTO in listed.content

            page.answers["input"] = "erase"
            turn = await page.new_chat().send("Forget everything about me")
            await page.wait_for_status(turn, "Erased: 1 memory")
            assert await page.memories() == []
            checked = await host.admin.new_chat().send("/memory doctor")
            assert "- **OK** adaptive" in checked.content.replace("\\", "")
        tables = services.rows(OURS)
    assert {(one["schemaname"], one["tablename"]) for one in tables} == {
        (SCHEMA, "adaptive_memory_entries"),
        (SCHEMA, "adaptive_memory_vector"),
    }
