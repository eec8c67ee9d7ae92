"""The test bed itself, proven on every release with a filter that only shows itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import pytest_asyncio

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.replies import (
    Answer,
    CallTool,
    CloseConnection,
    CutOff,
    Fail,
    Garbage,
    Hang,
    Slow,
)
from tests.e2e.driver.scripted_model import CHAT_MODEL, SECOND_MODEL, ModelRequest, embedding
from tests.e2e.driver.waiting import until
from tests.e2e.probe_filter import AFTER_OUTLET, MARKER

PROBE = Path(__file__).with_name("probe_filter.py")
LONG_ANSWER = " ".join(["word"] * 200)
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhg"
    "GAWjR9awAAAABJRU5ErkJggg=="
)


@pytest_asyncio.fixture(loop_scope="session")
async def probe(host: RunningHost) -> InstalledFilter:
    """The probe, switched on for everybody."""
    return await host.install_filter(PROBE, function_id="probe", valves={"note": "first note"})


def said(request: ModelRequest) -> list[tuple[str, str]]:
    """Role and text of a request's messages but the system prompt."""
    return [(m["role"], m["content"]) for m in request.messages if m["role"] != "system"]


@pytest.mark.every_release
async def test_turn(host: RunningHost, probe: InstalledFilter) -> None:
    """A turn has the answer, what the filter emitted before and long after it, and its times."""
    page = await host.user("anna")
    chat = page.new_chat(system="Answer in rhymes.")
    turn = await chat.send("Good morning.")
    assert (turn.content, turn.done, turn.stopped, turn.error) == ("Understood.", True, False, None)
    assert turn.status_descriptions[0] == "inlet ran"
    assert [source["source"]["name"] for source in turn.sources] == ["Probe"]
    times = turn.timings
    assert times.first_text and times.answered and times.active_false
    assert 0 < times.accepted < times.first_text <= times.answered <= times.active_false
    assert times.active_false <= times.total
    [request] = host.model.chat_requests()
    assert request.model == CHAT_MODEL
    assert request.user_text == "Good morning."
    assert request.system_prompt.startswith("Answer in rhymes.")
    assert f"{MARKER} {page.user_id}, nobody, first note" in request.system_prompt
    assert (await page.wait_for_status(turn, AFTER_OUTLET))["done"]
    await until(lambda: len(page.statuses(turn)) == 2, 5, "both statuses")
    stored = await chat.status_history(turn, 2)
    assert [status["description"] for status in stored] == ["inlet ran", AFTER_OUTLET]


async def test_two_turns(host: RunningHost, probe: InstalledFilter) -> None:
    """The second turn of a chat brings the first one along."""
    page = await host.user()
    chat = page.new_chat()
    await chat.send("One.")
    second = await chat.send("Two.")
    assert second.content == "Understood."
    expected = [("user", "One."), ("assistant", "Understood."), ("user", "Two.")]
    assert said(host.model.chat_requests()[-1]) == expected
    history = (await chat.stored())["history"]
    assert history["currentId"] == second.message_id
    assert len(history["messages"]) == 4


@pytest.mark.every_release
async def test_two_models_at_once(host: RunningHost, probe: InstalledFilter) -> None:
    """Two models answer one message, each in a message of its own, and the chat goes on."""
    host.model.when(lambda body: body["model"] == SECOND_MODEL, "I am the second one.")
    page = await host.user()
    chat = page.new_chat()
    first, second = await chat.send_to_models("Who are you?", [CHAT_MODEL, SECOND_MODEL])
    assert first.content == "Understood."
    assert second.content == "I am the second one."
    assert first.user_message_id == second.user_message_id
    assert first.message_id != second.message_id
    assert first.status_descriptions[0] == second.status_descriptions[0] == "inlet ran"
    for turn in (first, second):
        await page.wait_for_status(turn, AFTER_OUTLET)
    await chat.send("Go on.")
    expected = [("user", "Who are you?"), ("assistant", second.content), ("user", "Go on.")]
    assert said(host.model.chat_requests()[-1]) == expected


@pytest.mark.every_release
async def test_regenerate(host: RunningHost, probe: InstalledFilter) -> None:
    """An answer given again stands beside the first one, under the same message of the user."""
    host.model.when_chatting(("First.", "Second.", "Third."))
    chat = (await host.user()).new_chat()
    first = await chat.send("Tell me.")
    second = await chat.regenerate()
    assert second.content == "Second."
    assert second.message_id != first.message_id
    assert second.user_message_id == first.user_message_id
    assert said(host.model.chat_requests()[-1]) == [("user", "Tell me.")]
    third = await chat.regenerate("Make it shorter.")
    assert third.content == "Third."
    assert said(host.model.chat_requests()[-1])[-1] == ("user", "Make it shorter.")
    question = await chat.stored_message(first.user_message_id)
    assert len(question["childrenIds"]) == 3
    await chat.show(first.message_id)
    await chat.send("Go on.")
    expected = [("user", "Tell me."), ("assistant", "First."), ("user", "Go on.")]
    assert said(host.model.chat_requests()[-1]) == expected


@pytest.mark.every_release
async def test_continue(host: RunningHost, probe: InstalledFilter) -> None:
    """A continued answer grows in its message, and the filter's hooks run again."""
    host.model.when_chatting((CutOff("Once upon"), " a time."))
    page = await host.user()
    chat = page.new_chat()
    first = await chat.send("A story.")
    assert first.content == "Once upon"
    second = await chat.continue_()
    assert second.message_id == first.message_id
    assert second.content.split() == ["Once", "upon", "a", "time."]
    assert second.status_descriptions[0] == "inlet ran"
    assert said(host.model.chat_requests()[-1])[-1] == ("assistant", "Once upon")
    await page.wait_for_status(second, AFTER_OUTLET)


async def test_edit(host: RunningHost, probe: InstalledFilter) -> None:
    """An edited message starts a branch without the former one, at the chat's start and later."""
    chat = (await host.user()).new_chat()
    first = await chat.send("My cat is red.")
    edited = await chat.edit_last("My cat is black.")
    assert edited.chat_id == first.chat_id
    assert edited.user_message_id != first.user_message_id
    assert said(host.model.chat_requests()[-1]) == [("user", "My cat is black.")]
    await chat.send("It is old.")
    await chat.edit_last("It is young.")
    expected = [
        ("user", "My cat is black."),
        ("assistant", "Understood."),
        ("user", "It is young."),
    ]
    assert said(host.model.chat_requests()[-1]) == expected


@pytest.mark.every_release
@pytest.mark.parametrize("temporary", [False, True], ids=["saved", "temporary"])
async def test_stop(host: RunningHost, probe: InstalledFilter, temporary: bool) -> None:
    """Stop ends a slow answer where it is, at the provider too, and the outlet does not run."""
    host.model.when_chatting((Slow(LONG_ANSWER, 0.1), "Understood."))
    page = await host.user()
    chat = page.temporary_chat() if temporary else page.new_chat()
    running = await chat.start("Talk.")
    await running.wait_for_text()
    turn = await running.stop()
    assert (turn.stopped, turn.done, turn.error) == (True, False, None)
    assert turn.content.startswith("word")
    assert len(turn.content) < len(LONG_ANSWER)
    [request] = host.model.chat_requests()
    await until(lambda: request.client_left, 5, "the host to leave the provider")
    later = await chat.send("Go on.")
    assert later.content == "Understood."
    await page.wait_for_status(later, AFTER_OUTLET)
    assert AFTER_OUTLET not in str(page.statuses(turn))


@pytest.mark.every_release
async def test_temporary_chat(host: RunningHost, probe: InstalledFilter) -> None:
    """A temporary chat runs through the filter with its whole history and is stored nowhere."""
    page = await host.user()
    chat = page.temporary_chat()
    turn = await chat.send("One.", files=[{"type": "image", "url": PIXEL}])
    assert turn.content == "Understood."
    assert turn.status_descriptions[0] == "inlet ran"
    await page.wait_for_status(turn, AFTER_OUTLET)
    await chat.send("Two.")
    roles = [role for role, _ in said(host.model.chat_requests()[-1])]
    assert roles == ["user", "assistant", "user"]
    assert host.query("SELECT id FROM chat WHERE user_id = ?", page.user_id) == []


@pytest.mark.every_release
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_api_call(host: RunningHost, probe: InstalledFilter, stream: bool) -> None:
    """A program that calls the API gets an answer that went through the filter's inlet."""
    page = await host.user()
    answer = await page.complete("Hello.", stream=stream)
    assert (answer.status, answer.content, answer.whole) == (200, "Understood.", True)
    assert f"{MARKER} {page.user_id}" in host.model.chat_requests()[-1].system_prompt
    host.model.when_chatting(Fail(500, "no luck"))
    answer = await page.complete("Hello.", stream=stream)
    assert answer.status >= 400
    assert "no luck" in str(answer.body)


async def test_memories(host: RunningHost) -> None:
    """Memories are listed, added, edited and deleted as in Settings, and stand in the database."""
    page, other = await host.user("anna"), await host.user("ben")
    cat = await page.add_memory("I have a cat.")
    dog = await page.add_memory("I have a dog.")
    assert {memory.content for memory in await page.memories()} == {cat.content, dog.content}
    await page.update_memory(cat.id, "I have two cats.")
    await page.delete_memory(dog.id)
    [memory] = await page.memories()
    assert (memory.id, memory.content) == (cat.id, "I have two cats.")
    assert await other.memories() == []
    rows = host.query("SELECT content FROM memory WHERE user_id = ?", page.user_id)
    assert rows == [{"content": "I have two cats."}]
    await page.clear_memories()
    assert await page.memories() == []


@pytest.mark.parametrize(
    "trouble",
    [
        Fail(500, "no luck"),
        Fail(429, "no luck", retry_after=5),
        CloseConnection(),
        CloseConnection(after="half of an"),
        Garbage(),
    ],
    ids=["error", "too many", "closed", "cut", "garbage"],
)
async def test_failing_model(host: RunningHost, probe: InstalledFilter, trouble: Answer) -> None:
    """A provider in trouble ends the turn, with the error if the host tells it, and only that."""
    page = await host.user()
    chat = page.new_chat()
    host.model.when_chatting((trouble, "Understood."))
    turn = await chat.send("Hello.")
    assert not turn.done
    cut = isinstance(trouble, CloseConnection) and trouble.after
    assert turn.content.strip() == (cut or "")
    if isinstance(trouble, Fail):
        assert turn.error == "no luck"
    elif isinstance(trouble, CloseConnection):
        assert turn.error
    assert (await chat.send("Hello?")).content == "Understood."


async def test_hanging_model(host: RunningHost, probe: InstalledFilter) -> None:
    """A turn that does not end fails the wait, saying what arrived, and can still be stopped."""
    chat = (await host.user()).new_chat()
    host.model.when_chatting(Hang())
    running = await chat.start("Hello.")
    await host.model.wait_for_request(lambda request: request.user_text == "Hello.")
    with pytest.raises(TimeoutError, match=r"end of the turn \(arrived: .*status"):
        await running.finish(timeout=0.5)
    assert (await running.stop()).stopped
    host.model.when_chatting(Hang(0.3, then="Late."))
    turn = await chat.send("Hello?")
    assert turn.content == "Late."
    assert turn.timings.first_text
    assert turn.timings.first_text > 300


async def test_valves_code_and_questions(host: RunningHost, probe: InstalledFilter) -> None:
    """The admin's and the user's valves, new code, and a user's answer reach the filter."""
    page = await host.user()
    chat = page.new_chat()
    await probe.set_valves({"note": "second note", "ask": True})
    await probe.set_user_valves(page, {"nickname": "Ann"})
    assert (await probe.valves())["note"] == "second note"
    page.answers["confirmation"] = lambda question: question["message"] == "May I?"
    await chat.send("One.")
    prompt = host.model.chat_requests()[-1].system_prompt
    assert f"{MARKER} {page.user_id}, Ann, second note, consent True]" in prompt
    await probe.update(PROBE.read_text().replace(MARKER, "[new probe of"))
    await chat.send("Two.")
    assert f"[new probe of {page.user_id}, Ann" in host.model.chat_requests()[-1].system_prompt


async def test_pictures_and_tools(host: RunningHost) -> None:
    """A picture, content in parts and a tool's result reach the model as the host makes them."""
    chat = (await host.user()).new_chat()
    await chat.send("Look.", files=[{"type": "image", "url": PIXEL}])
    await chat.send([{"type": "text", "text": "Look again."}])
    pictures, parts = (request.messages[-1]["content"] for request in host.model.chat_requests())
    assert [part["type"] for part in pictures] == ["text", "image_url"]
    assert parts == [{"type": "text", "text": "Look again."}]
    host.model.when_chatting((CallTool("get_current_timestamp"), "It is late."))
    turn = await chat.send("What time is it?", params={"function_calling": "native"})
    assert turn.content.endswith("It is late.")
    assert said(host.model.chat_requests()[-1])[-1][0] == "tool"


async def test_many_users_at_once(host: RunningHost, probe: InstalledFilter) -> None:
    """Users who chat at the same time get their own answers, statuses and prompts."""
    host.model.when_chatting(lambda body: f"Echo of {body['messages'][-1]['content']}")
    pages = [await host.user(f"user-{number}") for number in range(5)]

    async def chatter(number: int) -> None:
        page, chat = pages[number], pages[number].new_chat()
        for turn_number in range(3):
            turn = await chat.send(f"{turn_number} by {number}")
            assert turn.content == f"Echo of {turn_number} by {number}"
            await page.wait_for_status(turn, AFTER_OUTLET)
            assert len(page.statuses(turn)) == 2

    await asyncio.gather(*map(chatter, range(5)))
    for request in host.model.chat_requests():
        number = int(request.user_text.split()[-1])
        assert f"{MARKER} {pages[number].user_id}" in request.system_prompt


async def test_locked_database(host: RunningHost) -> None:
    """While the database is locked the host's writes wait, and afterwards they go through."""
    page = await host.user()
    with host.locked_database():
        adding = asyncio.create_task(page.add_memory("I have a cat."))
        await asyncio.sleep(0.5)
        assert not adding.done()
    assert (await adding).content == "I have a cat."


def test_embeddings_follow_the_words() -> None:
    """The model's vectors are reproducible, and near each other where texts share words."""
    cat, cats, tax = map(embedding, ("my cat sleeps", "my cat eats", "tax forms"))
    assert cat == embedding("my cat sleeps")

    def similarity(one: list[float], other: list[float]) -> float:
        return sum(a * b for a, b in zip(one, other, strict=True))

    assert similarity(cat, cats) > 0.5 > similarity(cat, tax)
