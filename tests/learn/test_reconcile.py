"""How a new fact stands to the known ones, and what a reply becomes beside the store."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.learn.attribute import Relation
from adaptive.learn.reconcile import (
    KNOWN_ALREADY,
    REPLACED_IN_BATCH,
    Reconciled,
    allowed_deletions,
    reconciled,
    with_former,
)
from adaptive.learn.relation import (
    SAME_FROM,
    Likeness,
    believable,
    likeness_of,
    relation,
    unrelated_cosine,
)
from adaptive.learn.statement import LONGEST_STATEMENT, read_statement
from adaptive.model import Draft, Memory, Operation, StoreStamp
from adaptive.ports import Vectors
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.index import IndexParts, MemoryIndex, build_index, content_hash
from adaptive.search.vectors import normalised
from adaptive.table_ports import StoredVector
from tests.conftest import PROJECT
from tests.fakes import hook_settings, memory
from tests.rates import over

PAIRS = json.loads((PROJECT / "benchmarks/deduplication_pairs.json").read_text("utf-8"))["written"]
# Null prompts whose mean cosine is almost 0: the likeness of two vectors is almost their cosine.
NULLS = np.eye(1, 4, dtype=np.float32) * (1 - 2 * (np.arange(len(NULL_PROMPTS))[:, None] % 2))
NULLS = NULLS.astype(np.float32)


def labelled(*relations: Relation) -> list[tuple[str, str, Relation]]:
    """The written pairs with these labels."""
    return [
        (known, said, group["relation"])
        for group in PAIRS
        if group["relation"] in relations
        for known, said in group["pairs"]
    ]


def test_no_near_miss_is_lost() -> None:
    """Of 375 pairs of different facts in eight languages none is dropped or overwritten."""
    pairs = labelled("different")
    assert len(pairs) == 375
    assert [(known, said) for known, said, _ in pairs if relation(known, said) != "different"] == []


def test_contradictions_are_seen() -> None:
    """Every labelled contradiction is told from words alone."""
    found = [relation(known, said) for known, said, _ in labelled("contradicts")]
    assert found == ["contradicts"] * len(found)


def test_most_repetitions_are_seen() -> None:
    """Words alone find three of four paraphrases, and call none of them a contradiction."""
    found = [relation(known, said) for known, said, _ in labelled("same")]
    assert found.count("same") >= 0.75 * len(found)
    assert "contradicts" not in found


def test_refinements_are_no_repetitions() -> None:
    """What says more than is known is never dropped as known."""
    found = [relation(known, said) for known, said, _ in labelled("refines")]
    assert found.count("refines") >= 0.8 * len(found)
    assert set(found) <= {"refines", "different"}


@dataclass(frozen=True, slots=True)
class Two:
    """A known and a new statement, and how they stand to each other."""

    id: str
    known: str
    said: str
    expected: Relation


TWO = (
    Two("word for word", "User likes tea.", " user  LIKES tea", "same"),
    Two("other subject", "User lives in Porto.", "User's sister lives in Porto.", "different"),
    Two("cats and dogs", "User likes cats.", "User likes dogs.", "different"),
    Two("turned around", "User likes cats.", "User dislikes cats.", "contradicts"),
    Two("twice turned around", "User likes cats.", "User doesn't hate cats.", "same"),
    Two("never", "User eats meat.", "User never eats meat.", "contradicts"),
    Two("sons and daughters", "User has two sons.", "User has two daughters.", "different"),
    Two("older", "User is 34.", "User is 35.", "contradicts"),
    Two("age of a named one", "User's son Leo is 4.", "User's son Leo is 5.", "contradicts"),
    Two("age of one of several", "User's son is 4.", "User's son is 7.", "different"),
    Two("more about work", "User works at ACME.", "User works at ACME as a nurse.", "refines"),
    Two("less about work", "User works at ACME as a nurse.", "User works at ACME.", "same"),
    Two("second job", "User works at ACME.", "User also works at Globex.", "different"),
    Two("job at weekends", "User works at ACME.", "User works at KFC at weekends.", "different"),
    Two("which son", "User's son smokes.", "User's son does not smoke.", "different"),
    Two("that son", "User's son Al smokes.", "User's son Al does not smoke.", "contradicts"),
    Two("was", "User lives in Porto.", "User used to live in Rome.", "different"),
    Two("is and was", "User used to live in Rome.", "User lives in Rome.", "different"),
    Two("wish", "User lives in Porto.", "User wants to live in Rome.", "different"),
    Two("years past", "User works at ACME.", "User works at KPMG from 2010 to 2015.", "different"),
    Two("country", "User lives in Berlin.", "User lives in Germany.", "different"),
    Two("kind of home", "User lives in Berlin.", "User lives in a small flat.", "different"),
    Two("home with more", "User lives in Berlin with Anna.", "User lives in Rome.", "different"),
    Two("home since", "User lives in Berlin since 2019.", "User lives in Rome.", "contradicts"),
    Two("part of a name", "User lives in New York.", "User lives in York.", "different"),
    Two("spouse", "User is married to Anna.", "User is married to Eva.", "contradicts"),
    Two("what a spouse is", "User is married to Anna.", "User is married to a cook.", "different"),
    Two("phone number", "User's phone number is 12.", "User's phone number is 13.", "contradicts"),
    Two("broken phone", "User's phone is a Pixel 8.", "User's phone is broken.", "different"),
    Two("more of them", "User has two cats.", "User has three cats.", "contradicts"),
    Two("another appointment", "User sees Bo on 3 May.", "User sees Bo on 5 May.", "different"),
    Two("part of a word", "User has a dog.", "User has a dog house.", "different"),
    Two("belongs to another", "User likes dogs.", "User likes Anna's dogs.", "different"),
    Two("who does what", "User likes Anna's dog.", "User's dog likes Anna.", "different"),
    Two("who is older", "User is older than Tom.", "Tom is older than the user.", "different"),
    Two(
        "there and back",
        "User flies from Rome to Oslo.",
        "User flies from Oslo to Rome.",
        "different",
    ),
    Two("is and has", "User is a doctor.", "User has a doctor.", "different"),
    Two("one clause of two", "User cooks and plays chess.", "User plays chess.", "same"),
    Two("mixed clauses", "User likes tea but not milk.", "User likes milk.", "different"),
    Two("she does", "User has a sister and she plays chess.", "User plays chess.", "different"),
    Two("relative clause", "User has a son who plays chess.", "User plays chess.", "different"),
    Two("with and for", "User works with Anna.", "User works for Anna.", "different"),
    Two("at and for", "User works at ACME.", "User works for ACME.", "same"),
    Two("about and to", "User talks about Tom.", "User talks to Tom.", "different"),
    Two("vitamins", "User takes vitamin D.", "User takes vitamin C.", "different"),
    Two("morning and evening", "User gets up at 6 am.", "User gets up at 6 pm.", "different"),
    Two("other languages", "User has a dog named Rex.", "Der Hund des Nutzers heißt Rex.", "same"),
    Two("first person", "User lives in Graz.", "Ich wohne in Graz.", "same"),
    Two("unknown language", "Käyttäjä asuu Turussa.", "Käyttäjä asuu Oulussa.", "different"),
    Two("Polish negation", "Ala lubi koty.", "Ala nie lubi koty.", "contradicts"),
    Two(
        "its own history",
        "User lives in Rome (until 2026-01: User lives in Oslo)",
        "User lives in Rome",
        "same",
    ),
    Two("too long to be read", "a " * LONGEST_STATEMENT, "b " * LONGEST_STATEMENT, "different"),
    Two("nothing said", "...", "User likes tea.", "different"),
)


@over("case", TWO, at_least=0.95)
def test_relation(case: Two) -> None:
    """Each pair stands to each other as a person would say, or is left apart."""
    assert relation(case.known, case.said) == case.expected


SOFT = ("User is saving money for a house.", "User is saving up for a house.")


@dataclass(frozen=True, slots=True)
class Near:
    """A pair that words leave open, and what vectors of some likeness make of it."""

    id: str
    pair: tuple[str, str]
    likeness: Likeness
    expected: Relation


NEAR = (
    Near("near enough", SOFT, Likeness(SAME_FROM), "same"),
    Near("not near enough", SOFT, Likeness(SAME_FROM - 0.01), "different"),
    Near("without vectors", SOFT, Likeness(None), "different"),
    Near("the new one says more", SOFT[::-1], Likeness(1.0), "refines"),
    Near("lower bar", SOFT, Likeness(0.5, bar=0.5), "same"),
    Near(
        "one word for another",
        ("User's left eye.", "User's right eye."),
        Likeness(1.0),
        "different",
    ),
    Near(
        "kindred word",
        ("User collects coins.", "User has a collection of coins."),
        Likeness(1.0),
        "same",
    ),
    Near("name", ("User likes Ann a lot.", "User likes Eva much."), Likeness(1.0), "different"),
    Near("number", ("User has 2 old bikes.", "User has 3 bikes."), Likeness(1.0), "different"),
    Near(
        "person", ("User's son likes it.", "User's daughter likes it."), Likeness(1.0), "different"
    ),
    Near("negation", ("User eats no pork stew.", "User eats pork."), Likeness(1.0), "different"),
    Near("time", ("User was a keen runner.", "User is a runner."), Likeness(1.0), "different"),
    Near(
        "below the floor",
        ("User lives in Rome.", "User resides in Rome."),
        Likeness(0.8, 0.9, 0.9),
        "different",
    ),
    Near(
        "word for word",
        ("User lives in Rome.", "user lives in Rome"),
        Likeness(0.1, 0.9, 0.9),
        "same",
    ),
)


@over("case", NEAR)
def test_vectors(case: Near) -> None:
    """Near vectors prove sameness only where nothing but plain words differs."""
    assert relation(*case.pair, case.likeness) == case.expected


SCRAPS = """
User user's not no likes hates lives in Porto Rome two sons who and , . before 3 May is has a dog
named Rex der Nutzer wohnt nicht 用户 喜欢 不 猫 пользователь не любит (until from to sister moved
"""
STATEMENTS = st.lists(st.sampled_from(SCRAPS.split()), max_size=12).map(" ".join)


@given(st.one_of(st.text(max_size=120), STATEMENTS), st.one_of(st.text(max_size=120), STATEMENTS))
def test_any_two_texts(known: str, said: str) -> None:
    """Any two texts have a relation, the same each time, and each is the same as itself."""
    assert relation(known, known) == "same"
    assert relation(known, said) == relation(known, said)
    assert believable(known, said) in (True, False)
    if relation(known, said) == "contradicts" and read_statement(known).clauses:
        assert relation(said, known) in ("contradicts", "different")


def test_likeness_is_the_same_for_a_squeezed_model() -> None:
    """A model that finds all texts alike gives the same likeness."""
    chance = np.random.default_rng(3)
    nulls = normalised(chance.normal(size=(60, 32)).astype(np.float32))
    pair = normalised(chance.normal(size=(2, 32)).astype(np.float32))
    constant = normalised(chance.normal(size=(1, 32)).astype(np.float32) * 9)

    def squeezed(vectors: Vectors) -> Vectors:
        wide = np.concatenate(
            [0.3**0.5 * vectors, np.repeat(0.7**0.5, len(vectors))[:, None]], axis=1
        )
        return wide.astype(np.float32)

    assert constant.shape == (1, 32)
    plain = likeness_of(float(pair[0] @ pair[1]), unrelated_cosine(nulls))
    other = squeezed(pair)
    assert likeness_of(float(other[0] @ other[1]), unrelated_cosine(squeezed(nulls))) == (
        pytest.approx(plain, abs=1e-4)
    )
    assert likeness_of(1.0, unrelated_cosine(nulls)) == pytest.approx(1.0)
    assert likeness_of(0.5, unrelated_cosine(None)) is None
    assert likeness_of(None, 0.1) is None


@dataclass(frozen=True, slots=True)
class Claim:
    """A row, the content that a model would give it, and whether that is believed."""

    id: str
    known: str
    said: str
    expected: bool
    likeness: float | None = None


CLAIMS = (
    Claim("another thing", "User has a dog.", "User lives in Rome.", False),
    Claim("another thing, by vectors too", "User has a dog.", "User lives in Rome.", False, 0.4),
    Claim("the same dog", "User has a dog named Rex.", "User's dog Rex died.", True),
    Claim("the same attribute", "User is 34 years old.", "User is 35.", True),
    Claim("no word in common", "User is retired.", "User no longer works.", False),
    Claim("no word, near vectors", "User is retired.", "User no longer works.", True, 0.7),
    Claim("only liking", "User likes tea.", "User likes living by the sea.", False),
    Claim("moved", "User lives in Porto.", "User moved to Lisbon.", True),
    Claim("the past of it", "User works at ACME.", "User used to work at ACME.", True),
    Claim("another past", "User works at ACME.", "User used to work at Globex.", False, 0.9),
    Claim("a wish", "User lives in Porto.", "User wants to live in Rome.", False, 0.9),
    Claim("a wish come true", "User wants to run a marathon.", "User ran a marathon.", True),
    Claim("too long to read", "tea " * LONGEST_STATEMENT, "User likes tea.", True),
)


@over("case", CLAIMS)
def test_believable(case: Claim) -> None:
    """A model's UPDATE is believed if it is about the row."""
    assert believable(case.known, case.said, case.likeness) is case.expected


def index_of(
    *memories: Memory, vectors: Mapping[str, Sequence[float]] | None = None
) -> MemoryIndex:
    """An index of memories, some with vectors."""
    contents = {one.id: one.content for one in memories}
    known = {
        id: StoredVector(content_hash(contents[id]), np.asarray(vector, dtype=np.float32))
        for id, vector in (vectors or {}).items()
    }
    stamp = StoreStamp(len(memories), 1)
    return build_index(IndexParts(memories, known, NULLS, "fake", stamp, 0.0))


def new(content: str, **fields: Any) -> Operation:
    """A proposed new fact."""
    return Operation("NEW", "", Draft(content, **fields))


def update(id: str, content: str) -> Operation:
    """A proposed change."""
    return Operation("UPDATE", id, Draft(content))


def delete(id: str) -> Operation:
    """A proposed removal."""
    return Operation("DELETE", id)


HOME = memory("home", "User lives in Porto.", created_at=10)
DOG = memory("dog", "User has a dog named Rex.", created_at=20)
TEA = memory("tea", "User likes tea.", created_at=30)
STORE = (HOME, DOG, TEA)


def outcome(result: Reconciled) -> tuple[list[tuple[str, str, str]], list[tuple[str, str]]]:
    """Operations and outcomes as plain values."""
    return (
        [(one.kind, one.id, one.draft.content) for one in result.operations],
        [(one.content, one.reason) for one in result.outcomes],
    )


@dataclass(frozen=True)
class Reply:
    """A reply on a store of home, dog and tea, what is carried out of it, and what is not."""

    id: str
    operations: list[Operation]
    carried_out: list[tuple[str, str, str]]
    left: list[tuple[str, str]] = field(default_factory=list)
    valves: dict[str, Any] = field(default_factory=dict)


LISBON = "User lives in Lisbon."
ROME = "User lives in Rome."
REPLIES = (
    Reply("nothing", [], []),
    Reply("new", [new("User plays chess.")], [("NEW", "", "User plays chess.")]),
    Reply(
        "known", [new("User resides in Porto.")], [], [("User resides in Porto.", KNOWN_ALREADY)]
    ),
    Reply("contradiction", [new(LISBON)], [("UPDATE", "home", LISBON)]),
    Reply(
        "refinement",
        [new("User likes tea with milk.")],
        [("UPDATE", "tea", "User likes tea with milk.")],
    ),
    Reply(
        "another dog",
        [new("User has a dog named Max.")],
        [("NEW", "", "User has a dog named Max.")],
    ),
    Reply("update", [update("home", LISBON)], [("UPDATE", "home", LISBON)]),
    Reply(
        "update of nothing related",
        [update("dog", "User plays chess.")],
        [("NEW", "", "User plays chess.")],
    ),
    Reply("update of the wrong row", [update("dog", ROME)], [("UPDATE", "home", ROME)]),
    Reply(
        "update by the past",
        [update("home", "User used to live in Rome.")],
        [("NEW", "", "User used to live in Rome.")],
    ),
    Reply("update of a row that is gone", [update("gone", ROME)], [("UPDATE", "gone", ROME)]),
    Reply("delete", [delete("dog")], [("DELETE", "dog", "")]),
    Reply(
        "deleted and said anew",
        [delete("home"), new(LISBON)],
        [("DELETE", "home", ""), ("NEW", "", LISBON)],
    ),
    Reply(
        "said anew and deleted",
        [new(LISBON), delete("home")],
        [("NEW", "", LISBON), ("DELETE", "home", "")],
    ),
    Reply(
        "twice",
        [new("User has a cat."), new("user has a cat")],
        [("NEW", "", "User has a cat.")],
        [("user has a cat", KNOWN_ALREADY)],
    ),
    Reply(
        "twice in other words",
        [new("User has a cat."), new("User owns a cat.")],
        [("NEW", "", "User has a cat.")],
        [("User owns a cat.", KNOWN_ALREADY)],
    ),
    Reply(
        "more of it later",
        [new("User has a cat."), new("User has a cat named Tom.")],
        [("NEW", "", "User has a cat named Tom.")],
        [("User has a cat.", REPLACED_IN_BATCH)],
    ),
    Reply(
        "contradiction within",
        [new("User is 34."), new("User is 35.")],
        [("NEW", "", "User is 35.")],
        [("User is 34.", REPLACED_IN_BATCH)],
    ),
    Reply(
        "two new homes",
        [new(ROME), new(LISBON)],
        [("UPDATE", "home", LISBON)],
        [(ROME, REPLACED_IN_BATCH)],
    ),
    Reply(
        "two updates of a row",
        [update("home", ROME), update("home", LISBON)],
        [("UPDATE", "home", LISBON)],
        [(ROME, REPLACED_IN_BATCH)],
    ),
    Reply(
        "new says what the update says",
        [update("home", LISBON), new("User resides in Lisbon.")],
        [("UPDATE", "home", LISBON)],
        [("User resides in Lisbon.", KNOWN_ALREADY)],
    ),
    Reply(
        "update says what the new says",
        [new(LISBON), update("home", "User resides in Lisbon.")],
        [("UPDATE", "home", LISBON)],
        [("User resides in Lisbon.", KNOWN_ALREADY)],
    ),
    Reply(
        "update and what was before it",
        [update("home", LISBON), new("User used to live in Porto.")],
        [("UPDATE", "home", LISBON)],
        [("User used to live in Porto.", KNOWN_ALREADY)],
    ),
    Reply(
        "update and what was another time",
        [update("home", LISBON), new("User lived in Porto until 2019.")],
        [("UPDATE", "home", LISBON), ("NEW", "", "User lived in Porto until 2019.")],
    ),
    Reply(
        "new replaces the update",
        [update("home", ROME), new(LISBON)],
        [("UPDATE", "home", LISBON)],
        [(ROME, REPLACED_IN_BATCH)],
    ),
    Reply(
        "update replaces the new",
        [new(ROME), update("home", LISBON)],
        [("UPDATE", "home", LISBON)],
        [(ROME, REPLACED_IN_BATCH)],
    ),
    Reply(
        "updated and deleted",
        [update("tea", "User hates tea."), delete("tea")],
        [("DELETE", "tea", "")],
        [("User hates tea.", REPLACED_IN_BATCH)],
    ),
    Reply(
        "deleted and updated",
        [delete("tea"), update("tea", "User hates tea.")],
        [("UPDATE", "tea", "User hates tea.")],
        [("User likes tea.", REPLACED_IN_BATCH)],
    ),
    Reply(
        "everything is kept",
        [new("User resides in Porto."), new(LISBON)],
        [("NEW", "", "User resides in Porto."), ("NEW", "", LISBON)],
        [],
        {"deduplicate_memories": False},
    ),
    Reply(
        "but no row is lost",
        [update("dog", ROME)],
        [("NEW", "", ROME)],
        [],
        {"deduplicate_memories": False},
    ),
)


@over("case", REPLIES)
def test_reconciled(case: Reply) -> None:
    """A reply neither doubles nor contradicts the store or itself, whatever the order of rows."""
    settings = hook_settings(**case.valves)
    for rows in itertools.permutations(STORE):
        result = reconciled(case.operations, index_of(*rows), None, settings)
        assert outcome(result) == (case.carried_out, case.left)
        assert {one.status for one in result.outcomes} <= {"unchanged"}


@pytest.mark.parametrize("turned", [False, True])
def test_the_newest_of_two_is_replaced(turned: bool) -> None:
    """Of rows that a fact fits alike the newest is updated, in whatever order they come."""
    rows = [
        memory("old", "User lives in Rome.", created_at=1, updated_at=5),
        memory("new", "User lives in Oslo.", created_at=1, updated_at=9),
    ]
    index = index_of(*(rows[::-1] if turned else rows))
    result = reconciled([new(LISBON)], index, None, hook_settings())
    assert outcome(result)[0] == [("UPDATE", "new", LISBON)]


@over(
    "known, said",
    [
        ("User is single.", "User is married to Ines."),
        ("Der Nutzer ist ledig.", "User is married to Ines."),
        ("User is married to Bo.", "User is divorced."),
        ("User is 34 years old.", "User is 35."),
    ],
)
@over("others", [0, 200])
def test_an_attribute_is_found_by_no_common_word(known: str, said: str, others: int) -> None:
    """Values of one attribute may have no word in common, and meet without vectors too."""
    rows = [memory(f"m-{n}", f"User's diary of day {n} tells of a trip.") for n in range(others)]
    index = index_of(memory("it", known), *rows)
    assert outcome(reconciled([new(said)], index, None, hook_settings()))[0] == [
        ("UPDATE", "it", said)
    ]


def test_what_is_known_of_several_is_not_stored() -> None:
    """A fact that one row holds is known, though another row contradicts it."""
    index = index_of(HOME, memory("now", LISBON, created_at=99))
    assert outcome(reconciled([new(LISBON)], index, None, hook_settings()))[0] == []


def test_a_row_keeps_what_it_is() -> None:
    """A fact that becomes an update keeps the row's bank, its weight, and tags it has none of."""
    row = memory("home", HOME.content, tags=("identity",), bank="Work", importance=9)
    result = reconciled([new(LISBON, bank="General")], index_of(row), None, hook_settings())
    assert result.operations[0].draft == Draft(LISBON, ("identity",), "Work", 1.0, 9)


VECTORS = {"home": (0, 0, 1, 0), "tea": (0, 0, 0, 1)}


@dataclass(frozen=True)
class Vectored:
    """A new fact with its vector, what becomes of it, and the valve ``similarity_threshold``."""

    id: str
    content: str
    vector: tuple[float, ...]
    carried_out: list[tuple[str, str, str]]
    threshold: float = 0.0


KEEN = "User likes sweet tea."
WITH_VECTORS = (
    Vectored("near", "User prefers tea.", (0, 0, 0, 1), [("NEW", "", "User prefers tea.")]),
    Vectored("more in near words", KEEN, (0, 0, 0, 1), [("UPDATE", "tea", KEEN)]),
    Vectored("more in far words", KEEN, (0, 0, 1, 0), [("NEW", "", KEEN)]),
    Vectored("no vector", KEEN, (0, 0, 0, 0), [("NEW", "", KEEN)]),
    Vectored("of another model", KEEN, (0, 1), [("NEW", "", KEEN)]),
    Vectored(
        "valve raised",
        "User resides in Porto.",
        (0, 0.6, 0.8, 0),
        [("NEW", "", "User resides in Porto.")],
        0.9,
    ),
    Vectored("valve met", "User resides in Porto.", (0, 0, 1, 0), [], 0.9),
    Vectored("valve lowered", KEEN, (0, 0.6, 0, 0.8), [("UPDATE", "tea", KEEN)], 0.7),
    Vectored(
        "valve without a vector",
        "User resides in Porto.",
        (0, 0, 0, 0),
        [("NEW", "", "User resides in Porto.")],
        0.95,
    ),
    Vectored("low valve without a vector", "User resides in Porto.", (0, 0, 0, 0), [], 0.7),
)


@over("case", WITH_VECTORS)
def test_reconciled_with_vectors(case: Vectored) -> None:
    """Vectors add to what words tell, as far as the valve allows; nothing fails without them."""
    index = index_of(*STORE, vectors=VECTORS)
    vector = np.asarray([case.vector], dtype=np.float32)
    settings = hook_settings(similarity_threshold=case.threshold)
    result = reconciled([new(case.content)], index, vector, settings)
    assert outcome(result)[0] == case.carried_out


def test_near_vectors_make_an_update_believable() -> None:
    """A model's UPDATE without a word in common is believed if the vectors are near."""
    index = index_of(*STORE, vectors=VECTORS)
    said = update("tea", "Hot brews delight the user.")
    near, far = (np.asarray([row], dtype=np.float32) for row in ((0, 0, 0, 1), (0, 0, 1, 0)))
    assert reconciled([said], index, near, hook_settings()).operations == (said,)
    assert reconciled([said], index, far, hook_settings()).operations[0].kind == "NEW"


def test_found_in_a_large_store() -> None:
    """The row that a fact replaces is found among thousands, in other words and without vectors."""
    rows = [
        memory(f"m-{at}", f"User likes thing{at} and place{at} in Lisbon.", created_at=at)
        for at in range(3000)
    ]
    home = memory("home", "User resides in Porto.", created_at=3)
    index = index_of(*rows[:1500], home, *rows[1500:])
    result = reconciled([new(LISBON)], index, None, hook_settings())
    assert outcome(result)[0] == [("UPDATE", "home", LISBON)]


OPERATIONS = st.lists(
    st.one_of(
        st.sampled_from([new(ROME), new(LISBON), new("User has a cat."), new("User hates tea.")]),
        st.builds(update, st.sampled_from(["home", "tea", "gone"]), STATEMENTS.filter(bool)),
        st.builds(delete, st.sampled_from(["home", "dog", "tea"])),
        st.builds(new, STATEMENTS.filter(bool)),
    ),
    max_size=6,
)


@given(OPERATIONS)
def test_any_reply(operations: list[Operation]) -> None:
    """No reply changes a row twice, doubles or contradicts itself, or loses count of a fact."""
    result = reconciled(operations, index_of(*STORE), None, hook_settings())
    ids = [one.id for one in result.operations if one.id]
    assert len(ids) == len(set(ids))
    assert len(result.operations) + len(result.outcomes) == len(operations)
    said = [one.draft.content for one in result.operations if one.kind != "DELETE"]
    for first, second in itertools.combinations(said, 2):
        assert relation(first, second) == "different"


@over(
    "deletions, others, size, asked",
    [
        (0, 2, 0, 0),
        (1, 0, 1, 0),
        (2, 0, 9, 2),
        (2, 1, 10, 0),
        (3, 0, 14, 3),
        (3, 0, 15, 0),
        (4, 2, 1000, 4),
    ],
)
def test_many_deletions_are_asked_for(deletions: int, others: int, size: int, asked: int) -> None:
    """More than three deletions, or several that are over a fifth of the store, wait for a yes."""
    operations = [*(delete(str(at)) for at in range(deletions)), *[new(ROME)] * others]
    found = allowed_deletions(operations, size)
    assert len(found.to_ask) == asked
    assert len(found.operations) == len(operations) - asked
    assert {one.kind for one in found.to_ask} <= {"DELETE"}


NOW = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.mark.parametrize(
    ("content", "former", "expected"),
    [
        (LISBON, HOME.content, "User lives in Lisbon. (until 2026-11: User lives in Porto)"),
        (
            ROME,
            "User lives in Lisbon. (until 2026-11: User lives in Porto)",
            "User lives in Rome. (until 2026-11: User lives in Lisbon)",
        ),
        (ROME, "User lives (alone) in Oslo", f"{ROME} (until 2026-11: User lives [alone] in Oslo)"),
        (
            f"{ROME} (until 2020-01: x)",
            HOME.content,
            f"{ROME} (until 2026-11: User lives in Porto)",
        ),
    ],
)
def test_with_former(content: str, former: str, expected: str) -> None:
    """The former content is added once, and comparing does not see it."""
    told = with_former(content, former, NOW)
    assert told == expected
    assert read_statement(told) == read_statement(with_former(content, "User naps.", NOW))


def test_what_a_history_holds() -> None:
    """What a row's history tells already is not stored beside it; what it does not tell is."""
    former = {"content": "User lives in Porto.", "said_at": 10, "until": 20}
    moved = replace(memory("home", LISBON, created_at=10), meta={"history": [former, None, "x"]})
    proposed = [new("User lived in Porto before."), new("User lived in Faro before.")]
    found = reconciled(proposed, index_of(moved), None, hook_settings())
    assert [one.draft.content for one in found.operations] == ["User lived in Faro before."]
    assert [(one.content, one.reason) for one in found.outcomes] == [
        ("User lived in Porto before.", KNOWN_ALREADY)
    ]
