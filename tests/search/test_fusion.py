"""Ranking one user's memories for a message, and choosing those that fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive.ports import Vectors
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.fusion import (
    GATE,
    Asked,
    Ranked,
    Shelf,
    Weights,
    fitting,
    learning_places,
    rank,
    shelf,
)

DIMENSION = 64


def directions(count: int, seed: int) -> Vectors:
    """Unit vectors of chance."""
    rows = np.random.default_rng(seed).normal(size=(count, DIMENSION))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


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
    times: Sequence[int] | None = None,
    chats: Sequence[str] | None = None,
    importance: Sequence[int] | None = None,
    nulls: Vectors | None = NULLS,
) -> Shelf:
    """A shelf of unrelated vectors unless others are given, all learned at once."""
    known = directions(len(texts), 2) if vectors is None else vectors
    return shelf(texts, known, nulls, times or [1] * len(texts), chats, importance)


def places(found: Sequence[Ranked]) -> list[int]:
    """Which memories, in order."""
    return [one.place for one in found]


def test_score_is_its_parts() -> None:
    """Each result explains its score, and results are in its order."""
    made = store(times=[1, 2, 3, 4, 5])
    found = rank(made, Asked("Is the dog allergic?", towards(made.vectors[1], 0.6, 5)))
    assert len(found) == 5
    for one in found:
        assert one.score == one.similarity + one.keywords + one.neighbours
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert found[0].place == 1
    assert found[0].cosine == pytest.approx(0.6, abs=1e-4)
    assert found[0].keywords > 0


def test_vector_alone() -> None:
    """A paraphrase without a common word is found by its vector."""
    made = store()
    found = rank(made, Asked("Can satay sauce be eaten?", towards(made.vectors[1], 0.8, 5)))
    assert found[0].place == 1
    assert found[0].keywords == 0
    assert places(fitting(found, 10)) == [1]


def test_keywords_alone() -> None:
    """Without a vector of the message, words find the memory and are enough evidence."""
    found = rank(store(), Asked("Biscuit the dog", None))
    assert places(fitting(found, 10)) == [0]
    assert fitting(rank(store(), Asked("Explain hash tables", None)), 10) == []


def test_memory_without_vector() -> None:
    """A memory that has no vector yet is found by its words among others that have one."""
    made = store()
    vectors = made.vectors.copy()
    vectors[3] = 0
    found = rank(store(vectors=vectors), Asked("play cello", directions(1, 30)[0]))
    assert places(fitting(found, 10))[0] == 3
    assert found[0].cosine == 0


def test_no_memory_has_a_vector() -> None:
    """Before the first vector arrives, rows of no or zero length are searched by words."""
    for width in (0, DIMENSION):
        empty = np.zeros((len(TEXTS), width), dtype=np.float32)
        assert places(fitting(rank(store(vectors=empty), Asked("Lisbon", None)), 10)) == [2]


def test_no_null_vectors() -> None:
    """Without null vectors nothing tells what a cosine means, so words alone are evidence."""
    made = store(nulls=None)
    same = made.vectors[1]
    assert fitting(rank(made, Asked("satay sauce", same)), 10) == []
    assert fitting(rank(made, Asked("peanuts", same)), 10)


@pytest.mark.parametrize(
    ("texts", "asked", "unrelated"),
    [
        (
            ["У пользователя аллергия на арахис.", "Собаку пользователя зовут Шарик."],
            "Как зовут мою собаку?",
            "Как решить квадратное уравнение?",
        ),
        (["用户对花生过敏。", "用户的狗叫小白。"], "我的狗叫什么名字？", "光的速度是多少？"),
        (
            ["المستخدم لديه حساسية من الفول.", "اسم كلب المستخدم هو ريكس."],
            "ما اسم الكلب؟",
            "ما هي أكبر مدينة في العالم؟",
        ),
    ],
    ids=["Russian", "Chinese", "Arabic"],
)
def test_script_the_model_does_not_know(texts: list[str], asked: str, unrelated: str) -> None:
    """Where all texts of a script are alike to the model, words carry, and unrelated ones don't."""
    blur = directions(1, 8)[0]
    nulls = NULLS.copy()
    for number, prompt in enumerate(NULL_PROMPTS):
        if not prompt.isascii():
            nulls[number] = towards(blur, 0.8, 100 + number)
    vectors = np.stack([towards(blur, 0.8, 50 + number) for number in range(len(texts))])
    made = store(texts, vectors, nulls=nulls)
    message = towards(blur, 0.8, 77)
    assert places(fitting(rank(made, Asked(asked, message)), 10))[:1] == [1]
    assert fitting(rank(made, Asked(unrelated, message)), 10) == []


def test_nothing_fits() -> None:
    """A prompt that is near to no memory gets none, however many there are."""
    texts = [f"User owns object number {number}." for number in range(500)]
    made = store(texts)
    for seed in range(40, 60):
        asked = Asked("Explain how a hash table works", directions(1, seed)[0])
        assert fitting(rank(made, asked), 10) == []


def test_speaking_of_oneself_needs_less() -> None:
    """The same distant memory is given to a message about the user, not to a general one."""
    made = store()
    level = made.levels["latin"]
    near = towards(made.vectors[1], level.mean + 2.5 * level.spread, 5)
    assert places(fitting(rank(made, Asked("Can I eat satay sauce?", near)), 1)) == [1]
    assert fitting(rank(made, Asked("How is satay sauce made?", near)), 10) == []


def test_far_entries_do_not_fill_up() -> None:
    """One clear memory comes alone instead of with nine that have nothing to do with it."""
    texts = [f"User owns object number {number}." for number in range(30)]
    made = store(texts, times=[day * 86_400 for day in range(30)])
    found = fitting(rank(made, Asked("a paraphrase", towards(made.vectors[4], 0.9, 5))), 10)
    assert places(found)[0] == 4
    assert len(found) < 10


def test_neighbours_in_time() -> None:
    """Of two equals the one that was learned next to the best memory comes first."""
    vectors = directions(4, 2)
    message = directions(1, 9)[0]
    vectors[0] = towards(message, 0.9, 3)
    vectors[1] = vectors[2] = towards(message, 0.3, 4)
    day = 86_400
    for times, second in (([0, 60, day, 2 * day], 1), ([0, day, 60, 2 * day], 2)):
        made = store(TEXTS[:4], vectors, times=times)
        assert places(rank(made, Asked("what", message)))[:2] == [0, second]


def test_same_chat() -> None:
    """Memories of one chat belong together, those of two chats at the same time do not."""
    vectors = directions(4, 2)
    message = directions(1, 9)[0]
    vectors[0] = towards(message, 0.9, 3)
    vectors[1] = vectors[2] = towards(message, 0.3, 4)
    made = store(TEXTS[:4], vectors, times=[0, 1, 2, 3], chats=["a", "b", "a", ""])
    found = rank(made, Asked("what", message))
    assert places(found)[:2] == [0, 2]
    assert found[1].neighbours > 0


def test_learned_at_once() -> None:
    """Where all memories are of one second, nobody is lifted."""
    made = store()
    found = rank(made, Asked("dog", towards(made.vectors[0], 0.8, 5)))
    assert {one.neighbours for one in found} == {0.0}


def test_places_in_time() -> None:
    """Order counts within a sitting; a pause, and another chat, are far away."""
    hour = 3600
    found = learning_places([10, 20, 20, 9 * hour, 15], ["", "", "", "", "chat"])
    assert found[1] == found[2]
    assert 0 < found[1] - found[0] < 5
    assert found[3] - found[2] > 1000
    assert abs(found[4] - found[0]) > 1000
    assert learning_places([]).shape == (0,)


@given(st.permutations(range(len(TEXTS))))
def test_order_of_rows(order: list[int]) -> None:
    """The order in which the database gives the rows has no influence."""
    vectors, times = directions(len(TEXTS), 2), [1, 1, 5, 9, 20_000]
    asked = Asked("dog in Lisbon", towards(vectors[3], 0.5, 6))
    plain = rank(store(vectors=vectors, times=times), asked)
    mixed = rank(
        store([TEXTS[at] for at in order], vectors[order], times=[times[at] for at in order]), asked
    )
    assert [order[one.place] for one in mixed] == places(plain)
    assert [one.score for one in mixed] == pytest.approx([one.score for one in plain], abs=1e-3)


def test_ties() -> None:
    """Of equal scores the more important comes first, then the newer."""
    texts = ["User likes tea."] * 4
    vectors = np.repeat(directions(1, 2), 4, axis=0)
    made = store(texts, vectors, times=[1, 1, 1, 2], importance=[5, 9, 5, 5])
    assert places(rank(made, Asked("tea", vectors[0]), 3)) == [1, 3, 0]


def test_follow_up() -> None:
    """A message without a subject of its own takes that of the message before."""
    made = store()
    before = ("Tell me about my sister's studies", towards(made.vectors[4], 0.8, 5))
    message = directions(1, 33)[0]
    assert fitting(rank(made, Asked("And when was that?", message)), 10) == []
    assert rank(made, Asked("And when was that?", message, *before))[0].place == 4
    assert rank(made, Asked("How is ethanol distilled?", message, *before)) == rank(
        made, Asked("How is ethanol distilled?", message)
    )
    assert rank(made, Asked("And when was that?", None, before[0]))[0].place == 4


def test_empty_store() -> None:
    """Without memories there is nothing to rank."""
    made = shelf([], np.zeros((0, 0), dtype=np.float32), NULLS, [])
    assert rank(made, Asked("dog", None)) == []
    assert fitting([], 10) == []


def test_one_memory() -> None:
    """A store of one memory gives it where it fits and keeps it where it does not."""
    made = store(TEXTS[:1])
    assert places(fitting(rank(made, Asked("my dog", towards(made.vectors[0], 0.5, 4))), 10)) == [0]
    assert fitting(rank(made, Asked("hash tables", directions(1, 41)[0])), 10) == []


def test_next_version_is_the_same() -> None:
    """A shelf made from the former one ranks like one made from nothing."""
    first = store(TEXTS[:3])
    again = shelf(TEXTS, directions(5, 2), NULLS, [1] * 5, previous=first)
    asked = Asked("Does my sister play the cello?", directions(1, 12)[0])
    assert rank(again, asked) == rank(store(), asked)


def ranked(place: int, cosine: float, evidence: float = 2 * GATE) -> Ranked:
    """A result of which only cosine and evidence matter."""
    return Ranked(place, 10 - place, 0.0, 0.0, evidence, cosine)


def test_absolute_floors() -> None:
    """A floor above 0 is a cosine; the relevance floor stands in for the calibrated gate."""
    found = [ranked(0, 0.5), ranked(1, 0.2), ranked(2, 0.4)]
    assert places(fitting(found, 10, vector_floor=0.3)) == [0, 2]
    assert places(fitting(found, 1, vector_floor=0.3)) == [0]
    assert places(fitting(found, 10, relevance_floor=0.45)) == [0]
    unsure = [ranked(0, 0.5, evidence=0.0)]
    assert fitting(unsure, 10) == []
    assert fitting(unsure, 10, vector_floor=0.3) == []
    assert places(fitting(unsure, 10, relevance_floor=0.45)) == [0]


def test_score_below_zero() -> None:
    """A memory with enough evidence is given even where all scores are below zero."""
    found = [Ranked(0, -1.0, 0.0, 0.0, GATE, 0.1), Ranked(1, -2.0, 0.0, 0.0, 0.0, 0.0)]
    assert places(fitting(found, 10)) == [0]


def test_weights_can_be_tried() -> None:
    """Without their weight, words and neighbours have no part in the score."""
    made = store(times=[1, 2, 3, 4, 5])
    found = rank(made, Asked("dog", made.vectors[1]), 5, Weights(keywords=0, neighbours=0))
    assert {(one.keywords, one.neighbours) for one in found} == {(0.0, 0.0)}


def test_long_message() -> None:
    """A message of 50,000 characters is ranked by its head and tail."""
    made = store()
    text = "dog " + "unrelated filler " * 3000
    assert len(rank(made, Asked(text, directions(1, 3)[0]), 3)) == 3
