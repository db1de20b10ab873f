"""Bands that hold everywhere at once: the level for each number that makes all of them right together."""

from __future__ import annotations

import math

import numpy as np

from chronodp.series.design import Design
from chronodp.series.estimates import Floats, noise_terms
from chronodp.series.place_reading import place_count
from chronodp.series.shapes.tree import Tree
from chronodp.series.windows import Windows

__all__ = ["level_for_all"]

_SIMULATED = 2**12  # numbers up to which the band is found by simulation
_RUNS = 4000


def level_for_all(design: Design, windows: Windows, level: float) -> float:
    """Return the level at which single intervals hold all together with probability ``level``.

    Gaussian noise of known covariance is simulated, and the quantile of its largest number taken from the safe side.
    For other noise, means and long series the missing probability is shared out evenly (Bonferroni), which is wider.
    """
    from scipy.special import ndtr

    measure, table = design.table.measure, design.table
    count = len(windows.starts) * (table.groups if measure.ratio else table.places)
    if design.measured is not None:
        count = len(windows.starts) * place_count(table)
        # Šidák's inequality: for Gaussian noise of any covariance; else the missing probability is shared out.
        return level ** (1 / count) if design.law == "gaussian" else 1 - (1 - level) / count
    if not count:  # no key was found
        return level
    shared = 1 - (1 - level) / count
    if design.law != "gaussian" or design.table.measure.ratio or isinstance(design.shape, Tree):
        return shared
    if len(windows.starts) > _SIMULATED:
        return shared
    largest = np.sort(_largest(design, windows))
    # So many runs above the true quantile are fewer than so far down with probability below 1e-4.
    missing = 1 - level ** (1 / design.table.places)  # places are independent
    rank = math.ceil(_RUNS * (1 - missing) + 4 * math.sqrt(_RUNS * missing * (1 - missing)))
    if rank >= _RUNS:
        return shared
    return min(shared, 2 * float(ndtr(largest[rank])) - 1)


def _largest(design: Design, windows: Windows) -> Floats:
    """Simulate the largest number of one place in units of its deviation."""
    if isinstance(design.shape, Tree):
        raise AssertionError("asked of filters only")
    chance = np.random.default_rng(20260101)  # noise of nobody: the band depends on its covariance alone
    spread = np.sqrt(noise_terms(design, windows))[:, None]
    found = []
    for _ in range(_RUNS // 200):
        noise = design.shape.undo(chance.normal(size=(design.table.horizon, 200)))
        found.append(np.abs(windows.sums(noise) / spread).max(axis=0))
    return np.concatenate(found)
