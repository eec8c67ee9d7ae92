"""What the inlet finds, keeps in place, leaves out, and shows; on a real host."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.replies import Fail, Hang
from tests.e2e.driver.scripted_model import ModelRequest
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.extraction import learns, new, operations

TEA = "User likes green tea."
DOG = "User's dog is called Biscuit."
BOAT = "User owns a sailing boat called Albatross."
QUESTION = "Which green tea does the user like?"
OFF_TOPIC = "Write a regular expression that matches an IPv4 address."


def last_prompt(host: RunningHost) -> str:
    """The system prompt of the newest chat request."""
    return host.model.chat_requests()[-1].system_prompt


def embedded_texts(requests: list[ModelRequest]) -> list[str]:
    """All texts that these requests had embedded."""
    texts: list[str] = []
    for request in requests:
        asked = request.body["input"]
        texts += [asked] if isinstance(asked, str) else asked
    return texts


async def test_entries_stay_in_place(host: RunningHost, plugin: InstalledFilter) -> None:
    """Within a chat what was injected stays, new entries are appended, on any message."""
    page = await host.user("ann")
    for memory in (TEA, DOG, BOAT):
        await page.add_memory(memory)
    chat = page.new_chat()
    await chat.send(QUESTION)
    first = last_prompt(host)
    assert TEA in first
    assert DOG not in first
    await chat.send("What is my dog called?")
    second = last_prompt(host)
    assert second.startswith(first.removesuffix("\n</adaptive_memory>"))
    assert second.index(TEA) < second.index(DOG)
    await chat.send(OFF_TOPIC)
    assert last_prompt(host) == second
    # Another chat begins anew.
    await page.new_chat().send(OFF_TOPIC)
    assert "adaptive_memory" not in last_prompt(host)


async def test_deleted_entry_leaves_the_block(host: RunningHost, plugin: InstalledFilter) -> None:
    """A memory deleted in Settings leaves a chat's block though it was in place there."""
    page = await host.user("ann")
    memory = await page.add_memory(TEA)
    chat = page.new_chat()
    await chat.send(QUESTION)
    assert TEA in last_prompt(host)
    await page.delete_memory(memory.id)
    await chat.send("And what else?")
    assert "adaptive_memory" not in last_prompt(host)


@pytest.mark.every_release
async def test_core_facts_come_along(host: RunningHost, plugin: InstalledFilter) -> None:
    """Who the user is, and what matters most, comes with every message, in a part of its own."""
    page = await host.user("ann")
    name = new("User's name is Ann.", tags=["identity"], importance=5)
    allergy = new("User must never eat peanuts.", tags=["behavior"], importance=10)
    learns(host.model, "peanuts", operations(name, allergy, new(TEA, importance=4)))
    turn = await page.new_chat().send("I am Ann, I must never eat peanuts and like green tea.")
    await page.wait_for_status(turn, "Memory saved")
    await page.new_chat().send(OFF_TOPIC)
    prompt = last_prompt(host)
    assert "About the user:" in prompt
    assert "User's name is Ann." in prompt
    # 0.9 has no column for a memory's importance.
    assert ("never eat peanuts" in prompt) != host.version.startswith("0.9.")
    assert TEA not in prompt
    await page.new_chat().send(QUESTION)
    assert last_prompt(host).index("Ann") < last_prompt(host).index(TEA)


@dataclass(frozen=True)
class Speech:
    """Two memories in one language and a question that only the first answers."""

    language: str
    memory: str
    other: str
    question: str


SPEECHES = (
    Speech(
        "Russian",
        "Собаку пользователя зовут Бисквит.",
        "Пользователь живёт в Казани.",
        "Как зовут мою собаку?",
    ),
    Speech("Chinese", "用户的狗叫饼干。", "用户住在杭州。", "我的狗叫什么名字?"),
    Speech("Arabic", "كلب المستخدم اسمه بسكويت.", "يعيش المستخدم في القاهرة.", "ما اسم كلبي؟"),
    Speech(
        "German",
        "Der Hund des Benutzers heißt Keks.",
        "Der Benutzer wohnt in Graz.",
        "Wie heißt mein Hund?",
    ),
)


async def test_other_languages(host: RunningHost, plugin: InstalledFilter) -> None:
    """A question finds its memory in the user's language, which MiniLM hardly knows."""
    page = await host.user("ann")
    for speech in SPEECHES:
        await page.add_memory(speech.memory)
        await page.add_memory(speech.other)
    for speech in SPEECHES:
        await page.new_chat().send(speech.question)
        assert speech.memory in last_prompt(host), speech.language


@pytest.mark.every_release
async def test_sources(host: RunningHost, plugin: InstalledFilter) -> None:
    """With the valve on, the page shows the memories that an answer was given, with scores."""
    await plugin.set_valves({"show_sources": True})
    page = await host.user("ann")
    await page.add_memory(TEA)
    await page.add_memory(BOAT)
    chat = page.new_chat()
    turn = await chat.send(QUESTION)
    await page.wait_for_status(turn, "1 memory recalled")
    stored = await chat.stored_message(turn.message_id)
    [source] = stored["sources"]
    assert source["document"] == [TEA]
    assert 0.5 <= source["metadata"][0]["score"] <= 1


async def test_judging_model(host: RunningHost, plugin: InstalledFilter) -> None:
    """A judging model decides which of the near memories go in; failing, nearness decides."""
    await plugin.set_valves({"use_llm_for_relevance": True, "relevance_timeout_seconds": 1})
    page = await host.user("ann")
    green = await page.add_memory(TEA)
    black = await page.add_memory("User dislikes black tea.")

    def scores(_: object) -> dict[str, object]:
        high, low = {"id": green.id, "score": 0.9}, {"id": black.id, "score": 0.1}
        return {"scores": [low, high]}

    question = "Which tea would I rather drink?"
    host.model.when_title("# Score relevance", scores)
    await page.new_chat().send(question)
    assert TEA in last_prompt(host)
    assert "black tea" not in last_prompt(host)
    assert len(host.model.requests_titled("# Score relevance")) == 1
    # The same question of the same user is not judged twice.
    await page.new_chat().send(question)
    assert len(host.model.requests_titled("# Score relevance")) == 1
    for trouble in (Fail(500), Hang(), "I think both."):
        host.model.when_title("# Score relevance", trouble)
        turn = await page.new_chat().send(f"{question} {trouble!r:.8}")
        assert turn.content == "Understood."
        assert "black tea" in last_prompt(host)


async def test_comments_on_memory_are_taken_out(host: RunningHost, plugin: InstalledFilter) -> None:
    """Sentences of earlier answers that only comment on memory do not reach the model again."""
    page = await host.user("ann")
    host.model.when_chatting("Green tea it is. I've updated my memory.")
    chat = page.new_chat()
    await chat.send("I like green tea.")
    await chat.send("Which one?")
    answers = [one for one in host.model.chat_requests()[-1].messages if one["role"] == "assistant"]
    assert "Green tea it is." in str(answers)
    assert "updated my memory" not in str(answers)


@pytest.mark.every_release
async def test_table_with_dates(host: RunningHost, plugin: InstalledFilter) -> None:
    """The table shows each memory with its date and bank where the valve says so."""
    await plugin.set_valves({"memory_format": "table", "memory_details": "both"})
    page = await host.user("ann")
    learns(host.model, "green tea", operations(new(TEA, memory_bank="Personal")))
    turn = await page.new_chat().send("I like green tea.")
    await page.wait_for_status(turn, "Memory saved")
    await page.new_chat().send(QUESTION)
    [row] = [line for line in last_prompt(host).splitlines() if TEA in line]
    date, bank, text = (cell.strip() for cell in row.strip("| ").split("|"))
    assert (date[:2], bank, text) == ("20", "Personal", f"“{TEA}”")


async def test_vectors_go_with_their_memory(host: RunningHost, plugin: InstalledFilter) -> None:
    """The vector of a deleted memory leaves our table."""
    page = await host.user("ann")
    kept, gone = await page.add_memory(TEA), await page.add_memory(DOG)
    question = "SELECT memory_id FROM adaptive_memory_vector WHERE user_id = ?"

    def ids() -> set[str]:
        return {row["memory_id"] for row in host.query(question, page.user_id)}

    await page.new_chat().send(QUESTION)
    await until(lambda: ids() == {kept.id, gone.id}, 30, "two vectors")
    await page.delete_memory(gone.id)
    await page.new_chat().send(QUESTION)
    await until(lambda: ids() == {kept.id}, 30, "one vector")


async def test_another_embedding_model(host: RunningHost, plugin: InstalledFilter) -> None:
    """With another embedding model everything is embedded anew and found at once."""
    page = await host.user("ann")
    await page.add_memory(TEA)
    await page.new_chat().send(QUESTION)
    await plugin.set_valves(
        {
            "embedding_provider_type": "openai_compatible",
            "embedding_api_url": host.model.url,
            "embedding_model_name": "words",
        }
    )
    await page.new_chat().send(QUESTION)
    assert TEA in last_prompt(host)
    assert TEA in embedded_texts(host.model.embedding_requests)


async def test_follow_up(host: RunningHost, plugin: InstalledFilter) -> None:
    """A short follow-up is understood from the message before it."""
    page = await host.user("ann")
    await page.add_memory("User's sister Marta married in Seville in May 2019.")
    await page.add_memory(TEA)
    chat = page.new_chat()
    await chat.send("Do you know my sister Marta?")
    await chat.send("And when was that?")
    assert "May 2019" in last_prompt(host)
