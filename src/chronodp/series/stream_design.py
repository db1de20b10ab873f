"""A stream as it is designed: everything public about it, fixed before the first value comes.

The sensitivity of *Neighbours* in ``docs/explanation/proofs/streams.md``: ‖C d‖ + 2 E √(n m), with a change of
``change`` and one step of the grid.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.privacy import (
    Bounds,
    Contribution,
    Cost,
    Grid,
    Sensitivity,
    check_delta,
    check_epsilon,
    check_positive,
    check_whole,
    document,
    per_period,
    periods_held,
)
from chronodp.privacy.units import RecordUnit, check_record_unit, check_unit
from chronodp.series.endless import LONGEST_STREAM, EndlessReach, running_variances
from chronodp.series.noise import Noise, calibrated
from chronodp.series.ongoing import OngoingShape
from chronodp.series.recursion import Floats, Recursion
from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.buffered_table import endless_buffers
from chronodp.series.shapes.candidates import reach_of, shape_candidates, trees
from chronodp.series.shapes.errors import answer_variances, errors_of
from chronodp.series.shapes.reach import above
from chronodp.series.shapes.sensitivity import shape_sensitivity
from chronodp.series.shapes.toeplitz import White
from chronodp.series.shapes.tree import Tree
from chronodp.series.workloads import CausalFilter, EachPeriod, RunningTotal, check_workload

__all__ = ["MOST_KEYS", "StreamDesign", "design_stream"]

MOST_KEYS = 2**24
_LONGEST_BOUNDED = 2**24
_REFERENCE = 2**20  # the steps whose error decides between shapes without end
_COARSEST, _FINEST = 20, 29  # powers of two that noise spans on the grid
_SLACK = 0.01  # how much of the sensitivity rounding may add


@document("stream")
@dataclass(frozen=True)
class StreamDesign:
    """What a stream answers, whom it protects, and the noise that goes on each step.

    Attributes:
        workload: what is answered at every step.
        unit: who is protected.
        change: the most that one unit changes the value of one step (of one series).
        horizon: how many steps there will be; None if it is not known.
        max_periods: how many steps one unit changes, for `User` and `UserPeriod`.
        keys: how many series go side by side.
        max_groups: in how many series one person counts within a step.
        epsilon: of the guarantee for all steps together.
        delta: of that guarantee.
        shape: how the noise of a step hangs together with earlier noise.
        noise: of the draws behind it.
    """

    workload: CausalFilter
    unit: RecordUnit
    change: float
    horizon: int | None
    max_periods: int | None
    keys: int
    max_groups: int
    epsilon: float
    delta: float
    shape: OngoingShape
    noise: Noise

    @property
    def cost(self) -> Cost:
        """What all steps together cost."""
        return self.noise.cost

    @cached_property
    def grid(self) -> Grid:
        """On which values and noise lie."""
        return Grid(self.noise.step)

    @property
    def length(self) -> int:
        """How many steps the guarantee covers."""
        return LONGEST_STREAM if self.horizon is None else self.horizon

    def variances(self, steps: Floats) -> Floats:
        """Return the variance of the answer after so many steps, for draws of variance 1."""
        if isinstance(self.workload, RunningTotal) and isinstance(self.shape, BufferedLinear):
            return running_variances(self.shape, steps)
        if isinstance(self.shape, Tree):
            return self.shape.variances(steps, self.length)
        if isinstance(self.shape, White) and isinstance(self.workload, RunningTotal):
            return np.asarray(steps, dtype=np.float64)
        # Filters forget: after so many steps their variance stands still.
        known = _first_variances(self.workload, self.shape, min(self.length, 2**16))
        variances: Floats = known[np.minimum(steps.astype(np.int64), len(known)) - 1]
        return variances


@lru_cache(maxsize=16)
def _first_variances(workload: CausalFilter, shape: White | BufferedLinear, steps: int) -> Floats:
    return answer_variances(workload, shape, steps)


def design_stream(
    workload: CausalFilter,
    *,
    unit: RecordUnit,
    change: float,
    horizon: int | None,
    max_periods: int | None,
    keys: int,
    max_groups: int,
    epsilon: float,
    delta: float,
) -> StreamDesign:
    """Return the design with the least mean error, over at most the first 2^20 steps."""
    check_unit("unit", unit)
    change, epsilon, delta = check_positive("change", change), check_epsilon(epsilon), check_delta(delta)
    keys = check_whole("keys", keys, most=MOST_KEYS)
    max_groups = check_whole("max_groups", max_groups, most=keys)
    if not isinstance(check_workload(workload, "workload"), CausalFilter):
        raise InvalidArgument("workload", str(workload), "a filter such as RunningTotal(), Rolling(7) or Ewm(0.1)")
    if horizon is not None:
        horizon = check_whole("horizon", horizon, most=_LONGEST_BOUNDED)
    _check_limits(unit, horizon, max_periods)
    max_periods = None if max_periods is None else int(max_periods)
    bounds = Bounds(horizon or LONGEST_STREAM, max_periods, groups=keys, max_groups=max_groups)
    laws: tuple[Law, ...] = ("laplace", "gaussian") if delta else ("laplace",)
    designs = []
    for law in laws:
        for shape in _shapes(workload, unit, bounds, change, law, endless=horizon is None):
            noise = _noise(shape, law, unit, bounds, change, epsilon, delta, endless=horizon is None)
            if noise is None:
                continue
            spent = delta if law == "gaussian" else 0.0
            designs.append(
                StreamDesign(
                    workload, unit, change, horizon, max_periods, keys, max_groups, epsilon, spent, shape, noise
                )
            )
    if not designs:
        allowed = "larger, or the unit's periods fewer: noise this wide cannot be drawn exactly"
        raise InvalidArgument("epsilon", epsilon, allowed)
    return min(designs, key=_error)


def _check_limits(unit: RecordUnit, horizon: int | None, max_periods: int | None) -> None:
    check_record_unit("unit", unit).periods_touched(max_periods, horizon=horizon or LONGEST_STREAM)


def _shapes(
    workload: CausalFilter, unit: RecordUnit, bounds: Bounds, change: float, law: Law, *, endless: bool
) -> Iterator[OngoingShape]:
    if endless:
        yield White()
        if law == "gaussian" and not isinstance(workload, EachPeriod):
            yield from endless_buffers().values()
        elif law == "laplace" and isinstance(workload, RunningTotal):
            yield from trees(LONGEST_STREAM)
        return
    part = Contribution.change(change)
    for candidate in shape_candidates(workload, unit=unit, bounds=bounds, contribution=part, law=law):
        if isinstance(candidate.shape, OngoingShape):
            yield candidate.shape


def _noise(
    shape: OngoingShape,
    law: Law,
    unit: RecordUnit,
    bounds: Bounds,
    change: float,
    epsilon: float,
    delta: float,
    *,
    endless: bool,
) -> Noise | None:
    """Return noise on the coarsest grid whose rounding adds little, which is drawn fastest; None if none fits."""
    # Every change of a step is one number, so the sensitivity grows with it in proportion.
    one = _sensitivity(shape, unit, bounds, endless=endless)
    touched = min(bounds.groups, 2 * periods_held(unit, bounds) * bounds.max_groups)
    found: Noise | None = None
    for power in range(_COARSEST, _FINEST + 1):
        ((_, scale),) = calibrated(law, [_times(one, change)], epsilon=epsilon, delta=delta)
        step = math.ldexp(1.0, math.frexp(scale)[1] - 1 - power)
        rounded = _times(one, change + step)  # values are rounded to the grid before noise comes
        if isinstance(shape, BufferedLinear):
            # Noise spans less than 2^(power + 1) steps before the hundredth that E may add; `FAR` has room for that.
            bound = Recursion(shape).rounding_bound(bounds.horizon, 2.0 ** (power + 1))
            rounded = replace(rounded, l2=rounded.l2 + 2 * bound * step * math.sqrt(bounds.horizon * touched))
        ((sensitivity, wide),) = calibrated(law, [rounded], epsilon=epsilon, delta=delta)
        made = Noise(law, sensitivity, wide, step)
        if made.drawable and (found is None or wide < found.scale):
            found = made
        if rounded.l2 <= (1 + _SLACK) * one.l2 * change:
            break
    return found


def _times(one: Sensitivity, change: float) -> Sensitivity:
    return Sensitivity(above(one.l1 * change, 1), above(one.l2 * change, 1))


def _sensitivity(shape: OngoingShape, unit: RecordUnit, bounds: Bounds, *, endless: bool) -> Sensitivity:
    part = Contribution.change(1.0)
    if isinstance(shape, White):
        return per_period(unit, bounds, part)
    if endless and isinstance(shape, BufferedLinear):
        return shape_sensitivity(EndlessReach(shape), unit, bounds, part)
    return shape_sensitivity(reach_of(shape, bounds.horizon), unit, bounds, part)


def _error(design: StreamDesign) -> float:
    steps = min(design.length, _REFERENCE)
    return errors_of(design.workload, design.shape, steps).rmse_mean * design.noise.deviation
