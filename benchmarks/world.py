"""The users of LoCoMo with their vectors, and what a store may know of its order.

- ``nothing``: all memories carry the same time (rows that other tools added at once);
- ``bulk``: twenty rows a second in the order of the conversation (an import, a script);
- ``dates``: the date of the session (what this plug-in writes).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from adaptive.core.model import Vectors
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.fusion import RankingIndex, ranking_index
from benchmarks.locomo import (
    Encode,
    Recollector,
    load_conversations,
    load_off_topic,
)

Known = Literal["nothing", "bulk", "dates"]
KNOWN: tuple[Known, ...] = get_args(Known)
ROWS_A_SECOND = 20


@dataclass(frozen=True, slots=True)
class Subject:
    """A conversation with its vectors."""

    about: Recollector
    memories: Vectors
    questions: Vectors

    def ranking_index(self, known: Known, nulls: Vectors) -> RankingIndex:
        """The store as far as ``known`` tells of its order."""
        size = len(self.about.memories)
        times = {
            "nothing": [0] * size,
            "bulk": [row // ROWS_A_SECOND for row in range(size)],
            "dates": self.about.said_at,
        }[known]
        return ranking_index(self.about.memories, self.memories, nulls, times)


@dataclass(frozen=True, slots=True)
class World:
    """Everything that is measured on."""

    subjects: tuple[Subject, ...]
    prompts: tuple[str, ...]
    prompt_vectors: Vectors
    nulls: Vectors

    def distorted(self, change: Callable[[Vectors], Vectors]) -> World:
        """The same texts as another embedding model might see them."""
        subjects = tuple(
            replace(
                one,
                memories=change(one.memories),
                questions=change(one.questions),
            )
            for one in self.subjects
        )
        return replace(
            self,
            subjects=subjects,
            prompt_vectors=change(self.prompt_vectors),
            nulls=change(self.nulls),
        )


def load_world(folder: Path, encode: Encode) -> World:
    """Read and embed the data."""
    subjects = tuple(
        Subject(one, encode(one.memories), encode(one.questions))
        for one in load_conversations(folder)
    )
    prompts = tuple(load_off_topic(folder))
    return World(subjects, prompts, encode(prompts), encode(NULL_PROMPTS))


def questions_of(subject: Subject) -> zip[tuple[str, Vectors, frozenset[int]]]:
    """Each question with its vector and its gold."""
    return zip(
        subject.about.questions,
        subject.questions,
        subject.about.gold,
        strict=True,
    )
