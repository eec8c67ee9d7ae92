"""Chats of made-up people from before the plug-in was there, as the host's own import brings them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.e2e.driver.made_up_lives import Saying, facts_in
from tests.e2e.driver.page import Page

DAY_SECONDS = 24 * 3600
_BEGIN = 1_672_560_000  # in January 2023
_BETWEEN_CHATS_SECONDS = 2.5 * DAY_SECONDS
_BETWEEN_MESSAGES_SECONDS = 300


@dataclass(frozen=True, slots=True)
class PastMessage:
    """What a user has said, and when."""

    saying: Saying
    said_at: int


@dataclass(frozen=True, slots=True)
class PastFact:
    """What a fact is in the end, and when that was said: it may have been said again."""

    told: str
    said_at: frozenset[int]


def past_chats(
    sayings: Sequence[Saying], messages_each: int
) -> list[list[PastMessage]]:
    """Chats of some messages each, one every other day or so."""
    return [
        [
            PastMessage(
                saying,
                int(_BEGIN + at / messages_each * _BETWEEN_CHATS_SECONDS)
                + number * _BETWEEN_MESSAGES_SECONDS,
            )
            for number, saying in enumerate(sayings[at : at + messages_each])
        ]
        for at in range(0, len(sayings), messages_each)
    ]


def facts_of(chats: Sequence[Sequence[PastMessage]]) -> dict[int, PastFact]:
    """What is so in the end, by the number of each fact."""
    facts: dict[int, PastFact] = {}
    for message in (message for chat in chats for message in chat):
        for fact in message.saying.facts:
            former = facts.get(fact.number)
            times = {message.said_at}
            if former and former.told == fact.told:
                times |= former.said_at
            facts[fact.number] = PastFact(fact.told, frozenset(times))
    return facts


async def bring_along(
    page: Page,
    chats: Sequence[Sequence[PastMessage]],
    titles: Sequence[str] = (),
) -> None:
    """Import chats as the page does with an export, by default titled by their dates."""
    forms = [_form(chat) for chat in chats]
    for form, title in zip(forms, titles, strict=False):
        form["chat"]["title"] = title
    await page.request("POST", "/api/v1/chats/import", {"chats": forms})


def _form(chat: Sequence[PastMessage]) -> dict[str, Any]:
    messages: dict[str, dict[str, Any]] = {}
    parent: str | None = None
    for message in chat:
        for role, content in (
            ("user", message.saying.words),
            ("assistant", "I see."),
        ):
            id_ = str(uuid.uuid4())
            messages[id_] = {
                "id": id_,
                "parentId": parent,
                "childrenIds": [],
                "role": role,
                "content": content,
                "model": "gpt-4o",
                "done": True,
                "timestamp": message.said_at,
            }
            if parent:
                messages[parent]["childrenIds"].append(id_)
            parent = id_
    title = f"Chat of {datetime.fromtimestamp(chat[0].said_at).astimezone():%d %B %Y}"
    return {
        "chat": {
            "title": title,
            "models": ["gpt-4o"],
            "history": {"currentId": parent, "messages": messages},
            "messages": [*messages.values()],
        },
        "created_at": chat[0].said_at,
        "updated_at": chat[-1].said_at,
    }


async def compared(
    page: Page, facts: dict[int, PastFact], dates: dict[str, int]
) -> dict[str, Any]:
    """What is remembered against what was said; ``dates`` are those of the rows, by their ids."""
    memories = await page.memories()
    numbers = {
        memory.id: facts_in(memory.content)[0][0] for memory in memories
    }
    found = {
        numbers[memory.id]: memory
        for memory in memories
        if facts[numbers[memory.id]].told in memory.content
    }
    dated = [
        memory
        for number, memory in found.items()
        if dates[memory.id] // DAY_SECONDS
        in {said_at // DAY_SECONDS for said_at in facts[number].said_at}
    ]
    return {
        "facts": len(facts),
        "found": len(found),
        "dates_right": len(dated),
        "twice": len(memories) - len({*numbers.values()}),
        "not_as_said_last": sorted(
            memory.content
            for memory in memories
            if memory not in found.values()
        ),
    }
