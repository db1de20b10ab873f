"""A median of several noisy numbers as a baseline: how far it may be off, and what a ratio to it may be.

A median of noisy numbers is biased, and by how much hangs on numbers nobody knows. What is told here holds for all of
them ("Medians" in ``docs/explanation/proofs/ratios.md``).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from chronodp.errors import InvalidArgument
from chronodp.postprocess.columns import Floats
from chronodp.postprocess.crossings import Reach
from chronodp.postprocess.fieller import FiellerSets, Within, reach_sets
from chronodp.postprocess.tails import Law, quantiles
from chronodp.postprocess.worst_medians import EDGES, NODES, WEIGHTS, Function, draw, worst_density, worst_half

__all__ = ["bonferroni_median_sets", "median_reach", "median_sets"]

_DIRECTIONS = 1024


def median_sets(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    law: Law,
    weeks: int,
    level: float,
    numerator_scale: float,
    denominator_scale: float,
    within: Within | None = None,
) -> FiellerSets:
    """Return all ρ that one noisy number over a median of ``weeks`` noisy numbers does not contradict.

    All draws are independent; the numerator is one draw of its scale, or a Gaussian sum of that deviation. Where scales
    differ between weeks, the largest is right.

    >>> sets = median_sets([30.0], [40.0], law="gaussian", weeks=5, level=0.95, numerator_scale=1, denominator_scale=1)
    >>> sets.lower.round(3).tolist(), sets.upper.round(3).tolist()
    ([0.68], [0.825])
    """
    _check_weeks(weeks)
    # In units of the denominator's noise; the reach is of order N's noise, so ρ is in units of their quotient.
    turn = numerator_scale / denominator_scale
    n, d = np.asarray(numerator, np.float64) / numerator_scale, np.asarray(denominator, np.float64) / denominator_scale
    reach = median_reach(law, weeks, level)
    scaled = Reach(reach.knots * turn, reach.values * turn, reach.steepest)
    return reach_sets(n * turn, d, scaled, within=within)


def bonferroni_median_sets(
    numerator: ArrayLike,
    denominator: ArrayLike,
    *,
    numerator_half: ArrayLike,
    denominator_half: ArrayLike,
    within: Within | None = None,
) -> FiellerSets:
    """Return all ρ with |N - ρ D| <= numerator_half + |ρ| denominator_half: for noise that depends in any way.

    With k weeks each half-width is taken at the level 1 - (1 - level)/(k + 1), the denominator's as the largest of its
    weeks: where all weeks are within it, so is their median.
    """
    given = (numerator, denominator, numerator_half, denominator_half)
    n, d, on_n, on_d = np.broadcast_arrays(*(np.asarray(one, np.float64) for one in given))
    # In units of the half-widths the reach is 1 + |ρ| for every cell.
    if not (np.all(on_n > 0) and np.all(on_d > 0)):
        raise InvalidArgument("numerator_half", numerator_half, "above 0, as the denominator's")
    turn = on_n / on_d
    scaled = None if within is None else tuple(np.asarray(end, np.float64) / turn for end in within)
    sets = reach_sets(n / on_n, d / on_d, Reach(np.zeros(1), np.ones(1), 1.0), within=scaled)
    ends = (sets.value, sets.lower, sets.upper, sets.not_above, sets.not_below)
    return FiellerSets(sets.kind, *(end * turn for end in ends))


@lru_cache(maxsize=64)
def median_reach(law: Law, weeks: int, level: float) -> Reach:
    """Return q(ρ) with P(e + |ρ| W > q) = (1 - level)/2, e of scale 1 and W the worst error of the median.

    At levels below one half it need not be convex: then a convex function above it is returned.
    """
    tail = (1 - level) / 2
    density = worst_density(law, weeks)
    half = worst_half(law, weeks, level)
    angles = np.arange(_DIRECTIONS // 2) * (np.pi / _DIRECTIONS)
    knots = np.tan(angles)
    # Bonferroni's is farther out, and from there Newton's steps on the concave log of the tail come down to the root.
    split = float(quantiles(law, [1], 1 - tail)[0]), worst_half(law, weeks, 1 - tail)
    found = np.empty(len(knots))
    for rows in np.array_split(np.arange(len(knots)), 16):
        ratio = knots[rows]
        q = split[0] + ratio * split[1]
        for _ in range(60):
            beyond, slope = _beyond(law, density, ratio, q)
            step = np.log(beyond / tail) * beyond / slope
            q = q + step
            if np.all(np.abs(step) <= 1e-12 * q):
                break
        found[rows] = q
    found, steepest = _bent_one_way(knots, found, half)
    return Reach(np.concatenate((-knots[:0:-1], knots)), np.concatenate((found[:0:-1], found)), steepest)


def _bent_one_way(knots: Floats, values: Floats, limit: float) -> tuple[Floats, float]:
    """Return values whose slopes never fall, nowhere below those given, and the slope beyond the last.

    From a level of one half on they stay as they are, on every grid that was tried. Below it the reach is not convex (9
    weeks, Laplace, level 0.2: its second difference is negative from 0.15 to 1.75). There the slope that was reached is
    kept: the set is too wide, and its shape is that of all others.
    """
    slopes = np.diff(values) / np.diff(knots)
    rising = np.maximum.accumulate(slopes)
    steepest = max(limit, float(rising[-1]))
    if np.all(slopes >= rising * (1 - 1e-12)):
        return values, steepest
    # Where it bends the other way, the reach lies above its chords, by at most (π / directions)² / 8 of itself.
    raised = values[0] + np.concatenate(([0.0], np.cumsum(rising * np.diff(knots))))
    return raised * (1 + 2e-6), steepest * (1 + 2e-6)


def _beyond(law: Law, density: Function, ratio: Floats, q: Floats) -> tuple[Floats, Floats]:
    """P(e + ratio W > q) and the density of that sum at q, by Gauss-Legendre between all places where one bends."""
    edges = EDGES[law]
    # e bends where ratio w = q + an edge of its own.
    with np.errstate(divide="ignore", invalid="ignore"):
        bends = np.where(ratio[:, None] > 0, (q[:, None] + edges) / ratio[:, None], 0.0)
    reach = float(edges[-1])
    cuts = np.sort(np.concatenate((np.broadcast_to(edges, bends.shape), np.clip(bends, -reach, reach)), axis=1), axis=1)
    middle, half = (cuts[:, 1:] + cuts[:, :-1]) / 2, np.diff(cuts, axis=1) / 2
    w = middle[:, :, None] + half[:, :, None] * NODES
    weight = half[:, :, None] * WEIGHTS * density(w)
    rest = q[:, None, None] - ratio[:, None, None] * w
    thick, survival = draw(law, rest)
    return np.sum(weight * survival, axis=(1, 2)), np.sum(weight * thick, axis=(1, 2))


def _check_weeks(weeks: int) -> None:
    if weeks < 1:
        raise InvalidArgument("weeks", weeks, "1 or more")
