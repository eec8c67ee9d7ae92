"""Whether a real small model uses a memory as well wherever it stands in the prompt.

Forty questions in the second message of a chat, each answered by one of six memories in a block as
the plug-in lays it out: at the end of the system prompt, at the end of the message, or nowhere. An
answer is right that holds the word that is asked for. ``LOCAL_MODEL_URL`` names the server of the
model, an OpenAI-compatible one.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import aiohttp

from adaptive.core.model import Memory
from adaptive.recall.block import entry_of, rendered_block
from adaptive.recall.prompt import (
    MessageBlock,
    PromptBlocks,
    with_blocks,
)
from adaptive.search.vectors import content_hash
from benchmarks.figures import say, write_results
from benchmarks.giving_way import MODEL_URL

QUESTIONS = Path(__file__).parent / "placement_questions.txt"
PLACES = ("system prompt", "message", "nowhere")
MEMORIES_IN_BLOCK = 6
OPENING = ("Good morning!", "Good morning! What can I do for you?")
LONGEST_SECONDS = 600.0


def prompted(
    facts: list[str], question: str, place: str
) -> list[dict[str, Any]]:
    """The messages of a request in which these facts stand at this place."""
    memories = [
        Memory(id=fact, content=fact, created_at=at, updated_at=at)
        for at, fact in enumerate(facts)
    ]
    entries = [entry for entry in map(entry_of, memories) if entry]
    is_system = place == "system prompt"
    block = rendered_block([], entries, "bullet", introduced=is_system)
    if place == "nowhere":
        block = ""
    said, answered = OPENING
    messages = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": said},
        {"role": "assistant", "content": answered},
        {"role": "user", "content": question},
    ]
    with_message = "" if is_system else block
    added = PromptBlocks(
        system=block if is_system else "",
        messages=[
            MessageBlock(content_hash(said), ""),
            MessageBlock(content_hash(question), with_message),
        ],
    )
    return [dict(message) for message in with_blocks(messages, added)]


async def measure(url: str) -> dict[str, Any]:
    """How many answers are right, by the place of the memory."""
    rows = [
        [part.strip() for part in line.split("|")]
        for line in QUESTIONS.read_text(encoding="utf-8").splitlines()
    ]
    facts = [fact for fact, _, _ in rows]
    right = dict.fromkeys(PLACES, 0)
    timeout = aiohttp.ClientTimeout(total=LONGEST_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        for number, (_, question, answers) in enumerate(rows):
            around = [
                facts[(number + step * 7) % len(facts)]
                for step in range(MEMORIES_IN_BLOCK)
            ]
            for place in PLACES:
                body = {
                    "messages": prompted(sorted(around), question, place),
                    "max_tokens": 30,
                    "temperature": 0,
                }
                async with session.post(
                    f"{url}/chat/completions", json=body
                ) as response:
                    reply = await response.json()
                said = reply["choices"][0]["message"]["content"].lower()
                right[place] += any(
                    word in said for word in answers.split(", ")
                )
    say(f"right of {len(rows)}: {right}")
    return {"questions": len(rows), "right": right}


def main() -> None:
    """Measure and write ``results/placement.json``."""
    url = os.environ.get(MODEL_URL, "")
    if not url:
        say(f"left out: {MODEL_URL} names no server of a local model")
        return
    say(f"written: {write_results('placement', asyncio.run(measure(url)))}")


if __name__ == "__main__":
    main()
