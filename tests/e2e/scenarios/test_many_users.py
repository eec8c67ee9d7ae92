"""Users at once: no failed turn, no fact with the wrong user, none lost, none twice."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import pytest

from tests.e2e.driver.host import InstalledFilter, RunningHost
from tests.e2e.driver.page import Page
from tests.e2e.driver.waiting import until
from tests.e2e.scenarios.extraction import EXTRACT, new, newest_words, operations

USERS, TURNS = 4, 3
SOAK_USERS, SOAK_TURNS = 10, 60

TOLD = re.compile(r"user number (\d+) and I own boat number (\d+)")


def fact(user: int, turn: int) -> str:
    """A fact that tells whose it is and in which turn it was told."""
    return f"User number {user} owns boat number {turn}."


async def chat_along(page: Page, user: int, turns: int) -> None:
    """Tell one fact a turn, in chats of five turns."""
    chat = page.new_chat()
    for turn in range(turns):
        if turn % 5 == 4:
            chat = page.new_chat()
        ended = await chat.send(f"I am user number {user} and I own boat number {turn}.")
        assert ended.content == "Understood.", ended
        assert ended.error is None


@pytest.mark.timeout(3000)
async def test_users_at_once(
    host: RunningHost,
    plugin: InstalledFilter,
    pytestconfig: pytest.Config,
    soaked: Callable[[int], int],
) -> None:
    """Turns of four users at once (600 of ten with --soak) leave each exactly his own facts."""
    soak = pytestconfig.getoption("--soak")
    users, turns = (SOAK_USERS, soaked(SOAK_TURNS)) if soak else (USERS, TURNS)
    pages = [await host.user(f"user{number}") for number in range(users)]

    def extract(body: dict[str, object]) -> dict[str, object]:
        # Messages that wait while a lesson goes on are learned together.
        told = TOLD.findall(newest_words(body))
        return operations(*(new(fact(int(user), int(turn))) for user, turn in told))

    host.model.when_title(EXTRACT, extract)
    await asyncio.gather(*(chat_along(page, user, turns) for user, page in enumerate(pages)))
    expected = users * turns
    await until(
        lambda: (
            len(host.query("SELECT id FROM memory WHERE content LIKE '%owns boat%'")) >= expected
        ),
        60,
        f"{expected} facts in the table",
    )
    await host.rest(60)
    for user, page in enumerate(pages):
        contents = [memory.content for memory in await page.memories()]
        assert len(contents) == turns
        for turn in range(turns):
            assert sum(fact(user, turn) in content for content in contents) == 1
    for request in host.model.chat_requests():
        number = request.user_text.split()[4]
        for other in range(users):
            if str(other) != number:
                assert f"User number {other} owns" not in request.system_prompt
