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
    Saying,
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
from tests.e2e.scenarios.test_history import indexed

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
    assert "Nothing was found" in await answered(chat, "/memory learn 2019")
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
        "not_as_said_last": [],
    }
    assert "Nothing was found" in await answered(chat, "/memory learn start")
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


@pytest.mark.every_release
async def test_found_and_offered(
    host: RunningHost, page: Page, plugin: InstalledFilter
) -> None:
    """Past chats are found by date, title and meaning; recall is offered once, and is the user's."""
    await host.set_valves({"save_mode": "off"})
    sayings = ["Tiling it costs us 4000 euros.", "Where do bees sleep?"]
    chats = past_chats([Saying(words, ()) for words in sayings], 1)
    await bring_along(page, chats, ["Kitchen budget", "Insects"])
    chat = page.new_chat()
    by_date = await answered(chat, "/memory chats 2023-01")
    assert by_date.index("[Insects](/c/") < by_date.index(
        "[Kitchen budget](/c/"
    )
    assert "(2023-01-01)" in by_date
    assert "Nothing was found" in await answered(chat, "/memory chats 2022")
    by_title = await answered(chat, "/memory chats our kitchen")
    assert "[Kitchen budget](/c/" in by_title
    assert "Only titles were searched" in by_title
    offer = 'This may continue your chat "Kitchen budget"'
    asked = "Let us go over the budget of our kitchen once more."
    await page.say(asked, offer)
    again = page.new_chat()
    turn = await again.send(asked)
    await host.rest()
    assert offer not in str(await again.stored_message(turn.message_id))
    assert "next message" in await answered(chat, "/memory chats on")
    await page.new_chat().send("Hello there, how are you?")
    # Ten messages of five chats: two imported, two that ask, and this one.
    await indexed(host, page, 10)
    by_meaning = await answered(chat, "/memory chats price of the tiles")
    best = by_meaning.splitlines()[1]
    assert best.startswith("- [Kitchen budget](/c/"), by_meaning
    assert "Only titles" not in by_meaning
    await page.new_chat().send("What did tiling our kitchen cost us?")
    assert "4000 euros" in host.model.last_prompt
    assert "not recalled" in await answered(chat, "/memory chats off")
    await page.new_chat().send("And what did tiling our kitchen cost us?")
    assert "4000 euros" not in host.model.last_prompt


async def learned_through_kills(
    folder: Path,
    chats_count: int,
    kills: int,
    pause: float,
    patience_seconds: float = 120,
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
                patience_seconds,
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


@pytest.mark.slow
async def test_killed_on_the_way(tmp_path: Path) -> None:
    """Whatever is killed, each fact is there once, as it was said last, with its date."""
    found = await learned_through_kills(tmp_path, 20, kills=2, pause=0.2)
    assert found["found"] == found["facts"] == found["dates_right"], found
    assert (found["twice"], found["not_as_said_last"]) == (0, []), found


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_three_hundred_chats(tmp_path: Path) -> None:
    """Of 300 past chats 97 % of the facts are found, 99 % of these with their dates, none twice."""
    found = await learned_through_kills(
        tmp_path, 300, kills=2, pause=0.1, patience_seconds=900
    )
    write_results("past_chats", found)
    assert found["found"] >= 0.97 * found["facts"], found
    assert found["dates_right"] >= 0.99 * found["found"], found
    assert (found["twice"], found["not_as_said_last"]) == (0, []), found
