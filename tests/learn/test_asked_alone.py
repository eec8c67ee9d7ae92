"""What is left of a turn's facts where nothing is to be saved but what the user asked for."""

from __future__ import annotations

import pytest

from adaptive.learn.commanded import asked_alone
from adaptive.learn.commands import read_commands, words_beside_commands
from adaptive.learn.operations import Extraction
from adaptive.model import Draft, Operation, Outcome
from tests.fakes import hook_settings

DOG = Operation("NEW", draft=Draft("User has a dog called Rex."))
CITY = Operation("UPDATE", "m-1", Draft("User lives in Lisbon."))
GONE = Operation("DELETE", "m-2")
OWN = Operation("NEW", draft=Draft("I have a dog called Rex.", bank="General"))
REFUSED = Outcome("rejected", "", "no")


@pytest.mark.parametrize(
    ("words", "found", "refused", "kept"),
    [
        ("Remember that I have a dog called Rex.", (DOG, CITY, GONE), (), (DOG,)),
        ("Remember that I live in Lisbon now.", (CITY, DOG), (), (CITY,)),
        ("Forget my old job.", (DOG, GONE), (), (GONE,)),
        ("Forget my job. Remember that I have a dog called Rex.", (GONE,), (), (GONE, OWN)),
        ("Remember that I have a dog called Rex.", (CITY,), (), (OWN,)),
        ("Remember that I have a dog called Rex.", (CITY,), (REFUSED,), ()),
    ],
    ids=["new", "corrected", "forgotten", "both", "not found", "refused"],
)
def test_asked_alone(
    words: str,
    found: tuple[Operation, ...],
    refused: tuple[Outcome, ...],
    kept: tuple[Operation, ...],
) -> None:
    """Facts that were not asked for go; the user's own sentence stands for one not found."""
    commands = read_commands(words)
    left = asked_alone(Extraction(found, refused), commands, (), hook_settings())
    assert (left.operations, left.refused) == (kept, refused)


@pytest.mark.parametrize(
    ("words", "beside"),
    [
        ("Remember that I have a dog called Rex.", ""),
        (
            "I live in Porto! Remember that I have a dog called Rex. Is it far?",
            "I live in Porto. Is it far?",
        ),
        ("Forget my old job.\nI work as a nurse now", "I work as a nurse now."),
        ("What a day", "What a day."),
    ],
)
def test_words_beside_commands(words: str, beside: str) -> None:
    """Sentences that command nothing are left, each with its end."""
    assert words_beside_commands(words) == beside
