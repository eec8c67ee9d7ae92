"""What a turn takes where 20 users share two workers: with the plug-in, its peers, and nothing.

Two processes of Open WebUI on one PostgreSQL and one Redis, as two replicas behind a balancer are,
which share the machine with the databases and the driver. All users talk at the same time, each
message a fact, in chats of five messages and at either worker by turns, as in the long runs of
``tests/e2e``: for a while with each variant, in rounds of a shuffled order. Before the next variant
begins, all that waits to be learned is learned; how long that takes is the ``backlog``. Times are
seconds from the page's message until the host calls the chat idle, ratios are those of medians.
A pause is the mean of what a user waits between two messages.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.figures import say, spread, write_results
from benchmarks.host import FILTER, HOST_MEMORY, NOTHING, Variant
from benchmarks.learned_turn import LONG, install_variants
from demo.environment import NEWEST, host_environment, with_postgres_drivers
from tests.e2e.driver.made_up_lives import made_up_sayings
from tests.e2e.driver.page import Page
from tests.e2e.driver.services import (
    Services,
    running_services,
    running_workers,
)
from tests.e2e.driver.soak import TURNS_PER_CHAT, WAITING

USERS = 20
ROUNDS = 3
TURNS = 5  # of each user with a variant in a round
PAUSES = (12.0, 0.0)
LONG_ALONE = Variant(
    LONG.name, LONG.model, native=False
)  # without the host's memory beside it
VARIANTS = (NOTHING, HOST_MEMORY, LONG_ALONE, FILTER)
BACKLOG_SECONDS = 120.0
# With the usual 15, which 20 who send at once use up, the host waits half a minute for itself: it
# opens a second connection while it holds one (host: models/models.py, get_model_by_id).
POOL = {"DATABASE_POOL_SIZE": "30"}


async def measure(
    users: int = USERS, rounds: int = ROUNDS, turns: int = TURNS
) -> dict[str, Any]:
    """Run all rounds and return their figures."""
    environment = with_postgres_drivers(host_environment(NEWEST))
    figures: dict[str, Any] = {
        "users": users,
        "turns": rounds * turns * users,
        "workers": 2,
    }
    with tempfile.TemporaryDirectory() as folder:
        async with (
            running_services(redis=True) as services,
            running_workers(environment, services, Path(folder), POOL) as (
                host,
                second,
            ),
        ):
            await install_variants(host)
            urls = [host.url, second.url]
            pages = [
                await host.user(f"busy{at}", urls[at % 2])
                for at in range(users)
            ]
            said = len(PAUSES) * len(VARIANTS) * (rounds + 1) * turns
            words = [
                [one.words for one in made_up_sayings(at, said, 6)]
                for at in range(users)
            ]
            for pause in PAUSES:
                taken: dict[str, list[float]] = defaultdict(list)
                backlog: dict[str, list[float]] = defaultdict(list)
                order = random.Random(6)
                # The first round loads the filters, and does not count.
                for number in range(-1 if pause == PAUSES[0] else 0, rounds):
                    for variant in order.sample(VARIANTS, len(VARIANTS)):
                        lanes = (
                            _talk(
                                page,
                                urls,
                                variant,
                                [said.pop() for _ in range(turns)],
                                pause,
                            )
                            for page, said in zip(pages, words, strict=True)
                        )
                        times = [
                            one
                            for lane in await asyncio.gather(*lanes)
                            for one in lane
                        ]
                        rest = await _settled(services)
                        if number >= 0:
                            taken[variant.name] += times
                            backlog[variant.name].append(rest)
                figures[f"pause {pause:g} s"] = _summary(taken, backlog)
            figures["open_webui"] = host.version
    return figures


async def _talk(
    page: Page,
    urls: list[str],
    variant: Variant,
    said: list[str],
    pause: float,
) -> list[float]:
    """The seconds that each turn of one user has taken."""
    chance, times, chat = (
        random.Random(f"{page.user_id} {said}"),
        list[float](),
        None,
    )
    for number, words in enumerate(said):
        await asyncio.sleep(chance.expovariate(1 / pause) if pause else 0)
        page.url = urls[number % len(urls)]
        chat = (
            chat
            if chat and number % TURNS_PER_CHAT
            else page.new_chat(model=variant.model)
        )
        began = time.monotonic()
        turn = await (
            await chat.start(words, features={"memory": variant.native})
        ).finish()
        times.append(time.monotonic() - began)
        assert turn.error is None, turn
    return times


async def _settled(services: Services) -> float:
    """How many seconds it takes until no turn waits to be learned."""
    began = time.monotonic()
    while time.monotonic() - began < BACKLOG_SECONDS:
        there = "SELECT to_regclass('adaptive_memory_entries') IS NOT NULL AS is_there"
        if not (await asyncio.to_thread(services.rows, there))[0]["is_there"]:
            break
        if not (await asyncio.to_thread(services.rows, WAITING))[0]["turns"]:
            break
        await asyncio.sleep(0.5)
    return time.monotonic() - began


def _summary(
    taken: dict[str, list[float]], backlog: dict[str, list[float]]
) -> dict[str, Any]:
    spreads = {name: spread(times) for name, times in taken.items()}
    base = spreads[NOTHING.name].median
    figures = {
        name: {
            "turn": one,
            "ratio": round(one.median / base, 2),
            "backlog": max(backlog[name]),
        }
        for name, one in spreads.items()
    }
    say(f"  {figures}")
    return figures


def main() -> None:
    """Measure and write ``results/busy_server.json``."""
    say(f"written: {write_results('busy_server', asyncio.run(measure()))}")


if __name__ == "__main__":
    main()
