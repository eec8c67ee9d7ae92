"""What a pre-processed turn changes, and that without one nothing changes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.conversation.preprocess import Preprocessing
from adaptive.conversation.preprocess_effects import (
    HARM_WARNING,
    INJECTION_WARNING,
    CareNotice,
    HarmfulMode,
    extraction_language,
    harm_notice,
    injection_notice,
    lifted_candidates,
    may_learn_from,
    retrieval_text,
)
from adaptive.model import Candidate
from tests.fakes import memory

MEMORIES = [
    memory("a", "User drinks tea.", tags=("preference",)),
    memory("b", "User works at the harbour.", bank="Work"),
    memory("c", "User is called Ada.", tags=("identity",)),
]


def candidates(*scores: float) -> list[Candidate]:
    """The memories with these scores."""
    return [Candidate(one, score) for one, score in zip(MEMORIES, scores, strict=True)]


def test_nothing_without_a_result() -> None:
    """Where the call brought nothing, everything is as without it."""
    given_ones = candidates(0.3, 0.9, 0.5)
    assert retrieval_text("When?", None) == "When?"
    assert lifted_candidates(given_ones, None) == tuple(given_ones)
    assert lifted_candidates(given_ones, Preprocessing()) == tuple(given_ones)
    assert extraction_language("", None) == ""
    assert injection_notice(None) == harm_notice(None) == CareNotice()
    assert may_learn_from(None)


def test_query_joins() -> None:
    """The query stands below the message, unless the message says it already."""
    found = Preprocessing(search_query="when did Ada move")
    assert retrieval_text("And when was that?", found) == "And when was that?\nwhen did Ada move"
    assert retrieval_text("Tell me WHEN did Ada move?", found) == "Tell me WHEN did Ada move?"
    assert retrieval_text("", found) == "when did Ada move"


@dataclass(frozen=True)
class Lift:
    """Scores in the order that ranking gave, and which memory comes where, with its score."""

    id: str
    scores: tuple[float, float, float]
    relevant: tuple[str, ...]
    order: tuple[tuple[str, float], ...]


@pytest.mark.parametrize(
    "case",
    [
        Lift(
            "both pass",
            (0.5, 0.48, 0.45),
            ("work", "Identity"),
            (("b", 0.558), ("c", 0.5325), ("a", 0.5)),
        ),
        Lift("too far", (0.9, 0.5, 0.4), ("Work",), (("a", 0.9), ("b", 0.575), ("c", 0.4))),
        Lift(
            "one passes one",
            (0.9, 0.6, 0.55),
            ("identity",),
            (("a", 0.9), ("c", 0.6175), ("b", 0.6)),
        ),
        Lift("ranked by more", (0.3, 0.9, 0.5), ("harvest",), (("a", 0.3), ("b", 0.9), ("c", 0.5))),
        Lift(
            "lifted ones keep order",
            (0.6, 0.5, 0.55),
            ("work", "Identity"),
            (("a", 0.6), ("b", 0.575), ("c", 0.6175)),
        ),
    ],
    ids=lambda case: case.id,
)
def test_relevant_ones_are_lifted(case: Lift) -> None:
    """Relevant banks and tags come up, in whatever case, by a part of what is missing to 1."""
    found = Preprocessing(relevant_categories=case.relevant)
    lifted = lifted_candidates(candidates(*case.scores), found)
    assert [(one.memory.id, round(one.score, 4)) for one in lifted] == list(case.order)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3), st.floats(0, 1))
def test_lifted_stays_in_range(scores: list[float], lift: float) -> None:
    """No score leaves its range, and nothing is lost."""
    found = Preprocessing(relevant_categories=("preference", "Work"))
    lifted = lifted_candidates(candidates(*scores), found, lift)
    assert {one.memory.id for one in lifted} == {"a", "b", "c"}
    assert all(0 <= one.score <= 1 for one in lifted)


def test_language() -> None:
    """The admin's language comes before the message's."""
    found = Preprocessing(language_code="pt")
    assert extraction_language(" German ", found) == "German"
    assert extraction_language("", found) == "the language with the ISO 639 code 'pt'"


def test_injection() -> None:
    """From the threshold on the model is warned and the turn is not learned; 0 turns it off."""
    likely, unlikely = (Preprocessing(prompt_injection_chance=one) for one in (0.8, 0.79))
    assert injection_notice(likely) == CareNotice(
        "prompt injection is likely (80%)", INJECTION_WARNING
    )
    assert not may_learn_from(likely)
    assert injection_notice(unlikely) == CareNotice()
    assert may_learn_from(unlikely)
    assert injection_notice(Preprocessing(), 0) == injection_notice(likely, 0) == CareNotice()


@dataclass(frozen=True)
class Case:
    """A score, what is to be done from 8 on, and what is done."""

    id: str
    score: float
    mode: HarmfulMode
    noted: bool
    warned: bool


@pytest.mark.parametrize(
    "case",
    [
        Case("off", 10, "off", False, False),
        Case("below", 7.9, "warn", False, False),
        Case("note", 8, "note", True, False),
        Case("warn", 8, "warn", True, True),
    ],
    ids=lambda case: case.id,
)
def test_harm(case: Case) -> None:
    """A harmful message is noted, or the model is warned; it is answered in any case."""
    notice = harm_notice(Preprocessing(harmful=case.score), case.mode)
    assert (bool(notice.note), notice.warning) == (case.noted, HARM_WARNING if case.warned else "")


def test_calm_by_default() -> None:
    """By default nothing but a plainly harmful message is noted, and the model is not warned."""
    assert [bool(harm_notice(Preprocessing(harmful=one)).note) for one in (0, 5, 7, 9)] == [
        False,
        False,
        False,
        True,
    ]
    assert harm_notice(Preprocessing(harmful=10)).warning == ""
