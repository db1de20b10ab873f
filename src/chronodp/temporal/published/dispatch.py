"""Where the Threshold mechanism sends a value: probabilities by delay, the budget they amount to, the best threshold.

Of the k slots of its window, c₀ are always empty; the slots are Warrington's juggling chain. Everything is written in
ratios of Stirling numbers (`stirling_ratios`) and checked against exact fractions.

p_j and ε̂ of "Dispatch of the Threshold mechanism" in ``docs/explanation/proofs/temporal.md``.

References:
    Warrington (2005), Juggling probabilities. Ye, Hu, Li, Meng, Zheng, Yan (2021), Beyond value perturbation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chronodp.privacy import check_whole
from chronodp.temporal.probabilities import check_budget
from chronodp.temporal.published.stirling import LONGEST, stirling_ratios

__all__ = ["ThresholdChoice", "choose_threshold", "derived_budget", "dispatch_probabilities"]


@dataclass(frozen=True, slots=True)
class ThresholdChoice:
    """A threshold for a window and a budget.

    Attributes:
        threshold: how many slots of the window stay empty.
        keep: how often a value whose own slot is empty goes there; below 1 for the extended mechanism, which drops it
            otherwise.
        budget: the marginal dispatch budget that results.
    """

    threshold: int
    keep: float
    budget: float

    @property
    def extended(self) -> bool:
        """Whether values are dropped at times, because no threshold alone meets the budget."""
        return self.keep < 1


def dispatch_probabilities(window: int, threshold: int) -> NDArray[np.float64]:
    """Return the probability of each delay 0 to ``window`` - 1, in the steady state.

    With p^(K) for a window of K, starting at p^(c₀) = (1, 0, ...):

        p^(K)_0 = ρ(K-1, c₀) / (c₀ + ρ(K-1, c₀)),   p^(K)_j = (p^(K-1)_0 + ... + p^(K-1)_{j-1}) / (c₀ + ρ(K-1, c₀)).

    >>> from fractions import Fraction
    >>> [str(Fraction(p).limit_denominator(10**6)) for p in dispatch_probabilities(4, 3)]
    ['1/2', '1/6', '1/6', '1/6']
    """
    _check(window, threshold)
    return _probabilities(window, threshold).copy()


@lru_cache(maxsize=256)  # strategies ask for the same ones at budget after budget
def _probabilities(window: int, threshold: int) -> NDArray[np.float64]:
    ratios = stirling_ratios(window)[:, threshold]
    found = np.array([1.0] + [0.0] * (threshold - 1))
    for size in range(threshold + 1, window + 1):
        whole = threshold + ratios[size - 1]
        found = np.concatenate([[ratios[size - 1]], np.cumsum(found)]) / whole
    return found


def derived_budget(window: int, threshold: int) -> float:
    """Return ε̂ = 2 ln(max p_j / min p_j): what the dispatch probabilities of a threshold amount to.

    >>> round(derived_budget(20, 10), 6)
    4.755462
    """
    _check(window, threshold)
    nearest, farthest = _budgets(window)
    return float(max(nearest[threshold - 2], farthest[threshold - 2]))


def choose_threshold(window: int, epsilon: float) -> ThresholdChoice:
    """Return the largest threshold whose derived budget fits; if none does, the extended mechanism's.

    The extended mechanism takes the smallest threshold at which delays of one and more are near enough to each other,
    2 ln(p_{k-1} / p_1) <= ε, and lets a value keep its own slot with probability e^{ε/2} p_1 / p_0 only. The printed
    binary search misses the best threshold in places (``docs/explanation/proofs/temporal.md``); this is a scan.

    >>> choose_threshold(20, 5.0).threshold, choose_threshold(20, 1.0).extended
    (10, True)
    """
    return _choose(check_whole("window", window, least=3, most=LONGEST), check_budget("epsilon", epsilon))


@lru_cache(maxsize=1024)
def _choose(window: int, epsilon: float) -> ThresholdChoice:
    nearest, farthest = _budgets(window)
    fits = np.flatnonzero(np.maximum(nearest, farthest) <= epsilon)
    if len(fits):
        place = int(fits[-1])
        return ThresholdChoice(place + 2, 1.0, float(max(nearest[place], farthest[place])))
    place = int(np.flatnonzero(farthest <= epsilon)[0])
    return ThresholdChoice(place + 2, math.exp((epsilon - nearest[place]) / 2), float(epsilon))


@lru_cache(maxsize=64)
def _budgets(window: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, for every threshold from 2 to k - 1, how far p_0 and p_{k-1} are above p_1.

    2 ln(p_0 / p_1) = 2 ln(c₀ - 1 + ρ(k-2, c₀-1)) and 2 ln(p_{k-1} / p_1) = 2 ln(1 + c₀ / ρ(k-2, c₀)), 0 at c₀ = k - 1.
    """
    thresholds = np.arange(2, window)
    ratios = stirling_ratios(window)[window - 2]
    nearest = 2 * np.log(thresholds - 1 + ratios[1 : window - 1])
    farthest = np.append(2 * np.log1p(thresholds[:-1] / ratios[2 : window - 1]), 0.0)
    return nearest, farthest


def _check(window: int, threshold: int) -> None:
    check_whole("window", window, least=3, most=LONGEST)
    check_whole("threshold", threshold, least=2, most=window - 1)
