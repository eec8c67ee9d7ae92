"""Memories that are proposed, and those that the user did not want never again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from adaptive.answer.suggestions import (
    Suggestions,
    suggestion_digest,
    suggestion_of,
)
from adaptive.core.errors import TablesUnavailable
from adaptive.core.kept import Suggestion, WaitingSuggestion
from adaptive.core.model import Draft, Operation
from adaptive.core.ports import Consent
from tests.answer.listed_suggestions import ListedSuggestions
from tests.fakes import hook_settings, turn

SETTINGS = hook_settings(allowed_memory_banks="General, Work")
TURN = turn("I drink tea and I work at the harbour.")
TEA = Suggestion("preference", "Tea", "General", ("preference",), "User drinks tea.")
JOB = Suggestion("identity", "Job", "Work", ("identity", "goal"), "User works at the harbour.")


def waiting(suggestion: Suggestion) -> WaitingSuggestion:
    """A suggestion that waits, of the turn."""
    return WaitingSuggestion(suggestion_digest(suggestion), suggestion, TURN.source)


class AnsweringUser:
    """A ``Dialog`` that answers as scripted."""

    def __init__(self, answer: str | None) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str, str]] = []

    async def confirm(self, title: str, message: str) -> Consent:
        """Never asked."""
        raise AssertionError

    async def ask(self, title: str, message: str, hint: str, value: str = "") -> str | None:
        """The answer."""
        self.asked.append((title, message, value))
        return self.answer


def test_as_it_is_proposed() -> None:
    """A fact's own words are its title, its first tag the category; bank, date and id are kept."""
    draft = Draft("User works at the harbour.", ("identity", "goal"), "Work", until="2027-02-28")
    found = suggestion_of(Operation("UPDATE", "m-1", draft), SETTINGS)
    assert found == replace(JOB, title="works at the harbour", until=draft.until, memory_id="m-1")
    bare = suggestion_of(Operation("NEW", draft=Draft(f"Ana {'x' * 200}")), SETTINGS)
    assert (bare.category, bare.bank, bare.memory_id, len(bare.title)) == (
        "fact",
        "General",
        "",
        80,
    )


async def held() -> bool:
    """The turn is this worker's."""
    return True


async def test_proposed() -> None:
    """Three changes wait, of which none was rejected or waits; what is held of a user goes."""
    table: Any = ListedSuggestions(suggestion_digest(replace(TEA, title="drinks TEA")))
    suggestions = Suggestions(table, lambda: 5.0)
    facts = ("User drinks tea.", "User works.", "user works", "User sings.", "User sleeps.")
    found = [Operation("NEW", draft=Draft(one, ("preference",))) for one in facts]
    assert await suggestions.propose(TURN, found[:2], SETTINGS, held) == 1
    assert await suggestions.propose(TURN, found[2:], SETTINGS, held) == 2
    assert [one.suggestion.content for one in table.rows.values()] == [facts[1], *facts[3:]]
    assert suggestions.proposed("ada") == (facts[1], *facts[3:])
    suggestions.forget("ada")
    assert suggestions.proposed("ada") == ()
    table.unavailable = True
    with pytest.raises(TablesUnavailable):
        await suggestions.propose(TURN, found, SETTINGS, held)


async def offer(user: AnsweringUser, table: Any, *failing: str) -> str:
    """Ask this user in a chat; those with a failing title can't be saved."""

    async def keep(one: WaitingSuggestion) -> bool:
        return one.suggestion.title not in failing

    return await Suggestions(table, lambda: 5.0).offer(user, "ada", "c", keep)


async def two() -> ListedSuggestions:
    """A table in which the job is number 1 and the tea number 2."""
    table = ListedSuggestions()
    await table.put("ada", [waiting(TEA), waiting(JOB)], 0)
    return table


@dataclass(frozen=True)
class Case:
    """An answer to the dialog: what is rejected for good, what waits on, and whether it rests."""

    id: str
    answer: str | None
    rejected: tuple[Suggestion, ...] = ()
    waiting: tuple[Suggestion, ...] = ()
    rests: bool = False


@pytest.mark.parametrize(
    "case",
    [
        Case("all kept", "1, 2"),
        Case("one kept", "1", waiting=(TEA,)),
        Case("one rejected", "1 -2", rejected=(TEA,)),
        Case("both rejected", "-1,-2", rejected=(JOB, TEA)),
        Case("cancelled", "", waiting=(TEA, JOB), rests=True),
        Case("unanswered", None, waiting=(TEA, JOB)),
        Case("something else typed", "1, 2What goes with it?", waiting=(TEA, JOB)),
        Case("not asked about", "1, 3", waiting=(TEA, JOB)),
        Case("other signs", "1. \u22122", rejected=(TEA,)),
    ],
    ids=lambda case: case.id,
)
async def test_one_dialog(case: Case) -> None:
    """All that waits is asked about at once; a yes and a no are for each number by itself."""
    table, user = await two(), AnsweringUser(case.answer)
    left = "2 suggestions wait for your answer" if case.answer is None else ""
    assert await offer(user, table) == left
    ((title, message, value),) = user.asked
    assert (title, value) == ("Keep these?", "1, 2")
    assert message.splitlines()[:2] == [
        "1. User works at the harbour. (Work; identity, goal)",
        "2. User drinks tea. (General; preference)",
    ]
    assert table.digests == {suggestion_digest(one) for one in case.rejected}
    assert [one.suggestion for one in table.rows.values()] == list(case.waiting)
    assert bool(table.busy & table.rows.keys()) is case.rests


async def test_not_saved() -> None:
    """What can't be saved waits on; where nothing waits nobody is asked."""
    table = await two()
    assert await offer(AnsweringUser("1, 2"), table, "Job") == ""
    assert tuple(table.rows.values()) == (waiting(JOB),)
    user = AnsweringUser("1")
    assert await offer(user, ListedSuggestions()) == ""
    assert user.asked == []
