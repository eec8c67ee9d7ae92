"""Past chats that are looked for, and the one offer to recall them."""

from __future__ import annotations

from math import inf
from typing import Any
from unittest.mock import AsyncMock

import pytest

from adaptive.history.conversation import PastConversation
from adaptive.history.finding import ChatFinder
from adaptive.llm.ask import AnswerFormats
from adaptive.settings.hook import StatusLines
from adaptive.settings.valves import UserValves
from tests.fakes import TurnHook, hook_settings
from tests.history.world import DAY, START, World, chat_of

BUDGET = "Kitchen budget"


class Told(StatusLines):
    """Status lines that are noted."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    async def notice(self, hook: Any, line: str, once: str = "") -> None:
        """Note it."""
        self.lines.append(line)


class Desk(World):
    """A user who looks for chats, each called by its id."""

    def __init__(self, **chats: list[dict[str, Any]]) -> None:
        super().__init__(**chats)
        self.told = Told()
        past = PastConversation(
            vectors=self.vectors,
            chats=self.chats,
            notes=self.notes,
            formats=AnswerFormats(),
            nulls=self.null_vectors,
        )
        self.finder = ChatFinder(
            past=past,
            chats=self.chats,
            leases=self.leases,
            status=self.told,
        )

    async def offered(self, words: str, **user: Any) -> list[str]:
        """The lines after a first message of somebody with these valves."""
        own = UserValves(**user)
        settings = hook_settings(own, history_recall_default="off")
        hook: Any = TurnHook(settings, self.embedder)
        message = {"role": "user", "content": words}
        await self.finder.offer(hook, [message])
        return self.told.lines


def desk() -> Desk:
    """Two chats, a day apart."""
    return Desk(
        **{
            BUDGET: chat_of("b", "We have 4000 for it", "I see"),
            "Bees": chat_of("s", "How do bees sleep?", start=START + DAY),
        }
    )


async def test_titles() -> None:
    """Without an index titles are searched, or all chats of a time are listed, the newest first."""
    finder, hook = desk().finder, desk().hook()
    listed = await finder.titled(hook, "", 0, inf)
    assert [chat.title for chat in listed] == ["Bees", BUDGET]
    found = await finder.titled(hook, "the budget of 2026", 0, inf)
    assert [chat.title for chat in found] == [BUDGET]
    assert await finder.titled(hook, "budget", START + DAY, inf) == []


async def test_about() -> None:
    """What was said is found where it is indexed, with its day; nothing beyond the time."""
    house = desk()
    for chat_id, messages in house.chats.rows.items():
        for message in messages:
            message["chat_id"] = chat_id
        await house.index(chat_id)
    hook = house.hook()
    found = await house.finder.about(hook, "how bees sleep", 0, inf)
    assert (found[0].title, found[0].said_at) == ("Bees", START + DAY)
    early = await house.finder.about(hook, "how bees sleep", 0, START + DAY)
    assert "Bees" not in [chat.title for chat in early]
    house.embedder.failing = True
    assert await house.finder.about(hook, "sleep", 0, inf) == ()


async def test_offered_once() -> None:
    """A first message that is like a title brings the offer, once in a life, and titles alone."""
    house = desk()
    assert await house.offered("How is the weather?") == []
    (line,) = await house.offered("Let us plan the kitchen budget anew")
    assert line.startswith(f'This may continue your chat "{BUDGET}".')
    # No title is read for who was offered it before.
    house.chats.listed = AsyncMock(side_effect=AssertionError)
    assert await house.offered("And the kitchen budget?") == [line]
    assert house.chats.read == house.embedder.calls == []


@pytest.mark.parametrize(
    "user", [{"history_recall": "off"}, {"history_recall": "all"}]
)
async def test_whoever_has_chosen_is_not_asked(user: dict[str, str]) -> None:
    """What a user has switched on or off is not offered."""
    assert await desk().offered("The kitchen budget again", **user) == []


async def test_not_offered_where_it_is_not_allowed() -> None:
    """An administrator who allows none has none offered; nor is it within a chat, or to readers."""
    house = desk()
    message = {"role": "user", "content": "The kitchen budget again"}
    for messages, valves in (
        ([message], {"history_recall": "off"}),
        ([message, message], {}),
    ):
        hook: Any = TurnHook(hook_settings(**valves), house.embedder)
        await house.finder.offer(hook, messages)
    shared: Any = TurnHook(
        hook_settings(), house.embedder, known_kind="shared"
    )
    await house.finder.offer(shared, [message])
    assert house.told.lines == []
