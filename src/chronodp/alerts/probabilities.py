"""What to expect of an alert before anything is spent: false alarms, power and delay.

The gap is how far a value lies on the quiet side of the threshold; it is negative beyond the threshold. X is the noise
of a value, of scale b₁, Y that of the threshold, of scale b₂, and p(y) = P(X >= gap + y). The formulas are those of
real-valued noise; on the grids we choose, chances differ from them by less than one part in 10,000, unless the
threshold is a million million times as large as the noise.

"What to expect" of ``docs/explanation/proofs/alerts.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import assert_never

from chronodp.alerts.noise import Exponential, Laplace, Noise, check_noise
from chronodp.privacy import check_fraction, check_number, check_positive, check_whole

__all__ = ["AlertProbabilities", "FreshProbabilities"]

_MOST_STEPS = 10**15
_FAR = 40  # scales of the threshold's noise beyond which e^-40 of the mass lies
_TERMS = 60  # of a series whose terms at least halve


@dataclass(frozen=True, slots=True)
class AlertProbabilities:
    """Chances of an alert, whose noisy threshold stays the same for the whole run.

    Attributes:
        noise: of values and threshold.
        query_scale: b₁, of the noise on a value.
        threshold_scale: b₂, of the noise on the threshold.

    >>> from chronodp.alerts.noise import Laplace
    >>> alert = AlertProbabilities(Laplace(), query_scale=4.0, threshold_scale=2.0)
    >>> round(alert.chance(10.0), 5), round(alert.delay(10.0), 2), round(1 / alert.chance(10.0), 2)
    (0.0536, 32.49, 18.66)
    """

    noise: Noise
    query_scale: float
    threshold_scale: float

    def __post_init__(self) -> None:
        check_noise(self.noise)
        check_positive("query_scale", self.query_scale)
        check_positive("threshold_scale", self.threshold_scale)

    def chance(self, gap: float) -> float:
        """Return the probability that one step fires: of a false alarm, or of detection where the gap is negative.

        Laplace noise, gap >= 0: (b₁² e^(-gap/b₁) - b₂² e^(-gap/b₂)) / (2 (b₁² - b₂²)). Exponential noise:
        b₁ / (b₁ + b₂) e^(-gap/b₁) for a gap >= 0, and 1 - b₂ / (b₁ + b₂) e^(gap/b₂) below.
        """
        check_number("gap", gap)
        return _chance(self.noise, self.query_scale, self.threshold_scale, gap)

    def chance_within(self, gap: float, steps: int) -> float:
        """Return the probability that any of so many steps fires: 1 - E[(1 - p(Y))^steps], by quadrature.

        It is not 1 - (1 - chance)^steps: the steps share one noisy threshold.
        """
        check_number("gap", gap)
        if check_whole("steps", steps, most=_MOST_STEPS) == 1:
            return self.chance(gap)
        from scipy.integrate import quad

        first, second = self.query_scale, self.threshold_scale
        two_sided = isinstance(self.noise, Laplace)

        def weighted(y: float) -> float:
            quiet = _tail(self.noise, (gap + y) / first)
            some = 1.0 if quiet >= 1 else -math.expm1(steps * math.log1p(-quiet))
            return some * math.exp(-abs(y) / second) / (2 * second if two_sided else second)

        low = -max(gap, 0.0) - _FAR * second if two_sided else 0.0
        turn = first * math.log(steps) - gap  # where one of the steps is expected to fire
        bends = (0.0, -gap, turn - 10 * first, turn - first, turn + first, turn + 10 * first, turn, -gap - 9 * second)
        edges = sorted({low, _FAR * second, *(bend for bend in bends if low < bend < _FAR * second)})
        parts = [quad(weighted, *edge, epsabs=0.0, epsrel=1e-10, limit=200)[0] for edge in pairwise(edges)]
        return min(math.fsum(parts), 1.0)

    def delay(self, gap: float) -> float:
        """Return the expected number of steps up to and with the first alert, E[1 / p(Y)], while the gap stays.

        It is infinite if the threshold's noise is as wide as a value's: the threshold may lie so high that no value
        ever comes near it. It is not 1 / chance, which holds for `FreshProbabilities`.
        """
        check_number("gap", gap)
        first, second = self.query_scale, self.threshold_scale
        if second >= first:
            return math.inf
        try:
            high = first / (first - second) * math.exp(gap / first if gap >= 0 else gap / second)
            match self.noise:
                case Exponential():
                    return high if gap >= 0 else 1 + high * second / first
                case Laplace():
                    return high + _laplace_rest(first, second, gap)
                case never:
                    assert_never(never)
        except OverflowError:
            return math.inf

    def gap_for(self, chance: float, steps: int = 1) -> float:
        """Return the gap at which any of so many steps fires with this probability."""
        check_fraction("chance", chance)
        from scipy.optimize import brentq

        width = self.query_scale + self.threshold_scale
        low, high = -width, width
        while self.chance_within(low, steps) < chance:
            low *= 2
        while self.chance_within(high, steps) > chance:
            high *= 2
        found: float = brentq(
            lambda gap: self.chance_within(gap, steps) - chance, low, high, rtol=1e-12, xtol=1e-12 * width
        )
        return found


@dataclass(frozen=True, slots=True)
class FreshProbabilities:
    """Chances of checks that each draw both noises anew.

    >>> from chronodp.alerts.noise import Exponential
    >>> probabilities = FreshProbabilities(Exponential(), query_scale=4.0, threshold_scale=4.0)
    >>> probabilities.chance(0.0), probabilities.chance_within(0.0, steps=2), probabilities.delay(0.0)
    (0.5, 0.75, 2.0)
    """

    noise: Noise
    query_scale: float
    threshold_scale: float

    def chance(self, gap: float) -> float:
        """Return the probability that one check fires."""
        return AlertProbabilities(self.noise, self.query_scale, self.threshold_scale).chance(gap)

    def chance_within(self, gap: float, steps: int) -> float:
        """Return the probability that any of so many checks fires: 1 - (1 - chance)^steps."""
        one = self.chance(gap)
        return 1.0 if one >= 1 else -math.expm1(check_whole("steps", steps) * math.log1p(-one))

    def delay(self, gap: float) -> float:
        """Return the expected number of checks up to and with the first that fires: 1 / chance."""
        one = self.chance(gap)
        return 1 / one if one > 0 else math.inf


def _tail(noise: Noise, x: float) -> float:
    """P(Z >= x) for a variate of scale 1."""
    match noise:
        case Exponential():
            return 1.0 if x <= 0 else math.exp(-x)
        case Laplace():
            return math.exp(-x) / 2 if x >= 0 else 1 - math.exp(x) / 2
        case never:
            assert_never(never)


def _chance(noise: Noise, first: float, second: float, gap: float) -> float:
    match noise:
        case Exponential():
            if gap >= 0:
                return first / (first + second) * math.exp(-gap / first)
            return 1 - second / (first + second) * math.exp(gap / second)
        case Laplace():
            # The quotient in the docstring, without the cancellation where scales are close.
            low, high, t = min(first, second), max(first, second), abs(gap)
            apart = t / low - t / high
            shape = -math.expm1(-apart) / apart if apart else 1.0
            far = (math.exp(-t / low) + math.exp(-t / high) * shape * t * high / (low * (low + high))) / 2
            return far if gap >= 0 else 1 - far
        case never:
            assert_never(never)


def _laplace_rest(first: float, second: float, gap: float) -> float:
    """E[1 / p(Y)] for Laplace noise where gap + Y < 0 or Y < 0, by the series of 1 / (1 - e^-x / 2)."""
    ratio, size = second / first, abs(gap)
    terms = [0.5 ** (k + 1) / (1 + k * ratio) for k in range(_TERMS)]
    if gap >= 0:
        between = math.exp(size / first) * -math.expm1(-size / first - size / second) / (1 + ratio)
        return between + math.exp(-size / second) * math.fsum(terms)
    below = math.fsum(term * math.exp(-k * size / first) for k, term in enumerate(terms))
    return below + math.fsum(0.5 ** (k + 1) * _overlap(size / second, k * size / first) for k in range(_TERMS))


def _overlap(one: float, other: float) -> float:
    """``one`` (e^-other - e^-one) / (one - other), also where the two are equal."""
    apart = abs(one - other)
    return one * math.exp(-min(one, other)) * (-math.expm1(-apart) / apart if apart else 1.0)
