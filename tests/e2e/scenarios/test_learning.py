"""Learning behind the turns: the host's own vectors, and the next message in good time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.scenarios.extraction import (
    learns,
    new,
    operations,
)

PORTO = "User lives in Porto."


def host_vector(host: RunningHost, memory_id: str) -> tuple[str, NDArray[np.float32]]:
    """The vector that the host has given its vector database for a memory, and in which collection.

    (package chromadb: the log that the hosts' embedded database reads from)
    """
    query = (
        "SELECT topic, vector FROM embeddings_queue WHERE id = ? AND vector IS NOT NULL"
        " ORDER BY seq_id DESC"
    )
    collection, raw = host.vectors(query, memory_id)[0]
    return collection, np.frombuffer(raw, "<f4")


@pytest.mark.every_release
async def test_the_hosts_vectors_are_its_own(host: RunningHost, page: Page) -> None:
    """What was learned has the vector in the host's search that the host gives it itself."""
    learns(host.model, "Porto", operations(new(PORTO)))
    await page.say("I live in Porto.", f"Saved: {PORTO}")
    (memory,) = await page.request("GET", "/api/v1/memories/")
    former, ours = host_vector(host, memory["id"])
    await page.request("POST", "/api/v1/memories/reset")
    made_anew, its_own = host_vector(host, memory["id"])
    assert made_anew != former
    assert float(np.linalg.norm(its_own)) > 0.5
    np.testing.assert_allclose(ours, its_own, atol=1e-5)


@pytest.mark.every_release
async def test_next_message_at_once(host: RunningHost, plugin: InstalledFilter) -> None:
    """A message that is sent while the last lesson is told reaches the model below the whole chat.

    Up to 0.11 the host's own way to store a status undoes a message that is stored meanwhile.
    """
    chat = (await host.user("ann")).new_chat()
    said: list[str] = []
    for number in range(12):
        said.append(f"I like the number {number}. {'It is a fine number. ' * 20}")
        await chat.send(said[-1])
        messages = host.model.chat_requests()[-1].messages
        assert [one["content"] for one in messages if one["role"] == "user"] == said
