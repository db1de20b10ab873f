"""How many steps of one unit a change of another takes, over all small tables at once.

A table of one person is a number whose bits are the rows that it holds; neighbours are pairs of tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Pairs = NDArray[np.bool_]


def tables(rows: int) -> NDArray[np.int64]:
    return np.arange(2**rows)


def mask(rows: Iterable[int]) -> int:
    return sum(1 << row for row in rows)


def alike_outside(rows: int, stretches: Sequence[int], relation: str) -> Pairs:
    """Tables that differ within one stretch (a mask) alone; without replacing, one of the two holds nothing there."""
    before, after = tables(rows)[:, None], tables(rows)
    found = np.zeros((2**rows, 2**rows), dtype=np.bool_)
    for stretch in stretches:
        near = (before ^ after) & ~stretch == 0
        found |= near if relation == "replace" else near & ((before & stretch == 0) | (after & stretch == 0))
    np.fill_diagonal(found, val=False)
    return found


def most_steps(near: Pairs, wanted: Pairs, limit: int) -> int:
    """The most steps to neighbours in ``near`` that a pair of ``wanted`` takes; above ``limit`` if some takes more."""
    links = near.astype(np.float32)
    reached, frontier, left = np.eye(len(near), dtype=np.bool_) | near, near, wanted
    if not left.any() or not limit:
        return limit + 1 if left.any() else 0
    most = 1 if (left & near).any() else 0
    for step in range(2, limit + 1):
        far = (left & ~reached).any(axis=1)
        if not far.any():
            return most
        reached, frontier, left = reached[far], frontier[far], left[far] & ~reached[far]
        frontier = (frontier.astype(np.float32) @ links > 0) & ~reached
        reached = reached | frontier
        if (left & frontier).any():
            most = step
    return limit + 1 if (left & ~reached).any() else most
