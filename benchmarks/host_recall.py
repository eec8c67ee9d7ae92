"""The share of gold in the system prompt that a model receives through a real Open WebUI.

Each LoCoMo conversation is a user; its observations are added in order through the host's API.
Every question and every off-topic prompt is a plain API call of its own, once with the host's own
memory and once with the filter, both on the same server and in a shuffled order. So is every third
question behind a paragraph of other things, and beside another one (see ``paragraphs``), and each
paragraph that is about nobody.
"""

from __future__ import annotations

import asyncio
import random
import statistics
from collections.abc import Mapping, Sequence
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
from benchmarks.paragraphs import Message, behind, pairs, paragraphs_of
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
    """Ask everything of every user, and summarise by kind of message and variant."""
    users = load_conversations(folder)
    unrelated = load_off_topic(folder)
    answered: dict[str, dict[str, list[Prompted]]] = {}
    async with measured_host() as host:
        for number, about in enumerate(users):
            page = await remembering_user(host, about)
            for kind, messages in _message_sets(about, unrelated).items():
                into = answered.setdefault(
                    kind, {one.name: [] for one in VARIANTS}
                )
                await _ask(host, page, about, messages, into)
            say(f"  {number + 1} of {len(users)} users done: {about.name}")
        version = host.version
    return {
        "open_webui": version,
        "model": "all-MiniLM-L6-v2",
        "messages": {
            kind: _summaries([user.name for user in users], kind, variants)
            for kind, variants in answered.items()
        },
    }


def _message_sets(
    about: Recollector, unrelated: Sequence[str]
) -> dict[str, list[Message]]:
    """What one user is asked, by kind."""
    plain = [
        Message(0, text, gold)
        for text, gold in zip(about.questions, about.gold, strict=True)
    ]
    return {
        "plain questions": plain,
        "behind 60 words": behind(paragraphs_of("before"), plain)[::3],
        "two questions": pairs(plain)[::3],
        "off-topic prompts": [Message(0, text) for text in unrelated],
        "paragraphs about nobody": [
            Message(0, text) for text in paragraphs_of("nobody")
        ],
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
    messages: Sequence[Message],
    into: dict[str, list[Prompted]],
) -> None:
    order = random.Random(about.name)
    for message in messages:
        gold = message.gold
        for variant in order.sample(VARIANTS, len(VARIANTS)):
            prompt = await system_prompt(host, page, variant, message.text)
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
    return request_saying(host, words).prompt


def _summaries(
    users: Sequence[str],
    kind: str,
    variants: Mapping[str, Sequence[Prompted]],
) -> dict[str, Any]:
    """The figures of each variant for one kind of message."""
    figures: dict[str, Any] = {}
    for name, prompted in variants.items():
        figures[name] = {
            "messages": len(prompted),
            "share_of_gold": _share(prompted),
            "share_of_gold_by_user": {
                user: _share([one for one in prompted if one.user == user])
                for user in users
            },
            "entries_mean": round(
                statistics.fmean(one.entries for one in prompted), 3
            ),
            "entries_most": max(one.entries for one in prompted),
            "characters": spread([one.characters for one in prompted]),
            "with_none": round(
                statistics.fmean(one.entries == 0 for one in prompted), 4
            ),
        }
        say(f"  {kind}, {name}: {figures[name]}")
    return figures


def _share(prompted: Sequence[Prompted]) -> float:
    return round(statistics.fmean(one.share for one in prompted), 3)


def main(folder: Path = DEFAULT_DATA) -> None:
    """Measure and write ``results/host_recall.json``."""
    say(
        f"written: {write_results('host_recall', asyncio.run(measure(folder)))}"
    )


if __name__ == "__main__":
    main()
