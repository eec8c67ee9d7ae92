"""Pairs of statements that are told apart by one small thing, written by others than the rule."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from adaptive.learn.attribute import Relation
from adaptive.learn.relation import relation, was_so
from tests.rates import over


@dataclass(frozen=True, slots=True)
class Case:
    """A known and a new statement; the id of a case is what it is about."""

    id: str
    known: str
    said: str


def check(case: Case, expected: Relation) -> None:
    """What is said stands to the known as expected, by words alone."""
    assert relation(case.known, case.said) == expected


ENDED = [
    Case("with the year", "User smokes.", "User quit smoking in October 2026."),
    Case("only with the year", "User plays the cello.", "User stopped playing the cello in 2024."),
    Case("and something else", "User is vegan.", "User is no longer vegan and eats fish."),
    Case("a part of it", "User works at Bosch in Stuttgart.", "User no longer works at Bosch."),
    Case("a possession", "User has a dog.", "User no longer has a dog."),
    Case("German verb", "Nutzer raucht.", "Nutzer raucht nicht mehr."),
    Case("German noun", "Nutzer isst Fleisch.", "Nutzer isst kein Fleisch mehr."),
    Case("German with pleasure", "Nutzer trinkt gern Kaffee.", "Nutzer trinkt keinen Kaffee mehr."),
    Case("French", "L'utilisateur fume.", "L'utilisateur ne fume plus."),
    Case("Spanish", "El usuario fuma.", "El usuario dejó de fumar en 2025."),
    Case("Portuguese", "O usuário come carne.", "O usuário não come mais carne."),
    Case("Italian", "L'utente mangia carne.", "L'utente non mangia più carne."),
    Case("Russian", "Пользователь ест мясо.", "Пользователь больше не ест мясо."),
    Case("Chinese", "用户吸烟。", "用户不再吸烟。"),
    Case("not to be endured", "User likes coriander.", "User can't stand coriander any more."),
]


@over("case", ENDED, at_least=0.93)
def test_what_has_ended(case: Case) -> None:
    """What is so no longer replaces what was so, in eight languages, also with the year it did."""
    check(case, "contradicts")


STILL_SO = [
    Case("for a month", "User drinks alcohol.", "User does not drink alcohol in January."),
    Case("on one day", "User eats meat.", "User does not eat meat on Fridays."),
    Case("another time", "User smokes.", "User did not smoke in 2020."),
    Case("another's", "User smokes.", "User's father quit smoking."),
    Case("another's child", "User's daughter smokes.", "User's son quit smoking."),
    Case("a part of it", "User likes playing tennis with Anna.", "User no longer likes Anna."),
    Case("a kind of it", "User likes coffee.", "User no longer likes coffee ice cream."),
    Case("at one place", "User eats fish.", "User no longer eats fish at the Harbour Grill."),
    Case("something like it", "User plays guitar.", "User no longer plays piano."),
    Case("at other hours", "User works at Bosch.", "User no longer works weekends."),
    Case("no more than", "User drinks coffee.", "User drinks no more than two coffees a day."),
    Case("nicht mehr als", "Nutzer trinkt Kaffee.", "Nutzer trinkt nicht mehr als zwei Tassen."),
    Case("with bones", "Nutzer mag Fisch.", "Nutzer mag keinen Fisch mit Gräten mehr."),
    Case("le soir", "L'utilisateur boit du café.", "L'utilisateur ne boit plus de café le soir."),
    Case("Russian", "Пользователь ест мясо.", "Пользователь больше не ест сахар."),
    Case("a piano", "User lives in Ghent.", "User moved a piano from Ghent to Bruges."),
    Case("a brother", "User lives in Ghent.", "User's brother moved from Ghent to Bruges."),
    Case("a land to work in", "User lives in Belgium.", "User works in Ghent, Belgium."),
    Case("half a goal", "User wants to run a marathon.", "User's goal is to run a half marathon."),
    Case("sons", "User has two sons.", "User has two daughters."),
    Case("wrists", "User broke the left wrist in 2015.", "User broke the right wrist in 2015."),
    Case(
        "a direction", "User's flight to Rome leaves at 7.", "User's flight from Rome leaves at 7."
    ),
    Case("a trade", "User sold an old Vespa.", "User bought an old Vespa."),
    Case("a model", "User has a Canon EOS R6.", "User has a Canon EOS M50."),
    Case("Söhne", "Nutzer hat zwei Söhne.", "Nutzer hat zwei Töchter."),
    Case("bras", "L'utilisateur a mal au bras gauche.", "L'utilisateur a mal au bras droit."),
    Case("hermana", "El hermano del usuario vive en Lima.", "La hermana del usuario vive en Lima."),
    Case("сестра", "Брат пользователя — врач.", "Сестра пользователя — врач."),
    Case("膝", "用户左膝疼。", "用户右膝疼。"),
]


@over("case", STILL_SO, at_least=0.95)
def test_what_is_still_so(case: Case) -> None:
    """What only sounds like the end of a known fact, or like it, leaves that fact alone."""
    check(case, "different")


MOVED = [
    Case("from there", "User lives in Ghent.", "User moved from Ghent to Bruges."),
    Case("relocated", "User lives in Ghent.", "User relocated from Ghent to Antwerp."),
    Case("German", "Nutzer wohnt in Kiel.", "Nutzer ist von Kiel nach Mainz gezogen."),
    Case("désormais", "L'utilisateur habite à Nantes.", "L'utilisateur habite désormais à Rennes."),
]


@pytest.mark.parametrize("case", MOVED, ids=lambda case: case.id)
def test_moves(case: Case) -> None:
    """A move replaces the home, also where it is told from where."""
    check(case, "contradicts")


SAME = [
    Case("land known", "User lives in Toronto, Canada.", "User lives in Canada."),
    Case("can't stand", "User hates coriander.", "User cannot stand cilantro."),
    Case("von Beruf", "Nutzerin arbeitet als Lehrerin.", "Nutzerin ist Lehrerin von Beruf."),
    Case("by profession", "User works as a paramedic.", "User is a paramedic by profession."),
    Case("a goal", "User wants to learn Greek.", "User's goal is to learn Greek."),
]


@pytest.mark.parametrize("case", SAME, ids=lambda case: case.id)
def test_other_words(case: Case) -> None:
    """What is said in other words is known."""
    check(case, "same")


def test_town_refines_land() -> None:
    """A town says more of a home than its land does."""
    assert relation("User lives in Canada.", "User lives in Toronto, Canada.") == "refines"


@over(
    "former, said, expected",
    [
        ("User lives in Porto.", "User lived in Porto before.", True),
        ("User works at ACME.", "User used to work at ACME.", True),
        ("User lives in Porto.", "User lived in Porto until 2019.", False),
        ("User lives in Porto.", "User lived in Lagos before.", False),
        ("User lives in Porto.", "User lives in Porto.", False),
        ("User lives in Porto.", "User's sister lived in Porto before.", False),
        ("User smokes.", "User never smoked before.", False),
    ],
    at_least=0.85,
)
def test_what_was_so(former: str, said: str, expected: bool) -> None:
    """What was so once is told from what tells more, of another time or of somebody else."""
    assert was_so(former, said) is expected
