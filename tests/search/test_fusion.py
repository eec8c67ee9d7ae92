"""Ranking one user's memories for a message, and choosing those that fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from adaptive.core.model import Vectors
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.fitting import fitting, interleaved
from adaptive.search.fusion import (
    GATES,
    Ranked,
    RankingIndex,
    RankingQuery,
    rank,
    ranking_index,
    ranking_query,
)

DIMENSION = 64


def directions(count: int, seed: int) -> Vectors:
    """Unit vectors of chance."""
    rows = np.random.default_rng(seed).normal(size=(count, DIMENSION))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(
        np.float32
    )


def towards(vector: Vectors, cosine: float, seed: int) -> Vectors:
    """A unit vector of this cosine to another."""
    side = directions(1, seed)[0]
    side -= side @ vector * vector
    side /= np.linalg.norm(side)
    return (cosine * vector + (1 - cosine**2) ** 0.5 * side).astype(np.float32)


NULLS = directions(len(NULL_PROMPTS), 1)
TEXTS = [
    "User's dog is called Biscuit.",
    "User is allergic to peanuts.",
    "User lives in Lisbon.",
    "User plays the cello.",
    "User's sister studies medicine.",
]


def store(
    texts: Sequence[str] = TEXTS,
    vectors: Vectors | None = None,
    *,
    nulls: Vectors | None = NULLS,
) -> RankingIndex:
    """An index of unrelated vectors unless others are given."""
    known = directions(len(texts), 2) if vectors is None else vectors
    return ranking_index(texts, known, nulls)


def places(found: Sequence[Ranked]) -> list[int]:
    """Which memories, in order."""
    return [one.place for one in found]


def test_keywords_alone() -> None:
    """Without a vector of the message, words find the memory and are enough evidence."""
    found = rank(store(), RankingQuery("Biscuit the dog", None))
    assert places(fitting([found], 10)) == [0]
    assert (
        fitting([rank(store(), RankingQuery("Explain hash tables", None))], 10)
        == []
    )


def test_speaking_of_oneself_needs_less() -> None:
    """The same distant memory is given to a message about the user, not to a general one."""
    made = store()
    level = made.levels["latin"]
    near = towards(made.vectors[1], level.mean + 2.5 * level.spread, 5)
    assert places(
        fitting([rank(made, RankingQuery("Can I eat satay sauce?", near))], 1)
    ) == [1]
    assert (
        fitting(
            [rank(made, RankingQuery("How is satay sauce made?", near))], 10
        )
        == []
    )


def test_neighbours_in_time() -> None:
    """Of two equals the one that was learned next to the best memory comes first."""
    message = directions(1, 9)[0]
    for best, second in ((0, 1), (3, 2)):
        vectors = directions(4, 2)
        vectors[best] = towards(message, 0.9, 3)
        vectors[1] = vectors[2] = towards(message, 0.3, 4)
        made = store(TEXTS[:4], vectors)
        assert places(rank(made, RankingQuery("what", message)))[:2] == [
            best,
            second,
        ]


def test_follow_up() -> None:
    """A message without a subject of its own takes that of the message before."""
    made = store()
    before = "Tell me about my sister's studies"
    message = directions(1, 33)[0]
    both = np.stack([message, towards(made.vectors[4], 0.8, 5)])
    assert (
        fitting(
            [
                rank(
                    made,
                    ranking_query("And when was that?", "", both),
                )
            ],
            10,
        )
        == []
    )
    assert (
        rank(made, ranking_query("And when was that?", before, both))[0].place
        == 4
    )
    assert (
        rank(made, ranking_query("And when was that?", before, None))[0].place
        == 4
    )
    own = ranking_query("How is ethanol distilled?", before, both)
    assert own == RankingQuery("How is ethanol distilled?", own.vector)
    assert own.vector is not None
    assert np.array_equal(own.vector, message)


def test_vectors_of_another_length() -> None:
    """Where another model has made the message's vector, or the store has none, keywords serve."""
    plain = RankingQuery("Biscuit?", None)
    longer = RankingQuery("Biscuit?", np.ones(DIMENSION + 1, np.float32))
    for made in (
        store(),
        store(vectors=np.zeros((len(TEXTS), 0), np.float32)),
    ):
        assert rank(made, longer) == rank(made, plain)


def ranked(
    place: int, cosine: float, evidence: float = 9.0, score: float = 10.0
) -> Ranked:
    """A result of which only cosine, evidence and score matter."""
    return Ranked(place, score, 0.0, 0.0, evidence, cosine, 0.0, GATES[0])


def test_as_many_as_stand_out() -> None:
    """What follows the best needs a share of its score that grows, and evidence of its own.

    Of evidence it needs a share of the best, and of the gate where the best barely reaches it.
    """
    found = [
        ranked(0, 0.5, 20.0),
        ranked(1, 0.5, evidence=4.0),
        ranked(2, 0.5, score=4.2),
    ]
    assert places(fitting([[*found, ranked(3, 0.5, score=4.0)]], 10)) == [0, 2]
    assert (
        len(
            fitting(
                [
                    [
                        ranked(at, 0.5, score=10 if at == 0 else 5.0)
                        for at in range(20)
                    ]
                ],
                20,
            )
        )
        < 9
    )
    assert len(fitting([found], 10, strictness=0.1)) == 3
    assert places(fitting([[ranked(0, 0.5, 5.0), *found[1:]]], 10)) == [0, 1]
    assert places(
        fitting([[ranked(0, 0.5, 5.0), ranked(1, 0.5, 3.0), found[2]]], 10)
    ) == [0, 2]


def test_gate_of_the_store() -> None:
    """The more memories there are, the more evidence is asked for, up to a bound."""
    asked = RankingQuery(
        "Explain how a hash table works", directions(1, 40)[0]
    )
    found = [rank(store(["green tea"] * size), asked) for size in (5, 50, 500)]
    assert [fitting([one], 10) for one in found] == [[], [], []]
    small, middle, large = (one[0].gate for one in found)
    assert GATES[0] == small < middle < large == GATES[1]


@pytest.mark.parametrize("share", [0.2, 0.7, 0.95])
def test_message_that_is_near_to_anything(share: float) -> None:
    """What a message has in common with all texts is no evidence, and moves no memory's place."""
    own = directions(200, 2)
    made = store(
        [f"memory {number}" for number in range(200)],
        with_common_part(own, 0.7),
        nulls=with_common_part(NULLS, 0.7),
    )
    [asked] = with_common_part(directions(1, 40), share)
    found = rank(made, RankingQuery("Explain hash tables", asked))
    assert fitting([found], 10) == []
    [near] = with_common_part(own[3:4], share)
    found = rank(made, RankingQuery("Explain hash tables", near), 200)
    assert found[0].place == 3
    assert found[0].similarity > 0 > found[-1].similarity


def with_common_part(vectors: Vectors, share: float) -> Vectors:
    """Vectors of which one number more, the same in all, makes up a share."""
    common = np.full((len(vectors), 1), share**0.5)
    return np.hstack([vectors * (1 - share) ** 0.5, common]).astype(np.float32)


def test_absolute_floors() -> None:
    """A floor above 0 is a cosine; the relevance floor stands in for the calibrated gate."""
    found = [ranked(0, 0.5), ranked(1, 0.2), ranked(2, 0.4)]
    assert places(fitting([found], 10, vector_floor=0.3)) == [0, 2]
    assert places(fitting([found], 1, vector_floor=0.3)) == [0]
    assert places(fitting([found], 10, relevance_floor=0.45)) == [0]
    unsure = [ranked(0, 0.5, evidence=0.0)]
    assert fitting([unsure], 10) == []
    assert fitting([unsure], 10, vector_floor=0.3) == []
    assert places(fitting([unsure], 10, relevance_floor=0.45)) == [0]


def test_each_thought_gets_its_own() -> None:
    """What thoughts need comes in turns, and none of it twice."""
    first = [ranked(0, 0.5), ranked(3, 0.5), ranked(1, 0.5)]
    thoughts = [first, [ranked(2, 0.5), ranked(0, 0.5)], []]
    assert places(fitting(thoughts, 10)) == [0, 2, 3, 1]
    assert places(fitting(thoughts, 3)) == [0, 2, 3]


def test_gate_of_many_thoughts() -> None:
    """The more thoughts a message has, the more evidence a memory needs to come for one of them."""
    asked = RankingQuery("Biscuit the dog", None)
    plain, among_four = (
        rank(store(), asked, thoughts=count)[0] for count in (1, 4)
    )
    assert plain.gate + 1 < among_four.gate < plain.gate + 1.1
    assert plain.relevance > among_four.relevance


def test_what_is_left_out() -> None:
    """What may not come takes no place among the best, however much of it there is."""
    asked = RankingQuery("Biscuit the dog", None)
    assert places(rank(store(), asked, 2))[0] == 0
    left = rank(store(), asked, 2, without=[0, 1, 2])
    assert sorted(places(left)) == [3, 4]
    assert rank(store(), asked, without=range(5)) == []


def test_figures_of_several_thoughts() -> None:
    """What comes for several thoughts stands once, with the figures that speak most for it."""
    weak, strong = (ranked(1, 0.5, evidence=one) for one in (6.0, 9.0))
    other = ranked(0, 0.5)
    assert interleaved([[], [weak], [other, strong]]) == [other, strong]


def test_rare_names_are_evidence() -> None:
    """Each of several names in a message finds its memory, misspelt too; common words find none."""
    texts = [
        "User keeps secrets in GHA.",
        "User runs Proxmox at home.",
        "User asks Oluwaseun about the rota.",
        *(f"User likes tea of kind {n}." for n in range(30)),
    ]
    made = store(texts, directions(len(texts), 2))
    level = made.levels["latin"]
    near = towards(made.vectors[0], level.mean + 2 * level.spread, 5)

    def found(text: str) -> list[int]:
        return places(fitting([rank(made, RankingQuery(text, near))], 10))

    assert sorted(found("sort out gha, proxmox, oluwasuen")) == [
        0,
        1,
        2,
    ]
    assert found("continue") == []
    assert found("which kind of tea grows at home, and which abroad") == []


def test_vector_that_is_about_its_writer() -> None:
    """A vector that tells that a message is about its writer counts in a small store alone."""
    asked = RankingQuery("Nerede?", directions(1, 1)[0], about_writer=9.0)
    few = store()
    assert rank(few, asked)[0].personal == 5.0
    texts = [f"memory {number}" for number in range(200)]
    many = ranking_index(texts, directions(200, 1), None)
    assert rank(many, asked)[0].personal == 0.0
