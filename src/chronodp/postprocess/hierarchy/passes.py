"""Two passes over a tree: generalised least squares from noisy numbers of all its nodes, many rows at once.

Written for what each level says beyond the leaves' own sums. Those gaps are noise alone, so that floats hold them well
whatever the size of the numbers, and the numbers themselves stay whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess.columns import Floats
from chronodp.postprocess.hierarchy.covariance import TreeCovariance
from chronodp.postprocess.hierarchy.rounding import round_leaves

__all__ = ["add_up_leaves", "add_up_tree"]

_TOGETHER = 2**16  # leaves of several rows that are worked on at once: they stay in a processor's cache


def add_up_leaves(covariance: TreeCovariance, noisy: Sequence[NDArray[np.int64] | None]) -> NDArray[np.int64]:
    """Return whole numbers for the leaves whose sums are the best estimates of every node, less than a step away.

    Args:
        covariance: of the tree, with the precisions of what was measured.
        noisy: of each level, root first, whole numbers of rows × nodes; None where nothing was measured.

    Guarantee: free, and exactly as private as the noisy numbers together. Sums of what is returned add up to the last
    digit, on every level; each lies less than one step, and what floats round, from the estimate of least squares.
    """
    tree, leaves = covariance.tree, noisy[-1]
    if leaves is None or len(noisy) != tree.levels:
        raise InvalidArgument("noisy", f"{len(noisy)} levels", f"numbers of {tree.levels} levels, leaves among them")
    out = np.empty_like(leaves)
    for rows in _some(len(leaves), tree.leaves):
        own = leaves[rows]
        sums = tree.sums(own)
        gaps = [
            None if level is None else (level[rows] - total).astype(np.float64)
            for level, total in zip(noisy[:-1], sums[:-1], strict=True)
        ]
        out[rows] = own + round_leaves(_corrections(covariance, gaps, len(own)))
    return out


def add_up_tree(covariance: TreeCovariance, noisy: Sequence[Floats | None]) -> list[Floats]:
    """Return the best estimates of all nodes in floats, root first, from noisy numbers of rows × nodes a level."""
    tree, leaves = covariance.tree, noisy[-1]
    if leaves is None or len(noisy) != tree.levels:
        raise InvalidArgument("noisy", f"{len(noisy)} levels", f"numbers of {tree.levels} levels, leaves among them")
    sums = tree.sums(leaves)
    gaps = [None if level is None else level - total for level, total in zip(noisy[:-1], sums[:-1], strict=True)]
    return tree.sums(leaves + _corrections(covariance, gaps, len(leaves)))


def _corrections(covariance: TreeCovariance, gaps: Sequence[Floats | None], rows: int) -> Floats:
    """Return what least squares adds to each leaf, given what each level above says beyond the leaves' sums."""
    tree = covariance.tree
    last = tree.levels - 1
    # Up. Leaves are their own reference, so they say 0 and so do sums of them.
    said: Floats = np.zeros((rows, tree.counts[last - 1] if last else 1))
    of_children, own_words = [said], []
    for level in reversed(range(last)):
        gap, sums = gaps[level], of_children[-1]
        gain = covariance.precisions[level] * covariance.from_below[level]
        said = sums if gap is None else sums + gain * (gap - sums)
        own_words.append(said)
        if level:
            of_children.append(np.add.reduceat(said, tree.starts[level - 1], axis=1))
    if not last:
        return said
    # Down: each node hands its excess to its children by their share.
    excess = own_words[-1] - of_children[-1]
    for level in range(1, last):
        sums, words = of_children[last - 1 - level], own_words[last - 1 - level]
        excess = words + covariance.shares[level] * np.repeat(excess, tree.children[level - 1], axis=1) - sums
    found: Floats = np.repeat(excess, tree.children[last - 1], axis=1)
    found *= covariance.shares[last]
    return found


def _some(rows: int, width: int) -> Iterator[slice]:
    """Yield stretches of rows that have few enough numbers to be worked on together."""
    step = max(1, _TOGETHER // width)
    yield from (slice(begin, begin + step) for begin in range(0, rows, step))
