"""Arithmetic on vectors of texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from adaptive.ports import Vectors
from adaptive.search.vectors import normalised

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
