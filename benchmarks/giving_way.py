"""How long a user waits for the first word while a lesson holds the only slot of a local model.

The model is a real one: ``LOCAL_MODEL_URL`` names an OpenAI-compatible server that answers one
request at a time (llama.cpp: ``llama-server -np 1``). Two entries of it stand on one real Open
WebUI, with its titles, tags and follow-ups on, as installed: one without memory, and one with it.
In each round somebody says something about themselves, and a second message comes some seconds
after the first answer: where memory is on, while the lesson runs, which is looked up at the server.
What is measured is the time from sending the second message to its first word, ``same user`` in
the same chat, ``other user`` in a chat of somebody else's. Rounds of both entries alternate.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.figures import say, write_results
from benchmarks.host import PLUGIN
from demo.environment import NEWEST, host_environment
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.soak import WAITING

MODEL_URL = "LOCAL_MODEL_URL"
ENTRIES = {"memory-off": [], "memory-on": ["adaptive_memory"]}
# Seconds from the start of a lesson to the message: it reads its prompt first, then it writes.
DELAYS = (1.0, 4.0)
LONGEST_WAIT_SECONDS = 600.0
FACTS = (
    "I moved to Porto in March and work there as a nurse.",
    "My daughter Ines is seven and allergic to peanuts.",
    "I play the cello in an orchestra on Thursdays.",
    "I am training for a marathon in October with my brother Rui.",
    "I have a dog called Bruno who is afraid of thunder.",
    "My partner Tomas is a carpenter and built our kitchen.",
    "I am vegetarian and cook mostly Indian dishes.",
    "I learn Japanese because my mother lives in Osaka.",
)
QUESTIONS = (
    "What should I look at in autumn?",
    "Name one thing that I could do tomorrow.",
)


@dataclass(slots=True)
class Bench:
    """A host with a real model behind it, and two users."""

    host: RunningHost
    url: str
    ada: Page
    bob: Page

    async def slot_is_busy(self) -> bool:
        """Whether the server works on a request."""
        address = f"{self.url.removesuffix('/v1')}/slots"
        async with (
            aiohttp.ClientSession() as session,
            session.get(address) as response,
        ):
            slots = await response.json()
        return any(slot["is_processing"] for slot in slots)

    async def wait_for_slot(self, *, busy: bool, seconds: float) -> bool:
        """Whether the slot is busy, or is free, within so many seconds."""
        deadline = time.monotonic() + seconds
        while await self.slot_is_busy() != busy:
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(0.05)
        return True

    async def come_to_rest(self) -> None:
        """Wait until nothing waits to be learned, and nobody asks the model."""
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while await self._is_learning() and time.monotonic() < deadline:
            await asyncio.sleep(0.5)
        await self.wait_for_slot(busy=False, seconds=LONGEST_WAIT_SECONDS)
        await asyncio.sleep(1)

    async def _is_learning(self) -> bool:
        tables = "SELECT name FROM sqlite_master WHERE name LIKE 'adaptive%'"
        return bool(
            self.host.query(tables) and self.host.query(WAITING)[0]["turns"]
        )

    async def first_word(
        self, entry: str, number: int, delay: float, *, same_user: bool
    ) -> tuple[float, bool]:
        """Seconds to the first word of the second answer, and whether a lesson ran."""
        chat = self.ada.new_chat(model=entry)
        fact = f"{FACTS[number % len(FACTS)]} Greet me in a few words."
        await (await chat.start(fact)).finish(LONGEST_WAIT_SECONDS)
        await self.wait_for_slot(busy=False, seconds=LONGEST_WAIT_SECONDS)
        if entry == "memory-on":
            await self.wait_for_slot(busy=True, seconds=30)
        else:
            await asyncio.sleep(2)
        await asyncio.sleep(delay)
        is_busy = await self.slot_is_busy()
        if not same_user:
            chat = self.bob.new_chat(model=entry)
        question = QUESTIONS[number % len(QUESTIONS)]
        running = await chat.start(question)
        await running.wait_for_text(LONGEST_WAIT_SECONDS)
        seconds = time.perf_counter() - running.started
        await running.finish(LONGEST_WAIT_SECONDS)
        await self.come_to_rest()
        return seconds, is_busy


@asynccontextmanager
async def _bench(url: str) -> AsyncIterator[Bench]:
    """A host whose two entries of the model differ in nothing but the filter."""
    with tempfile.TemporaryDirectory() as folder:
        async with RunningHost.running_on(
            host_environment(NEWEST),
            Path(folder) / "data",
            {"OPENAI_API_BASE_URL": url},
        ) as host:
            plugin = Path(os.environ.get("PLUGIN", PLUGIN))
            installed = await host.install_filter(plugin, make_global=False)
            # As it is installed.
            await installed.set_valves({"extraction_debounce_seconds": 2})
            listed = await host.admin.request("GET", "/api/models")
            base = listed["data"][0]["id"]
            for name, filters in ENTRIES.items():
                await host.admin.request(
                    "POST",
                    "/api/v1/models/create",
                    {
                        "id": name,
                        "name": name,
                        "base_model_id": base,
                        # With native calling a host of 0.12 sends some 5,000 tokens of tools.
                        "params": {
                            "max_tokens": 40,
                            "function_calling": "legacy",
                        },
                        "meta": {"filterIds": filters},
                        "access_control": None,
                    },
                )
            await host.admin.request("GET", "/api/models")
            ada, bob = [await host.user(name) for name in ("ada", "bob")]
            yield Bench(host, url, ada, bob)


async def measure(url: str) -> dict[str, Any]:
    """Seconds of all rounds, their medians, and the ratio of these."""
    rows: dict[str, dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    async with _bench(url) as bench:
        for number, delay in enumerate(DELAYS):
            for user in ("same user", "other user"):
                for entry in ENTRIES:
                    seconds, is_busy = await bench.first_word(
                        entry, number, delay, same_user=user == "same user"
                    )
                    say(
                        f"  {user}, {entry}, {delay} s: {seconds:.2f} s"
                        f"{', beside a lesson' if is_busy else ''}"
                    )
                    if is_busy or entry == "memory-off":
                        rows[user][entry].append(round(seconds, 2))
    figures: dict[str, Any] = {}
    for user, entries in rows.items():
        medians = {
            name: round(statistics.median(seconds), 2)
            for name, seconds in entries.items()
        }
        means = {
            name: statistics.fmean(seconds)
            for name, seconds in entries.items()
        }
        figures[user] = {
            "seconds": entries,
            "medians": medians,
            "ratio": round(medians["memory-on"] / medians["memory-off"], 2),
            "ratio_of_means": round(
                means["memory-on"] / means["memory-off"], 2
            ),
        }
        say(f"{user}: {figures[user]}")
    return figures


def main() -> None:
    """Measure and write ``results/giving_way.json``."""
    url = os.environ.get(MODEL_URL, "")
    if not url:
        say(f"left out: {MODEL_URL} names no server of a local model")
        return
    say("a message beside a lesson on the only slot")
    say(f"written: {write_results('giving_way', asyncio.run(measure(url)))}")


if __name__ == "__main__":
    main()
