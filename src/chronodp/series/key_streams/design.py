"""A stream of keys as it is designed: everything public about it, fixed before the first record comes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from chronodp.errors import InvalidArgument, MissingBound
from chronodp.privacy import (
    Cost,
    FailureCost,
    Sensitivity,
    SequenceCost,
    Window,
    check_delta,
    check_epsilon,
    check_fraction,
    check_whole,
    decimal_value,
    document,
)
from chronodp.privacy.units import RecordUnit, check_record_unit
from chronodp.series.key_streams.thresholds import KeyShape, chance_of_a_key, moved_length, noise_lengths, thresholds
from chronodp.series.noise import Noise, calibrated
from chronodp.series.recursion import Floats, Integers, Recursion
from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.buffered_table import buffers_near
from chronodp.series.shapes.toeplitz import White

__all__ = ["LONGEST_KEY", "KeyStreamDesign", "design_key_stream"]

LONGEST_KEY = 256
"""Bytes of a key's text, in UTF-8, unless told otherwise; longer keys are left out."""

_LOOKS = 12
_MOST_LOOKS = 4096  # pairs of looks are gone through one by one
_LONGEST = 2**24  # steps
_MOST_KEYS = 2**20  # of one unit
_TEXT = 2**16  # bytes of a key
_SHARE = Fraction(2, 5)  # of delta, for keys that one unit holds alone
_COARSEST, _FINEST = 20, 29  # powers of two that noise spans on the grid
_SLACK = 0.01  # how much of the sensitivity rounding may add


@document("key_stream")
@dataclass(frozen=True)
class KeyStreamDesign:
    """What a stream of keys tells, whom it protects, and its noise.

    Attributes:
        unit: who is protected.
        horizon: how many steps there will be.
        looks: how many of them tell something.
        max_keys: for `User`, how many keys of one person count: the first ones.
        max_groups: for `UserPeriod`, how many keys of one person count in a step.
        max_periods: for `UserPeriod`, how many steps one calendar period holds.
        longest: bytes of a key's text, in UTF-8; longer keys are left out.
        epsilon: of the guarantee for all steps together.
        delta: of that guarantee.
        key_delta: the part of delta that a key which one unit holds alone is told.
        shape: how the noise of a look hangs together with earlier noise.
        noise: of the draws behind it.
    """

    unit: RecordUnit
    horizon: int
    looks: int
    max_keys: int | None
    max_groups: int | None
    max_periods: int | None
    longest: int
    epsilon: float
    delta: float
    key_delta: float
    shape: KeyShape
    noise: Noise

    @property
    def cost(self) -> Cost:
        """What all steps together cost."""
        return SequenceCost((self.noise.cost, FailureCost(self.key_delta)))

    @cached_property
    def look_steps(self) -> tuple[int, ...]:
        """The steps, from 0, after which keys are looked at: evenly over the horizon, the last one among them."""
        return tuple(-(-self.horizon * look // self.looks) - 1 for look in range(1, self.looks + 1))

    @property
    def moved(self) -> int:
        """How many keys one unit can change."""
        return _moved(self.unit, self.max_keys, self.max_groups, self.max_periods)

    @property
    def person(self) -> int:
        """One person in steps of the grid: the grid is no coarser than 1, so that people are whole."""
        return round(1 / self.noise.step)

    @cached_property
    def deviations(self) -> Floats:
        """The standard deviation of the noise of each look, in people."""
        return noise_lengths(self.shape, self.looks)[0] * self.noise.scale

    @cached_property
    def quanta(self) -> Integers:
        """The threshold of each look, in steps of the grid."""
        step = self.noise.step
        # A draw is rounded by 1/2, and what C takes from earlier noise by E: a total takes both by its row's l1 length.
        rounded = 0.5 + _rounding(self.shape, self.looks, self.noise.scale / step)
        allowance = rounded * noise_lengths(self.shape, self.looks)[1] * step
        chance = chance_of_a_key(self.key_delta, self.moved)
        return np.ceil(thresholds(self.deviations, chance, allowance=allowance) / step).astype(np.int64)

    @property
    def people_needed(self) -> Floats:
        """How many people must hold a key so that a look tells it half of the time."""
        people: Floats = self.quanta * np.float64(self.noise.step)
        return people


def design_key_stream(
    *,
    unit: RecordUnit,
    horizon: int,
    looks: int | None = None,
    max_keys: int | None = None,
    max_groups: int | None = None,
    max_periods: int | None = None,
    longest: int = LONGEST_KEY,
    epsilon: float,
    delta: float,
    key_delta: float | None = None,
) -> KeyStreamDesign:
    """Return the design whose last threshold is the lowest. Nothing is spent."""
    check_record_unit("unit", unit)
    horizon = check_whole("horizon", horizon, most=_LONGEST)
    looks = check_whole("looks", min(_LOOKS, horizon) if looks is None else looks, most=min(horizon, _MOST_LOOKS))
    longest = check_whole("longest", longest, most=_TEXT)
    epsilon, delta = check_epsilon(epsilon), check_delta(delta)
    if not delta:
        raise InvalidArgument(
            "delta", delta, "above 0: a key that only one person holds may be published, with at most this probability"
        )
    alone = check_fraction("key_delta", float(_SHARE * decimal_value(delta)) if key_delta is None else key_delta)
    if alone >= delta:
        raise InvalidArgument("key_delta", alone, f"below delta, {delta:g}: noise needs the rest")
    _check_limits(unit, horizon, max_keys, max_groups, max_periods)
    moved = _moved(unit, max_keys, max_groups, max_periods)
    designs = []
    for shape in _shapes(looks):
        noise = _noise(shape, looks, moved, epsilon, delta - alone, may_return=not unit.whole_person)
        if noise is not None:
            terms = (unit, horizon, looks, max_keys, max_groups, max_periods, longest, epsilon, delta, alone)
            designs.append(KeyStreamDesign(*terms, shape, noise))
    if not designs:
        raise InvalidArgument("epsilon", epsilon, "larger, or fewer keys a person: noise this wide cannot be drawn")
    return min(designs, key=lambda design: float(design.people_needed[-1]))


def _check_limits(
    unit: RecordUnit, horizon: int, max_keys: int | None, max_groups: int | None, max_periods: int | None
) -> None:
    """Refuse a unit that is not argued, and limits that are missing or have no place."""
    if isinstance(unit, Window):
        raise InvalidArgument("unit", str(unit), "User, UserPeriod or Event")
    if unit.whole_person:
        if max_keys is None:
            raise MissingBound("max_keys", "say how many keys of one person count, over all steps: the first ones")
        check_whole("max_keys", max_keys, most=_MOST_KEYS)
    elif max_keys is not None:
        raise InvalidArgument("max_keys", max_keys, f"left out for {unit}: no keys are chosen out of a person's")
    by_step = not unit.whole_person and not unit.of_rows
    if by_step:
        if max_groups is None:
            raise MissingBound("max_groups", "say how many keys of one person count in a step")
        check_whole("max_groups", max_groups, most=_MOST_KEYS)
        unit.periods_touched(max_periods, horizon=horizon)
    else:
        for name, given in (("max_groups", max_groups), ("max_periods", max_periods)):
            if given is not None:
                raise InvalidArgument(name, given, f"left out for {unit}")


def _moved(unit: RecordUnit, max_keys: int | None, max_groups: int | None, max_periods: int | None) -> int:
    by_step = 1 if unit.of_rows else (max_groups or 0) * (max_periods or 0)
    keys = (max_keys or 0) if unit.whole_person else by_step
    return 2 * keys if unit.relation == "replace" else keys


def _shapes(looks: int) -> Iterator[KeyShape]:
    yield White()
    if looks > 1:
        yield from buffers_near(looks, 1).values()


def _noise(shape: KeyShape, looks: int, moved: int, epsilon: float, delta: float, *, may_return: bool) -> Noise | None:
    """Return noise on the coarsest grid whose rounding adds little; None if none fits."""
    one = moved_length(shape.coefficients(looks), may_return=may_return) * math.sqrt(moved) * (1 + 2.0**-50)
    found: Noise | None = None
    ((_, scale),) = calibrated("gaussian", [Sensitivity(one, one)], epsilon=epsilon, delta=delta)
    for power in range(_COARSEST, _FINEST + 1):
        # At most 1: people are whole numbers on the grid.
        step = min(1.0, math.ldexp(1.0, math.frexp(scale)[1] - 1 - power))
        # Noise spans less than 2^(power + 1) steps before the hundredth that E may add; `FAR` has room for that.
        bound = _rounding(shape, looks, 2.0 ** (power + 1))
        l2 = one + 2 * bound * step * math.sqrt(looks * moved) * (1 + 2.0**-50)
        ((sensitivity, wide),) = calibrated("gaussian", [Sensitivity(l2, l2)], epsilon=epsilon, delta=delta)
        made = Noise("gaussian", sensitivity, wide, step)
        if made.drawable and (found is None or wide < found.scale):
            found = made
        if l2 <= (1 + _SLACK) * one:
            break
    return found


def _rounding(shape: KeyShape, looks: int, deviation: float) -> float:
    return Recursion(shape).rounding_bound(looks, deviation) if isinstance(shape, BufferedLinear) else 0.0
