"""A windowed stream as it is designed: everything public about it, fixed before the first value comes.

K, m, parts and shares of "What is released" in ``docs/explanation/proofs/w-event.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from chronodp.accounting import gaussian
from chronodp.errors import InvalidArgument
from chronodp.privacy import (
    Cost,
    GaussianCost,
    Grid,
    PureCost,
    Window,
    at_least,
    check_delta,
    check_epsilon,
    check_positive,
    check_whole,
    decimal_value,
    document,
)
from chronodp.series.windowed.mechanisms import BudgetAbsorption, BudgetDistribution, Sample, Uniform, WindowedMechanism

__all__ = ["LARGEST_SCALE", "LONGEST_WINDOW", "MOST_COLUMNS", "SHARE", "WindowedDesign", "as_window", "design_windowed"]

LARGEST_SCALE = 2**30
"""Steps of the grid that noise may span: what the sampler draws exactly."""
LONGEST_WINDOW = 2**20
MOST_COLUMNS = 2**24
SHARE = 2**32
"""Parts that the 2 w-th part of the budget is divided into; all spending is counted in whole parts."""

_SMALLEST_SCALE = Fraction(1, 2**30)
_HEADROOM = 26  # noise of every step spans at most about 2^26 steps, so that rarer, wider noise fits too
_FINE = 10  # and at least 2^10 where there is room
_COARSEST = 7  # one person's change spans at least 2^7 steps where there is room
_FINEST = 30  # and at most 2^30


@document("windowed_stream")
@dataclass(frozen=True)
class WindowedDesign:
    """What a windowed stream releases, whom it protects, and the grid it works on.

    Attributes:
        mechanism: how the budget is shared among steps.
        unit: a `Window`.
        change: the most that one person changes one column in one period.
        columns: how many series go side by side.
        max_groups: in how many of them one person counts within a period.
        epsilon: of the guarantee for any window.
        delta: of that guarantee; above 0 only for `Uniform`, whose noise is then Gaussian.
        step: the grid on which values and noise lie, a power of two.
    """

    mechanism: WindowedMechanism
    unit: Window
    change: float
    columns: int
    max_groups: int
    epsilon: float
    delta: float
    step: float

    def __post_init__(self) -> None:
        _check(self.mechanism, self.unit, self.change, self.columns, self.max_groups, self.epsilon, self.delta)
        Grid(self.step)
        if self.step > self.change:
            raise InvalidArgument("step", self.step, f"no coarser than the change, {self.change:g}")
        if not _SMALLEST_SCALE <= self.least_scale <= self.most_scale <= LARGEST_SCALE:
            allowed = f"a window, columns and an epsilon whose noise is from 2^-30 to 2^30 steps of {self.step:g}"
            raise InvalidArgument("epsilon", self.epsilon, allowed)

    @property
    def window(self) -> int:
        """How many consecutive periods are protected together (w)."""
        return self.unit.periods

    @property
    def touched(self) -> int:
        """How many columns one person changes in one period: replaced data leave some and enter others."""
        return _touched(self.unit, self.columns, self.max_groups)

    @cached_property
    def grid(self) -> Grid:
        """The grid on which values and noise lie."""
        return Grid(self.step)

    @cached_property
    def reach(self) -> int:
        """The most that one person changes one column in one period, in steps of the grid: ⌈change / step⌉."""
        return self.grid.reach(self.change)

    @property
    def sensitivity(self) -> int:
        """The most that one person changes all columns of one period together, in steps: touched × reach."""
        return self.touched * self.reach

    @property
    def total(self) -> int:
        """Parts that the budget of a window has: 2 w `SHARE`."""
        return 2 * self.window * SHARE

    @cached_property
    def budget(self) -> Fraction:
        """Epsilon as people write it, exactly."""
        return decimal_value(self.epsilon)

    @property
    def watch(self) -> int:
        """Parts charged at every step for telling whether values have moved."""
        return SHARE if isinstance(self.mechanism, BudgetDistribution | BudgetAbsorption) else 0

    @property
    def most_scale(self) -> Fraction:
        """The widest noise that every run needs, in steps."""
        return self.reach * _factors(self)[1]

    @property
    def least_scale(self) -> Fraction:
        """The narrowest noise that a run may draw, in steps."""
        return self.reach * _factors(self)[0]

    @property
    def cost(self) -> Cost:
        """What any window costs."""
        if self.delta:
            wide = math.sqrt(self.touched * self.window) * self.reach * self.step
            return GaussianCost(sensitivity=wide, sigma=float(self.most_scale) * self.step)
        return PureCost(self.epsilon)

    def scale(self, parts: int) -> Fraction:
        """Return the noise, in steps, that so many parts of the budget pay for.

        Laplace: sensitivity · total / (epsilon · parts). Gaussian: the fixed deviation of `Uniform`.
        """
        return self.most_scale if self.delta else _divided(*self._scale_of_one_part, parts)

    def noise(self, parts: int) -> float:
        """Return the scale of noise that is drawn for so many parts: the least float that is not below `scale`."""
        return at_least(self.most_scale) if self.delta else _rounded(*self._scale_of_one_part, parts)

    @cached_property
    def _scale_of_one_part(self) -> tuple[int, int]:
        return (self.sensitivity * self.total / self.budget).as_integer_ratio()


def design_windowed(
    mechanism: WindowedMechanism,
    *,
    unit: Window,
    change: float,
    columns: int = 1,
    max_groups: int = 1,
    epsilon: float,
    delta: float = 0.0,
) -> WindowedDesign:
    """Return the design on a grid that is fine for people and noise alike, and that the sampler can draw on.

    >>> design = design_windowed(Uniform(), unit=Window(40), change=1.0, epsilon=1.0)
    >>> design.reach * design.step, float(design.most_scale) * design.step
    (1.0, 40.0)
    """
    _check(mechanism, unit, change, columns, max_groups, epsilon, delta)
    # The factors do not depend on the grid: any valid one shows them.
    factors = [float(part) for part in _noise_factors(mechanism, unit, columns, max_groups, epsilon, delta)]
    least, most = (math.frexp(part)[1] for part in factors)
    size = math.frexp(change)[1]
    finest = max(min(size - 1 - _COARSEST, 0, size + least - 1 - _FINE), size - _FINEST)
    exponent = max(finest, size + most - _HEADROOM)
    if exponent > size - 1:
        allowed = f"larger, or the window ({unit.periods}) or max_groups ({max_groups}) smaller: noise this wide"
        raise InvalidArgument("epsilon", epsilon, f"{allowed} cannot be drawn exactly")
    step = math.ldexp(1.0, exponent)
    return WindowedDesign(
        mechanism, unit, float(change), int(columns), int(max_groups), float(epsilon), float(delta), step
    )


def as_window(window: Window | int) -> Window:
    """Return a window, or one of so many steps."""
    return window if isinstance(window, Window) else Window(check_whole("window", window, most=LONGEST_WINDOW))


def _check(
    mechanism: object, unit: object, change: object, columns: object, max_groups: object, epsilon: object, delta: object
) -> None:
    if not isinstance(mechanism, WindowedMechanism):
        allowed = "Uniform(), Sample(), BudgetDistribution() or BudgetAbsorption()"
        raise InvalidArgument("mechanism", mechanism, allowed)
    if not isinstance(unit, Window):
        raise InvalidArgument("unit", unit, "a Window such as Window(24)")
    check_whole("window", unit.periods, most=LONGEST_WINDOW)
    check_positive("change", change)
    check_whole("max_groups", max_groups, most=check_whole("columns", columns, most=MOST_COLUMNS))
    check_epsilon(epsilon)
    if check_delta(delta) and not isinstance(mechanism, Uniform):
        raise InvalidArgument("delta", delta, "0: only Uniform() has Gaussian noise")


def _touched(unit: Window, columns: int, max_groups: int) -> int:
    return max_groups if unit.relation == "add_remove" else min(columns, 2 * max_groups)


@lru_cache(maxsize=4096)  # every step asks three times, and most steps ask for what one before them did
def _divided(numerator: int, denominator: int, parts: int) -> Fraction:
    return Fraction(numerator, denominator * parts)


@lru_cache(maxsize=4096)  # likewise: fractions are slow to look up
def _rounded(numerator: int, denominator: int, parts: int) -> float:
    return at_least(_divided(numerator, denominator, parts))


def _factors(design: WindowedDesign) -> tuple[Fraction, Fraction]:
    return _noise_factors(
        design.mechanism, design.unit, design.columns, design.max_groups, design.epsilon, design.delta
    )


@lru_cache(maxsize=64)  # asked for at every step of a stream
def _noise_factors(
    mechanism: WindowedMechanism, unit: Window, columns: int, max_groups: int, epsilon: float, delta: float
) -> tuple[Fraction, Fraction]:
    """Return the narrowest noise drawn, and the widest that every run draws, for a change of 1."""
    touched, window = _touched(unit, columns, max_groups), unit.periods
    if delta:
        # A hair wider, so that rounding in whoever adds the costs up cannot carry them over the guarantee.
        deviation = Fraction(math.sqrt(touched * window) / gaussian.mu_for(epsilon, delta) * (1 + 1e-12))
        return deviation, deviation
    one = touched / decimal_value(epsilon)
    if isinstance(mechanism, Uniform):
        return window * one, window * one
    if isinstance(mechanism, Sample):
        return one, one
    return 2 * one, 2 * window * one
