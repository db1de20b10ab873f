"""What one unit changes on each level of a tree of places, and how noise covers it.

*What one unit does* of ``docs/explanation/proofs/places.md``. A node is the sum of its leaves' cells, so a person in
several leaves of one node moves that node by as many times their size: levels above the leaves are dearer, not cheaper.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from chronodp.postprocess.hierarchy import PlaceTree
from chronodp.privacy import Contribution, exact_sensitivity
from chronodp.series.shapes.reach import FilterReach, Reach, above

__all__ = ["level_changes", "level_sensitivity"]


def level_changes(tree: PlaceTree, cells: int, *, copies: int = 1) -> tuple[int, ...]:
    """Return, for each level, the most that the squares of what ``cells`` ones add to its nodes can sum up to.

    With c_v of a person's cells under node v, Σ c_v² is largest where the largest nodes are filled one after the other:
    moving a cell to a node that has at least as many, and room, never lowers the sum, and two nodes may swap what they
    hold if the larger gets more. In a regular tree one choice does so on all levels at once:

        Δ² = ⌊m / n⌋ n² + (m mod n)²,   n leaves under each node of the level

    Args:
        tree: of places.
        cells: how many cells of a period one person is in.
        copies: how often the tree stands there, once for every key and bin beside the places.

    >>> level_changes(PlaceTree([[6], [10] * 6]), 4)
    (16, 16, 4)
    """
    return tuple(_packed(sizes, cells, copies) for sizes in tree.sizes)


def _packed(sizes: NDArray[np.int64], cells: int, copies: int) -> int:
    total = 0
    kinds, counts = np.unique(sizes, return_counts=True)
    both: list[tuple[int, int]] = list(zip(kinds[::-1].tolist(), counts[::-1].tolist(), strict=True))
    for size, count in both:
        full = min(count * copies, cells // size)
        total, cells = total + full * size**2, cells - full * size
        if full < count * copies:
            return total + cells**2
    return total


def level_sensitivity(
    reach: Reach,
    change: int,
    *,
    periods: int,
    contribution: Contribution,
    opposite: Fraction | None,
    of_rows: bool,
    together: bool,
    replace: bool,
) -> float:
    """Return the most that one unit changes a level in l2, seen through a shape of time.

        Δ M s(k)              added or removed
        √2 √(M² + o²) Δ s(k)  replaced, where C has no two columns that point away from each other
        2 Δ M s(k)            replaced, any shape or any sign

    where M is the most that a unit adds to a cell and o the most against that sign, k how many periods it is in, s(k)
    how far these reach and Δ² the level's change of `level_changes`.
    """
    one = contribution.row if of_rows else contribution.presence
    factor = Fraction(1)
    if replace:
        factor = Fraction(4)
        if reach.aligned and opposite is not None:
            factor = min(factor, 2 * (1 + (min(one, opposite) / one) ** 2))
    squared = factor * change * one**2
    if isinstance(reach, FilterReach) and reach.white:  # periods are apart: their squares add up, exactly
        return exact_sensitivity(Fraction(0), squared * periods).l2
    return above(math.sqrt(squared) * reach.l2(periods, together=together), 1)
