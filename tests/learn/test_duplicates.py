"""Which statements say the same: rates over pairs, each guard, a reply's operations."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from adaptive.core.model import Draft, Proposal
from adaptive.learn.duplicates import (
    KNOWN_ALREADY,
    REPLACED_IN_BATCH,
    calibrated_likeness,
    reconciled,
    same_fact,
    unrelated_likeness,
)
from adaptive.learn.proposals import SAID_TWICE
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.vectors import normalised
from tests.conftest import PROJECT
from tests.fakes import hook_settings, memory
from tests.learn.world import index_of
from tests.minilm import MINILM
from tests.rates import over

GROUPS = json.loads(
    (PROJECT / "benchmarks/deduplication_pairs.json").read_text("utf-8")
)["written"]
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
    sides = [
        normalised(await MINILM.embed(one, query=False))
        for one in zip(*couples, strict=True)
    ]
    cosines = (sides[0] * sides[1]).sum(axis=1)
    return [
        same_fact(known, said, calibrated_likeness(float(cosine), unrelated))
        for (known, said), cosine in zip(couples, cosines, strict=True)
    ]


@pytest.mark.parametrize("group", ["development", "control"])
async def test_rates(group: str) -> None:
    """Enough repetitions are found, also by words alone, and no fact is lost."""
    same, different = pairs(group, same=True), pairs(group, same=False)
    assert len(different) >= 109
    found = await judged(same + different)
    missed = [
        couple for couple, one in zip(same, found, strict=False) if not one
    ]
    assert len(missed) <= (1 - FOUND[group]) * len(same), missed
    by_words = [couple for couple in same if not same_fact(*couple)]
    assert len(by_words) <= (1 - FOUND_BY_WORDS[group]) * len(same), by_words
    lost = [
        couple
        for couple, one in zip(different, found[len(same) :], strict=True)
        if one
    ]
    assert lost == []
    assert [couple for couple in different if same_fact(*couple)] == []


@over(
    "known, said, expected",
    [
        ("User lives in Porto.", "User resides in Porto.", True),
        ("User has a dog and a cat.", "User has a dog.", True),
        (
            "User's favorite color is blue.",
            "Blue is the user's favorite color.",
            True,
        ),
        ("User has two dogs.", "User has three dogs.", False),
        ("User paid 20 euros.", "User paid 30 euros.", False),
        ("User's dog is called Rex.", "User's dog is called Max.", False),
        ("User likes tea.", "User does not like tea.", False),
        ("User has a dog house.", "User has a dog.", False),
        ("User prefers tea to coffee.", "User prefers coffee to tea.", False),
        ("User's left knee hurts.", "User's right knee hurts.", False),
        ("用户喜欢猫。", "用户喜欢狗。", False),
    ],
)
def test_same_fact(known: str, said: str, expected: bool) -> None:
    """However near their vectors are, numbers, names, negation, order and single words count."""
    assert same_fact(known, said, 1.0) is expected


# --- the operations of a reply --------------------------------------------------------------------

# Null prompts whose mean cosine is almost 0: the likeness of two vectors is almost their cosine.
NULLS = np.eye(1, 4, dtype=np.float32) * (
    1 - 2 * (np.arange(len(NULL_PROMPTS))[:, None] % 2)
)
NULLS = NULLS.astype(np.float32)


def new(content: str) -> Proposal:
    """A proposed new fact."""
    return Proposal("NEW", draft=Draft(content))


def update(id: str, content: str, until: str = "") -> Proposal:
    """A proposed change."""
    return Proposal("UPDATE", id, Draft(content, until=until))


def delete(id: str) -> Proposal:
    """A proposed removal."""
    return Proposal("DELETE", id)


HOME = memory("home", "User lives in Porto.", created_at=10)
DOG = memory("dog", "User has a dog named Rex.", created_at=20)
TEA = memory("tea", "User likes tea.", created_at=30)
STORE = (HOME, DOG, TEA)
LISBON = "User lives in Lisbon."
ROME = "User lives in Rome."
RESIDES = "User resides in Porto."
HATES = update("tea", "User hates tea.")
# What a reply asks for on a store of home, dog and tea, and why each of it is not carried out.
REPLIES = [
    ([new(RESIDES)], [KNOWN_ALREADY]),
    ([new(LISBON)], [""]),
    ([update("home", LISBON)], [""]),
    ([update("home", HOME.content)], [KNOWN_ALREADY]),
    ([update("home", HOME.content, until="2027-01-31")], [""]),
    ([delete("home"), new(LISBON)], ["", ""]),
    ([new("User has a cat."), new("User owns a cat.")], ["", SAID_TWICE]),
    ([update("home", LISBON), new(RESIDES)], ["", ""]),
    ([update("home", ROME), update("home", LISBON)], [REPLACED_IN_BATCH, ""]),
    (
        [update("home", LISBON), new("User resides in Lisbon.")],
        ["", SAID_TWICE],
    ),
    (
        [new(LISBON), update("home", "User resides in Lisbon.")],
        [SAID_TWICE, ""],
    ),
    ([HATES, delete("tea")], [REPLACED_IN_BATCH, ""]),
    ([delete("tea"), HATES], [REPLACED_IN_BATCH, ""]),
]


@over("proposals, reasons", REPLIES)
def test_reconciled(proposals: list[Proposal], reasons: list[str]) -> None:
    """A reply doubles neither the store nor itself, whatever the order of rows."""
    for rows in itertools.permutations(STORE):
        checked = reconciled(
            proposals, index_of(rows, {}, NULLS), {}, hook_settings()
        )
        assert [one.draft for one in checked] == [
            one.draft for one in proposals
        ]
        assert [one.reason for one in checked] == reasons
        assert [one.is_open for one in checked] == [
            not reason for reason in reasons
        ]


def test_replaced_is_told() -> None:
    """A change that another one of the same reply replaces is not told as known already."""
    said = [update("home", ROME), update("home", LISBON), delete("tea"), HATES]
    checked = reconciled(said, index_of(STORE, {}, NULLS), {}, hook_settings())
    assert [one.status for one in checked] == [
        "rejected",
        "open",
        "kept",
        "open",
    ]


def test_everything_is_kept() -> None:
    """Where the admin wants no deduplication what is known is written again, but once."""
    said = [new(RESIDES), new(RESIDES)]
    checked = reconciled(
        said,
        index_of(STORE, {}, NULLS),
        {},
        hook_settings(deduplicate_memories=False),
    )
    assert checked == [said[0], said[1].decided("superseded", SAID_TWICE)]


VECTORS = {"home": (0, 0, 1, 0), "tea": (0, 0, 0, 1)}
FOND = "User is fond of tea."
WORDED = "User is really very fond of tea."
# A new fact, its vector, the valve ``similarity_threshold``, and whether it is new to the store.
WITH_VECTORS = [
    ("User prefers tea.", (0, 0, 0, 1), 0.0, True),  # one word for another
    (FOND, (0, 0, 0, 1), 0.0, False),  # learned
    (WORDED, (0, 0, 0, 1), 0.0, False),  # not learned as a whole, but near
    (WORDED, (0, 0.6, 0, 0.8), 0.0, True),
    (WORDED, (0, 1), 0.0, True),  # of another model
    (RESIDES, (0, 0.6, 0.8, 0), 0.9, True),
    (RESIDES, (0, 0, 1, 0), 0.9, False),
    (WORDED, (0, 0.6, 0, 0.8), 0.7, False),
    (RESIDES, (), 0.95, False),
]


@over("content, vector, threshold, is_new", WITH_VECTORS)
def test_reconciled_with_vectors(
    content: str, vector: tuple[float, ...], threshold: float, is_new: bool
) -> None:
    """Vectors add to what words tell, as far as the valve allows; nothing fails without them."""
    index = index_of(STORE, VECTORS, NULLS)
    known = {content: np.asarray(vector, dtype=np.float32)} if vector else {}
    settings = hook_settings(similarity_threshold=threshold)
    assert (
        reconciled([new(content)], index, known, settings)[0].is_open == is_new
    )


def test_found_in_a_large_store() -> None:
    """The row that says the same is found among thousands, in other words, without vectors."""
    rows = [
        memory(
            f"m-{at}",
            f"User likes thing{at} and place{at} in Lisbon.",
            created_at=at,
        )
        for at in range(3000)
    ]
    home = memory("home", "User resides in Porto.", created_at=3)
    index = index_of([*rows[:1500], home, *rows[1500:]], {}, NULLS)
    said = [new("User lives in Porto."), new(LISBON)]
    checked = reconciled(said, index, {}, hook_settings())
    assert [one.is_open for one in checked] == [False, True]
