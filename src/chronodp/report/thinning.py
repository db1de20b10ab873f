"""Which points of a long line are drawn: a browser cannot draw a million, and no screen has room for them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_DRAWN", "drawn_points"]

MOST_DRAWN = 5_000
"""Points of one line that are drawn at most."""


def drawn_points(values: NDArray[np.float64], most: int = MOST_DRAWN) -> NDArray[np.int64]:
    """Return the places of the points that are drawn: of every stretch the least and the largest, and a gap.

    So no peak is lost, each point that is drawn was released, and where a value is missing the line is broken.

    >>> drawn_points(np.array([1.0, 5.0, 2.0, -3.0, 0.0, 1.0, 9.0, 2.0]), most=6).tolist()
    [0, 1, 3, 4, 6, 7]
    """
    count = len(values)
    if count <= most:
        return np.arange(count)
    known = np.isfinite(values)
    edges = np.linspace(0, count, most // 3 + 1).astype(np.int64)
    kept = {0, count - 1}
    for begin, end in pairwise(edges.tolist()):
        there, stretch = known[begin:end], values[begin:end]
        if there.any():
            kept.add(begin + int(np.argmin(np.where(there, stretch, np.inf))))
            kept.add(begin + int(np.argmax(np.where(there, stretch, -np.inf))))
        if not there.all():
            kept.add(begin + int(np.argmin(there)))
    return np.array(sorted(kept))
