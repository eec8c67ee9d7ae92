"""Which statements say the same: rates over labelled pairs, and what each guard is for."""

from __future__ import annotations

import json

import pytest

from adaptive.learn.duplicates import (
    calibrated_likeness,
    same_fact,
    unrelated_likeness,
)
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.vectors import normalised
from tests.conftest import PROJECT
from tests.minilm import MINILM

GROUPS = json.loads((PROJECT / "benchmarks/deduplication_pairs.json").read_text("utf-8"))["written"]
# Of the duplicates; words alone find fewer.
FOUND = {"development": 0.8, "control": 0.55}
FOUND_BY_WORDS = {"development": 0.7, "control": 0.4}


def pairs(group: str, *, same: bool) -> list[tuple[str, str]]:
    """The written pairs of a set that are the same, or that are not."""
    chosen = [one for one in GROUPS if one["set"] == group]
    return [
        (known, said)
        for one in chosen
        if (one["relation"] == "same") is same
        for known, said in one["pairs"]
    ]


async def judged(couples: list[tuple[str, str]]) -> list[bool]:
    """What is found with vectors."""
    nulls = normalised(await MINILM.embed(NULL_PROMPTS, query=True))
    unrelated = unrelated_likeness(nulls)
    sides = [normalised(await MINILM.embed(one, query=False)) for one in zip(*couples, strict=True)]
    cosines = (sides[0] * sides[1]).sum(axis=1)
    return [
        same_fact(known, said, calibrated_likeness(float(cosine), unrelated))
        for (known, said), cosine in zip(couples, cosines, strict=True)
    ]


@pytest.mark.parametrize("group", ["development", "control"])
async def test_duplicates_are_found(group: str) -> None:
    """Enough of the repetitions are found, in words and vectors and in words alone."""
    couples = pairs(group, same=True)
    found = await judged(couples)
    missed = [couple for couple, one in zip(couples, found, strict=True) if not one]
    assert len(missed) <= (1 - FOUND[group]) * len(couples), missed
    by_words = [couple for couple in couples if not same_fact(*couple)]
    assert len(by_words) <= (1 - FOUND_BY_WORDS[group]) * len(couples), by_words


@pytest.mark.parametrize("group", ["development", "control"])
async def test_nothing_is_lost(group: str) -> None:
    """No different fact, change or addition is taken for a repetition."""
    couples = pairs(group, same=False)
    assert len(couples) >= 109
    found = await judged(couples)
    assert [couple for couple, one in zip(couples, found, strict=True) if one] == []
    assert [couple for couple in couples if same_fact(*couple)] == []


@pytest.mark.parametrize(
    ("known", "said", "expected"),
    [
        ("User likes tea.", "user likes tea", True),
        ("User lives in Porto.", "User resides in Porto.", True),
        ("User has two dogs.", "User has three dogs.", False),
        ("User paid 20 euros.", "User paid 30 euros.", False),
        ("User's dog is called Rex.", "User's dog is called Max.", False),
        ("User likes tea.", "User does not like tea.", False),
        ("User has a dog and a cat.", "User has a dog.", True),
        ("User has a dog house.", "User has a dog.", False),
        ("User has a dog.", "User has a dog named Rex.", False),
        ("User prefers tea to coffee.", "User prefers coffee to tea.", False),
        ("User's favorite color is blue.", "Blue is the user's favorite color.", True),
        ("User's left knee hurts.", "User's right knee hurts.", False),
        ("El usuario tiene un gato.", "El usuario tiene una gata.", False),
        ("用户喜欢猫。", "用户喜欢狗。", False),
        ("User doesn't own a motorcycle.", "User owns a motorcycle.", False),
    ],
)
def test_same_fact(known: str, said: str, expected: bool) -> None:
    """However near their vectors are, numbers, names, negation, order and single words count."""
    assert same_fact(known, said, 1.0) is expected


def test_far_vectors_raise_a_doubt() -> None:
    """A learned rewording is not believed where the vectors say that it means something else."""
    assert not same_fact("User lives in Porto.", "User resides in Porto.", 0.2)
    assert same_fact("User likes tea.", "User likes tea!", 0.2)
