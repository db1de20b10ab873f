"""How far two laws can be told apart through Laplace noise: exactly, in time n log n.

Let g_P(y) = Σ_v P(v) e^{-|y-v|/b} be the density, up to a constant, of a value of law P with Laplace noise of scale
b. Between two neighbouring support points g_P = L e^{-y/b} + R e^{y/b}, so that g_P / g_Q is a Möbius function of
e^{2y/b}, which is monotone; beyond the outermost points it is constant. Its largest and least values are therefore
taken at support points, and there both densities are sums of positive terms: nothing cancels.

*Noise* under "Exact leakage" in ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike

from chronodp.correlated.chain import Floats
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_positive

__all__ = ["largest_log_ratio", "log_densities"]

_LEAST = 1e-290
_SAFE = 600.0  # e^600 is a float, and so is the sum of many


def largest_log_ratio(support: ArrayLike, first: ArrayLike, second: ArrayLike, *, scale: float) -> float:
    """Return sup_y |ln g_P(y) / g_Q(y)| for two laws on the same support points, with Laplace noise of ``scale``.

    >>> round(largest_log_ratio([0.0, 1.0], [0.99, 0.01], [0.5, 0.5], scale=1.0), 4)
    0.6031
    """
    points = np.asarray(support, dtype=np.float64)
    laws = np.stack([np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)])
    if points.ndim != 1 or laws.shape != (2, len(points)) or not np.all(laws >= 0):
        raise InvalidArgument("support", "other shapes", "points in one row, and for each a weight in either law")
    order = np.argsort(points, kind="stable")
    densities = log_densities(points[order], laws[:, order], check_positive("scale", scale))
    return float(np.abs(densities[0] - densities[1]).max())


def log_densities(points: Floats, laws: Floats, scale: float) -> Floats:
    """Return ln g at sorted support points, for each law (a row of weights)."""
    places = points / scale
    with np.errstate(divide="ignore"):
        densities = _from_left(places, laws) + _from_right_beyond(places, laws)
        logs = np.log(densities)
        lost = densities < _LEAST
        if lost.any():  # so far from all weight that the density is below every float, or has few digits
            weights = np.log(laws)
            left = np.logaddexp.accumulate(weights + places, axis=1) - places
            beyond = np.full_like(laws, -np.inf)
            beyond[:, :-1] = np.logaddexp.accumulate((weights - places)[:, :0:-1], axis=1)[:, ::-1] + places[:-1]
            logs = np.where(lost, np.logaddexp(left, beyond), logs)
    return logs


def _from_left(places: Floats, laws: Floats) -> Floats:
    """Σ_{w ≤ v} P(w) e^{-(v-w)}: running sums over stretches so short that e^place cannot overflow."""
    out = np.empty_like(laws)
    carried, before = np.zeros(len(laws)), 0.0
    for start, stop in itertools.pairwise(_stretches(places)):
        here = places[start:stop] - places[start]
        carried = carried * np.exp(min(0.0, before - places[start]))
        grown = np.cumsum(laws[:, start:stop] * np.exp(here), axis=1) + carried[:, None]
        out[:, start:stop] = grown * np.exp(-here)
        carried, before = out[:, stop - 1], places[stop - 1]
    return out


def _from_right_beyond(places: Floats, laws: Floats) -> Floats:
    """Σ_{w > v} P(w) e^{-(w-v)}."""
    all_right = _from_left(-places[::-1], laws[:, ::-1])[:, ::-1]
    out = np.zeros_like(laws)
    out[:, :-1] = all_right[:, 1:] * np.exp(places[:-1] - places[1:])
    return out


def _stretches(places: Floats) -> list[int]:
    edges = [0]
    while edges[-1] < len(places):
        edges.append(int(np.searchsorted(places, places[edges[-1]] + _SAFE, side="right")))
    return edges
