"""What a user says to the memory itself: answered without the model, stored, and never learned."""

from __future__ import annotations

import asyncio
import html
import json
import re
from typing import Any

import pytest

from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.extraction import (
    delete,
    learns,
    learns_nothing_else,
    new,
    operations,
    update,
)
from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Fail
from tests.e2e.driver.scripted_model import CHAT_MODEL, SECOND_MODEL
from tests.e2e.scenarios.told_facts import CAT, PORTO, told

TEA = "User drinks green tea."


async def answered(chat: Conversation, command: str, **extra: Any) -> str:
    """What a command is answered, as the page shows it and the host stores it."""
    turn = await chat.send(command, **extra)
    stored = await chat.stored_message(turn.message_id)
    assert stored["done"]
    assert turn.content == stored["content"]
    assert turn.error is None
    return shown(stored["content"])


def shown(content: str) -> str:
    """What the page shows of a folded answer once it is opened: its title, and all below it."""
    folded = re.fullmatch(
        r"<details>\n<summary>([^<>\n]*)</summary>\n\n([^<]*)\n\n</details>",
        content,
    )
    assert folded, content
    return f"{folded[1]}\n{html.unescape(folded[2])}".strip()


@pytest.mark.every_release
async def test_list_replaces_the_models_answer(
    host: RunningHost, page: Page
) -> None:
    """A command costs the model next to nothing, and no later turn shows it, nor learns from it."""
    await told(host, page, "I live in Porto.", PORTO)
    chat = page.new_chat()
    answer = await answered(chat, "/memory")
    assert answer.startswith("1 memory")
    assert "User lives in Porto." in answer
    assert "`/undo [N]`" in answer
    (row,) = await page.memories()
    stored = await chat.stored_message(chat.current)
    # A page stands beside the list where a row knows the chat that it comes from.
    assert ("User lives in Porto." in str(stored.get("embeds"))) == (
        row.meta is not None
    )
    assert all(
        "memory" not in one.user_text for one in host.model.chat_requests()
    )
    await host.rest()
    asked = len(host.model.requests_titled("# Extract memories"))
    await chat.send("And where do I live?")
    sent = json.dumps(host.model.chat_requests()[-1].messages)
    assert "/memory" not in sent
    assert "1 memory" not in sent
    assert "User lives in Porto." in host.model.last_prompt
    await host.rest()
    lessons = host.model.requests_titled("# Extract memories")[asked:]
    assert all("/memory" not in one.user_text for one in lessons)


@pytest.mark.every_release
async def test_other_texts_are_messages(host: RunningHost, page: Page) -> None:
    """A path, or a command in the middle of a sentence, goes to the model."""
    for words in ("/undo/x is a path", "What does /memory do?", "/memoryless"):
        await page.new_chat().send(words)
        assert host.model.chat_requests()[-1].user_text == words


@pytest.mark.every_release
async def test_undo_takes_back_exactly(host: RunningHost, page: Page) -> None:
    """A change, a deletion and an undo are taken back; rows are as they were, for the host too."""
    learns(host.model, "Porto", operations(new(PORTO, tags=["identity"])))
    await page.say("I live in Porto.", "Saved")
    (first,) = await page.memories()
    learns(
        host.model,
        "Lisbon",
        operations(update(first.id, "User lives in Lisbon.")),
    )
    await page.say("I have moved to Lisbon.", "Updated")
    chat = page.new_chat()
    log = await answered(chat, "/memory log")
    assert "2. " in log
    assert "User lives in Porto. → User lives in Lisbon." in log
    assert "Taken back" in await answered(chat, "/undo")
    (back,) = await page.memories()
    assert (back.id, back.content, back.path, back.meta) == (
        *(first.id, first.content, first.path),
        first.meta,
    )
    learns(host.model, "forget", operations(delete(first.id)))
    await page.say("Please forget where I live.", "Deleted")
    assert await page.memories() == []
    await answered(chat, "/undo")
    (again,) = await page.memories()
    assert (again.content, again.path, again.meta) == (
        first.content,
        first.path,
        first.meta,
    )
    found = await page.request(
        "POST", "/api/v1/memories/query", {"content": "home", "k": 3}
    )
    assert "Porto" in str(found["documents"])
    # The newest number of the log is that undo: the memory goes again, and comes back again.
    for gone in (True, False):
        log = await answered(chat, "/memory log")
        newest = re.findall(r"^(\d+)\. ", log, re.MULTILINE)[0]
        await answered(chat, f"/undo #{newest}")
        assert (await page.memories() == []) == gone
    assert [one.content for one in await page.memories()] == [first.content]
    await page.new_chat().send("Where do I live?")
    assert "User lives in Porto." in host.model.last_prompt


@pytest.mark.every_release
async def test_remember_and_forget(host: RunningHost, page: Page) -> None:
    """Both work at once and without a model; of several matches the user is asked."""
    chat = page.new_chat()
    assert "Saved: My bike is a red Brompton" in await answered(
        chat, "/remember My bike is a red Brompton"
    )
    assert "Already known" in await answered(
        chat, "/remember My bike is a red Brompton"
    )
    assert "Not saved" in await answered(
        chat, "/remember password: hunter2-Kx81mQ!"
    )
    await answered(chat, "/remember My car is a red Volvo")
    assert "Deleted: My car is a red Volvo" in await answered(
        chat, "/forget volvo"
    )
    await answered(chat, "/undo")
    listed = await answered(chat, "/memory")
    numbers = dict(re.findall(r"\*\*(\d+)\.\*\* My (\w+)", listed))
    assert sorted(numbers) == ["1", "2"]
    first = numbers["1"]
    forgotten = await answered(chat, "/forget 1")
    assert f"Deleted: My {first} is a red" in forgotten
    await answered(chat, "/undo")
    assert f"**1.** My {first} is a red" in await answered(chat, "/memory")
    page.will_choose(1, 1)
    assert "Deleted (2)" in await answered(chat, "/forget red")
    assert await page.memories() == []
    assert "Nothing was found" in await answered(chat, "/forget my trombone")
    assert not host.model.requests_titled("# Extract memories")


@pytest.mark.every_release
async def test_pinned_and_quiet(host: RunningHost, page: Page) -> None:
    """What is pinned comes with any message, what is quiet with none, and undo takes either back."""
    chat = page.new_chat()
    await answered(chat, "/remember My bike is a red Brompton")
    await answered(chat, "/memory")
    before = await page.memories()
    assert "Pinned" in await answered(chat, "/memory pin 1")
    await answered(chat, "/remember My kite is a red Prism")
    page.will_choose(1)
    unpinned = await answered(chat, "/memory unpin red")
    if page.release.number >= (0, 10):
        assert "Updated: " in unpinned
        await answered(chat, "/undo")
    else:
        assert "Which of these?" in unpinned
    await answered(chat, "/forget kite")
    assert "pinned)" in await answered(chat, "/memory")
    talk = page.new_chat()
    await talk.send("What is 17 times 4?")
    assert "Brompton" in host.model.last_prompt
    assert "quiet" in await answered(chat, "/memory quiet brompton")
    await talk.send("And what colour is my bike?")
    assert "Brompton" not in host.model.last_prompt
    assert ", quiet)" in await answered(chat, "/memory find bike")
    await answered(chat, "/undo")
    await answered(chat, "/undo 2")
    (back,) = await page.memories()
    assert (back.content, back.path) == (before[0].content, before[0].path)
    await talk.send("And what is my bike called?")
    assert "Brompton" in host.model.last_prompt
    # In words of one's own it is asked about, by whichever turn is learned first.
    await host.rest()
    wish = {"operation": "QUIET", "id": back.id}
    learns(host.model, "never mention", operations(wish))
    page.will_choose(1)
    await page.say(
        "Please never mention my red Brompton bike again.", "Not brought up"
    )
    assert ", quiet)" in await answered(chat, "/memory")


@pytest.mark.every_release
async def test_find_and_why(host: RunningHost, page: Page) -> None:
    """Finding shows scores; why tells what the last answer was given, and what nearly came."""
    await told(host, page, "I have a cat called Miso.", CAT)
    chat = page.new_chat()
    await answered(chat, f"/remember {TEA}")
    assert re.search(r"Miso.*\d+ %", await answered(chat, "/memory find cat"))
    await chat.send("What is my cat called?")
    why = await answered(chat, "/memory why")
    assert "What is my cat called?" in why
    assert "Miso" in why
    assert "similarity" in why


@pytest.mark.every_release
async def test_memories_are_carried_away_and_back(
    host: RunningHost, page: Page
) -> None:
    """An export is a file that brings all of it back, and an import is undone as one."""
    await told(host, page, "I have a cat called Miso.", CAT)
    chat = page.new_chat()
    await answered(chat, f"/remember {TEA}")
    page.answers["execute"] = True
    assert "2 memories: memories-" in await answered(chat, "/memory export")
    (saved,) = page.questions("execute")
    text = json.loads(
        re.search(r"new Blob\(\[(\".*?\")\], \{type", saved["code"])[1]
    )
    assert {one["content"] for one in json.loads(text)["memories"]} == {
        CAT,
        TEA,
    }
    page.answers["input"] = "erase"
    assert "Erased: 2 memories" in await answered(chat, "/forget everything")
    page.answers["confirmation"] = True
    assert "Saved: 2 / 2" in await answered(chat, f"/memory import {text}")
    assert len(await page.memories()) == 2
    assert "Already known" in await answered(
        chat, f"/memory import\n- {TEA}\n- I have a kayak."
    )
    assert len(await page.memories()) == 3
    await answered(chat, "/undo")
    await answered(chat, "/undo")
    assert await page.memories() == []


@pytest.mark.every_release
async def test_memories_of_other_assistants(
    host: RunningHost, page: Page, plugin: InstalledFilter
) -> None:
    """What another assistant gives away is read as a pasted text and as a file of one's own."""
    chat = page.new_chat()
    assert "Write down everything" in await answered(chat, "/memory import")
    page.answers["confirmation"] = True
    pasted = (
        "```\n[2024-04-26] - You have a cat called Miso.\n```\nThat is all."
    )
    assert "Saved: 1 / 1" in await answered(chat, f"/memory import\n{pasted}")
    mem0 = {"results": [{"memory": "I live in “Porto”", "user_id": "x"}, 7]}
    file = await page.upload("memories.json", json.dumps(mem0).encode())
    told = await answered(chat, "/memory import", files=[file])
    assert "Saved: 1 / 1 · 1 could not be read, the first: 7" in told
    stored = sorted(memory.content for memory in await page.memories())
    assert ["cat called Miso" in stored[0], "“Porto”" in stored[1]] == [
        True,
        True,
    ]
    temporary = page.temporary_chat()
    text = {"type": "text", "name": "a.txt", "content": "- My boat is blue."}
    turn = await temporary.send("/memory import", files=[text])
    assert "Saved: 1 / 1" in turn.content
    archive = await page.upload("export.zip", b"PK\x03\x04\xff\xfe")
    assert "can't be read" in await answered(
        chat, "/memory import", files=[archive]
    )
    other = await host.user("somebody_else")
    other.answers["confirmation"] = True
    assert "can't be read" in await answered(
        other.new_chat(), "/memory import", files=[file]
    )
    assert await other.memories() == []
    assert not host.model.requests_titled("# Extract memories")


@pytest.mark.every_release
async def test_what_is_known_about_a_user(
    host: RunningHost, page: Page
) -> None:
    """One call writes a page that rests on memories; no chat's prompt holds it, and it is counted."""
    chat = page.new_chat()
    await answered(chat, f"/remember {TEA}")
    await answered(chat, "/remember User lives in Porto.")
    await answered(chat, "/memory")
    sentences = [
        {"subject": "Home", "sentence": "You live in Porto.", "memories": [1]},
        {"subject": "Likes", "sentence": "You own a yacht.", "memories": [2]},
        {"subject": "Likes", "sentence": "You like wine.", "memories": [7]},
    ]
    host.model.when_title("# About you", json.dumps({"about": sentences}))
    told_page = await answered(chat, "/memory about")
    assert told_page.startswith("What is known about you")
    assert re.search(
        r"\*\*Home\*\*\n\n- You live in Porto. \[[12]\]", told_page
    )
    assert "yacht" not in told_page
    assert "wine" not in told_page
    (request,) = host.model.requests_titled("# About you")
    assert "Porto" in request.user_text
    assert "| 1 |" in await answered(page.new_chat(), "/memory cost")
    await chat.send("Where do I live?")
    sent = json.dumps(host.model.chat_requests()[-1].messages)
    assert "known about you" not in sent
    assert len(await page.memories()) == 2


@pytest.mark.every_release
async def test_memory_is_off_for_a_chat(host: RunningHost, page: Page) -> None:
    """Between off and on nothing is recalled, learned or indexed in this chat; others go on."""
    await told(host, page, "I live in Porto.", PORTO)
    chat = page.new_chat()
    assert "off in this chat" in await answered(chat, "/memory off")
    learns(host.model, "cat", operations(new(CAT)))
    await chat.send("I have a cat called Miso. Where do I live?")
    assert "Porto" not in host.model.last_prompt
    await host.rest()
    assert len(await page.memories()) == 1
    await page.new_chat().send("Where do I live?")
    assert "Porto" in host.model.last_prompt
    assert "on in this chat" in await answered(chat, "/memory on")
    await chat.send("Where do I live?")
    assert "Porto" in host.model.last_prompt


@pytest.mark.every_release
async def test_doctor_is_for_admins(host: RunningHost, page: Page) -> None:
    """An admin is told how the plug-in stands; another user is told nothing of it."""
    assert "for administrators" in await answered(
        page.new_chat(), "/memory doctor"
    )
    learns_nothing_else(host.model)
    learns(
        host.model, "Porto", operations(new("User moved to Porto in March."))
    )
    answer = await answered(host.admin.new_chat(), "/memory doctor")
    assert host.version in answer
    assert "**Problem" not in answer
    assert "1 of 6 facts learned, 0 invented" in answer
    assert await host.admin.memories() == []
    cost = await answered(host.admin.new_chat(), "/memory cost")
    assert "| day | calls |" in cost


async def test_near_names_in_valves(host: RunningHost, page: Page) -> None:
    """A kind of personal data under another name is refused; of an unknown one the admin is told.

    With an unknown one every kind is refused, since nobody knows what was meant.
    """
    card, mail = (
        "My card number is 4111 1111 1111 1111.",
        "My e-mail address is ann@example.org.",
    )
    learns(
        host.model,
        "card",
        operations(new("User's card number is 4111 1111 1111 1111.")),
    )
    learns(
        host.model,
        "mail",
        operations(new("User's e-mail address is ann@example.org.")),
    )
    await host.set_valves({"refuse_in_memories": "credit card"})
    await page.say(card, "personal data that is not to be stored")
    await page.say(mail, "Saved")
    (saved,) = await page.memories()
    assert "ann@example.org" in saved.content
    await page.clear_memories()
    assert "not known" not in await answered(
        host.admin.new_chat(), "/memory doctor"
    )
    await host.set_valves({"refuse_in_memories": "credit card, shoe size"})
    await page.say(mail, "personal data that is not to be stored")
    assert await page.memories() == []
    told = await answered(host.admin.new_chat(), "/memory doctor")
    assert "shoe size" in told


@pytest.mark.every_release
async def test_nothing_crosses(
    host: RunningHost, plugin: InstalledFilter
) -> None:
    """Two users' commands at once: each sees, changes and takes back the own memories alone."""
    ann, bob = await host.user("ann"), await host.user("bob")

    async def lives(page: Page, word: str) -> None:
        chat = page.new_chat()
        for number in range(4):
            await answered(chat, f"/remember {word} number {number}")
        await answered(chat, f"/forget {word} number 2")
        await answered(chat, "/undo")
        shown = [
            await answered(chat, one)
            for one in ("/memory", "/memory log", f"/memory find {word}")
        ]
        assert [word in one for one in shown] == [True] * 3, shown
        other = {"kayak": "trombone", "trombone": "kayak"}[word]
        assert not any(other in one for one in shown)
        assert len(await page.memories()) == 4

    await asyncio.gather(lives(ann, "kayak"), lives(bob, "trombone"))


@pytest.mark.every_release
async def test_carried_out_once_for_its_message(
    host: RunningHost, page: Page
) -> None:
    """Models side by side, an answer made anew and one continued carry a command out once."""
    chat = page.new_chat()
    for words in ("one", "two", "three", "four"):
        await answered(chat, f"/remember Number {words}")
    turns = await chat.send_to_models("/undo", [CHAT_MODEL, SECOND_MODEL])
    assert {shown(turn.content) for turn in turns} == {
        "Taken back: gone: Number four"
    }
    await answered(chat, "/undo")
    assert len(await page.memories()) == 2
    again = await chat.regenerate()
    assert shown(again.content).endswith("Number three")
    assert len(await page.memories()) == 2


@pytest.mark.every_release
async def test_no_command_where_none_is_answered(
    host: RunningHost, page: Page
) -> None:
    """What begins like a command in an API call reaches the model whole, whatever came before."""
    said = [
        {"role": "user", "content": "/remember the milk, said the note."},
        {"role": "assistant", "content": "So it did."},
        {"role": "user", "content": "/undo this knot for me"},
    ]
    await page.complete(said)
    sent = [
        one
        for one in host.model.chat_requests()[-1].messages
        if one["role"] != "system"
    ]
    assert sent == said
    assert await page.memories() == []


@pytest.mark.every_release
async def test_answered_without_a_model(host: RunningHost, page: Page) -> None:
    """Where the model's provider is down a command is answered all the same, and done."""
    host.model.when_chatting(Fail(503))
    chat = page.new_chat()
    assert "Saved: I park on level 3" in await answered(
        chat, "/remember I park on level 3"
    )
    assert "For example: /undo" in await answered(chat, "/undo number 2")
    assert len(await page.memories()) == 1
    assert "Taken back" in await answered(chat, "/undo")
    assert await page.memories() == []


@pytest.mark.every_release
async def test_page_shows_it_from_the_first_word(
    host: RunningHost, page: Page
) -> None:
    """The model says nothing to a command, which names its chat; undo is mentioned three times."""
    chat = page.new_chat()
    host.model.when_chatting("I am the model.")
    turn = await chat.send("/memory")
    seen = json.dumps(
        [event.data for event in page.events[turn.since :]], default=str
    )
    stored = await chat.stored()
    assert "I am the model" not in json.dumps(stored)
    assert "I am the model" not in seen
    assert "0 memories" in turn.content
    assert stored["title"] == "/memory"
    hints = []
    for number in range(4):
        fact = f"User owns boat number {number}."
        learns(host.model, f"boat {number}", operations(new(fact)))
        turn = await page.new_chat().send(f"I own boat {number}.")
        status = await page.wait_for_status(turn, f"Saved: {fact}")
        hints.append("/undo takes it back" in status["description"])
    assert hints == [True, True, True, False]
