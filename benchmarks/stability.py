"""How much of a chat's prompt a local model reads anew, turn by turn.

A saved chat of 20 questions about one LoCoMo conversation, in random order, asked by a user who
remembers its observations; answers are 900 characters long. A model on one's own machine reads on
from where a prompt begins to differ from the former one, so what counts is what stands behind the
longest beginning that both share. Four ways: without a memory, with the host's own, with the filter,
and with the filter while each message also holds a fact, so that a lesson reads another prompt on the
same model after each turn.

Where ``LOCAL_MODEL_URL`` names a server of a real one (llama.cpp: ``llama-server -np 1``), what the
first user's models were sent is sent to it as well, lessons included, in the order in which it came.
It tells what it read and what it had in its cache.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.figures import say, write_results
from benchmarks.giving_way import FACTS, MODEL_URL
from benchmarks.host import (
    FILTER,
    HOST_MEMORY,
    NOTHING,
    Variant,
    measured_host,
)
from benchmarks.host_recall import remembering_user
from benchmarks.locomo import DEFAULT_DATA, Recollector, load_conversations
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.replies import Say
from tests.e2e.driver.scripted_model import ModelRequest, text_of

TURNS = 20
ANSWER = ("Here is what I can say about it. " * 30)[:900]
LEARNING = Variant("filter that learns", FILTER.model, native=True)
VARIANTS = (NOTHING, HOST_MEMORY, FILTER, LEARNING)
# Of the real model: turns whose time is told.
LATE_TURNS = slice(10, TURNS)
LONGEST_SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class Chat:
    """All that models were sent during a chat, and which of it are the chat's own turns.

    ``gold`` are the memories that answer its questions, for each of them.
    """

    requests: Sequence[ModelRequest]
    gold: Sequence[Sequence[str]]

    @property
    def turns(self) -> list[ModelRequest]:
        return [one for one in self.requests if one.kind == "chat"]

    def gold_standing(self) -> float:
        """The share of the gold of all questions so far in the prompt of the newest, on average."""
        shares: list[float] = []
        for number, turn in enumerate(self.turns):
            gold = {
                text for texts in self.gold[: number + 1] for text in texts
            }
            held = sum(text in turn.prompt for text in gold)
            shares.append(held / len(gold))
        return statistics.fmean(shares)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a prompt has beyond the beginning that it shares with another one, in characters."""

    anew: int
    whole: int
    keeps_former: bool


async def measure(folder: Path) -> dict[str, Any]:
    """The same questions of each user in all ways."""
    users = load_conversations(folder)
    chats: dict[str, list[Chat]] = {}
    async with measured_host() as host:
        host.model.when_chatting(Say(ANSWER))
        for about in users:
            page = await remembering_user(host, about)
            for variant in VARIANTS:
                chat = await _chat(host, page, about, variant)
                chats.setdefault(variant.name, []).append(chat)
        version = host.version
    figures: dict[str, Any] = {}
    for name, of_users in chats.items():
        figures[name] = _summary(of_users)
        url = os.environ.get(MODEL_URL)
        # What the host's memory reads anew takes a real model half an hour.
        if url and name != HOST_MEMORY.name:
            figures[name]["real_model"] = await _replayed(url, of_users[0])
        say(f"{name}: {figures[name]}")
    return {
        "open_webui": version,
        "turns": TURNS,
        "users": [about.name for about in users],
        "variants": figures,
    }


async def _chat(
    host: RunningHost, page: Page, about: Recollector, variant: Variant
) -> Chat:
    asked = [*zip(about.questions, about.gold, strict=True)]
    random.Random(about.name).shuffle(asked)
    asked = asked[:TURNS]
    chat = page.new_chat(model=variant.model)
    host.model.forget_requests()
    for number, (question, _) in enumerate(asked):
        said = question
        if variant is LEARNING:
            said = f"{FACTS[number % len(FACTS)]} {question}"
        await chat.send(said, features={"memory": variant.native})
        await host.rest()
    return Chat(
        # The host's own tasks are the same in all ways.
        requests=host.model.requests_of("chat", "plug-in"),
        gold=[[about.memories[at] for at in gold] for _, gold in asked],
    )


def _summary(chats: Sequence[Chat]) -> dict[str, Any]:
    readings = [
        reading
        for chat in chats
        for reading in _readings([*map(prompt_of, chat.turns)])
    ]
    return {
        "anew_mean": round(statistics.fmean(one.anew for one in readings)),
        "share_read_anew": _share(readings),
        "share_read_anew_by_user": [
            _share(_readings([*map(prompt_of, chat.turns)])) for chat in chats
        ],
        "turns_that_keep_the_former_prompt": round(
            statistics.fmean(one.keeps_former for one in readings), 3
        ),
        "gold_standing_in_the_prompt": round(
            statistics.fmean(chat.gold_standing() for chat in chats), 3
        ),
        "lessons": sum(len(chat.requests) - len(chat.turns) for chat in chats),
    }


def _share(readings: Sequence[Reading]) -> float:
    anew = sum(one.anew for one in readings)
    return round(anew / sum(one.whole for one in readings), 3)


def _readings(prompts: Sequence[str]) -> list[Reading]:
    """What is read anew of each prompt but the first."""
    readings: list[Reading] = []
    for former, prompt in itertools.pairwise(prompts):
        shared = shared_beginning(former, prompt)
        readings.append(
            Reading(
                anew=len(prompt) - shared,
                whole=len(prompt),
                keeps_former=shared == len(former),
            )
        )
    return readings


def shared_beginning(one: str, other: str) -> int:
    """How many characters two texts have in common before they differ."""
    pairs = zip(one, other, strict=False)
    return sum(
        1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)
    )


def prompt_of(request: ModelRequest) -> str:
    """All that the model reads; nothing marks the end of the list, where the next turn goes on."""
    return "".join(
        f"<|{one.get('role')}|>{text_of(one.get('content'))}"
        for one in request.messages
    )


async def _replayed(url: str, chat: Chat) -> dict[str, Any]:
    """What a real model reads of a chat's turns, and how long its first word takes."""
    seconds: list[float] = []
    read: list[int] = []
    cached: list[int] = []
    timeout = aiohttp.ClientTimeout(total=LONGEST_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        for request in chat.requests:
            is_turn = request.kind == "chat"
            body = {
                "messages": request.messages,
                "max_tokens": 1 if is_turn else 30,
                "temperature": 0,
                "cache_prompt": True,
            }
            began = time.perf_counter()
            async with session.post(
                f"{url}/chat/completions", json=body
            ) as response:
                timings = (await response.json())["timings"]
            if is_turn:
                seconds.append(round(time.perf_counter() - began, 2))
                read.append(timings["prompt_n"])
                cached.append(timings.get("cache_n", 0))
    return {
        "share_of_tokens_read_anew": round(
            sum(read[1:]) / (sum(read[1:]) + sum(cached[1:])), 3
        ),
        "seconds_to_first_token": seconds,
        "median_of_turns_11_to_20": round(
            statistics.median(seconds[LATE_TURNS]), 2
        ),
        "last": seconds[-1],
    }


def main(folder: Path = DEFAULT_DATA) -> None:
    """Measure and write ``results/stability.json``."""
    say(f"written: {write_results('stability', asyncio.run(measure(folder)))}")


if __name__ == "__main__":
    main()
