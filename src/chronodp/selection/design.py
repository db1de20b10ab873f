"""A choice as it is designed: everything public about it, fixed before any utility is seen.

K, f and η of "What is drawn" in ``docs/explanation/proofs/selection.md``: η is `ChoiceDesign.slope`, f K / ε is
`ChoiceDesign.scale`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from chronodp.errors import InvalidArgument
from chronodp.privacy import (
    BoundedRangeCost,
    Grid,
    PureCost,
    Unit,
    check_epsilon,
    check_flag,
    check_fraction,
    check_positive,
    decimal_value,
    document,
)
from chronodp.privacy.units import check_unit
from chronodp.selection.mechanisms import ChoiceMechanism, ExponentialMechanism, NoisyMax

__all__ = ["FARTHEST", "LARGEST_SCALE", "MOST_CANDIDATES", "ChoiceDesign", "design_choice", "short_slope"]

FARTHEST = 2**31
"""Steps behind the best beyond which candidates count as this far behind: at most e^-1024 for epsilon from 1e-5 up."""
LARGEST_SCALE = 2**30
"""Steps that noise may span: what the sampler draws exactly."""
MOST_CANDIDATES = 2**22

_SMALLEST_SCALE = Fraction(1, 2**30)
_DIGITS = 22  # of the slope: its product with FARTHEST is a float without loss
_FINE = 20  # noise spans about 2^20 steps where one unit does not span more


@document("choice")
@dataclass(frozen=True)
class ChoiceDesign:
    """Among what is chosen, how, whom that protects, and the grid it works on.

    Attributes:
        mechanism: how the choice is drawn.
        unit: who is protected.
        candidates: their public names.
        change: the most that one unit changes one candidate's utility.
        monotone: whether one more unit changes all utilities in one direction.
        epsilon: of the guarantee.
        step: the grid of utilities, a power of two.
        purpose: what the utilities say, in words, with all that they were computed by.
    """

    mechanism: ChoiceMechanism
    unit: Unit
    candidates: tuple[str, ...] = field(repr=False)
    change: float
    monotone: bool
    epsilon: float
    step: float
    purpose: str = ""

    def __post_init__(self) -> None:
        _check(self.mechanism, self.unit, self.candidates, self.change, self.epsilon)
        check_flag("monotone", self.monotone)
        if not isinstance(self.purpose, str):
            raise InvalidArgument("purpose", self.purpose, "a text")
        if self.monotone and self.unit.relation != "add_remove":
            allowed = "Utilities(...): replacing a unit moves some candidates up and others down, so MonotoneUtilities"
            raise InvalidArgument("utilities", str(self.unit), f"{allowed} are for units that are added or removed")
        Grid(self.step)
        if self.step > self.change:
            raise InvalidArgument("step", self.step, f"no coarser than the change, {self.change:g}")
        if not _SMALLEST_SCALE <= self.scale <= LARGEST_SCALE:
            allowed = f"such that noise is from 2^-30 to 2^30 steps of {self.step:g}"
            raise InvalidArgument("epsilon", self.epsilon, allowed)

    @property
    def factor(self) -> int:
        """How many changes apart two candidates can move: 2 in general, 1 if all move in one direction."""
        return 1 if self.monotone else 2

    @cached_property
    def reach(self) -> int:
        """The most that one unit changes one utility, in steps of the grid: ⌈change / step⌉."""
        return Grid(self.step).reach(self.change)

    @cached_property
    def scale(self) -> Fraction:
        """What a step of utility is measured by, in steps: factor · reach / epsilon."""
        return self.factor * self.reach / min(Fraction(self.epsilon), decimal_value(self.epsilon))

    @cached_property
    def slope(self) -> Fraction:
        """What one step behind takes off a log-probability: 1 / scale, rounded down to a float of few digits."""
        return short_slope(1 / self.scale)

    @property
    def cost(self) -> PureCost | BoundedRangeCost:
        """What the choice costs: the exponential mechanism is of bounded range, which is less; the others are not."""
        if isinstance(self.mechanism, ExponentialMechanism):
            return BoundedRangeCost(self.epsilon)
        return PureCost(self.epsilon)

    def shortfall(self, level: float = 0.95) -> float:
        """Return how far, at most, the chosen candidate's utility is below the best one's, at a level. Reads no data.

        Each other candidate is chosen with probability at most e^-x, with x its gap over the scale, or e^-x (2 + x) / 4
        with Laplace noise; for gaps above the returned one, all of them together with at most 1 - level.

        >>> from chronodp.privacy import User
        >>> from chronodp.selection import PermuteAndFlip
        >>> ten = tuple("abcdefghij")
        >>> design = design_choice(PermuteAndFlip(), ten, unit=User(), change=1, monotone=True, epsilon=1)
        >>> round(design.shortfall(), 1)
        5.2
        """
        others = len(self.candidates) - 1
        if not others:
            return 0.0
        wanted = math.log(others / (1 - check_fraction("level", level)))
        units = max(wanted, 0.0)
        if isinstance(self.mechanism, NoisyMax):
            for _ in range(100):  # a contraction: the derivative of log(2 + x) is at most 1/2
                units = max(wanted + math.log((2 + units) / 4), 0.0)
        behind = units / float(self.slope) + 2  # and a step for each of two roundings down
        return behind * self.step if behind < FARTHEST else math.inf


def design_choice(
    mechanism: ChoiceMechanism,
    candidates: Sequence[str],
    *,
    unit: Unit,
    change: float,
    monotone: bool,
    epsilon: float,
    purpose: str = "",
) -> ChoiceDesign:
    """Return the design on a grid that is fine for units and noise alike.

    >>> from chronodp.privacy import User
    >>> from chronodp.selection import PermuteAndFlip
    >>> design = design_choice(PermuteAndFlip(), ("a", "b"), unit=User(), change=1.0, monotone=False, epsilon=1.0)
    >>> design.reach * design.step, design.slope * design.reach
    (1.0, Fraction(1, 2))
    """
    names = _check(mechanism, unit, candidates, change, epsilon)
    # A unit spans few steps where noise is wide, so that candidates far behind stay within reach of exact arithmetic.
    check_flag("monotone", monotone)
    spanned = min(max(_FINE + math.frexp(epsilon)[1] - (1 if monotone else 2), 0), _FINE)
    step = math.ldexp(1.0, math.frexp(change)[1] - 1 - spanned)
    return ChoiceDesign(mechanism, unit, names, float(change), monotone, float(epsilon), step, purpose)


def short_slope(exact: Fraction) -> Fraction:
    """Return a slope rounded down to a float of so few digits that its product with any gap is a float as well."""
    # Down: a flatter slope tells less. 22 digits times a gap of up to 2^31 fit the 53 of a float.
    last = Fraction(2) ** (math.frexp(float(exact))[1] - _DIGITS)
    return math.floor(exact / last) * last


def _check(mechanism: object, unit: object, candidates: object, change: object, epsilon: object) -> tuple[str, ...]:
    if not isinstance(mechanism, ChoiceMechanism):
        raise InvalidArgument("mechanism", mechanism, "PermuteAndFlip(), ExponentialMechanism() or NoisyMax()")
    check_unit("unit", unit)
    check_positive("change", change)
    check_epsilon(epsilon)
    if not isinstance(candidates, Sequence) or isinstance(candidates, str) or not candidates:
        raise InvalidArgument("candidates", candidates, "a list of at least one public name")
    names = tuple(candidates)
    if len(names) > MOST_CANDIDATES:
        raise InvalidArgument("candidates", len(names), f"at most {MOST_CANDIDATES:,} names")
    if not all(isinstance(name, str) and name for name in names):
        raise InvalidArgument("candidates", candidates, "texts that are not empty")
    if len(set(names)) < len(names):
        raise InvalidArgument("candidates", candidates, "names that are not repeated")
    return names
