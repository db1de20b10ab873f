"""Places that add up: the error of every level beside other splits, and the time of two passes and rounding."""

from __future__ import annotations

import math
import sys
import time

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.harness import Topic, alone, peak, show
from chronodp.postprocess.hierarchy import PlaceTree, TreeCovariance, add_up_leaves
from chronodp.series.places import LevelShape, level_changes, split_levels

PERIODS = 365
# Counties of the 51 states of the USA, from Alabama to Wyoming.
# fmt: off
COUNTIES = [
    67, 30, 15, 75, 58, 64, 8, 3, 1, 67, 159, 5, 44, 102, 92, 99, 105, 120, 64, 16, 24, 14, 83, 87, 82, 115,
    56, 93, 17, 10, 21, 33, 62, 100, 53, 88, 77, 36, 67, 5, 46, 66, 95, 254, 29, 14, 133, 39, 55, 72, 23,
]
# fmt: on
TREES = {
    "6 × 10": [[6], [10] * 6],
    "51 × 61": [[51], [61] * 51],
    "counties of the USA": [[51], COUNTIES],
    "20 × 50 × 100": [[20], [50] * 20, [100] * 1000],
}


def measure() -> Topic:
    topic = Topic(
        "Standard deviation of a place at μ = 1, root to leaves, one person in up to m leaves",
        "python -m benchmarks.places",
        ("tree", "m", "leaves alone, added up", "equal shares, apart", "best shares, adding up", "over the least"),
        everywhere=True,
    )
    for name, children in TREES.items():
        tree = PlaceTree(children)
        for cells in (1, 4):
            changes = level_changes(tree, cells)
            alone = [math.sqrt(float(sizes.mean()) * changes[-1]) for sizes in tree.sizes]
            apart = [math.sqrt(tree.levels * change) for change in changes]
            shares = split_levels(LevelShape(tree.counts, changes), (1.0,) * tree.levels, "gaussian")
            precisions = [float(share) / change for share, change in zip(shares, changes, strict=True)]
            best = [math.sqrt(float(of.mean())) for of in TreeCovariance(tree, precisions).variances]
            error = math.fsum(one**2 for one in best)
            over = f"{error / _least(tree):.4f}" if cells == 1 else "–"
            shown = (" / ".join(f"{one:.3g}" for one in row) for row in (alone, apart, best))
            topic.rows.append((name, cells, *shown, over))
    topic.notes = [
        "computed, not simulated; apart, the numbers of a level do not add up to those of the next",
        "a place is the sum of its leaves' numbers: a person in four counties of a state moves it by 4",
        "over the least: levels' mean variances, added up, over the least of any linear Gaussian mechanism; where "
        "states are unequal, over the least with a precision of its own for each state and for the counties of each",
    ]
    return topic


def _least(tree: PlaceTree) -> float:
    """Return the least sum of levels' mean variances where a person is in one leaf, at μ = 1."""
    if all(len(set(sizes.tolist())) == 1 for sizes in tree.sizes):
        # With w = 1 / nodes of each node: (1/n) (Σ d √g)², g the weights of what lies in a level or below it.
        sizes, counts = [float(of[0]) for of in tree.sizes], tree.counts
        rest = np.cumsum([size / count for size, count in zip(sizes, counts, strict=True)][::-1])[::-1]
        new = np.diff(counts, prepend=0)
        return float((new @ np.sqrt(rest)) ** 2) / tree.leaves
    fitted = minimize(_error, np.zeros(2 * tree.counts[1] + 1), (tree,), "L-BFGS-B", options={"maxfun": 40_000})
    return float(fitted.fun)


def _error(logs: NDArray[np.float64], tree: PlaceTree) -> float:
    """Return the same for a tree of three levels, from logarithms of precisions before they are scaled to 1 a path."""
    states = tree.counts[1]
    root, middle, leaves = np.exp(logs[:1]), np.exp(logs[1 : states + 1]), np.exp(logs[states + 1 :])
    # What the root leaves of a path's 1 is divided between a state and its counties.
    share = root[0] / (1 + root[0])
    part = (1 - share) / (middle + leaves)
    counties = np.repeat(part * leaves, tree.sizes[1].astype(np.int64))
    found = TreeCovariance(tree, [np.array([share]), part * middle, counties]).variances
    return math.fsum(float(of.mean()) for of in found)


def measure_time() -> Topic:
    return alone(_time)


def _time() -> Topic:
    topic = Topic(
        f"Making 100,000 leaves × {PERIODS} periods add up on four levels, one core",
        "python -m benchmarks.places --time",
        ("what", "seconds of a processor", "ratio to numpy's sum of the leaves"),
    )
    tree = PlaceTree(TREES["20 × 50 × 100"])
    dice = np.random.default_rng(1)
    noisy = [dice.integers(-(2**27), 2**27, size=(PERIODS, count)) for count in tree.counts]
    start = time.process_time()
    covariance = TreeCovariance(tree, [0.25] * tree.levels)
    made = time.process_time()
    noisy[-1].sum(axis=1)
    summed = time.process_time()
    found = add_up_leaves(covariance, list(noisy))
    end = time.process_time()
    if not np.array_equal(tree.sums(found)[0][:, 0], found.sum(axis=1)):
        raise AssertionError("levels add up")
    one = summed - made
    topic.rows += [
        ("variances of all nodes, once", made - start, (made - start) / one),
        ("two passes and rounding", end - summed, (end - summed) / one),
        ("numpy's sum of the leaves", one, 1.0),
    ]
    topic.notes = [f"{peak():.2f} GiB at most, of which {noisy[-1].nbytes / 2**30:.2f} are the leaves, in and out each"]
    return topic


if __name__ == "__main__":
    show(measure_time if "--time" in sys.argv[1:] else measure)
