"""Models and embeddings of one's own choice, and what the extraction is told about time."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.e2e.driver.extraction import EXTRACT, learns, new, operations
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import CHAT_MODEL, SMALL_MODEL, TASK_MODEL

TEA = "User likes green tea."
WORDS = "I like green tea."


@pytest.mark.every_release
async def test_which_model_learns(host: RunningHost, page: Page) -> None:
    """Without a task model the chat's own model extracts, and is told the day where the user is.

    With one set in the host, that one extracts.
    """
    page.time_zone = "Pacific/Kiritimati"
    turn = await page.new_chat(model=SMALL_MODEL, system="Be a pirate.").send(
        WORDS
    )
    await page.wait_for_status(turn, "Nothing new to remember")
    [request] = host.model.requests_titled(EXTRACT)
    assert request.model == SMALL_MODEL
    roles = [message["role"] for message in request.messages]
    assert roles[:2] == ["system", "user"]
    assert roles[-2:] == ["assistant", "user"]
    assert "Be a pirate." not in f"{request.messages}"
    assert "tools" not in request.body
    # In this zone it is fourteen hours later; the day may have turned since.
    days = [
        datetime.now(ZoneInfo(page.time_zone)) - timedelta(hours=ago)
        for ago in (0, 1)
    ]
    assert any(
        f"Newest message, {day:%A}, {day.day} {day:%B %Y}:"
        in request.user_text
        for day in days
    )
    assert not request.body.get("stream")
    async with host.task_settings(TASK_MODEL_EXTERNAL=TASK_MODEL):
        turn = await page.new_chat(model=CHAT_MODEL).send(WORDS)
        await page.wait_for_status(turn, "Nothing new to remember")
    assert host.model.requests_titled(EXTRACT)[-1].model == TASK_MODEL


async def test_endpoint_learns(host: RunningHost, page: Page) -> None:
    """An OpenAI-compatible endpoint extracts with its own key."""
    learns(host.model, "tea", operations(new(TEA)))
    await host.set_valves(
        {
            "llm_provider_type": "openai_compatible",
            "llm_api_endpoint_url": host.model.url,
            "llm_model_name": "some-model",
            "llm_api_key": "my-key",
        }
    )
    await page.say(WORDS, f"Saved: {TEA}")
    [request] = host.model.requests_titled(EXTRACT)
    assert request.model == "some-model"
    assert request.headers["Authorization"] == "Bearer my-key"


@pytest.mark.every_release
async def test_local_embeddings(host: RunningHost, page: Page) -> None:
    """A SentenceTransformer of one's own, here a folder, recalls as the host's embedding does."""
    await host.set_valves(
        {
            "embedding_provider_type": "local",
            "embedding_model_name": str(
                host.server.environment.embedding_model
            ),
            # The first message loads the model.
            "inlet_timeout_seconds": 60,
        }
    )
    await page.add_memory(TEA)
    await page.add_memory("User's dog is called Biscuit.")
    await page.new_chat().send("Which green tea do I like?")
    prompt = host.model.last_prompt
    assert TEA in prompt
    assert "Biscuit" not in prompt
