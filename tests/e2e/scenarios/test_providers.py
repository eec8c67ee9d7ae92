"""Models and embeddings of one's own choice, and what the extraction is told about time."""

from __future__ import annotations

import pytest

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.scripted_model import CHAT_MODEL, SMALL_MODEL
from tests.e2e.scenarios.extraction import EXTRACT, learns, new, operations

TEA = "User likes green tea."
WORDS = "I like green tea."


@pytest.mark.every_release
async def test_chat_model_learns_by_default(host: RunningHost, plugin: InstalledFilter) -> None:
    """Without a task model the chat's own model extracts, outside the user's turn."""
    page = await host.user("ann")
    turn = await page.new_chat(model=SMALL_MODEL, system="Be a pirate.").send(WORDS)
    await page.wait_for_status(turn, "Nothing new to remember")
    [request] = host.model.requests_titled(EXTRACT)
    assert request.model == SMALL_MODEL
    assert [message["role"] for message in request.messages] == ["system", "user"]
    assert "tools" not in request.body
    assert not request.body.get("stream")


@pytest.mark.every_release
async def test_task_model_learns(host: RunningHost, plugin: InstalledFilter) -> None:
    """With a task model set in the host, that one extracts."""
    page = await host.user("ann")
    task_model = {"TASK_MODEL_EXTERNAL": SMALL_MODEL}
    tasks = "/api/v1/tasks/config"
    async with host.admin_settings(tasks, task_model, save_at=f"{tasks}/update"):
        turn = await page.new_chat(model=CHAT_MODEL).send(WORDS)
        await page.wait_for_status(turn, "Nothing new to remember")
    [request] = host.model.requests_titled(EXTRACT)
    assert request.model == SMALL_MODEL


async def test_chosen_model_learns(host: RunningHost, plugin: InstalledFilter) -> None:
    """The model named in the valve extracts; one that does not exist is told as the reason."""
    page = await host.user("ann")
    await plugin.set_valves({"llm_model_name": SMALL_MODEL})
    turn = await page.new_chat().send(WORDS)
    await page.wait_for_status(turn, "Nothing new to remember")
    assert host.model.requests_titled(EXTRACT)[-1].model == SMALL_MODEL

    await plugin.set_valves({"llm_model_name": "no-such-model", "max_retries": 0})
    turn = await page.new_chat().send("I like black coffee.")
    await page.wait_for_status(turn, "'no-such-model'")
    await page.wait_for_status(turn, "Nothing saved")


async def test_endpoint_learns(host: RunningHost, plugin: InstalledFilter) -> None:
    """An OpenAI-compatible endpoint extracts with its own key, and a missing address is told."""
    page = await host.user("ann")
    learns(host.model, "tea", operations(new(TEA)))
    await plugin.set_valves(
        {
            "llm_provider_type": "openai_compatible",
            "llm_api_endpoint_url": host.model.url,
            "llm_model_name": "some-model",
            "llm_api_key": "my-key",
        }
    )
    turn = await page.new_chat().send(WORDS)
    await page.wait_for_status(turn, f"Memory saved: {TEA}")
    [request] = host.model.requests_titled(EXTRACT)
    assert request.model == "some-model"
    assert request.headers["Authorization"] == "Bearer my-key"

    await plugin.set_valves({"llm_provider_type": "ollama"})
    turn = await page.new_chat().send("I like green tea very much.")
    await page.wait_for_status(turn, "`llm_api_endpoint_url` is empty")


@pytest.mark.every_release
async def test_local_embeddings(host: RunningHost, plugin: InstalledFilter) -> None:
    """A SentenceTransformer of one's own, here a folder, recalls as the host's embedding does."""
    await plugin.set_valves(
        {
            "embedding_provider_type": "local",
            "embedding_model_name": str(host.server.environment.embedding_model),
            # The first message loads the model.
            "inlet_timeout_seconds": 60,
        }
    )
    page = await host.user("ann")
    await page.add_memory(TEA)
    await page.add_memory("User's dog is called Biscuit.")
    await page.new_chat().send("Which green tea do I like?")
    prompt = host.model.chat_requests()[-1].system_prompt
    assert TEA in prompt
    assert "Biscuit" not in prompt


@pytest.mark.every_release
async def test_time_zone(host: RunningHost, plugin: InstalledFilter) -> None:
    """The extraction knows the date in the browser's time zone, or in the user's own choice."""
    page = await host.user("ann")
    page.time_zone = "Pacific/Auckland"
    turn = await page.new_chat().send(WORDS)
    await page.wait_for_status(turn, "Nothing new to remember")
    assert "(Pacific/Auckland)" in host.model.requests_titled(EXTRACT)[-1].system_prompt
    await plugin.set_user_valves(page, {"timezone": "America/Lima"})
    turn = await page.new_chat().send(WORDS)
    await page.wait_for_status(turn, "Nothing new to remember")
    assert "(America/Lima)" in host.model.requests_titled(EXTRACT)[-1].system_prompt
