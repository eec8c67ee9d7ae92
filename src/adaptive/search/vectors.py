"""Arithmetic on vectors of texts."""

from __future__ import annotations

import numpy as np

from adaptive.ports import Vectors

# From so many multiplications on OpenBLAS shares a product out to all cores (its interface/gemm.c),
# and waits for those that are at work for others: on a busy machine milliseconds for microseconds.
_ON_ONE_CORE = 4 * 65_536


def normalised(vectors: Vectors) -> Vectors:
    """Rows scaled to length 1; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def products(vectors: Vectors, vector: Vectors) -> Vectors:
    """The product of each row, of shape (n, d), with a vector of shape (d,); on one core."""
    found: Vectors = np.einsum("ij,j->i", vectors, vector)
    return found


def product_table(some: Vectors, others: Vectors) -> Vectors:
    """The products of all rows of both, of shape (len(some), len(others)); on one core."""
    table = np.empty((len(some), len(others)), dtype=np.float32)
    step = max(_ON_ONE_CORE // max(some.size, 1), 1)
    for start in range(0, len(others), step):
        table[:, start : start + step] = some @ others[start : start + step].T
    return table
