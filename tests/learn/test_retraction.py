"""Which deletions of a model the user's words bear out."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.retraction import NOT_ASKED_FOR, retracted
from adaptive.model import Draft, Memory, Operation
from tests.fakes import memory
from tests.rates import over

HOME = memory("home", "User lives in Porto.", tags=("identity",), bank="Personal", importance=8)
DOG = memory("dog", "User has a dog named Rex.")
TEA = memory("tea", "User likes tea.")
KNOWN = [HOME, DOG, TEA]


def new(content: str) -> Operation:
    """A new fact."""
    return Operation("NEW", "", Draft(content, bank="General"))


def delete(one: Memory) -> Operation:
    """The deletion of a memory."""
    return Operation("DELETE", one.id)


BORNE_OUT = [
    ("Forget my dog.", DOG),
    ("Please remove what you know of my pet.", DOG),
    ("You should no longer remember where I live.", HOME),
    ("Rex died last week.", DOG),
    ("I don't drink tea any more.", TEA),
    ("Actually I never had a dog.", DOG),
    ("Vergiss meinen Hund.", DOG),
    ("Ich habe keinen Hund mehr.", DOG),
    ("Lösche bitte den Eintrag über Tee.", TEA),
    ("Oublie mon chien, s'il te plaît.", DOG),
    ("Mon chien Rex est mort.", DOG),
    ("Olvida lo del té.", TEA),
    ("Ya no tengo perro.", DOG),
    ("Apaga isso do chá.", TEA),
    ("Não tenho mais cão.", DOG),
    ("Cancella il mio cane dalla memoria.", DOG),
    ("Забудь про мою собаку.", DOG),
    ("Собаки у меня больше нет.", DOG),
    ("忘掉我的狗吧。", DOG),
    ("我没有狗了。", DOG),
    ("犬のことは忘れてください。", DOG),
    ("개를 잊어 주세요.", DOG),
]


@over("words, one", BORNE_OUT, at_least=0.95)
def test_borne_out(words: str, one: Memory) -> None:
    """What the user asked to forget or took back is deleted, also in another language."""
    assert retracted([delete(one)], KNOWN, words).operations == (delete(one),)


REFUSED = [
    ("Rex loves the snow.", DOG),
    ("I cook for friends tonight.", TEA),
    ("Forget it, let us talk about my dog.", DOG),
    ("Don't forget that I have a dog.", DOG),
    ("I never eat fish.", DOG),
    ("Vergiss nicht, dass ich einen Hund habe.", DOG),
    ("Ich trinke gern Tee.", TEA),
    ("N'oublie pas mon chien.", DOG),
    ("No te olvides de mi perro.", DOG),
    ("Não te esqueças do meu cão.", DOG),
    ("Non dimenticare il mio cane.", DOG),
    ("Не забудь про мою собаку.", DOG),
    ("别忘了我的狗。", DOG),
]


@over("words, one", REFUSED, at_least=0.85)
def test_not_asked_for(words: str, one: Memory) -> None:
    """What the user spoke of, or did not, stays, and the reason is told."""
    found = retracted([delete(one)], KNOWN, words)
    assert found.operations == ()
    assert [(made.status, made.content, made.reason) for made in found.outcomes] == [
        ("kept", one.content, NOT_ASKED_FOR)
    ]


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply to a message, and what becomes of it: kind, id, content of each operation."""

    id: str
    words: str
    operations: list[Operation]
    expected: list[tuple[str, str, str]]


LISBON = "User lives in Lisbon."
REX = "User's dog Rex died in May 2026."
REPLIES = (
    Reply(
        "replaced", "I live in Lisbon.", [delete(HOME), new(LISBON)], [("UPDATE", "home", LISBON)]
    ),
    Reply(
        "any order", "I live in Lisbon.", [new(LISBON), delete(HOME)], [("UPDATE", "home", LISBON)]
    ),
    Reply(
        "across languages",
        "Ich wohne in Bonn.",
        [delete(HOME), new("Der Nutzer wohnt in Bonn.")],
        [("UPDATE", "home", "Der Nutzer wohnt in Bonn.")],
    ),
    Reply(
        "forgotten on request",
        "Forget Porto. I live in Lisbon.",
        [delete(HOME), new(LISBON)],
        [("DELETE", "home", ""), ("NEW", "", LISBON)],
    ),
    Reply("over", "Rex died in May.", [delete(DOG), new(REX)], [("UPDATE", "dog", REX)]),
    Reply(
        "something else beside it",
        "I have no dog any more. I play golf.",
        [delete(DOG), new("User plays golf.")],
        [("DELETE", "dog", ""), ("NEW", "", "User plays golf.")],
    ),
    Reply(
        "told by another row",
        "Rex is a beagle.",
        [delete(DOG), Operation("UPDATE", "tea", Draft("User has a dog named Rex, a beagle."))],
        [("DELETE", "dog", ""), ("UPDATE", "tea", "User has a dog named Rex, a beagle.")],
    ),
    Reply(
        "two deletions, one replacement",
        "I live in Lisbon, Rex too.",
        [delete(HOME), delete(DOG), new(LISBON)],
        [("UPDATE", "home", LISBON)],
    ),
    Reply(
        "unknown words",
        "",
        [delete(HOME), new(LISBON)],
        [("DELETE", "home", ""), ("NEW", "", LISBON)],
    ),
    Reply("unknown row", "I like tea.", [Operation("DELETE", "gone")], [("DELETE", "gone", "")]),
)


@over("case", REPLIES)
def test_replies(case: Reply) -> None:
    """A deletion and what replaces it are one update, unless nothing is to be left of it."""
    found = retracted(case.operations, KNOWN, case.words)
    assert [(one.kind, one.id, one.draft.content) for one in found.operations] == case.expected


def test_the_row_keeps_its_place() -> None:
    """The update has bank, category and importance of the row that it replaces."""
    [update] = retracted([delete(HOME), new(LISBON)], KNOWN, "I live in Lisbon.").operations
    assert update.draft == Draft(LISBON, ("identity",), "Personal", importance=8)


@given(
    st.text(max_size=200), st.lists(st.sampled_from([*map(delete, KNOWN), new(LISBON), new(REX)]))
)
def test_any_message(words: str, operations: list[Operation]) -> None:
    """No new fact is lost, and each deletion is carried out, replaced or told."""
    found = retracted(operations, KNOWN, words)
    contents = [one.draft.content for one in operations if one.kind == "NEW"]
    kept = [one.draft.content for one in found.operations if one.kind != "DELETE"]
    assert kept == contents
    assert len(found.operations) + len(found.outcomes) <= len(operations)


@pytest.mark.parametrize("sign", ["forget ", "don't ", "no ", "a", "忘"])
def test_long_messages(sign: str) -> None:
    """Of a message of any length the beginning is read."""
    assert len(retracted([delete(DOG)], KNOWN, sign * 50_000).operations) <= 1
