"""Commands on a real host: what they cost, how fast an import is, and what it brings back.

An export is taken from a LoCoMo user's page, everything is erased, and the file is imported: the
share of gold in the real prompt is measured before and after, as in ``host_recall``. Then another
user imports 5,000 made-up lines while a third one chats. In the end commands alternate with turns
in which the model answers one token.
"""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import time
from pathlib import Path
from typing import Any

from benchmarks.figures import say, spread, write_results
from benchmarks.host import (
    FILTER,
    command_result,
    complete_index,
    measured_host,
)
from benchmarks.host_recall import remembering_user, system_prompt
from benchmarks.import_lines import made_up_lines
from benchmarks.locomo import DEFAULT_DATA, Recollector, load_conversations
from tests.e2e.driver.conversation import Conversation
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Say

LINES = 5000
ROUNDS = 20
# Of each user's questions one in so many is asked, before and after.
QUESTIONS_ONE_IN = 4
_IMPORT_SECONDS = 600.0


async def share_of_gold(
    host: RunningHost, page: Page, about: Recollector
) -> float:
    """The mean share of gold in the prompts for some of the questions about a user."""
    shares: list[float] = []
    asked = list(zip(about.questions, about.gold, strict=True))[
        ::QUESTIONS_ONE_IN
    ]
    for words, gold in asked:
        prompt = await system_prompt(host, page, FILTER, words)
        found = [place for place in gold if about.memories[place] in prompt]
        shares.append(len(found) / len(gold))
    return statistics.fmean(shares)


async def carried(
    host: RunningHost, about: Recollector
) -> tuple[float, float]:
    """The share of gold before an export, and when all was erased and brought in again."""
    page = await remembering_user(host, about)
    before = await share_of_gold(host, page, about)
    page.answers |= {"execute": True, "input": "erase", "confirmation": True}
    await command_result(page, "/memory export", _IMPORT_SECONDS)
    code = page.questions("execute")[-1]["code"]
    found = re.search(r"new Blob\(\[(\".*?\")\], \{type", code)
    assert found is not None
    text = json.loads(found[1])
    await command_result(page, "/forget everything", _IMPORT_SECONDS)
    assert await page.memories() == []
    line = await command_result(
        page, f"/memory import {text}", _IMPORT_SECONDS
    )
    say(f"  {about.name}: {line}")
    await complete_index(host, page, len(await page.memories()))
    return before, await share_of_gold(host, page, about)


async def imported(host: RunningHost) -> dict[str, Any]:
    """How long a large import takes, and turns of somebody else beside it and after it."""
    page, other = await host.user("importer"), await host.user("chatter")
    page.answers["confirmation"] = True
    lines = "\n".join(f"- {line}" for line in made_up_lines(LINES))
    started = time.perf_counter()
    importing = command_result(
        page, f"/memory import\n{lines}", _IMPORT_SECONDS
    )
    task = asyncio.create_task(importing)
    beside: list[float] = []
    while not task.done():
        beside.append(
            await _timed(other.new_chat(FILTER.model), "Who has a boat?")
        )
    seconds = time.perf_counter() - started
    say(f"  {task.result()} in {seconds:.1f} s")
    after = [
        await _timed(other.new_chat(FILTER.model), "Who has a boat?")
        for _ in range(ROUNDS)
    ]
    return {
        "lines": LINES,
        "seconds": round(seconds, 1),
        "other_turns_ms": {"beside": spread(beside), "after": spread(after)},
    }


async def _timed(chat: Conversation, words: str) -> float:
    started = time.perf_counter()
    await chat.send(words)
    return (time.perf_counter() - started) * 1000


async def costs(host: RunningHost) -> dict[str, Any]:
    """A command against a turn whose answer is one token, in turn."""
    page = await host.user("caller")
    host.model.when_chatting(Say("OK"))
    for number in range(20):
        await page.add_memory(f"User knows fact {number}.")
    command, turn = list[float](), list[float]()
    for _ in range(ROUNDS):
        command.append(await _timed(page.new_chat(FILTER.model), "/memory"))
        turn.append(await _timed(page.new_chat(FILTER.model), "Hello there."))
    return {"command_ms": spread(command), "one_token_turn_ms": spread(turn)}


async def measure(folder: Path) -> dict[str, Any]:
    """All three, on one server."""
    async with measured_host() as host:
        shares = {
            one.name: await carried(host, one)
            for one in load_conversations(folder)
        }
        return {
            "open_webui": host.version,
            "share_of_gold": {
                name: [round(one, 3) for one in both]
                for name, both in shares.items()
            },
            "mean": [
                round(statistics.fmean(one), 4)
                for one in zip(*shares.values(), strict=True)
            ],
            "import": await imported(host),
            "cost": await costs(host),
        }


def main(folder: Path = DEFAULT_DATA) -> None:
    """Measure and write ``results/commands.json``."""
    figures = asyncio.run(measure(folder))
    say(f"{figures}")
    say(f"written: {write_results('commands', figures)}")


if __name__ == "__main__":
    main()
