"""A spectrum as it is designed: which harmonics, whom it protects, and the noise; before the series is read.

"Mechanisms" and "Finite precision" of ``docs/explanation/proofs/spectrum.md``: `noise_for` adds to the sensitivity what
rounding adds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.privacy import (
    Cost,
    PureCost,
    RepeatedCost,
    Sensitivity,
    SequenceCost,
    Touched,
    Unit,
    check_delta,
    check_epsilon,
    check_positive,
    check_whole,
    decimal_value,
    document,
    touched_periods,
)
from chronodp.series import Noise, calibrated
from chronodp.spectrum.exact_transform import DIGITS
from chronodp.spectrum.harmonics import highest
from chronodp.spectrum.sensitivity import any_sensitivity, spectral_sensitivity
from chronodp.spectrum.wanted import Lowest, OnlyHarmonics, Strongest, Wanted, WholeSpectrum, check_wanted

__all__ = ["LONGEST", "SpectrumDesign", "design_spectrum", "noise_for"]

LONGEST = 2**24
"""Periods that a series may have."""

_CHANGE, _NOISE = 20, 24  # powers of two that a unit's change of a period, and noise, span on their grids


@document("spectrum_design")
@dataclass(frozen=True)
class SpectrumDesign:
    """What is asked of a spectrum, who is protected, and the noise.

    Attributes:
        wanted: which harmonics.
        unit: who is protected.
        change: the most that one unit changes one period.
        horizon: how many periods the series has.
        max_periods: how many periods one unit changes, for `User` and `UserPeriod`.
        epsilon: of the guarantee.
        delta: of the guarantee.
        grid: of the series' numbers, a power of two.
        noise: on the numbers of the harmonics (Re X_k, Im X_k; X_k / √2 where it is real), or for `WholeSpectrum` on
            each period.
        choice: epsilon of each choice of a harmonic; 0 where none is made.
    """

    wanted: Wanted
    unit: Unit
    change: float
    horizon: int
    max_periods: int | None
    epsilon: float
    delta: float
    grid: float
    noise: Noise
    choice: float = 0.0

    def __post_init__(self) -> None:
        check_whole("horizon", self.horizon, most=LONGEST)

    @property
    def harmonics(self) -> tuple[int, ...]:
        """The harmonics that are released, as far as they are known before; those to choose from otherwise."""
        match self.wanted:
            case OnlyHarmonics():
                return (self.wanted.harmonic,)
            case Lowest():
                return tuple(range(self.wanted.count))
            case WholeSpectrum():
                return tuple(range(highest(self.horizon) + 1))
            case Strongest():
                return tuple(range(self.wanted.among + 1))
            case never:
                assert_never(never)

    @property
    def touched(self) -> Touched:
        """The periods that one unit changes."""
        return touched_periods(self.unit, horizon=self.horizon, max_periods=self.max_periods)

    @property
    def cost(self) -> Cost:
        """What the release costs."""
        if isinstance(self.wanted, Strongest):
            return SequenceCost((RepeatedCost(PureCost(self.choice), self.wanted.count), self.noise.cost))
        return self.noise.cost

    @property
    def deviation(self) -> float:
        """The deviation of the noise in each number of a harmonic."""
        if isinstance(self.wanted, WholeSpectrum):
            return self.noise.deviation * math.sqrt(self.horizon / 2)
        return self.noise.deviation


def design_spectrum(
    wanted: Wanted,
    *,
    horizon: int,
    change: float,
    unit: Unit,
    max_periods: int | None = None,
    epsilon: float,
    delta: float = 0.0,
) -> SpectrumDesign:
    """Return the design with the noise of least variance. Reads no data and spends nothing.

    >>> from chronodp.privacy import Event
    >>> design = design_spectrum(OnlyHarmonics(7), horizon=168, change=1.0, unit=Event(), epsilon=0.1, delta=1e-5)
    >>> design.noise.law, round(design.noise.scale, 2)
    ('laplace', 14.14)
    """
    check_whole("horizon", horizon, most=LONGEST)
    check_wanted(wanted, horizon)
    check_positive("change", change)
    check_epsilon(epsilon)
    check_delta(delta)
    touched = touched_periods(unit, horizon=horizon, max_periods=max_periods)
    each, rest = 0.0, float(epsilon)
    if isinstance(wanted, Strongest):
        each, rest = _split(epsilon, wanted)
    grid = math.ldexp(1.0, math.frexp(change)[1] - 1 - _CHANGE)
    laws: tuple[Law, ...] = ("laplace", "gaussian") if delta else ("laplace",)
    tried = [noise_for(wanted, law, horizon, touched, change + grid, epsilon=rest, delta=delta) for law in laws]
    noises = [noise for noise in tried if noise.drawable]
    if not noises:
        raise InvalidArgument("epsilon", epsilon, "larger: noise this wide cannot be drawn exactly")
    best = min(noises, key=lambda noise: noise.deviation)
    spent = float(delta) if best.law == "gaussian" else 0.0
    return SpectrumDesign(wanted, unit, float(change), horizon, max_periods, float(epsilon), spent, grid, best, each)


def noise_for(
    wanted: Wanted, law: Law, horizon: int, touched: Touched, change: float, *, epsilon: float, delta: float
) -> Noise:
    """Return the noise that what is wanted needs, with all that rounding adds to its sensitivity."""
    ideal, numbers = _ideal(wanted, horizon, touched, change)
    ((_, scale),) = calibrated(law, [ideal], epsilon=epsilon, delta=delta)
    # No finer than the exact numbers, which are whole multiples of 2^-32 steps of the series' grid.
    power = max(math.frexp(scale)[1] - _NOISE, math.frexp(change)[1] - _CHANGE - DIGITS)
    step = math.ldexp(1.0, power - 1)
    if isinstance(wanted, WholeSpectrum):
        # Periods are rounded to this grid, each by itself.
        cells = touched.periods
        rounded = Sensitivity(cells * (change + step), math.sqrt(cells) * (change + step))
    else:
        # A rounded cosine is off by at most 2^-32 of 1, for each changed period; a rounded number by half a step.
        off = touched.periods * change * 2.0**-DIGITS + step
        rounded = Sensitivity(ideal.l1 + numbers * off, ideal.l2 + math.sqrt(numbers) * off)
    rounded = Sensitivity(rounded.l1 * (1 + 1e-15), rounded.l2 * (1 + 1e-15))
    ((sensitivity, wide),) = calibrated(law, [rounded], epsilon=epsilon, delta=delta)
    return Noise(law, sensitivity, wide, step)


def _ideal(wanted: Wanted, horizon: int, touched: Touched, change: float) -> tuple[Sensitivity, int]:
    """Return the sensitivity before rounding, and how many numbers there are."""
    match wanted:
        case OnlyHarmonics():
            harmonics: tuple[int, ...] = (wanted.harmonic,)
        case Lowest():
            harmonics = tuple(range(wanted.count))
        case Strongest():  # which harmonics is not known yet
            numbers = 2 * wanted.count + 1
            return any_sensitivity(numbers, horizon, touched, change=change), numbers
        case WholeSpectrum():
            cells = touched.periods
            return Sensitivity(cells * change, math.sqrt(cells) * change), horizon
        case never:
            assert_never(never)
    return spectral_sensitivity(harmonics, horizon, touched, change=change), 2 * len(harmonics)


def _split(epsilon: float, wanted: Strongest) -> tuple[float, float]:
    """Return the epsilon of each choice and that of the noise: together no more than all of it, as people write it."""
    each = wanted.share * epsilon / wanted.count
    left = decimal_value(epsilon) - wanted.count * decimal_value(each)
    rest = float(left)
    while Fraction(rest) > left or decimal_value(rest) > left:
        rest = math.nextafter(rest, 0.0)
    if rest <= 0:
        raise InvalidArgument("share", wanted.share, "a part of epsilon that leaves something for the noise")
    return each, rest
