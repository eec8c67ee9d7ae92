"""Memories that are proposed, and those that the user did not want never again."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import pytest

from adaptive.core.marks import Place
from adaptive.core.model import Draft, Proposal
from adaptive.learn.suggestions import (
    NO_ROOM,
    REJECTED_BEFORE,
    WAITS,
    WAITS_ALREADY,
    Suggestions,
    suggestion_digest,
)
from adaptive.memory.suggestion_table import (
    MOST_WAITING_SUGGESTIONS,
    SuggestionTable,
    WaitingSuggestion,
)
from adaptive.settings.hook import Hook, PageQuestion
from tests.fakes import ListedEntries, turn
from tests.learn.world import HeldLeases

TURN = turn("I drink tea and I work at the harbour.")
TEA = Draft("User drinks tea.", ("preference",), "General")
JOB = Draft("User works at the harbour.", ("identity", "goal"), "Work")


def waiting(draft: Draft) -> WaitingSuggestion:
    """A suggestion that waits, of the turn."""
    return WaitingSuggestion(suggestion_digest(draft), draft, "", TURN.source)


class AnsweringUser:
    """A ``Dialog`` that answers as scripted."""

    def __init__(self, answer: Sequence[int] | None) -> None:
        self.answer = answer
        self.asked: list[PageQuestion] = []

    async def confirm(self, title: str, message: str) -> bool | None:
        raise AssertionError

    async def choose(self, question: PageQuestion) -> Sequence[int] | None:
        self.asked.append(question)
        return self.answer


async def held() -> bool:
    """The turn is this worker's."""
    return True


async def test_proposed() -> None:
    """All changes of a turn wait of which none was rejected or waits."""
    table = SuggestionTable(ListedEntries(), HeldLeases())
    await table.reject(
        "ada", suggestion_digest(Draft("drinks TEA", TEA.tags)), 0
    )
    suggestions = Suggestions(table, lambda: 5.0)
    facts = (
        "User drinks tea.",
        "User works.",
        "user works",
        "User sings.",
        "User sleeps.",
    )
    more = ("User runs.", "User paints.", "User reads.")
    found = [
        Proposal("NEW", draft=Draft(one, ("preference",)))
        for one in (*facts, *more)
    ]
    decided = [
        *await suggestions.propose(TURN, found[:2], held),
        *await suggestions.propose(TURN, found[2:], held),
    ]
    assert [(one.status, one.reason) for one in decided] == [
        ("superseded", REJECTED_BEFORE),
        ("suggested", WAITS),
        ("superseded", WAITS_ALREADY),
        *[("suggested", WAITS)] * 5,
    ]
    ended = Proposal("END", "m-1", draft=Draft("User flies."))
    assert await suggestions.propose(TURN, [ended], held) == [ended]
    waiting = {one.draft.content for one in await table.waiting("ada")}
    assert waiting == {facts[1], *facts[3:], *more}


async def test_no_room() -> None:
    """What finds no room is refused with its reason, and nothing that waits gives way to it."""
    table = SuggestionTable(ListedEntries(), HeldLeases())
    suggestions = Suggestions(table, lambda: 5.0)
    found = [
        Proposal("NEW", draft=Draft(f"User has been to {one}."))
        for one in range(25)
    ]
    late = [
        one.decided("rejected", NO_ROOM)
        for one in found[MOST_WAITING_SUGGESTIONS:]
    ]
    decided = await suggestions.propose(TURN, found, held)
    assert decided[MOST_WAITING_SUGGESTIONS:] == late
    assert (
        await suggestions.propose(TURN, found[MOST_WAITING_SUGGESTIONS:], held)
        == late
    )
    waiting = {one.draft.content for one in await table.waiting("ada")}
    assert waiting == {
        one.draft.content for one in found[:MOST_WAITING_SUGGESTIONS]
    }


async def offer(
    user: AnsweringUser, table: SuggestionTable, *failing: str
) -> str:
    """Ask this user in a chat; those that fail can't be saved."""

    async def keep(one: WaitingSuggestion) -> bool:
        return one.draft.content not in failing

    hook = SimpleNamespace(
        user_id="ada", chat_id="chat", dialog=user, place=Place()
    )
    return await Suggestions(table, lambda: 5.0).offer(cast(Hook, hook), keep)


async def two() -> SuggestionTable:
    """A table in which the job is number 1 and the tea number 2."""
    table = SuggestionTable(ListedEntries(), HeldLeases())
    await table.put("ada", [waiting(TEA), waiting(JOB)])
    return table


@pytest.mark.parametrize(
    ("answer", "rejected", "left"),
    [
        ((1, 0), [], [TEA]),
        ((1, 2), [TEA], []),
        ((2, 2), [JOB, TEA], []),
        ((0, 0), [], [JOB, TEA]),
        ((), [], [JOB, TEA]),
        (None, [], [JOB, TEA]),
    ],
)
async def test_one_dialog(
    answer: Sequence[int] | None, rejected: list[Draft], left: list[Draft]
) -> None:
    """All that waits is asked about at once; a yes and a no are for each number by itself."""
    table, user = await two(), AnsweringUser(answer)
    told = "2 suggestions wait for your answer" if answer is None else ""
    assert await offer(user, table) == told
    (question,) = user.asked
    assert (question.title, question.preset) == ("Keep this?", 1)
    assert question.entries == [
        "User works at the harbour. (Work; identity, goal)",
        "User drinks tea. (General; preference)",
    ]
    digests = {suggestion_digest(one) for one in (TEA, JOB)}
    no = await table.rejected("ada", digests)
    assert no == {suggestion_digest(one) for one in rejected}
    assert [one.draft for one in await table.waiting("ada")] == left
    if answer is not None:
        assert await table.claim("ada", (), 6, 9, Place()) == []  # it rests
    asked_again = await table.claim("ada", (), 700, 9, Place())
    assert [one.draft for one in asked_again] == left


async def test_not_saved() -> None:
    """What can't be saved waits on; where nothing waits nobody is asked."""
    table = await two()
    assert await offer(AnsweringUser((1, 1)), table, JOB.content) == ""
    assert await table.waiting("ada") == (waiting(JOB),)
    user = AnsweringUser((1,))
    assert (
        await offer(user, SuggestionTable(ListedEntries(), HeldLeases())) == ""
    )
    assert user.asked == []
