"""The share of gold in the system prompt that a model receives through a real Open WebUI.

Each LoCoMo conversation is a user; its observations are added in order through the host's API.
Every question and every off-topic prompt is a plain API call of its own, once with the host's own
memory and once with the filter, both on the same server and in a shuffled order.
"""

from __future__ import annotations

import asyncio
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.figures import say, spread, write_results
from benchmarks.host import (
    FILTER,
    HOST_MEMORY,
    Variant,
    complete_index,
    entries_in,
    measured_host,
    request_saying,
)
from benchmarks.locomo import (
    DEFAULT_DATA,
    Recollector,
    load_conversations,
    load_off_topic,
)
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page

VARIANTS = (HOST_MEMORY, FILTER)


@dataclass(frozen=True, slots=True)
class Prompted:
    """What one call brought into the system prompt; ``share`` is that of gold, 0 without gold."""

    user: str
    share: float
    entries: int
    characters: int


async def measure(folder: Path) -> dict[str, Any]:
    """Ask everything of every user, and summarise by variant."""
    users = load_conversations(folder)
    unrelated = load_off_topic(folder)
    answered: dict[str, list[Prompted]] = {one.name: [] for one in VARIANTS}
    idle: dict[str, list[Prompted]] = {one.name: [] for one in VARIANTS}
    async with measured_host() as host:
        for number, about in enumerate(users):
            page = await remembering_user(host, about)
            asked = list(zip(about.questions, about.gold, strict=True))
            await _ask(host, page, about, asked, answered)
            strange = [(prompt, frozenset[int]()) for prompt in unrelated]
            await _ask(host, page, about, strange, idle)
            say(f"  {number + 1} of {len(users)} users done: {about.name}")
        version = host.version
    return {
        "open_webui": version,
        "model": "all-MiniLM-L6-v2",
        "questions": sum(len(one.questions) for one in users),
        "off_topic_prompts": len(unrelated) * len(users),
        "variants": {
            one.name: _summary(
                [user.name for user in users],
                answered[one.name],
                idle[one.name],
            )
            for one in VARIANTS
        },
    }


async def remembering_user(host: RunningHost, about: Recollector) -> Page:
    """A user to whom a conversation's observations have been added one after the other."""
    page = await host.user(about.name)
    say(f"{about.name}: adding {len(about.memories)} memories")
    for memory in about.memories:
        await page.add_memory(memory)
    await complete_index(host, page, len(about.memories))
    return page


async def _ask(
    host: RunningHost,
    page: Page,
    about: Recollector,
    asked: Sequence[tuple[str, frozenset[int]]],
    into: dict[str, list[Prompted]],
) -> None:
    order = random.Random(about.name)
    for words, gold in asked:
        for variant in order.sample(VARIANTS, len(VARIANTS)):
            prompt = await system_prompt(host, page, variant, words)
            found = [
                place for place in gold if about.memories[place] in prompt
            ]
            share = len(found) / len(gold) if gold else 0.0
            into[variant.name].append(
                Prompted(
                    about.name, share, len(entries_in(prompt)), len(prompt)
                )
            )


async def system_prompt(
    host: RunningHost, page: Page, variant: Variant, words: str
) -> str:
    """The system prompt that the model is sent with a question."""
    host.model.requests.clear()
    answer = await page.complete(
        words, model=variant.model, features={"memory": variant.native}
    )
    assert answer.status == 200, answer.content
    return request_saying(host, words).system_prompt


def _summary(
    users: Sequence[str],
    answered: Sequence[Prompted],
    idle: Sequence[Prompted],
) -> dict[str, Any]:
    shares = {
        user: round(
            statistics.fmean(
                one.share for one in answered if one.user == user
            ),
            3,
        )
        for user in users
    }
    figures = {
        "share_of_gold": round(
            statistics.fmean(one.share for one in answered), 3
        ),
        "share_of_gold_by_user": shares,
        "entries_mean": round(
            statistics.fmean(one.entries for one in answered), 2
        ),
        "entries_most": max(one.entries for one in answered),
        "characters": spread([one.characters for one in answered]),
        "off_topic_entries_mean": round(
            statistics.fmean(one.entries for one in idle), 3
        ),
        "off_topic_with_none": round(
            statistics.fmean(one.entries == 0 for one in idle), 4
        ),
    }
    say(f"  {figures}")
    return figures


def main(folder: Path = DEFAULT_DATA) -> None:
    """Measure and write ``results/host_recall.json``."""
    say(
        f"written: {write_results('host_recall', asyncio.run(measure(folder)))}"
    )


if __name__ == "__main__":
    main()
