"""Which proposed changes may be written, and why the others may not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.screen import (
    SCREEN_RULES,
    ScreenContext,
    comparable,
    holds_listed_word,
    refusal,
    screened,
)
from adaptive.model import CATEGORIES, Draft, Operation, OutcomeStatus
from tests.fakes import hook_settings, memory
from tests.rates import labelled_set, over, rate

TEA = memory("m-1", "User likes tea.")
DOG = memory("m-2", "User's dog is called Biscuit.")


def new(content: str, **fields: Any) -> Operation:
    """A proposed new fact."""
    return Operation("NEW", "", Draft(content, **fields))


def update(id: str, content: str) -> Operation:
    """A proposed change."""
    return Operation("UPDATE", id, Draft(content))


def delete(id: str) -> Operation:
    """A proposed removal."""
    return Operation("DELETE", id)


@dataclass(frozen=True)
class Case:
    """Operations where tea and dog are known, and for each its verdict, empty for accepted."""

    id: str
    operations: list[Operation]
    verdicts: list[tuple[OutcomeStatus, str] | None]
    valves: dict[str, Any] = field(default_factory=dict)


KNOWN = ("unchanged", "already known")
SAME = ("unchanged", "it already says so")
SHORT = ("rejected", "shorter than 8 characters")
HATES = update("m-1", "User hates tea.")

CASES = [
    Case("nothing", [], []),
    Case(
        "all kinds",
        [new("User lives here."), HATES, delete("m-2")],
        [None] * 3,
    ),
    Case("known", [new("User likes tea.")], [KNOWN]),
    Case("known in other letters", [new("USER  likes\ntea")], [KNOWN]),
    Case("twice in the reply", [new("User has a cat."), new("user has a cat")], [None, KNOWN]),
    Case(
        "update says the same",
        [update("m-1", "User likes tea")],
        [SAME],
    ),
    Case("update becomes another's", [update("m-1", DOG.content)], [KNOWN]),
    Case(
        "update, then the same as new",
        [HATES, new("User hates tea.")],
        [None, KNOWN],
    ),
    Case(
        "same memory twice",
        [HATES, delete("m-1")],
        [None, ("rejected", "the model changed the same memory twice")],
    ),
    Case("deleted and said anew", [delete("m-1"), new("User likes tea.")], [None, None]),
    Case("said anew and deleted", [new("User likes tea."), delete("m-1")], [None, None]),
    Case("another one deleted", [delete("m-2"), new("User likes tea.")], [None, KNOWN]),
    Case("too short", [new("Tea!")], [SHORT]),
    Case("short enough", [new("喜欢茶")], [None], {"min_memory_length": 3}),
    Case(
        "not sure",
        [new("User may move.", confidence=0.4)],
        [("rejected", "the model is not sure (0.40)")],
    ),
    Case("just sure enough", [new("User may move.", confidence=0.5)], [None]),
    Case(
        "category is off",
        [new("User wants to run.", tags=("goal",))],
        [("rejected", "goal is not to be remembered")],
        {"enable_goal_memory": False},
    ),
    Case(
        "one of its categories is on",
        [new("User wants to run.", tags=("goal", "behavior"))],
        [None],
        {"enable_goal_memory": False},
    ),
    Case("no category", [new("User wants to run.")], [None], {"enable_goal_memory": False}),
    Case(
        "refused fact is not held",
        [new("Tea!"), new("Tea!")],
        [("rejected", "shorter than 8 characters")] * 2,
    ),
    Case("deletion is never doubted", [delete("m-1")], [None], {"min_memory_length": 200}),
]


@over("case", CASES)
def test_screened(case: Case) -> None:
    """Each operation is accepted, or has an outcome with its reason; the order stays."""
    accepted, outcomes = screened(case.operations, [TEA, DOG], hook_settings(**case.valves))
    pairs = list(zip(case.operations, case.verdicts, strict=True))
    assert accepted == [operation for operation, verdict in pairs if verdict is None]
    assert [(one.status, one.content, one.reason) for one in outcomes] == [
        (verdict[0], operation.draft.content, verdict[1])
        for operation, verdict in pairs
        if verdict is not None
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("User likes tea.", " user  LIKES\ntea", True),
        ("Straße", "STRASSE", True),
        ("用户喜欢茶。", "用户喜欢茶", True),
        ("User likes tea", "User likes teas", False),
        ("User likes C", "User likes C++", False),
    ],
)
def test_comparable(one: str, other: str, same: bool) -> None:
    """Case, spaces and the final stop do not count, every other character does."""
    assert (comparable(one) == comparable(other)) is same


@dataclass(frozen=True)
class Verdicts:
    """Facts that a rule refuses, and facts like them that no rule refuses.

    The context is one in which the user sent ``words`` and the assistant was shown ``injected``.
    """

    rule: str
    refused: list[str]
    kept: list[str]
    valves: dict[str, Any] = field(default_factory=dict)
    words: str = ""
    injected: Sequence[str] = ()

    @property
    def id(self) -> str:
        """The rule's name."""
        return self.rule


VERDICTS = [Verdicts(**one) for one in labelled_set("screened_facts")]
REFUSED = [(one, fact) for one in VERDICTS for fact in one.refused]
KEPT = [(one, fact) for one in VERDICTS for fact in one.kept]


def refused_by(fact: str, verdicts: Verdicts) -> str:
    """The name of the rule that refuses a fact first, empty if none does."""
    context = ScreenContext(hook_settings(**verdicts.valves), (), verdicts.words, verdicts.injected)
    return next((one.name for one in SCREEN_RULES if one.refuses(Draft(fact), context)), "")


def test_refused() -> None:
    """Nearly each of these facts is refused, and by this rule before any other."""
    rate(REFUSED, lambda one: refused_by(one[1], one[0]) == one[0].rule).at_least(0.95)


def test_near_misses() -> None:
    """Nearly no rule refuses a fact that only resembles what is refused."""
    rate(KEPT, lambda one: refused_by(one[1], one[0]) == "").at_least(0.97)


WHOLE = ScreenContext(hook_settings())


@dataclass(frozen=True)
class Rescue:
    """A fact, and the reason for which it is refused under these valves and words, or ``None``."""

    id: str
    content: str
    reason: str | None
    valves: dict[str, Any] = field(default_factory=dict)
    words: str = ""
    draft: dict[str, Any] = field(default_factory=dict)


OVER = "it will soon be over"
BARRED = "it holds a word that your admin has ruled out"
TIRED = "User is tired today."
RESCUES = [
    Rescue("refused", TIRED, OVER),
    Rescue("filter off", TIRED, None, {"filter_transient_states": False}),
    Rescue("trivia off", "Water boils at 100 degrees.", None, {"filter_trivia": False}),
    Rescue("whitelisted", TIRED, None, {"whitelist_keywords": "mood, Tired"}),
    Rescue("other word whitelisted", TIRED, OVER, {"whitelist_keywords": "tire"}),
    Rescue(
        "blacklist holds against the whitelist",
        TIRED,
        BARRED,
        {"whitelist_keywords": "tired", "blacklist_topics": "tired"},
    ),
    Rescue(
        "length holds against the whitelist",
        "Tired",
        "shorter than 8 characters",
        {"whitelist_keywords": "tired"},
    ),
    Rescue(
        "whitelisted against doubt",
        TIRED,
        None,
        {"whitelist_keywords": "tired"},
        "",
        {"confidence": 0},
    ),
    Rescue(
        "whitelisted against its category",
        "User wants to run.",
        None,
        {"whitelist_keywords": "run", "enable_goal_memory": False},
        "",
        {"tags": ("goal",)},
    ),
    Rescue("asked for", TIRED, None, {}, "Remember that I'm tired today"),
    Rescue(
        "asked for trivia",
        "Water boils at 100 degrees.",
        None,
        {},
        "Remember: water boils at 100 degrees.",
    ),
    Rescue(
        "something else asked for", TIRED, OVER, {}, "So tired today! Remember that I like tea."
    ),
    Rescue(
        "asked for, and doubted",
        "User may move.",
        "the model is not sure (0.40)",
        {},
        "Remember that I may move.",
        {"confidence": 0.4},
    ),
    Rescue(
        "asked for, and barred",
        "User plays poker.",
        BARRED,
        {"blacklist_topics": "poker"},
        "Remember that I play poker",
    ),
    Rescue("first rule counts", "Poker?", BARRED, {"blacklist_topics": "poker"}),
    Rescue("one Han character is two letters", "用户喜欢茶", None),
    Rescue("a reason with the valve", "用户茶", "shorter than 8 characters"),
]


@over("case", RESCUES)
def test_rescues(case: Rescue) -> None:
    """Valves switch rules off; whitelist and request overrule those that yield to them."""
    context = ScreenContext(hook_settings(**case.valves), (), case.words)
    outcome = refusal(Operation("NEW", "", Draft(case.content, **case.draft)), context)
    assert (outcome.reason if outcome else None) == case.reason


def test_order_of_rules() -> None:
    """The table is in its stated order, and each rule names a valve that exists."""
    assert [rule.name for rule in SCREEN_RULES] == [
        "blacklist",
        "length",
        "confidence",
        "category",
        *(verdicts.rule for verdicts in VERDICTS[2:]),
    ]
    valves = set(hook_settings().model_dump())
    named = {rule.valve for rule in SCREEN_RULES}
    assert {f"enable_{one}_memory" for one in CATEGORIES} <= valves
    assert named - {"enable_<category>_memory"} <= valves


def test_restatement_is_for_new_facts() -> None:
    """An update may say less than what was shown; nothing is said of a deletion."""
    shown = ("User lives in Porto and Lisbon.",)
    lives = Draft("User lives in Porto.")
    context = ScreenContext(hook_settings(), (), "only the first one", shown)
    fresh = refusal(Operation("NEW", "", lives), context)
    assert fresh is not None
    assert (fresh.status, fresh.reason) == ("unchanged", "already known")
    assert refusal(Operation("UPDATE", "m", lives), context) is None
    assert refusal(Operation("DELETE", "m", lives), context) is None


def test_what_is_replaced_may_be_said_anew() -> None:
    """A shown memory that the batch deletes restates nothing."""
    operations = [delete("m-1"), new("The user likes tea.")]
    shown = [TEA.content, DOG.content]
    accepted, outcomes = screened(operations, [TEA, DOG], hook_settings(), "hm", shown)
    assert (accepted, outcomes) == (operations, [])
    accepted, outcomes = screened(operations[1:], [TEA, DOG], hook_settings(), "hm", shown)
    assert accepted == []
    assert [one.status for one in outcomes] == ["unchanged"]


def test_pasted_text_beside_own_words() -> None:
    """What was pasted is refused, what was typed beside it is kept."""
    words = "I moved to Porto.\n> From my friend: I live in Vienna with three parrots."
    facts = [new("User moved to Porto."), new("User lives in Vienna with three parrots.")]
    accepted, outcomes = screened(facts, [], hook_settings(), words)
    assert accepted == facts[:1]
    assert [one.reason for one in outcomes] == ["it stands only in what you quoted or pasted"]


def test_long_typed_text_leaves_doubt() -> None:
    """Of a very long text not every word is known, so nothing is taken for pasted."""
    words = "All is well here. " * 500 + "\n> I live in Vienna."
    assert refusal(new("User lives in Vienna."), ScreenContext(hook_settings(), (), words)) is None


@over(
    "text, listed, expected",
    [
        ("User likes tea", "TEA", True),
        ("User likes green tea", "green tea", True),
        ("User likes teal", "tea", False),
        ("User likes tea", "", False),
        ("User likes tea", " , ,", False),
        ("User likes C++", "c++", True),
        ("Straße", "STRASSE", True),
        ("ﬁre", "fire", True),
        ("喝绿茶", "茶", True),
        ("커피를", "커피", True),
        ("tea", "tea time", False),
        ("teatea tea", "tea", True),
    ],
    at_least=0.85,
)
def test_listed_words(text: str, listed: str, expected: bool) -> None:
    """Words stand alone where there are spaces; letter case and width never count."""
    assert holds_listed_word(text, listed) is expected


@given(st.text(max_size=500), st.text(max_size=200), st.text(max_size=100))
def test_any_fact(content: str, words: str, shown: str) -> None:
    """Any fact in any turn is judged, and a refusal has a reason."""
    context = ScreenContext(WHOLE.settings, (), words, (shown,))
    outcome = refusal(Operation("NEW", "", Draft(content)), context)
    assert outcome is None or outcome.reason


@over("sign", ["a ", "is ", "user ", "'", "疲", "です", "1 ", "-", "я "])
def test_long_facts(sign: str) -> None:
    """A fact of any length is judged: a long one leaves doubt."""
    content = f"User is tired {sign * 20000}"
    assert refusal(new(content), WHOLE) is None
