"""Arithmetic on vectors of texts."""

from __future__ import annotations

import numpy as np

from adaptive.ports import Vectors


def normalised(vectors: Vectors) -> Vectors:
    """Rows scaled to length 1; a zero row stays zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)
