"""The users of LoCoMo with their vectors; their memories stand in the order of the conversation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from adaptive.core.model import Vectors
from adaptive.search.calibration import NULL_PROMPTS
from adaptive.search.fusion import RankingIndex, ranking_index
from benchmarks.locomo import (
    Encode,
    Recollector,
    load_conversations,
    load_off_topic,
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A conversation with its vectors."""

    about: Recollector
    memories: Vectors
    questions: Vectors

    def ranking_index(self, nulls: Vectors) -> RankingIndex:
        """The store, prepared for ranking."""
        return ranking_index(self.about.memories, self.memories, nulls)


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
