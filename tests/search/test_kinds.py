"""Kinds of texts that are learned from examples, in a space of three directions."""

import numpy as np

from adaptive.core.model import Vectors
from adaptive.search.kinds import Examples, learned_kind
from adaptive.search.vectors import normalised


def around(direction: int, count: int, seed: int) -> Vectors:
    """Vectors that lie near one of three directions."""
    scattered = np.random.default_rng(seed).normal(0, 0.2, (count, 3))
    scattered[:, direction] += 1
    return normalised(scattered.astype(np.float32))


def texts(count: int, word: str = "word") -> list[str]:
    """As many texts of one script."""
    return [word] * count


def test_a_kind_is_told_from_others() -> None:
    """What lies where the examples lie is of the kind, and few of the others are."""
    kind = learned_kind(
        Examples(texts(20), around(0, 20, 1)),
        Examples(texts(30), around(1, 30, 2)),
    )
    assert kind.holds(texts(50), around(0, 50, 3)).mean() > 0.9
    assert kind.holds(texts(50), around(1, 50, 4)).mean() < 0.25


def test_nothing_is_told_by_chance() -> None:
    """Where examples lie among the others, or in a script without any, nothing is of the kind."""
    alike = learned_kind(
        Examples(texts(20), around(0, 20, 1)),
        Examples(texts(30), around(0, 30, 2)),
    )
    assert not alike.holds(texts(50), around(0, 50, 3)).any()
    latin = learned_kind(
        Examples(texts(20), around(0, 20, 1)),
        Examples(texts(30), around(1, 30, 2)),
    )
    assert not latin.holds(texts(50, "слово"), around(0, 50, 3)).any()


def test_evidence() -> None:
    """What lies where the examples lie has evidence for it, what lies elsewhere has none."""
    kind = learned_kind(
        Examples(texts(20), around(0, 20, 1)),
        Examples(texts(30), around(1, 30, 2)),
    )
    like = [kind.evidence("word", row) for row in around(0, 50, 3)]
    unlike = [kind.evidence("word", row) for row in around(1, 50, 4)]
    assert np.median(like) > 3
    assert np.median(unlike) == 0
    assert kind.evidence("слово", around(0, 1, 3)[0]) == 0
