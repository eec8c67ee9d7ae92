"""What a user's first questions find whose memories are older than the plug-in.

Each LoCoMo conversation is a user who has added its observations through the host's API. Then the
plug-in is installed, and each user at once asks some questions that have an answer, each in a chat
of its own: the first of them while the plug-in makes itself ready. When all memories have a vector
of ours the same questions are asked again.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.figures import say, write_results
from benchmarks.host import PLUGIN, VECTORS_TIMEOUT, request_saying, vectors_of
from benchmarks.locomo import DEFAULT_DATA, Recollector, load_conversations
from demo.environment import NEWEST, host_environment
from tests.e2e.driver.extraction import learns_nothing_else
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import CHAT_MODEL

MEMORIES = 270
QUESTIONS = 10


async def measure(folder: Path, release: str = NEWEST) -> dict[str, Any]:
    """Ask all users' questions at first contact and again later."""
    users = load_conversations(folder)
    with tempfile.TemporaryDirectory() as data:
        say("starting Open WebUI")
        host = await RunningHost.start(
            host_environment(release), Path(data) / "data", None
        )
        try:
            learns_nothing_else(host.model)
            pages = [await _remembering(host, about) for about in users]
            await host.install_filter(PLUGIN)
            figures = [
                await _contact(host, page, about)
                for page, about in zip(pages, users, strict=True)
            ]
            version = host.version
        finally:
            await host.stop()
    first, later = (
        statistics.fmean(one[when] for one in figures)
        for when in ("first", "later")
    )
    summary = {
        "first": round(first, 3),
        "later": round(later, 3),
        "ratio": round(first / later, 3),
    }
    say(f"  {summary}")
    return {
        "open_webui": version,
        "questions": QUESTIONS,
        **summary,
        "users": figures,
    }


async def _remembering(host: RunningHost, about: Recollector) -> Page:
    page = await host.user(about.name)
    say(f"{about.name}: adding {len(about.memories[:MEMORIES])} memories")
    for memory in about.memories[:MEMORIES]:
        await page.add_memory(memory)
    return page


async def _contact(
    host: RunningHost, page: Page, about: Recollector
) -> dict[str, Any]:
    size = len(about.memories[:MEMORIES])
    known = [
        one
        for one in zip(about.questions, about.gold, strict=True)
        if max(one[1]) < size
    ]
    asked = random.Random(about.name).sample(known, QUESTIONS)
    figures: dict[str, Any] = {"user": about.name, "memories": size}
    for when in ("first", "later"):
        shares: list[float] = []
        began = time.perf_counter()
        for question, gold in asked:
            host.model.requests.clear()
            await page.complete(question, model=CHAT_MODEL)
            prompt = request_saying(host, question).prompt
            shares.append(
                statistics.fmean(
                    about.memories[place] in prompt for place in gold
                )
            )
        figures[when] = round(statistics.fmean(shares), 3)
        figures[f"{when}_each"] = [round(one, 2) for one in shares]
        figures[f"{when}_seconds"] = round(time.perf_counter() - began, 1)
        if when == "first":
            async with asyncio.timeout(VECTORS_TIMEOUT):
                while vectors_of(host, page) < size:
                    await asyncio.sleep(0.5)
    say(f"  {figures}")
    return figures


def main(folder: Path = DEFAULT_DATA) -> None:
    """Measure and write ``results/first_contact.json``."""
    say(
        f"written: {write_results('first_contact', asyncio.run(measure(folder)))}"
    )


if __name__ == "__main__":
    main()
