"""Rows of the host's memory table as memories, of any release and whatever is in them."""

from __future__ import annotations

import json
import math
import random
import string
import tracemalloc
import uuid
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.core.marks import CATEGORIES, read_notation
from adaptive.core.model import Draft, Memory, Provenance, StoredVector
from adaptive.host.memory_rows import (
    memory_meta,
    memory_of_row,
    memory_path,
    write_notation,
)
from adaptive.search.index import MemoryIndex, build_index
from adaptive.search.vectors import content_hash
from tests.rates import over

META = {
    "tags": ["goal"],
    "bank": "Work",
    "confidence": 0.8,
    "importance": 7,
    "chat_id": "c",
}
META |= {"until": "2027-02-28"}


def row(content: str | None, **fields: Any) -> SimpleNamespace:
    """A row as release 0.9 has it, and further columns."""
    return SimpleNamespace(
        id="m",
        user_id="u",
        content=content,
        created_at=1,
        updated_at=2,
        **fields,
    )


PLACED = [
    # Release 0.9 has no columns for them: tags and bank stand in the text.
    (
        row("[Tags: goal] User runs. [Memory Bank: Work] [Until: 2027-02-28]"),
        Memory("m", "User runs.", 1, 2, ("goal",), "Work", until="2027-02-28"),
    ),
    (
        row("User runs.", type="context", path="Work/goal", meta=META),
        Memory(
            "m",
            "User runs.",
            1,
            2,
            ("goal",),
            "Work",
            0.8,
            7,
            META,
            "2027-02-28",
        ),
    ),
    # Adaptive Memory 3.1 and its forks, which write "none" where there are no tags.
    (
        row("[Tags: none] a [Memory Bank: Work] [Confidence: 1.00]"),
        Memory("m", "a", 1, 2, bank="Work"),
    ),
    # Where meta has no bank, as after an edit by the host, the path names it.
    (
        row("a", path="Work/goal", meta=None),
        Memory("m", "a", 1, 2, bank="Work"),
    ),
    (
        row("a [Memory Bank: Home]", path="Work", meta={}),
        Memory("m", "a", 1, 2, bank="Home"),
    ),
]


@over("stored, read", PLACED)
def test_row(stored: SimpleNamespace, read: Memory) -> None:
    """Rows of all releases are read, wherever these keep what a memory has beside its text."""
    found = memory_of_row(stored)
    assert replace(found, stored=read.stored) == read
    assert found.stored[0] == stored.content


@over(
    "meta",
    [
        {
            "confidence": "high",
            "importance": None,
            "tags": "goal",
            "bank": None,
        },
        {"confidence": math.nan, "importance": math.inf},
        {"confidence": [], "importance": {}},
        {"confidence": 10**400, "importance": -(10**400)},
        {"tags": [1, None, {}], "history": 5, "until": "soon"},
        {"until": 20270228},
        {},
        None,
    ],
)
def test_meta_that_anybody_wrote(meta: Any) -> None:
    """What stands in meta may be anything; the memory is read all the same."""
    read = memory_of_row(row("User likes tea.", path=None, meta=meta))
    assert read.content == "User likes tea."
    assert math.isfinite(read.confidence)
    assert all(isinstance(tag, str) for tag in read.tags)
    assert read.until == ""


def made_up_row(chance: random.Random, words: list[str]) -> SimpleNamespace:
    """A row of a fact as the plug-in writes it and the database gives it: nothing in it is shared."""
    said = " ".join(chance.choices(words, k=10))
    draft = Draft(
        content=f"User says {said}.",
        tags=("preference",),
        bank="General",
        passed=content_hash(said),
    )
    at = 1_700_000_000 + chance.randrange(10**7)
    source = Provenance(
        chat_id=str(uuid.UUID(int=chance.getrandbits(128))),
        message_id=str(uuid.UUID(int=chance.getrandbits(128))),
        said_at=at,
    )
    fields = {
        "id": str(uuid.UUID(int=chance.getrandbits(128))),
        "content": draft.content,
        "path": "General/preference",
        "type": "context",
        "meta": memory_meta(draft, source, {}),
        "created_at": at,
        "updated_at": at,
    }
    return SimpleNamespace(**json.loads(json.dumps(fields)))


def test_index_weighs_what_is_counted() -> None:
    """A user's index takes as much memory as the cache of indexes counts for it, and not a tenth more."""
    chance = random.Random(18)
    words = [
        "".join(chance.choices(string.ascii_lowercase, k=chance.randint(4, 9)))
        for _ in range(1200)
    ]

    def index() -> MemoryIndex:
        """The index of 500 facts with vectors, of which nothing else is left."""
        memories = [
            memory_of_row(made_up_row(chance, words)) for _ in range(500)
        ]
        vectors = {
            memory.id: StoredVector(
                content_hash(memory.content), np.ones(384, np.float32)
            )
            for memory in memories
        }
        return build_index(memories, vectors, None, "model")

    index()  # what is made once for all users
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        made = index()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.8 * made.nbytes < after - before < 1.1 * made.nbytes


@over(
    "bank, tags, path",
    [
        ("Work", ("goal", "identity"), "Work/goal"),
        ("", (), ""),
        ("Home/Garden", (), "HomeGarden"),
        ("..", (" goal ",), "goal"),
        ("a\nb", (), "ab"),
    ],
)
def test_memory_path(bank: str, tags: tuple[str, ...], path: str) -> None:
    """The path is the bank, then the first category, without what the host refuses in it."""
    assert memory_path(bank, tags) == path


TEA = "User likes tea."
NOTED = [
    (TEA, Draft(TEA)),
    (f"[Tags: preference] {TEA}", Draft(TEA, ("preference",))),
    (
        f"[Tags: preference, goal] {TEA} [Memory Bank: Work] [Confidence: 0.85]",
        Draft(TEA, ("preference", "goal"), "Work"),
    ),
    (
        "[Tags: goal]\na\nb [Memory Bank: Work] [Until: 2027-02-28]",
        Draft("a\nb", ("goal",), "Work", until="2027-02-28"),
    ),
    ("a [Until: 2027-02-30]", Draft("a [Until: 2027-02-30]")),
    ("a [Tags: goal] [x: y]", Draft("a [Tags: goal] [x: y]")),
]


@over("stored, noted", NOTED)
def test_read_notation(stored: str, noted: Draft) -> None:
    """Marks of any earlier release are read; what only looks like one stays."""
    assert Draft(**read_notation(stored)) == noted


plain = st.text(st.characters(exclude_characters="[]"))


@settings(deadline=None)
@given(
    plain.map(str.strip),
    st.lists(st.sampled_from(CATEGORIES), unique=True).map(tuple),
    plain.map(str.strip),
    st.dates().map(str) | st.just(""),
)
def test_round_trip(
    content: str, tags: tuple[str, ...], bank: str, until: str
) -> None:
    """What is written into a text comes back as it was, to the letter."""
    noted = Draft(content, tags, bank, until=until)
    assert Draft(**read_notation(write_notation(noted))) == noted


PATHOLOGICAL = [
    *("[Tags:" + " " * 200_000, "[Memory Bank:" * 15_000, " " * 200_000 + "x"),
    *("[Until: 2027-99-99] " * 10_000, "[Confidence: 1] " * 12_000),
]


@pytest.mark.timeout(120)
@over("text", PATHOLOGICAL)
def test_linear_time(text: str) -> None:
    """200 kB that a user typed into a memory are read in no time."""
    assert len(read_notation(text)["content"]) <= len(text)
