"""How much of a chat's prompt stays as it was from turn to turn, for a provider's prompt cache.

A chat of 20 questions about neighbouring sessions of one LoCoMo conversation, asked by a user who
remembers its observations: in a saved chat with the filter, where it keeps entries in place; with
the filter as plain API calls with the growing list of messages, which belong to no chat and get
their entries anew each time; and in a saved chat with the host's own memory. A prompt is what the
model receives: the system message, then all others.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.figures import say, spread, write_results
from benchmarks.host import (
    FILTER,
    HOST_MEMORY,
    entries_in,
    measured_host,
    request_saying,
)
from benchmarks.host_recall import remembering_user
from benchmarks.locomo import DEFAULT_DATA, Recollector, load_conversations
from tests.e2e.driver.host import RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.scripted_model import ModelRequest

TURNS = 20
ANSWER = "Understood."
_CLOSING = ("\n</adaptive_memory>", "\n</memory_context>")


async def measure(folder: Path) -> dict[str, Any]:
    """The same 20 questions of each user in all three ways."""
    users = load_conversations(folder)
    figures: dict[str, Any] = {}
    async with measured_host() as host:
        together: dict[str, list[list[ModelRequest]]] = {}
        for about in users:
            page = await remembering_user(host, about)
            questions = on_one_topic(about)
            for name, requests in (
                (
                    "filter, saved chat",
                    await _saved_chat(host, page, questions, FILTER.model),
                ),
                (
                    "filter, nothing kept in place",
                    await _calls(host, page, questions),
                ),
                (
                    "host memory, saved chat",
                    await _saved_chat(host, page, questions),
                ),
            ):
                together.setdefault(name, []).append(requests)
        version = host.version
    for name, chats in together.items():
        figures[name] = _summary(chats)
        say(f"{name}: {figures[name]}")
    return {
        "open_webui": version,
        "turns": TURNS,
        "users": [about.name for about in users],
        "variants": figures,
    }


def on_one_topic(about: Recollector) -> list[str]:
    """Questions in the order of their evidence, from the middle of the conversation on."""
    pairs = zip(about.gold, about.questions, strict=True)
    ordered = [
        question
        for _, question in sorted(pairs, key=lambda pair: min(pair[0]))
    ]
    start = max(0, (len(ordered) - TURNS) // 2)
    return ordered[start : start + TURNS]


async def _saved_chat(
    host: RunningHost,
    page: Page,
    questions: Sequence[str],
    model: str = HOST_MEMORY.model,
) -> list[ModelRequest]:
    chat = page.new_chat(model=model)
    received: list[ModelRequest] = []
    for question in questions:
        host.model.requests.clear()
        await chat.send(question, features={"memory": True})
        received.append(request_saying(host, question))
    return received


async def _calls(
    host: RunningHost, page: Page, questions: Sequence[str]
) -> list[ModelRequest]:
    said: list[dict[str, Any]] = []
    received: list[ModelRequest] = []
    for question in questions:
        said.append({"role": "user", "content": question})
        host.model.requests.clear()
        await page.complete(
            said, model=FILTER.model, features={"memory": True}
        )
        received.append(request_saying(host, question))
        said.append({"role": "assistant", "content": ANSWER})
    return received


def _summary(chats: Sequence[Sequence[ModelRequest]]) -> dict[str, Any]:
    pairs = [pair for chat in chats for pair in itertools.pairwise(chat)]
    shares = [
        shared_prefix(_prompt(one), _prompt(next_)) for one, next_ in pairs
    ]
    kept = [
        next_.system_prompt.startswith(_open(one.system_prompt))
        for one, next_ in pairs
    ]
    same = [one.system_prompt == next_.system_prompt for one, next_ in pairs]
    whole = [share == 1 for share in shares]
    last = [len(entries_in(chat[-1].prompt)) for chat in chats]
    return {
        "prefix_share": spread(shares),
        "prefix_share_mean": round(sum(shares) / len(shares), 3),
        "turns_with_whole_prompt_kept": round(sum(whole) / len(whole), 3),
        "turns_with_system_prompt_kept_to_its_closing": round(
            sum(kept) / len(kept), 3
        ),
        "turns_with_identical_system_prompt": round(sum(same) / len(same), 3),
        "entries_in_last_turn": round(sum(last) / len(last), 1),
        "prefix_share_by_turn_of_first_user": [
            round(one, 3) for one in shares[: TURNS - 1]
        ],
    }


def shared_prefix(one: str, next_: str) -> float:
    """The share of a text that the next one begins with."""
    pairs = zip(one, next_, strict=False)
    equal = sum(
        1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)
    )
    return equal / len(one)


def _prompt(request: ModelRequest) -> str:
    """All that the model reads; nothing marks the end of the list, where the next turn goes on."""
    return "\n".join(
        json.dumps([one.get("role"), one.get("content")], ensure_ascii=False)
        for one in request.messages
    )


def _open(prompt: str) -> str:
    """A system prompt up to the marker that closes its memories."""
    for closing in _CLOSING:
        if closing in prompt:
            return prompt.rpartition(closing)[0]
    return prompt


def main(folder: Path = DEFAULT_DATA) -> None:
    """Measure and write ``results/stability.json``."""
    say(f"written: {write_results('stability', asyncio.run(measure(folder)))}")


if __name__ == "__main__":
    main()
