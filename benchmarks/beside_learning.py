"""What the turns of 20 users take while somebody else's 300 past chats are learned from.

All on one real Open WebUI with one worker and SQLite, as it is installed. The users ask in chats of
their own, each after a pause of its own; in blocks, of which every other one has the run beside it,
begun and stopped by the commands for that. The run's model is scripted and takes a fifth of a
second for an extraction, so lessons follow each other as fast as they can. ``before_model`` are
milliseconds until the chat model receives a request, ``turn`` until the host calls the chat idle;
``refused`` are messages that the host has not taken, as where its SQLite was locked for too long.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from typing import Any

from benchmarks.figures import say, spread, write_results
from benchmarks.host import (
    FILTER,
    command_result,
    measured_host,
    request_saying,
    store_memories,
    store_vectors,
)
from tests.e2e.driver.extraction import EXTRACT
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.made_up_lives import extraction_reply, made_up_sayings
from tests.e2e.driver.page import Page, RefusedError
from tests.e2e.driver.past_chats import bring_along, past_chats
from tests.e2e.driver.replies import Body, Hang, Say

USERS = 20
MEMORIES = 100
CHATS = 300
BLOCKS = 4
TURNS = 4  # of each user in a block
PAUSE = 6.0
SETTLING_SECONDS = 5.0
EXTRACTION_SECONDS = 0.2


def _slowly(body: Body) -> Hang:
    """The facts of a message, as a model takes its time."""
    said = Say(json.dumps(extraction_reply(body)))
    return Hang(EXTRACTION_SECONDS, then=said)


async def measure() -> dict[str, Any]:
    """Run all blocks and return their figures."""
    async with measured_host() as host:
        host.model.when_title(EXTRACT, _slowly)
        learner = await host.user("learner")
        sayings = made_up_sayings(0, 3 * CHATS, 17)
        await bring_along(learner, past_chats(sayings, 3))
        pages = [await host.user(f"beside{at}") for at in range(USERS)]
        for at, page in enumerate(pages):
            # Rows are numbered by how many there are.
            store_memories(host, page, MEMORIES + at)
            store_vectors(host, page)
        taken: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
        refused = Counter[bool]()
        extractions = 0
        for block in range(-1, BLOCKS):
            is_beside = block % 2 == 1
            if is_beside:
                begun = await command_result(
                    learner, "/memory learn start", 60
                )
                say(f"  {begun[:60]}")
            await asyncio.sleep(SETTLING_SECONDS)
            before = len(host.model.requests_titled(EXTRACT))
            lanes = [
                _talk(host, page, f"{block} {number}")
                for number, page in enumerate(pages)
            ]
            times = [
                turn for lane in await asyncio.gather(*lanes) for turn in lane
            ]
            if is_beside:
                extractions += (
                    len(host.model.requests_titled(EXTRACT)) - before
                )
                await command_result(learner, "/memory learn stop", 60)
            # The first block loads everything, and does not count.
            if block >= 0:
                taken[is_beside] += times
                refused[is_beside] += USERS * TURNS - len(times)
        return {
            "open_webui": host.version,
            "users": USERS,
            "extractions_beside": extractions,
            "refused": {"alone": refused[False], "beside": refused[True]},
            **_summary(taken),
        }


async def _talk(
    host: RunningHost, page: Page, block: str
) -> list[tuple[float, float]]:
    """Milliseconds before the model, and of the whole turn, of one user's turns in a block."""
    chance = random.Random(block)
    times: list[tuple[float, float]] = []
    for number in range(TURNS):
        await asyncio.sleep(chance.expovariate(1 / PAUSE))
        words = f"Who has a boat that cost {block} and {number} euros?"
        chat = page.new_chat(model=FILTER.model)
        began = time.perf_counter()
        try:
            running = await chat.start(words)
        except RefusedError as error:
            say(f"  refused: {error}"[:200])
            continue
        await running.finish()
        whole = time.perf_counter() - began
        request = request_saying(host, words)
        times.append(((request.at - running.started) * 1000, whole * 1000))
    return times


def _summary(taken: dict[bool, list[tuple[float, float]]]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for at, name in enumerate(("before_model", "turn")):
        alone, beside = (
            spread([times[at] for times in taken[is_beside]])
            for is_beside in (False, True)
        )
        figures[name] = {
            "alone": alone,
            "beside_a_run": beside,
            "ratio": round(beside.median / alone.median, 3),
        }
        say(f"  {name}: {figures[name]}")
    return figures


def main() -> None:
    """Measure and write ``results/beside_learning.json``."""
    path = write_results("beside_learning", asyncio.run(measure()))
    say(f"written: {path}")


if __name__ == "__main__":
    main()
