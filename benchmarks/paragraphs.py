"""Messages as people write them: questions behind other things, two at once, and names of things.

The paragraphs (``paragraphs.json``) and the stores with names (``named_things.json``) were written
for this; each question of LoCoMo stands behind one of the ten paragraphs, in turn, and beside the
one that is half a list away.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from adaptive.core.model import Vectors
from adaptive.recall.question import (
    thought_queries,
    thoughts_of,
    with_evidence,
)
from adaptive.search.calibration import EXAMPLE_TEXTS, judges_by
from adaptive.search.fitting import fitting
from adaptive.search.fusion import (
    RankingIndex,
    RankingQuery,
    rank,
    ranking_index,
)
from benchmarks.figures import say, write_results
from benchmarks.locomo import DEFAULT_DATA, Encode, minilm
from benchmarks.personal import PEOPLE, UNRELATED
from benchmarks.world import World, load_world

ENTRIES = 15
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Message:
    """A message to a store, and the places of the memories it needs."""

    store: int
    text: str
    gold: frozenset[int] = frozenset()


class Stores:
    """Users' stores, and the vectors of messages to them."""

    def __init__(
        self,
        rankings: Sequence[RankingIndex],
        *,
        nulls: Vectors,
        contents: Encode,
        queries: Encode,
    ) -> None:
        """Stores that are known, to which others are added."""
        self.rankings = [*rankings]
        self._nulls = nulls
        self._contents = contents
        self._queries = queries
        self._vectors: dict[str, Vectors] = {}
        self._judges = judges_by(queries(EXAMPLE_TEXTS), nulls)

    def add(self, memories: Sequence[str]) -> int:
        """A store of memories without an order; its number."""
        vectors = self._contents(memories)
        self.rankings.append(ranking_index(memories, vectors, self._nulls))
        return len(self.rankings) - 1

    def texts_of(self, message: Message) -> list[str]:
        """A message, and its thoughts if it has several."""
        store: RankingIndex = self.rankings[message.store]
        return [message.text, *thoughts_of(message.text, store.keywords)]

    def embed(self, messages: Sequence[Message]) -> None:
        """Make the vectors of messages."""
        texts = {text for one in messages for text in self.texts_of(one)}
        new = sorted(texts - self._vectors.keys())
        if new:
            rows = self._queries(new)
            self._vectors.update(zip(new, rows, strict=True))

    def found(self, message: Message, *, whole: bool) -> list[int]:
        """The places of what comes; by the ``whole`` message or by its thoughts."""
        store = self.rankings[message.store]
        text, *thoughts = self.texts_of(message)
        queries = [RankingQuery(text, self._vectors[text])]
        if thoughts and not whole:
            rows = np.stack([self._vectors[thought] for thought in thoughts])
            queries = thought_queries(thoughts, rows)
        queries = with_evidence(queries, self._judges)
        rankings = [
            rank(store, query, ENTRIES, thoughts=len(queries))
            for query in queries
        ]
        return [near.place for near in fitting(rankings, ENTRIES)]


def message_sets(world: World, stores: Stores) -> dict[str, list[Message]]:
    """The messages, by what they show."""
    before = paragraphs_of("before")
    nobody = paragraphs_of("nobody")
    named = json.loads((_HERE / "named_things.json").read_text("utf-8"))
    users = range(len(world.subjects))
    plain = [
        Message(number, text, gold)
        for number, subject in enumerate(world.subjects)
        for text, gold in zip(
            subject.about.questions, subject.about.gold, strict=True
        )
    ]
    sets = {
        "plain questions": plain,
        "behind 60 words": behind(before, plain),
        "two questions": [
            pair
            for number in users
            for pair in pairs([one for one in plain if one.store == number])
        ],
        "off-topic prompts": [
            Message(*each) for each in product(users, world.prompts)
        ],
        "paragraphs about nobody": [
            Message(*each) for each in product(users, nobody)
        ],
        "paragraphs of small talk": [
            Message(*each) for each in product(users, before)
        ],
        "names of things": [],
        "unrelated, to stores with names": [],
    }
    for owner in named:
        number = stores.add(owner["memories"])
        sets["names of things"] += [
            Message(number, text, frozenset(gold))
            for text, gold in owner["asked"]
        ]
        sets["unrelated, to stores with names"] += [
            Message(number, text) for text in owner["unrelated"]
        ]
    personal: list[Message] = []
    idle: list[Message] = []
    for person in PEOPLE:
        number = stores.add(person.memories)
        personal += [
            Message(number, question.text, frozenset(question.wanted))
            for question in person.questions
            if question.wanted
        ]
        idle += [Message(number, text) for text in (*UNRELATED, *nobody)]
    sets["small stores, plain"] = personal
    sets["small stores, behind 60 words"] = behind(before, personal)
    sets["small stores, unrelated"] = idle
    return sets


def paragraphs_of(kind: Literal["before", "nobody"]) -> list[str]:
    """Paragraphs to stand before a question, or such as are about nobody."""
    text = (_HERE / "paragraphs.json").read_text("utf-8")
    paragraphs: dict[str, list[str]] = json.loads(text)
    return paragraphs[kind]


def behind(
    paragraphs: Sequence[str], questions: Sequence[Message]
) -> list[Message]:
    """Each question behind one of the paragraphs, in turn."""
    return [
        Message(
            one.store,
            f"{paragraphs[number % len(paragraphs)]} {one.text}",
            one.gold,
        )
        for number, one in enumerate(questions)
    ]


def pairs(questions: Sequence[Message]) -> list[Message]:
    """Each question with the one half a list away."""
    half = len(questions) // 2
    others = [*questions[half:], *questions[:half]]
    return [
        Message(one.store, f"{one.text} {other.text}", one.gold | other.gold)
        for one, other in zip(questions, others, strict=True)
    ]


def figures_of(
    stores: Stores, messages: Sequence[Message], *, whole: bool
) -> dict[str, float]:
    """The share of gold, if there is any, and the mean entries."""
    given = [stores.found(one, whole=whole) for one in messages]
    figures = {
        "entries": round(statistics.fmean(map(len, given)), 2),
    }
    if messages[0].gold:
        figures["share_of_gold"] = round(
            statistics.fmean(
                len(one.gold.intersection(places)) / len(one.gold)
                for one, places in zip(messages, given, strict=True)
            ),
            3,
        )
    return figures


def measure(folder: Path) -> dict[str, Any]:
    """Each set, by the whole message alone and by its thoughts."""
    encode = minilm()
    world = load_world(folder, encode)
    stores = Stores(
        [one.ranking_index(world.nulls) for one in world.subjects],
        nulls=world.nulls,
        contents=encode,
        queries=encode,
    )
    sets = message_sets(world, stores)
    stores.embed([one for messages in sets.values() for one in messages])
    found: dict[str, Any] = {}
    for name, messages in sets.items():
        found[name] = {
            "whole": figures_of(stores, messages, whole=True),
            "thoughts": figures_of(stores, messages, whole=False),
        }
        say(f"{name}: {found[name]}")
    return found


def main(folder: Path = DEFAULT_DATA) -> None:
    """Measure and write ``results/paragraphs.json``."""
    say(f"written: {write_results('paragraphs', measure(folder))}")


if __name__ == "__main__":
    main()
