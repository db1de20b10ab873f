"""A private filter as it is designed: model, bounds, noise and predicted error, before any measurement is seen.

*Sensitivity on measurements* and "Finite precision" of ``docs/explanation/proofs/state-estimation.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chronodp.errors import InvalidArgument, MissingBound
from chronodp.postprocess import Floats, Law
from chronodp.privacy import (
    AssumedCost,
    Assumption,
    Cost,
    Grid,
    Sensitivity,
    Unit,
    check_delta,
    check_epsilon,
    check_positive,
    check_whole,
    document,
    touched_periods,
)
from chronodp.series import Noise, calibrated
from chronodp.state_space.changes import CausedChange, Change, MeasuredChange, cause_sensitivity
from chronodp.state_space.model import StateSpace
from chronodp.state_space.steady import SteadyState, solve_steady

__all__ = ["LONGEST", "FilterDesign", "design_filter"]

LONGEST = 2**28
"""Steps after which a filter without a known end stops."""

_FINEST, _WIDEST = 20, 29  # powers of two that noise spans on the grid
_SLACK = 0.01  # how much of the sensitivity rounding may add


@document("private_filter")
@dataclass(frozen=True)
class FilterDesign:
    """A system, who is protected, and the noise that goes on every measurement.

    Attributes:
        model: the system.
        change: what one unit changes, on measurements or on causes.
        unit: who is protected.
        horizon: how many steps there will be; None if it is not known.
        max_periods: in how many steps one unit is, for `User` and `UserPeriod`.
        clip: how far a surprise counts, in the unit of measurements; None for no limit.
        epsilon: of the guarantee for all steps together.
        delta: of that guarantee.
        noise: on each number that is released.
    """

    model: StateSpace
    change: Change
    unit: Unit
    horizon: int | None
    max_periods: int | None
    clip: float | None
    epsilon: float
    delta: float
    noise: Noise

    @property
    def length(self) -> int:
        """How many steps the guarantee covers."""
        return LONGEST if self.horizon is None else self.horizon

    @property
    def cost(self) -> Cost:
        """What all steps together cost."""
        if isinstance(self.change, CausedChange):
            return AssumedCost(self.noise.cost, self.change.assumption)
        return self.noise.cost

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the guarantee rests on."""
        return (self.change.assumption,) if isinstance(self.change, CausedChange) else ()

    @property
    def added(self) -> float:
        """The variance that the private noise adds to a measurement, rounding to the grid included."""
        return self.noise.deviation**2 + self.noise.step**2 / 12

    @property
    def clip_steps(self) -> int | None:
        """How far a surprise counts, in steps of the grid."""
        return None if self.clip is None else _clip_steps(self.clip, self.noise.step)

    @cached_property
    def steady(self) -> SteadyState:
        """Where the filter settles, its gain made for the private noise. With a clip this is optimistic: rehearse."""
        return solve_steady(self.model, added=self.added)

    @property
    def rmse(self) -> Floats:
        """The predicted root mean square error of each state, once settled."""
        return np.sqrt(np.diagonal(self.steady.posterior))


def design_filter(
    model: StateSpace,
    *,
    change: float | Change,
    unit: Unit,
    horizon: int | None = None,
    max_periods: int | None = None,
    clip: float | None = None,
    epsilon: float,
    delta: float = 0.0,
) -> FilterDesign:
    """Return the design of a private filter, with the noise of least variance. Reads no data and spends nothing.

    Args:
        model: the system.
        change: the most that one unit changes a channel (a number), or a `MeasuredChange` or `CausedChange`.
        unit: who is protected.
        horizon: how many steps there will be; needed for a `CausedChange`.
        max_periods: in how many steps one unit is, for `User` and `UserPeriod`.
        clip: a public limit on how far a surprise counts: a unit then changes a number by at most 2 clip.
        epsilon: of the guarantee for all steps together.
        delta: of that guarantee.

    >>> from chronodp.privacy import Event
    >>> room = StateSpace(transition=[[0.95]], observation=[[1.0]], process_noise=[[0.1]], measurement_noise=[[0.5]])
    >>> design = design_filter(room, change=1.0, unit=Event(), epsilon=1.0, delta=1e-5)
    >>> round(design.noise.scale, 4), round(float(design.steady.posterior[0, 0]), 4)
    (1.0, 0.3693)
    """
    if not isinstance(model, StateSpace):
        raise InvalidArgument("model", model, "a StateSpace")
    stated = change if isinstance(change, Change) else MeasuredChange(change)
    check_epsilon(epsilon)
    check_delta(delta)
    if horizon is not None:
        check_whole("horizon", horizon, most=LONGEST)
    if clip is not None:
        check_positive("clip", clip)
    length = horizon or LONGEST
    touched = touched_periods(unit, horizon=length, max_periods=max_periods)
    if isinstance(stated, CausedChange):
        if horizon is None:
            raise MissingBound("horizon", "say how many steps there will be: a cause stays in all later measurements")
        reach = cause_sensitivity(model, stated, touched, horizon=horizon)
        cells = horizon * model.channels
    else:
        cells = touched.periods * model.channels
        reach = Sensitivity(cells * stated.most, math.sqrt(cells) * stated.most)
    laws: tuple[Law, ...] = ("laplace", "gaussian") if delta else ("laplace",)
    tried = [_noise(law, reach, cells, clip, epsilon=epsilon, delta=delta) for law in laws]
    noises = [noise for noise in tried if noise is not None]
    if not noises:
        raise InvalidArgument("epsilon", epsilon, "larger: noise this wide cannot be drawn exactly")
    best = min(noises, key=lambda noise: noise.deviation)
    spent = float(delta) if best.law == "gaussian" else 0.0
    design = FilterDesign(model, stated, unit, horizon, max_periods, clip, float(epsilon), spent, best)
    if model.initial_covariance is None:
        _ = design.steady  # refuse now what would never settle
    return design


def _noise(
    law: Law, reach: Sensitivity, cells: int, clip: float | None, *, epsilon: float, delta: float
) -> Noise | None:
    """Return noise on the coarsest grid on which rounding adds little; None if none can be drawn."""
    bounded = _bounded(reach, cells, clip)
    ((_, scale),) = calibrated(law, [bounded], epsilon=epsilon, delta=delta)
    found: Noise | None = None
    for power in range(_FINEST, _WIDEST + 1):
        step = math.ldexp(1.0, math.frexp(scale)[1] - 1 - power)
        limit = None if clip is None else _clip_steps(clip, step) * step
        # Each number is rounded by itself: a change grows by less than a step. Clipped ones are whole steps.
        wider = Sensitivity(reach.l1 + cells * step, reach.l2 + math.sqrt(cells) * step)
        rounded = _bounded(wider, cells, limit)
        ((sensitivity, wide),) = calibrated(law, [rounded], epsilon=epsilon, delta=delta)
        made = Noise(law, sensitivity, wide, Grid(step).step)
        if made.drawable and (found is None or wide < found.scale):
            found = made
        if wide <= (1 + _SLACK) * scale:
            break
    return found


def _bounded(reach: Sensitivity, cells: int, clip: float | None) -> Sensitivity:
    """min(Δ, 2c) in every number, as far as sums tell; rounded up."""
    most = (math.inf, math.inf) if clip is None else (2 * clip * cells, 2 * clip * math.sqrt(cells))
    l1, l2 = (min(one, other) * (1 + 1e-15) for one, other in zip((reach.l1, reach.l2), most, strict=True))
    return Sensitivity(math.nextafter(l1, math.inf), math.nextafter(l2, math.inf))


def _clip_steps(clip: float, step: float) -> int:
    return max(1, math.floor(clip / step))
