"""Memories that are proposed, and those that the user did not want never again."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from adaptive.conversation.suggestion_offer import Offered, offer_suggestions, waiting_line
from adaptive.conversation.suggestions import (
    not_rejected,
    suggested_operation,
    suggestion_digest,
    suggestion_of,
)
from adaptive.errors import TablesUnavailable
from adaptive.model import Draft, Operation
from adaptive.ports import Consent
from adaptive.suggestion_ports import Suggestion, WaitingSuggestion
from tests.conversation.listed_suggestions import ListedSuggestions
from tests.fakes import SOURCE, hook_settings, turn

SETTINGS = hook_settings(allowed_memory_banks="General, Work")
TURN = turn("I drink tea and I work at the harbour.")
TEA = Suggestion("preference", "Tea", "General", ("preference",), "User drinks tea.")
JOB = Suggestion("identity", "Job", "Work", ("identity", "goal"), "User works at the harbour.")


def waiting(suggestion: Suggestion) -> WaitingSuggestion:
    """A suggestion that waits, of the turn."""
    return WaitingSuggestion(suggestion_digest(suggestion), suggestion, TURN.source)


class AnsweringUser:
    """A ``Dialog`` that answers as scripted."""

    def __init__(self, *answers: Consent) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def confirm(self, title: str, message: str) -> Consent:
        """The next answer."""
        self.asked.append(message)
        return self.answers.pop(0)

    async def ask(self, title: str, message: str, hint: str) -> str | None:
        """Never asked."""
        raise AssertionError


def test_as_it_is_proposed() -> None:
    """A fact's own words are its title, its first tag the category; bank, date and id are kept."""
    draft = Draft("User works at the harbour.", ("identity", "goal"), "Work", until="2027-02-28")
    update = Operation("UPDATE", "m-1", draft)
    assert suggestion_of(update, SETTINGS) == Suggestion(
        "identity",
        "works at the harbour",
        "Work",
        ("identity", "goal"),
        "User works at the harbour.",
        "2027-02-28",
        "m-1",
    )
    bare = suggestion_of(Operation("NEW", draft=Draft(f"Ana {'x' * 200}")), SETTINGS)
    assert (bare.category, bare.bank, bare.memory_id) == ("fact", "General", "")
    assert len(bare.title) == 80


def test_accepted_is_the_operation() -> None:
    """An accepted suggestion is the change that was found, to pass the gate of writes."""
    for operation in (
        Operation("NEW", draft=Draft("User drinks tea.", ("preference",), "General")),
        Operation(
            "UPDATE", "m-1", Draft("User drinks tea.", ("goal",), "Work", until="2027-02-28")
        ),
    ):
        assert suggested_operation(suggestion_of(operation, SETTINGS)) == operation


async def test_never_again() -> None:
    """What was rejected is not proposed again, in whatever case its title comes."""
    table = ListedSuggestions(suggestion_digest(TEA))
    loud = replace(TEA, title="TEA", content="User loves tea.")
    assert await not_rejected(table, TURN, [loud, JOB]) == (waiting(JOB),)
    table.unavailable = True
    with pytest.raises(TablesUnavailable):
        await not_rejected(table, TURN, [loud, JOB])


def test_digest() -> None:
    """The hash is that of bank, category and title in lower case."""
    expected = hashlib.sha256(b"general:preference:tea").hexdigest()
    assert suggestion_digest(TEA) == expected
    assert len(suggestion_digest(Suggestion("a", "\ud800", "b", (), "c"))) == 64


async def offer(user: AnsweringUser, table: ListedSuggestions, *failing: str) -> Offered:
    """Ask this user in a chat; those with a failing title can't be saved."""

    async def keep(one: WaitingSuggestion) -> bool:
        return one.suggestion.title not in failing

    return await offer_suggestions(user, table, "ada", "c", lambda: 5.0, keep)


async def test_accepted_and_rejected() -> None:
    """The newest is asked about first; a no is kept for good, and a yes once it is saved."""
    table = ListedSuggestions()
    await table.put("ada", [waiting(JOB), waiting(TEA)], 0)
    user = AnsweringUser("no", "yes")
    assert await offer(user, table) == Offered(2)
    assert user.asked[0] == "Tea\nUser drinks tea.\n(General; preference)"
    assert table.digests == {suggestion_digest(TEA)}
    assert table.rows == {}


async def test_unanswered() -> None:
    """Who does not answer is not asked further, and everything waits for the next time."""
    table = ListedSuggestions()
    await table.put("ada", [waiting(TEA), waiting(JOB)], 0)
    user = AnsweringUser("unanswered")
    assert await offer(user, table) == Offered(1, unanswered=True)
    assert (len(table.rows), table.busy) == (2, set())


async def test_not_saved() -> None:
    """What can't be saved waits on, and the next one is asked about all the same."""
    table = ListedSuggestions()
    await table.put("ada", [waiting(TEA), waiting(JOB)], 0)
    assert await offer(AnsweringUser("yes", "yes"), table, "Job") == Offered(2)
    assert tuple(table.rows.values()) == (waiting(JOB),)


async def test_three_at_once() -> None:
    """No more than three questions are asked one after the other."""
    many = [waiting(Suggestion("goal", str(n), "General", (), f"Fact {n}.")) for n in range(5)]
    table = ListedSuggestions()
    await table.put("ada", many, 0)
    assert await offer(AnsweringUser("yes", "no", "yes"), table) == Offered(3)
    assert len(table.rows) == 2


@pytest.mark.parametrize("answer", ["yes", "no"])
async def test_answer_that_can_not_be_written(answer: Consent) -> None:
    """The dialog goes on when the table fails in the middle of it, and it fails before it."""
    table = ListedSuggestions()
    await table.put("ada", [waiting(TEA), waiting(JOB)], 0)
    table.read_only = True
    assert await offer(AnsweringUser(answer, answer), table) == Offered(2)
    table.unavailable = True
    with pytest.raises(TablesUnavailable):
        await offer(AnsweringUser(), table)


def test_waiting_line() -> None:
    """The line counts what waits, and there is none where nothing does."""
    assert [waiting_line(number) for number in (0, 1, 2)] == [
        "",
        "1 suggestion waits for your answer",
        "2 suggestions wait for your answer",
    ]


def test_source_is_the_turn() -> None:
    """A suggestion knows the message that it was made of."""
    assert waiting(TEA).source.chat_id == SOURCE.chat_id
