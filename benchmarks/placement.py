"""Whether a real small model uses a memory as well wherever it stands in the prompt.

Forty questions in the second message of a chat, each answered by one of six memories. They stand
where the plug-in may put them: at the end of the system prompt, behind six others that came with
the chat's first message; with the question, while those six stand in the system prompt; with the
question alone, as with ``memory_placement`` set to ``message`` where nothing came before; or
nowhere, with the six others in the system prompt. An answer is right that holds the word that is
asked for. ``LOCAL_MODEL_URL`` names the server of the model, an OpenAI-compatible one.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
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
PLACES = ("system prompt", "message", "message alone", "nowhere")
MEMORIES_IN_BLOCK = 6
OPENING = ("Good morning!", "Good morning! What can I do for you?")
LONGEST_SECONDS = 600.0


def block_of(facts: Sequence[str], *, introduced: bool = True) -> str:
    """The block of these facts; the first one in a prompt is introduced."""
    memories = [
        Memory(id=fact, content=fact, created_at=at, updated_at=at)
        for at, fact in enumerate(facts)
    ]
    entries = [entry for entry in map(entry_of, memories) if entry]
    return rendered_block([], entries, "bullet", introduced=introduced)


def prompted(
    facts: list[str], others: list[str], question: str, place: str
) -> list[dict[str, Any]]:
    """The messages of a request in which the facts stand at this place."""
    system = block_of(others)
    with_message = ""
    if place == "system prompt":
        system = block_of([*others, *facts])
    elif place == "message":
        with_message = block_of(facts, introduced=False)
    elif place == "message alone":
        system = ""
        with_message = block_of(facts)
    said, answered = OPENING
    messages = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": said},
        {"role": "assistant", "content": answered},
        {"role": "user", "content": question},
    ]
    added = PromptBlocks(
        system=system,
        messages=[
            MessageBlock(content_hash(said), ""),
            MessageBlock(content_hash(question), with_message),
        ],
    )
    return [dict(message) for message in with_blocks(messages, added)]


def every_seventh(facts: Sequence[str], first: int) -> list[str]:
    """As many facts as a block holds, from a first one on, in the order of the alphabet."""
    return sorted(
        facts[(first + step * 7) % len(facts)]
        for step in range(MEMORIES_IN_BLOCK)
    )


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
            around = every_seventh(facts, number)
            others = every_seventh(facts, number + 3)
            for place in PLACES:
                messages = prompted(around, others, question, place)
                body = {
                    "messages": messages,
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
