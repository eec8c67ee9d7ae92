"""Erasing by what is typed: asked in the page, gone everywhere, and what stays is sealed."""

from __future__ import annotations

import pytest

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.extraction import learns, new, operations, update
from tests.e2e.scenarios.told_facts import CAT, PORTO, answered, held, lived, our_rows, told

LISBON = "User lives in Lisbon."
JOB = "User works as a nurse."
# No sealed text has a blank, so none of these stands in one by chance.
WORDS = (" porto", " lisbon", " miso", " cat ", " a nurse")
# Chroma's own tables (package chromadb), which the hosts keep beside their database.
VECTORS = (
    "SELECT count(*) FROM embeddings JOIN segments ON embeddings.segment_id = segments.id"
    " JOIN collections ON segments.collection = collections.id WHERE collections.name = ?"
)


def host_vectors(host: RunningHost, page: Page) -> int:
    """How many vectors of a user's memories the host's own database of vectors has."""
    return host.vectors(VECTORS, f"user-memory-{page.user_id}")[0][0]


@pytest.mark.every_release
async def test_everything_is_erased(host: RunningHost, plugin: InstalledFilter) -> None:
    """After the word was typed nothing of the user is left anywhere; another user's all is."""
    page, other = await lived(host, "ann"), await lived(host, "bob")
    kept, vectors = held(host, other), host_vectors(host, other)
    assert (host_vectors(host, page), vectors) == (2, 2)
    turn = await answered(page, "Forget everything about me", "erase")
    await page.wait_for_status(turn, "Erased: 2 memories and everything noted about them.")
    (asked,) = page.questions()
    assert asked["title"] == "Erase everything that is remembered about you?"
    assert "2 memories" in asked["message"]
    assert await page.memories() == []
    assert host_vectors(host, page) == 0
    await host.rest()
    assert held(host, page) == {}
    assert len(await other.memories()) == 2
    assert (held(host, other), host_vectors(host, other)) == (kept, vectors)
    await page.new_chat().send("Where do I live?")
    assert "Porto" not in host.model.last_prompt
    await told(host, page, "I live in Porto.", PORTO)


@pytest.mark.every_release
async def test_this_chat_is_erased(host: RunningHost, page: Page) -> None:
    """What was learned in this chat goes, here and in our tables; what another chat told stays."""
    await told(host, page, "I live in Porto.", PORTO)
    chat = await told(host, page, "I have a cat called Miso.", CAT)
    await told(host, page, "I work as a nurse.", JOB, chat)
    turn = await answered(page, "Forget what I told you in this chat.", "erase", chat)
    await page.wait_for_status(turn, "Erased: 2 memories")
    (left,) = await page.memories()
    assert PORTO in left.content  # 0.9 keeps tags and bank in it
    assert host_vectors(host, page) == 1
    audit = our_rows(host, page, "audit")
    assert chat.id not in {one["chat_id"] for one in audit}
    assert len(audit) == 1


async def test_texts_are_sealed(host: RunningHost, page: Page) -> None:
    """No column of our tables holds a word of the user: waiting, learned, changed or archived."""
    await host.set_valves({"max_total_memories": 1, "extraction_debounce_seconds": 2})
    await told(host, page, "I live in Porto.", PORTO)
    (memory,) = await page.memories()
    learns(host.model, "moved", operations(update(memory.id, LISBON)))
    chat = page.new_chat()
    await page.wait_for_status(await chat.send("I have moved to Lisbon."), "Updated")
    learns(host.model, "cat", operations(new(CAT)))
    turn = await page.new_chat().send("I have a cat called Miso.")
    assert sealed_texts(host, page, "pending")
    await page.wait_for_status(turn, "moved to the archive")
    await chat.send("Where do I live?")
    await until(lambda: "chat" in held(host, page), 30, "the state of a chat")
    for kind in ("audit", "archive", "chat"):
        assert sealed_texts(host, page, kind)
    for kind in held(host, page):
        for row in our_rows(host, page, kind):
            text = "\n".join(map(str, row.values())).casefold()
            assert [word for word in WORDS if word in text] == [], kind


def sealed_texts(host: RunningHost, page: Page, kind: str) -> bool:
    """Whether there are texts of a user of a kind, and all of them are sealed."""
    rows = our_rows(host, page, kind)
    texts = [text for row in rows if (text := str(row.get("body") or row.get("payload") or ""))]
    return bool(texts) and all(text.startswith("am1:") for text in texts)
