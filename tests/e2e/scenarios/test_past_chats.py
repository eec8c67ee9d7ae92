"""Past chats: learned from behind everything else, once, with the dates on which things were said."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import pytest

from benchmarks.figures import write_results
from demo.environment import NEWEST, host_environment
from tests.e2e.driver.extraction import EXTRACT
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.made_up_lives import (
    HARMLESS,
    extraction_reply,
    made_up_sayings,
)
from tests.e2e.driver.page import Page
from tests.e2e.driver.past_chats import (
    bring_along,
    compared,
    facts_of,
    past_chats,
)
from tests.e2e.driver.replies import Body, Hang, Say
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.conftest import PLUGIN
from tests.e2e.scenarios.test_commands import answered

RUNS = "SELECT count(*) AS runs FROM adaptive_memory_entries WHERE kind = 'past_run'"
SEED = 20261127


def dates(host: RunningHost) -> dict[str, int]:
    """When what each row says was said."""
    rows = host.query("SELECT * FROM memory")
    metas = {row["id"]: json.loads(row.get("meta") or "{}") for row in rows}
    return {
        row["id"]: metas[row["id"]].get("said_at") or row["created_at"]
        for row in rows
    }


async def over(host: RunningHost, seconds: float) -> None:
    """Wait until a run has ended."""
    await until(
        lambda: not host.query(RUNS)[0]["runs"],
        seconds,
        "the end of learning from past chats",
        poll_seconds=0.2,
    )
    await host.rest()


@pytest.mark.every_release
async def test_learned_and_taken_back(
    host: RunningHost, page: Page, plugin: InstalledFilter
) -> None:
    """A user is told what it takes, and begins; each fact has its date, and one undo takes all back."""
    chats = past_chats(made_up_sayings(0, 12, SEED), messages_each=3)
    facts = facts_of(chats)
    await bring_along(page, chats)
    host.model.when_title(EXTRACT, extraction_reply)
    chat = page.new_chat()
    told = await answered(chat, "/memory learn")
    assert told.startswith("4 chats, 12 messages of yours, about ")
    assert host.model.requests_titled(EXTRACT) == []
    assert "There is no chat" in await answered(chat, "/memory learn 2019")
    assert "Learning from 4 past chats" in await answered(
        chat, "/memory learn start"
    )
    await over(host, 60)
    found = await compared(page, facts, dates(host))
    every = len(facts)
    assert found == {
        "facts": every,
        "found": every,
        "dates_right": every,
        "twice": 0,
        "not_as_said_last": 0,
    }
    assert "There is no chat" in await answered(chat, "/memory learn start")
    for one in host.model.requests_titled(EXTRACT):
        assert "/memory" not in one.user_text
    assert f"Taken back: {every} changes" in await answered(chat, "/undo")
    assert await page.memories() == []


async def test_stopped(
    host: RunningHost, page: Page, plugin: InstalledFilter
) -> None:
    """While it goes on its user is told how far it is; what is stopped goes on from there later."""
    chats = past_chats(made_up_sayings(0, 8, SEED), messages_each=2)
    await bring_along(page, chats)
    asked = 0

    def slowly(body: Body) -> Any:
        """One chat is learned from, and the next one hangs."""
        nonlocal asked
        found = extraction_reply(body)
        asked += bool(found["operations"])
        said = Say(json.dumps(found))
        is_later = asked > 1 and found["operations"]
        return Hang(60, then=said) if is_later else said

    host.model.when_title(EXTRACT, slowly)
    chat = page.new_chat()
    await answered(chat, "/memory learn start")
    await until(lambda: asked > 1, 20, "the second chat")
    assert "learning from past chats: 1 of 4" in await answered(
        chat, "/memory"
    )
    await page.say(HARMLESS, "learning from past chats: 1 of 4")
    assert (await answered(chat, "/memory learn stop")).startswith("Stopped")
    host.model.when_title(EXTRACT, extraction_reply)
    told = await answered(chat, "/memory learn")
    assert told.startswith("3 chats")


async def learned_through_kills(
    folder: Path, chats_count: int, kills: int, pause: float
) -> dict[str, Any]:
    """Learn from imported chats on a server that is killed on the way; what came of it."""
    chance = random.Random(SEED)
    chats = past_chats(made_up_sayings(0, 3 * chats_count, SEED), 3)
    environment = host_environment(NEWEST)
    async with RunningHost.running_on(
        environment, folder / "open-webui"
    ) as host:
        await host.install_filter(PLUGIN)

        def after_a_moment(body: Body) -> Hang:
            """As a model takes its time."""
            said = Say(json.dumps(extraction_reply(body)))
            return Hang(chance.uniform(0, 2 * pause), then=said)

        host.model.when_title(EXTRACT, after_a_moment)
        page = await host.user("ann")
        await bring_along(page, chats)
        await answered(page.new_chat(), "/memory learn start")
        for kill in range(1, kills + 1):
            enough = kill * len(chats) // (kills + 1)
            await until(
                lambda enough=enough: (
                    len(host.model.requests_titled(EXTRACT)) >= enough
                ),
                120,
                "lessons",
                poll_seconds=0.1,
            )
            await asyncio.sleep(chance.uniform(0, 2 * pause))
            host.server.kill()
            for each in (host.admin, page):
                await each.disconnect()
            host.server.spawn()
            await host.server.wait_until_healthy()
            for each in (host.admin, page):
                await each.reload()
            # The user's next turn takes it up.
            await page.new_chat().send(HARMLESS)
        await over(host, 1800)
        return {
            "open_webui": environment.version,
            "chats": len(chats),
            "kills": kills,
            "lessons": len(host.model.requests_titled(EXTRACT)),
            **await compared(page, facts_of(chats), dates(host)),
        }


async def test_killed_on_the_way(tmp_path: Path) -> None:
    """Whatever is killed, each fact is there once, as it was said last, with its date."""
    found = await learned_through_kills(tmp_path, 20, kills=2, pause=0.2)
    assert found["found"] == found["facts"] == found["dates_right"], found
    assert (found["twice"], found["not_as_said_last"]) == (0, 0), found


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_three_hundred_chats(tmp_path: Path) -> None:
    """Of 300 past chats 97 % of the facts are found, 99 % of these with their dates, none twice."""
    found = await learned_through_kills(tmp_path, 300, kills=2, pause=0.1)
    write_results("past_chats", found)
    assert found["found"] >= 0.97 * found["facts"], found
    assert found["dates_right"] >= 0.99 * found["found"], found
    assert (found["twice"], found["not_as_said_last"]) == (0, 0), found
