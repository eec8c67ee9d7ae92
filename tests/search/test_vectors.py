"""Arithmetic on vectors of texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from adaptive.ports import Vectors
from adaptive.search.vectors import normalised, product_table, products

finite = st.floats(-1e6, 1e6, width=32)


@settings(deadline=None)
@given(arrays.arrays(np.float32, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=finite))
def test_normalised(vectors: Vectors) -> None:
    """Every row has length 1, or stays zero."""
    lengths = np.linalg.norm(normalised(vectors), axis=1)
    for row, length in zip(vectors, lengths, strict=True):
        # Squares of the smallest numbers vanish in single precision.
        if np.abs(row).max() > 1e-15:
            assert length == pytest.approx(1, abs=1e-3)
        elif not row.any():
            assert length == 0


def test_direction_is_kept() -> None:
    """A vector points where it pointed, whatever its length, and stays in single precision."""
    scaled = normalised(np.array([[3, 4], [0.003, 0.004], [-30, -40]], dtype=np.float32))
    assert scaled.dtype == np.float32
    assert scaled == pytest.approx(np.array([[0.6, 0.8], [0.6, 0.8], [-0.6, -0.8]]), abs=1e-6)


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (3, 700), (122, 384), (1000, 384)], ids=str)
def test_products(shape: tuple[int, int]) -> None:
    """Products that are made on one core are those of numpy, whatever the number of rows."""
    chance = np.random.default_rng(7)
    some, others = (
        normalised(chance.normal(size=(count, shape[1])).astype(np.float32))
        for count in (shape[0], 45)
    )
    assert product_table(some, others) == pytest.approx(some @ others.T, abs=1e-5)
    assert product_table(others, some) == pytest.approx(others @ some.T, abs=1e-5)
    assert products(some, others[0]) == pytest.approx(some @ others[0], abs=1e-5)
