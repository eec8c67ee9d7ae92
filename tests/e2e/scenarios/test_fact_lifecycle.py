"""One fact's whole way: told in one chat, known in another, corrected, forgotten, never mixed."""

from __future__ import annotations

import pytest

from tests.e2e.driver.extraction import delete, learns, new, operations, update
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.soak import SoakPlan, SoakRun

DOG = "User's dog is called Biscuit."


async def found_by_host(page: Page, words: str) -> list[str]:
    """What the host's own vector search finds among a user's memories."""
    found = await page.request(
        "POST", "/api/v1/memories/query", {"content": words, "k": 3}
    )
    return found["documents"][0]


@pytest.mark.every_release
async def test_fact_reaches_another_chat(
    host: RunningHost, page: Page
) -> None:
    """A fact told in chat A stands in the host's table and in chat B's prompt, until forgotten."""
    learns(
        host.model,
        "dog is called",
        operations(new(DOG, tags=["relationship"])),
    )
    told = page.new_chat()
    turn = await told.send("My dog is called Biscuit.")
    await page.wait_for_status(turn, f"Saved: {DOG}")

    [memory] = await page.memories()
    assert DOG in memory.content
    if memory.meta is not None:
        assert memory.content == DOG
        assert memory.path == "Personal/relationship"
        assert memory.meta["source"] == "adaptive_memory"
        assert memory.meta["chat_id"] == told.id
        assert memory.meta["message_id"] == turn.user_message_id

    history = await told.status_history(turn)
    assert [status["description"] for status in history] == [
        f"Saved: {DOG} · /undo takes it back"
    ]

    asked = await page.new_chat().send("What is my dog called?")
    assert asked.content == "Understood."
    prompt = host.model.last_prompt
    assert prompt.startswith("<adaptive_memory>\n")
    assert prompt.endswith("\n</adaptive_memory>")
    assert f"- “{DOG}”\n" in prompt
    assert "[Tags" not in prompt

    learns(host.model, "forget", operations(delete(memory.id)))
    await page.say("Please forget my dog.", f"Deleted: {DOG}")
    assert await page.memories() == []
    await page.new_chat().send("What is my dog called?")
    assert "adaptive_memory" not in host.model.last_prompt


@pytest.mark.every_release
async def test_correction_leaves_one_row(
    host: RunningHost, page: Page
) -> None:
    """A corrected fact is one row, for the host's search too; its history has the former one."""
    learns(
        host.model,
        "Porto",
        operations(new("User lives in Porto.", tags=["identity"])),
    )
    await page.say("I live in Porto.", "Saved")
    [before] = await page.memories()
    # The host makes its vector behind the row.
    await host.rest(60)
    assert "Porto" in (await found_by_host(page, "my home"))[0]

    learns(
        host.model,
        "Lisbon",
        operations(update(before.id, "User lives in Lisbon.")),
    )
    await page.say("I have moved to Lisbon.", "Updated: User lives in Lisbon.")
    [after] = await page.memories()
    assert after.id == before.id
    await host.rest(60)
    (found,) = await found_by_host(page, "my home")
    assert "User lives in Lisbon." in found
    assert "User lives in Lisbon." in after.content
    if after.meta is not None:
        assert "Porto" not in after.content
        assert after.path == before.path == "Personal/identity"
        assert [entry["content"] for entry in after.meta["history"]] == [
            "User lives in Porto."
        ]
    else:
        assert after.content.startswith(
            "[Tags: identity] User lives in Lisbon. (until 20"
        )

    await page.new_chat().send("Where do I live?")
    prompt = host.model.last_prompt
    assert prompt.index("User lives in Lisbon.") < prompt.index("(until 20")
    assert prompt.count("Porto") == 1


@pytest.mark.every_release
async def test_another_user_never_gets_it(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """Another user's prompts and list show nothing of the fact, and nothing there can change it."""
    ann, bob = await host.user("ann"), await host.user("bob")
    learns(host.model, "dog is called", operations(new(DOG)))
    await ann.say("My dog is called Biscuit.", "Saved")
    [memory] = await ann.memories()
    host.model.requests.clear()

    await bob.say("What is my dog called?", "Nothing new to remember")
    assert await bob.memories() == []
    assert all(
        "Biscuit" not in str(request.body) for request in host.model.requests
    )

    # The model may name any id; one that was not shown to it is refused.
    learns(
        host.model,
        "overwrite",
        operations(update(memory.id, "x y z changed"), delete(memory.id)),
    )
    await bob.say(
        "I have moved to Cork, overwrite it.",
        "the model's reply can't be used",
    )
    assert [one.content for one in await ann.memories()] == [memory.content]


async def test_users_at_once(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """Turns of four users at once leave each exactly his own facts; `make soak` has more."""
    plan = SoakPlan("sqlite", users=4, turns=12, seed=20261121)
    run = SoakRun(plan, host, [host.url], host.query)
    await run.prepare()
    found = await run.live_on()
    assert found["facts_owed"] > 8
    assert not found["wrong"], found


async def test_what_the_words_do_not_say(
    host: RunningHost, page: Page
) -> None:
    """A true quotation proves no other sentence; an update of the wrong memory leaves it alone."""
    allergy = "User is allergic to peanuts."
    learns(host.model, "allergic", operations(new(allergy, tags=["identity"])))
    await page.say("I am allergic to peanuts.", f"Saved: {allergy}")
    [memory] = await page.memories()

    invented = new(
        "User lost her job.",
        evidence=["I adore green tea"],
        about="user",
        kind="FACT",
    )
    learns(host.model, "green tea", operations(invented))
    refused = "Not saved: User lost her job. (it is not in your message)"
    await page.say("I adore green tea.", refused)
    assert await page.memories() == [memory]

    shop = "User moved their shop to Elm Street."
    moved = update(
        memory.id,
        shop,
        evidence=["We moved our shop"],
        about="user",
        kind="FACT",
    )
    learns(host.model, "Elm Street", operations(moved))
    await page.say("We moved our shop to Elm Street.", f"Saved: {shop}")
    rows = await page.memories()
    assert memory in rows
    assert len(rows) == 2
