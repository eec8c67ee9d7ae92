"""Who the user is, by what a message is about: what of 40 core facts comes with which message.

Three made-up persons have 40 facts each on who they are, their health, work and home, and 40
messages that are about themselves or ask for advice and need one of those, named beside it. They
were written before the rule, which was tuned on the first and chosen with the misses of the others
in view, so nobody here is held out. The third writes five languages.
Everyday prompts are about nobody. Standing facts (a name, a language, wishes) come with all of
them, so they are counted apart.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adaptive.core.model import Memory, StoredVector, Vectors
from adaptive.recall.question import Question
from adaptive.recall.selection import (
    candidates_for,
    fitting_memories,
    ranked_candidates,
)
from adaptive.search.calibration import (
    EXAMPLE_TEXTS,
    NULL_PROMPTS,
    Judges,
    judges_by,
)
from adaptive.search.fusion import RankingQuery
from adaptive.search.index import MemoryIndex, build_index
from adaptive.search.vectors import content_hash
from adaptive.settings.merged import NOTHING_HIDDEN
from benchmarks.figures import say, write_results
from benchmarks.locomo import Encode, minilm, sentence_transformer

_FOLDER = Path(__file__).parent
_MOST_RELATED = 15  # `related_memories_n`
_MANY = 5


@dataclass(frozen=True, slots=True)
class Entries:
    """The ids of the entries that one message gets."""

    standing: frozenset[str]
    others: frozenset[str]


@dataclass(frozen=True, slots=True)
class Person:
    """One store, its index, and what is learned for its embedding model."""

    index: MemoryIndex
    judges: Judges

    def entries(self, text: str, vector: Vectors) -> Entries:
        """The entries for a message."""
        question = Question(text=text, thoughts=[RankingQuery(text, vector)])
        candidates = candidates_for(
            question, self.index, NOTHING_HIDDEN, self.judges
        )
        ranked = ranked_candidates(candidates)
        fit = fitting_memories(candidates, ranked, _MOST_RELATED)
        bearing = [memory.id for memory in candidates.bearing]
        standing = frozenset(memory.id for memory in candidates.core)
        coming = [*dict.fromkeys([*fit, *bearing])][:_MOST_RELATED]
        return Entries(standing, frozenset(coming) - standing)


def person_of(facts: Sequence[str], encode: Encode, judges: Judges) -> Person:
    """A store of core facts; the number of a fact is its id."""
    vectors = encode(facts)
    memories = [
        Memory(str(number), fact, number, number, tags=("identity",))
        for number, fact in enumerate(facts)
    ]
    known = {
        memory.id: StoredVector(content_hash(memory.content), vector)
        for memory, vector in zip(memories, vectors, strict=True)
    }
    index = build_index(
        memories,
        known,
        encode(NULL_PROMPTS),
        "benchmark",
    )
    return Person(index, judges)


def figures_of(
    data: dict[str, Any], everyday: Sequence[str], encode: Encode
) -> dict[str, Any]:
    """What one person gets for their own messages and for everyday prompts."""
    judges = judges_by(encode(EXAMPLE_TEXTS), encode(NULL_PROMPTS))
    person = person_of(data["facts"], encode, judges)
    strange = [
        person.entries(text, vector)
        for text, vector in zip(everyday, encode(everyday), strict=True)
    ]
    texts = [text for text, _ in data["messages"]]
    own = [
        person.entries(text, vector)
        for text, vector in zip(texts, encode(texts), strict=True)
    ]
    wanted = [str(number) for _, number in data["messages"]]
    served = [
        number in given.standing | given.others
        for number, given in zip(wanted, own, strict=True)
    ]
    return {
        "languages": data["languages"],
        "tuned_on": data["tuned_on"],
        "standing": sorted(int(number) for number in strange[0].standing),
        "everyday": {
            "entries": statistics.fmean(len(one.others) for one in strange),
            "more_than_five": sum(
                len(one.standing | one.others) > _MANY for one in strange
            ),
        },
        "messages": {
            "served": statistics.fmean(served),
            "entries": statistics.fmean(len(one.others) for one in own),
            "not_served": [
                text
                for text, is_served in zip(texts, served, strict=True)
                if not is_served
            ],
        },
    }


def main() -> None:
    """Measure on MiniLM, and on the models in ``IDENTITY_MODELS``; write ``results/identity.json``."""
    people: list[dict[str, Any]] = json.loads(
        (_FOLDER / "identity_people.json").read_text(encoding="utf-8")
    )
    everyday: list[str] = json.loads(
        (_FOLDER / "everyday_prompts.json").read_text(encoding="utf-8")
    )
    models = {"all-MiniLM-L6-v2": minilm()}
    for folder in map(Path, os.environ.get("IDENTITY_MODELS", "").split()):
        kept = f"adaptive-memory-vectors-{folder.name}"
        models[folder.name] = sentence_transformer(folder, kept)
    figures: dict[str, Any] = {}
    for name, encode in models.items():
        figures[name] = {
            data["name"]: figures_of(data, everyday, encode) for data in people
        }
        for person, result in figures[name].items():
            say(f"{name}, {person}: {result}")
    say(f"written: {write_results('identity', figures)}")


if __name__ == "__main__":
    main()
