"""Releasing every level of a table's places: the noise of each level, its draws, and leaves whose sums add up.

*Price* and *What is released* of ``docs/explanation/proofs/places.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.postprocess.hierarchy import add_up_leaves
from chronodp.privacy import Sensitivity, periods_held
from chronodp.randomness import LARGEST_SCALE, Entropy
from chronodp.series.noise import Noise, calibrated
from chronodp.series.places import PlaceLevels, covariance_of, shares_of
from chronodp.series.shaping import ReleasedShape, draw_noise, rounding_bound
from chronodp.series.table import Table

__all__ = ["axes_of", "draw_places", "measured_levels", "place_noises", "sums_of_places"]

Wholes = NDArray[np.int64]


def measured_levels(table: Table, law: Law) -> tuple[int, ...]:
    """Return which levels are measured, the leaves first: those that the best split gives a part of the budget."""
    shares = shares_of(_levels(table), table.level_changes, law)
    return tuple(level for level in reversed(range(len(shares))) if shares[level])


def place_noises(
    table: Table, law: Law, shape: ReleasedShape, *, epsilon: float, delta: float, within: float | None
) -> tuple[Noise, ...]:
    """Return the noise of every measured level, leaves first, all on one grid, within (epsilon, delta) together."""
    measured = measured_levels(table, law)
    shares = [shares_of(_levels(table), table.level_changes, law)[level] for level in measured]
    exact = [table.level_sensitivities(shape)[level] for level in measured]
    scales = calibrated(law, exact, epsilon=epsilon, delta=delta, within=within, shares=shares)
    step = _step(table, law, scales)
    widened = [
        Sensitivity(part.l1, part.l2 + _rounded(table, level, shape, scale, step))
        for level, part, (_, scale) in zip(measured, exact, scales, strict=True)
    ]
    scales = calibrated(law, widened, epsilon=epsilon, delta=delta, within=within, shares=shares)
    noises = tuple(Noise(law, change, scale, step) for change, scale in scales)
    for noise in noises:
        if not noise.drawable:
            kind = "larger: noise would drown" if noise.scale > noise.step else "smaller: noise would not hide"
            raise InvalidArgument("epsilon", epsilon, f"{kind} what one person can add to a place")
    return noises


def draw_places(
    leaves: Wholes,
    table: Table,
    shape: ReleasedShape,
    noises: Sequence[Noise],
    measured: Sequence[int],
    entropy: Entropy,
) -> Wholes:
    """Return whole numbers of the leaves, periods by places, whose sums are the best estimates of every node.

    Noise goes on each node of each measured level by itself; the rest is post-processing of these numbers.
    """
    tree = _levels(table).tree
    exact = tree.sums(_leaves_last(table, leaves))
    noisy: list[Wholes | None] = [None] * tree.levels
    for level, noise in zip(measured, noises, strict=True):
        number = exact[level]
        drawn = draw_noise(shape, noise, table.horizon, math.prod(number.shape[1:]), entropy)
        noisy[level] = (number + drawn.reshape(number.shape)).reshape(-1, number.shape[-1])
    found = add_up_leaves(covariance_of(tree, noises, measured), noisy)
    return _leaves_in_place(found.reshape(exact[-1].shape))


def sums_of_places(table: Table, leaves: Wholes) -> Wholes:
    """Return the numbers of all nodes, periods by nodes and keys, from those of the leaves: exact sums."""
    tree = _levels(table).tree
    return _leaves_in_place(np.concatenate(tree.sums(_leaves_last(table, leaves)), axis=-1))


def _levels(table: Table) -> PlaceLevels:
    if table.levels is None:
        raise AssertionError("asked of places only")
    return table.levels


def _step(table: Table, law: Law, scales: Sequence[tuple[float, float]]) -> float:
    """Return the one grid of all levels, so that sums over leaves are whole steps of it: the finest asked for."""
    # The root holds a person as often as they have cells.
    grids = [table.measure.on_grid(law, 0, *scale, times=table.max_places) for scale in scales]
    step = min(noise.step for noise in grids)
    while step < max(noise.step for noise in grids) and max(scale for _, scale in scales) > step * LARGEST_SCALE / 2:
        step *= 2
    return step


def _rounded(table: Table, level: int, shape: ReleasedShape, scale: float, step: float) -> float:
    """Return what rounding shaped noise can add to a level's l2 change: 2 E in each period of every node touched."""
    bound = rounding_bound(shape, table.horizon, 2 * scale / step)
    nodes = _levels(table).tree.counts[level] * (table.places // _levels(table).tree.leaves)
    touched = min(nodes, 2 * periods_held(table.unit, table.bounds) * table.places_touched)
    return 2 * bound * step * math.sqrt(table.horizon * touched)


def axes_of(table: Table) -> tuple[int, int, int]:
    """Return how many groups stand before the leaves in the order of cells, the leaves, and groups and bins after."""
    columns = [grouping.column for grouping in table.groupings]
    at = columns.index(_levels(table).column)
    before = math.prod(len(grouping.keys) for grouping in table.groupings[:at])
    leaves = len(table.groupings[at].keys)
    return before, leaves, table.places // (before * leaves)


def _leaves_last(table: Table, numbers: Wholes) -> Wholes:
    """Return numbers of periods by places with an axis of their own for the leaves, the last one."""
    before, leaves, after = axes_of(table)
    return np.ascontiguousarray(np.moveaxis(numbers.reshape(-1, before, leaves, after), 2, 3))


def _leaves_in_place(numbers: Wholes) -> Wholes:
    """Return numbers with an axis of leaves, or nodes, at the end as periods by places again."""
    return np.moveaxis(numbers, 3, 2).reshape(len(numbers), -1)
