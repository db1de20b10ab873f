"""The privacy-loss variable: how far the odds of an observer really move.

For outputs o of a mechanism on D, the loss is ln P(o | D) / P(o | D'), a random variable; after seeing o, an observer's
odds for D against D' are multiplied by e^loss. The worst pair of datasets is taken for each release; for
one of bounded range, which has no worst pair, the law that covers all of them (`bounded_range`).

L of ``docs/explanation/proofs/accounting.md``. *PLD* there says how the transform behind `LossVariable.tail` rounds:
every loss up to a grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from chronodp.accounting import bounded_range
from chronodp.accounting.optimal import few_outcomes, losses
from chronodp.accounting.spending import BoundedCost, Costs, Spending, gather
from chronodp.errors import UnsupportedCost
from chronodp.privacy import (
    ApproximateCost,
    BoundedRangeCost,
    LaplaceCost,
    PureCost,
    RandomizedResponseCost,
    check_whole,
)
from chronodp.randomness import Entropy, secure

__all__ = ["LossVariable", "loss"]

_CELLS = 2**21
_ALIASED = 1e-20  # probability beyond the transform's window, by Hoeffding's inequality
_ROUNDED = 1e-12  # absolute error of the transform, generously
_SAMPLING_SCALE = 2.0**24


@dataclass(frozen=True)
class LossVariable:
    """The loss of a whole spending: a sum of independent losses, infinite with probability ``revealed``.

    It is infinite too where a failure happens; where that is among the finite losses is not known.
    """

    spending: Spending

    @property
    def mean(self) -> float:
        """The expected loss; infinite if everything may be given away."""
        if self.spending.revealed or self.spending.failures:
            return math.inf
        return self.spending.gaussian / 2 + math.fsum(
            times * _mean(cost) for cost, times in self.spending.bounded.items()
        )

    def tail(self, threshold: float) -> float:
        """Return P(loss > threshold): exact for Gaussian noise, coins or one release without failures, else from above.

        >>> from chronodp.privacy import LaplaceCost
        >>> round(loss(LaplaceCost(sensitivity=1.0, scale=1.0)).tail(0.5), 6)
        0.6106
        """
        return self.tail_bounds(threshold)[1]

    def tail_bounds(self, threshold: float) -> tuple[float, float]:
        """Return two numbers that P(loss > threshold) certainly lies between."""
        low, high = self._tail_of_finite(threshold)
        revealed, failed = self.spending.revealed, self.spending.failed
        # A failure may lie where the loss is large anyway, or all of it where it is not.
        least = max(failed, revealed + (1 - revealed) * low)
        return least, min(1.0, failed + revealed + (1 - revealed) * high)

    def sample(self, size: int, *, entropy: Entropy | None = None) -> NDArray[np.float64]:
        """Return independent draws of the loss where it is finite, to about seven digits."""
        check_whole("size", size)
        source = secure() if entropy is None else entropy
        mu = math.sqrt(self.spending.gaussian)
        total = np.full(size, mu * mu / 2)
        if mu:
            total += mu * source.gaussian(_SAMPLING_SCALE, size) / _SAMPLING_SCALE
        for cost, times in self.spending.bounded.items():
            for _ in range(times):
                total += _sample(cost, size, source)
        return total

    def _tail_of_finite(self, threshold: float) -> tuple[float, float]:
        spending = self.spending
        if not spending.bounded:
            mu = math.sqrt(spending.gaussian)
            exact = float(ndtr((mu * mu / 2 - threshold) / mu)) if mu else float(threshold < 0)
        elif spending.count == 1:
            exact = float(_tail(next(iter(spending.bounded)), np.array([threshold]))[0])
        elif not spending.gaussian and all(_is_coin(cost) for cost in spending.bounded) and few_outcomes(spending):
            ratios, probabilities = self._coins
            # A sum of equal losses may differ from the threshold it is compared with by rounding alone.
            exact = min(1.0, float(probabilities[ratios > threshold + 1e-12 * abs(threshold)].sum()))
        else:
            return self._tail_by_transform(threshold)
        return exact, exact

    def _tail_by_transform(self, threshold: float) -> tuple[float, float]:
        points, tails, widening = self._law
        # Rounded up, the loss reaches the threshold whenever it exceeds it; rounded down, only then.
        high = _from(tails, int(np.searchsorted(points, threshold, side="left")))
        low = _from(tails, int(np.searchsorted(points, threshold + widening, side="right")))
        return max(0.0, low - _ROUNDED), min(1.0, high + _ROUNDED)

    @cached_property
    def _coins(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return losses(self.spending)

    @cached_property
    def _law(self) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """The law of the loss with every part rounded up to a grid: points, P(loss >= point), and the most it moved.

        Computed by Fourier transform, each part shifted by its mean so that the sum stays in the window.
        """
        spending = self.spending
        variance = spending.gaussian + math.fsum(times * value**2 for value, times in spending.largest_losses)
        widest = max([value for value, _ in spending.largest_losses] + [math.sqrt(variance)])
        reach = math.sqrt(2 * variance * math.log(2 / _ALIASED)) + 10 * widest
        step = 2 * reach / _CELLS
        grid = step * np.arange(-_CELLS // 2, _CELLS // 2, dtype=np.float64)
        spectrum = np.ones(_CELLS // 2 + 1, dtype=np.complex128)
        centre, parts = 0.0, 0
        for cost, times in spending.bounded.items():
            mean = _mean(cost)
            spectrum *= _spectrum(_tail(cost, grid + mean)) ** times
            centre, parts = centre + times * mean, parts + times
        if spending.gaussian:
            spectrum *= _spectrum(ndtr(-grid / math.sqrt(spending.gaussian)))
            centre, parts = centre + spending.gaussian / 2, parts + 1
        masses = np.fft.fftshift(np.fft.irfft(spectrum, _CELLS))
        return grid + centre, np.cumsum(masses[::-1])[::-1], parts * step


def loss(costs: Costs) -> LossVariable:
    """Return the privacy-loss variable of a cost or of several together."""
    spending = gather(costs)
    if spending.sampled:
        raise UnsupportedCost("the loss of noise on a sample has no closed form: `pld.epsilon` computes with it")
    return LossVariable(spending)


def _from(tails: NDArray[np.float64], index: int) -> float:
    return float(tails[index]) if index < len(tails) else 0.0


def _spectrum(tails: NDArray[np.float64]) -> NDArray[np.complex128]:
    """Return the transform of the law that is rounded up to the grid, from its tails at the grid's points."""
    # Mass between two points goes to the upper one: the loss is rounded up, and the tail is never too small.
    masses = np.empty(_CELLS)
    masses[0] = 1 - tails[0]
    masses[1:] = tails[:-1] - tails[1:]
    masses[-1] += tails[-1]
    return np.fft.rfft(np.fft.ifftshift(masses))


def _is_coin(cost: BoundedCost) -> bool:
    return isinstance(cost, PureCost | ApproximateCost) or (
        isinstance(cost, RandomizedResponseCost) and cost.choices == 2
    )


def _coin(cost: PureCost | ApproximateCost | RandomizedResponseCost) -> tuple[float, int]:
    """Return (epsilon, choices) of the randomised response that stands for the release."""
    return cost.epsilon, cost.choices if isinstance(cost, RandomizedResponseCost) else 2


def _mean(cost: BoundedCost) -> float:
    match cost:
        case LaplaceCost(sensitivity, scale):
            ratio = sensitivity / scale
            return ratio + math.expm1(-ratio)
        case BoundedRangeCost(epsilon):
            return bounded_range.mean(epsilon)
        case PureCost() | ApproximateCost() | RandomizedResponseCost():
            epsilon, choices = _coin(cost)
            # p - q, with p = e^epsilon q and q = 1 / (e^epsilon + choices - 1)
            return epsilon * -math.expm1(-epsilon) / (1 + (choices - 1) * math.exp(-epsilon))
        case _:
            assert_never(cost)


def _tail(cost: BoundedCost, thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P(loss > t) of one release that is not Gaussian."""
    if isinstance(cost, LaplaceCost):
        ratio = cost.sensitivity / cost.scale
        # For |t| < r the loss exceeds t where the noise is below (r - t) b / 2.
        inside = 1 - np.exp(-(ratio - np.clip(thresholds, -ratio, ratio)) / 2) / 2
        return np.where(thresholds >= ratio, 0.0, np.where(thresholds < -ratio, 1.0, inside))
    if isinstance(cost, BoundedRangeCost):
        return bounded_range.tail(cost.epsilon, thresholds)
    epsilon, choices = _coin(cost)
    against = math.exp(-epsilon) / (1 + (choices - 1) * math.exp(-epsilon))
    truth = 1 / (1 + (choices - 1) * math.exp(-epsilon))
    tails = np.where(thresholds < 0, 1 - against, truth)
    return np.where(thresholds >= epsilon, 0.0, np.where(thresholds < -epsilon, 1.0, tails))


def _sample(cost: BoundedCost, size: int, entropy: Entropy) -> NDArray[np.float64]:
    if isinstance(cost, LaplaceCost):
        ratio = cost.sensitivity / cost.scale
        noise = entropy.laplace(_SAMPLING_SCALE, size) / _SAMPLING_SCALE
        return np.abs(noise - ratio) - np.abs(noise)
    if isinstance(cost, BoundedRangeCost):
        return bounded_range.quantile(cost.epsilon, entropy.integers(2**53, size) / 2.0**53)
    epsilon, choices = _coin(cost)
    truth = 1 / (1 + (choices - 1) * math.exp(-epsilon))
    against = math.exp(-epsilon) * truth
    uniform = entropy.integers(2**53, size) / 2.0**53
    return np.where(uniform < truth, epsilon, np.where(uniform < truth + against, -epsilon, 0.0))
