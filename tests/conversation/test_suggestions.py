"""Memories proposed in two steps, and those that the user did not want never again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from adaptive.conversation.suggestion_offer import Offered, offer_suggestions, waiting_line
from adaptive.conversation.suggestions import (
    Suggester,
    SuggestionRules,
    not_rejected,
    read_categories,
    read_suggestions,
    suggestion_digest,
    suggestion_draft,
)
from adaptive.errors import (
    ModelBusy,
    ModelError,
    ModelRejected,
    ReplyUnusable,
    TablesUnavailable,
)
from adaptive.llm.ask import AnswerFormats
from adaptive.model import Completion, Draft, Utterance
from adaptive.ports import Consent
from adaptive.retry import RetryPolicy
from adaptive.suggestion_ports import Suggestion, WaitingSuggestion
from tests.conversation.listed_suggestions import ListedSuggestions
from tests.fakes import SOURCE, ScriptedModel, turn
from tests.rates import over

NOW = datetime(2026, 11, 21, 9, 5, tzinfo=UTC)
RULES = SuggestionRules(banks=("General", "Work"), deadline=30, retry=RetryPolicy(1, 0))
TURN = turn("I drink tea and I work at the harbour.")
TEA = Suggestion("preference", "Tea", "General", ("preference",), "User drinks tea.")
JOB = Suggestion("identity", "Job", "Work", ("identity", "goal"), "User works at the harbour.")


def entry(suggestion: Suggestion, **changed: Any) -> dict[str, Any]:
    """A suggestion as a model writes it."""
    names = ("category", "title", "bank", "tags", "content")
    return {**{name: getattr(suggestion, name) for name in names}, **changed}


def entries(*items: Any) -> str:
    """The reply to the second question."""
    return json.dumps({"suggestions": items})


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


def suggester(model: ScriptedModel, asked: list[None] | None = None) -> Suggester:
    """A suggester with this model; each question is noted."""
    noted = [] if asked is None else asked
    return Suggester(model, AnswerFormats(), RULES, lambda: noted.append(None))


async def test_two_questions() -> None:
    """Categories first, then one entry for each; both are counted, and neither obeys the user."""
    asked: list[None] = []
    model = ScriptedModel(
        '{"categories": ["Preference", "identity"]}', entries(entry(JOB), entry(TEA))
    )
    said = replace(TURN, earlier=(Utterance("assistant", "Where do\nyou work?"),))
    assert await suggester(model, asked).suggested(said, NOW) == (TEA, JOB)
    first, second = model.requests
    assert first.system.startswith("# Suggest categories\n")
    assert second.system.startswith("# Suggest entries\n")
    assert "preference, identity." in second.system and "General, Work." in second.system
    assert "Saturday, 21 November 2026" in second.system
    for one in model.requests:
        assert TURN.words in one.user and "assistant: Where do you work?" in one.user
        assert "$" not in one.system
    assert len(asked) == 2


async def test_nothing_to_remember() -> None:
    """Without a category there is no second question; with none allowed there is none at all."""
    model = ScriptedModel('{"categories": []}')
    assert await suggester(model).suggested(TURN, NOW) == ()
    assert len(model.requests) == 1
    barred = replace(suggester(model), rules=replace(RULES, categories=()))
    assert await barred.suggested(TURN, NOW) == ()


async def test_never_again() -> None:
    """What was rejected is not proposed again, in whatever case its title comes."""
    table = ListedSuggestions(suggestion_digest(TEA))
    loud = replace(TEA, title="TEA", content="User loves tea.")
    assert await not_rejected(table, TURN, [loud, JOB]) == (waiting(JOB),)
    table.unavailable = True
    with pytest.raises(TablesUnavailable):
        await not_rejected(table, TURN, [loud, JOB])


@pytest.mark.parametrize(
    "script",
    [
        [ModelRejected("no", 401)],
        ["None."],
        ['{"categories": 5}'],
        ['{"categories": ["identity"]}', "Sure!"],
        ['{"categories": ["identity"]}', ModelRejected("no", 401)],
    ],
    ids=["refused", "prose", "no list", "prose then", "refused then"],
)
async def test_failed(script: list[Any]) -> None:
    """Where a question fails nothing is proposed, and the reason is told."""
    with pytest.raises(ModelError):
        await suggester(ScriptedModel(*script)).suggested(TURN, NOW)


async def test_late() -> None:
    """A model that hangs is left behind at the deadline, and nothing is proposed."""
    model = ScriptedModel('{"categories": ["preference"]}')
    model.gate.clear()
    late = replace(suggester(model), rules=replace(RULES, deadline=0.01))
    with pytest.raises(ModelBusy, match=r"within 0.01 s"):
        await late.suggested(TURN, NOW)
    assert model.running == 0


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"categories": ["goal", "weather", "GOAL", "identity", "behavior", "preference"]}',
         ("goal", "identity", "behavior")),
        ('{"categories": "goal, identity"}', ("goal", "identity")),
        ('{"categories": [{"category": "goal"}, 7, null]}', ("goal",)),
    ],
)  # fmt: skip
def test_three_categories(text: str, read: tuple[str, ...]) -> None:
    """Three of the offered categories at most, each once."""
    assert read_categories(Completion(text), RULES.categories) == read


@over(
    "item",
    [
        entry(TEA, title=""),
        entry(TEA, title="x" * 90),
        entry(TEA, content="<one sentence>"),
        entry(TEA, content=["User drinks tea."]),
        entry(TEA, category="goal"),
        7,
        None,
    ],
)
def test_unusable_entry(item: Any) -> None:
    """An entry that says nothing, or is of no chosen category, is left out."""
    found = read_suggestions(
        Completion(entries(item, entry(JOB))), ("preference", "identity"), RULES
    )
    assert found == (JOB,)


def test_defaults_of_an_entry() -> None:
    """The first bank is the usual one; the category stands for unknown tags and a secret title."""
    item = entry(TEA, bank="Elsewhere", tags=["weather"])
    assert read_suggestions(Completion(entries(item)), ("preference",), RULES) == (TEA,)
    secret = entry(TEA, title="Password hunter2-Xk29!vQ")
    (found,) = read_suggestions(Completion(entries(secret)), ("preference",), RULES)
    assert found.title == "preference"
    twice = entries(entry(TEA), entry(TEA, title="Other"))
    assert read_suggestions(Completion(twice), ("preference",), RULES) == (TEA,)
    with pytest.raises(ReplyUnusable):
        read_suggestions(Completion("no"), ("preference",), RULES)


def test_digest() -> None:
    """The hash is that of bank, category and title in lower case."""
    expected = hashlib.sha256(b"general:preference:tea").hexdigest()
    assert suggestion_digest(TEA) == expected
    assert len(suggestion_digest(Suggestion("a", "\ud800", "b", (), "c"))) == 64


def test_draft() -> None:
    """An accepted suggestion is a new memory, still to pass the gate."""
    draft = Draft("User works at the harbour.", ("identity", "goal"), "Work")
    assert suggestion_draft(JOB) == draft


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
