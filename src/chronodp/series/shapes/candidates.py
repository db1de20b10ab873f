"""Every shape worth considering for a workload, with what it costs: the planner takes the least.

No rule of thumb decides here. Which shape is best turns with the unit, the horizon, the workload and the law, so error
and sensitivity of each are computed.

Each comes with `shape_sensitivity` of ``docs/explanation/proofs/shapes.md``, whatever it is chosen for: a poor
candidate costs error, not privacy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.privacy import Bounds, Contribution, Sensitivity, periods_held
from chronodp.privacy.units import RecordUnit
from chronodp.series.shapes.buffered_table import buffers_near, endless_buffers
from chronodp.series.shapes.errors import CausalShape, Shape, errors_of
from chronodp.series.shapes.reach import FilterReach, Reach, TreeReach
from chronodp.series.shapes.sensitivity import shape_sensitivity
from chronodp.series.shapes.toeplitz import Banded, SquareRoot, White
from chronodp.series.shapes.tree import Tree
from chronodp.series.workloads import EachPeriod, Ewm, Filter, Hierarchy, Rolling, RunningTotal, Workload

__all__ = ["Candidate", "reach_of", "shape_candidates", "shaped_sensitivity", "trees"]

_BANDS = 24  # tuned in about a tenth of a second
_TUNING = 512  # periods that stand for the whole series while bands are tuned


@dataclass(frozen=True, slots=True)
class Candidate:
    """A shape and its errors at privacy parameter 1: divide by epsilon (Laplace) or by mu (Gaussian).

    Attributes:
        shape: of the noise.
        sensitivity: most that one unit changes the shaped series: l1 for Laplace, l2 for Gaussian noise.
        rmse_mean: root mean squared error over all answers of the workload.
        rmse_max: root mean squared error of the worst answer.
    """

    shape: Shape
    sensitivity: float
    rmse_mean: float
    rmse_max: float


def shape_candidates(
    workload: Workload,
    *,
    unit: RecordUnit,
    bounds: Bounds,
    contribution: Contribution,
    law: Law,
    opposite: float | Fraction | None = None,
) -> tuple[Candidate, ...]:
    """Return all candidates for a workload in a table, in no order.

    >>> from chronodp.privacy import User
    >>> year, people = Bounds(365, max_periods=1), Contribution.count()
    >>> found = shape_candidates(RunningTotal(), unit=User(), bounds=year, contribution=people, law="laplace")
    >>> print(min(found, key=lambda candidate: candidate.rmse_mean).shape)
    a tree of block sums with 29 branches
    """
    if law not in ("laplace", "gaussian"):
        raise InvalidArgument("law", law, "'laplace' or 'gaussian'")
    horizon = bounds.horizon
    found = []
    for shape in _shapes(workload, horizon, periods_held(unit, bounds), law):
        sensitivity = shaped_sensitivity(shape, unit, bounds, contribution, opposite)
        change = sensitivity.l1 if law == "laplace" else sensitivity.l2
        errors = errors_of(workload, shape, horizon)
        scale = change * (math.sqrt(2) if law == "laplace" else 1.0)
        found.append(Candidate(shape, change, scale * errors.rmse_mean, scale * errors.rmse_max))
    return tuple(found)


def reach_of(shape: Shape, horizon: int) -> Reach:
    """Return how far changes reach through a shape of so many periods."""
    if isinstance(shape, Tree):
        return TreeReach(shape.arity, shape.levels(horizon), horizon)
    return FilterReach(shape.coefficients(horizon))


@lru_cache(maxsize=256)
def shaped_sensitivity(
    shape: Shape, unit: RecordUnit, bounds: Bounds, contribution: Contribution, opposite: float | Fraction | None
) -> Sensitivity:
    """Return the most that one unit changes a series seen through a shape: see `shape_sensitivity`."""
    return shape_sensitivity(reach_of(shape, bounds.horizon), unit, bounds, contribution, opposite=opposite)


def _shapes(workload: Workload, horizon: int, periods: int, law: Law) -> Iterator[Shape]:
    yield White()
    if isinstance(workload, EachPeriod) or horizon == 1:
        return
    if law == "laplace":
        # l1 adds up whole columns: filters never pay.
        if isinstance(workload, RunningTotal):
            yield from trees(horizon)
        return
    yield SquareRoot(RunningTotal())
    yield from _buffers(horizon, periods, running=isinstance(workload, RunningTotal))
    if not isinstance(workload, RunningTotal | Hierarchy):
        yield from _filters(workload, horizon, periods)


def _filters(workload: Rolling | Ewm | Filter, horizon: int, periods: int) -> Iterator[CausalShape]:
    if isinstance(workload, Filter) and workload.weights[0] == 0:
        return
    try:
        SquareRoot(workload).coefficients(horizon)
    except InvalidArgument:
        return
    yield SquareRoot(workload)
    tuned = _tuned_bands(workload, min(horizon, _TUNING), periods)
    if tuned is not None:
        yield tuned


def _buffers(horizon: int, periods: int, *, running: bool) -> Iterator[CausalShape]:
    near = buffers_near(horizon, 1)
    longest = max(row.horizon for row in near)
    chosen = {row: shape for row, shape in near.items() if row.horizon == longest and (running or row.buffers == 4)}
    if periods > 1:
        chosen |= buffers_near(horizon, periods)
    yield from chosen.values()
    if horizon > longest:
        yield from endless_buffers().values()


def trees(horizon: int) -> Iterator[Tree]:
    """Yield, for every number of levels, the narrowest tree that is long enough."""
    levels, arity = 1, 0  # one level is white noise
    while arity != 3:
        levels += 1
        arity = 3
        root = math.floor((2 * horizon + 1) ** (1 / levels))
        for odd in range(max(3, (root - 2) | 1), root + 6, 2):
            if (odd**levels - 1) // 2 >= horizon:
                arity = odd
                break
        if Tree(arity).levels(horizon) == levels:
            yield Tree(arity)


@lru_cache(maxsize=64)
def _tuned_bands(workload: Rolling | Ewm | Filter, horizon: int, periods: int) -> Banded | None:
    from chronodp.series.shapes.optimise import tune_bands

    bands = min(_BANDS, horizon)
    if periods > horizon:
        return None
    tuned = tune_bands(workload, horizon, bands, periods=periods).bands
    # Six digits are plenty, and survive another processor's rounding of the search.
    return Banded(tuple(round(band, 6) for band in tuned))
