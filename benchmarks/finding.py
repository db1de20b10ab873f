"""The rule by which bounds are found privately, in plain floats, and how good its choices are, without sampling.

The exponential mechanism's probabilities are explicit, so every outcome is weighed and none is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import logit
from scipy.stats import norm

from benchmarks.crowds import Crowd, Floats, Integers

__all__ = ["GRID", "Outcome", "clips", "find_clip_and_periods", "find_norm", "limits", "price", "softmax"]

GRID = np.arange(-40, 81)  # half octaves: 2^-20 to 2^40
SPLIT = (0.08, 0.44, 0.48)  # of the price of choosing: median, tail, joint choice
OCTAVE = 2.2  # what an octave of tail costs in the exponent: above 2 ln 2, so that overshoot has a finite mean square
RARE = 2e-5  # outcomes of the first two steps below this chance are left out


@dataclass(frozen=True)
class Outcome:
    """One choice that may be made: its chance and the root mean squared error of the release under it."""

    chance: float
    error: float


def price(squared: float) -> float:
    """Return the epsilon of a bounded-range choice that costs so much of the squared GDP parameter."""
    return float(2 * logit(norm.cdf(np.sqrt(squared) / 2)))


def softmax(exponents: Floats) -> Floats:
    weights = np.exp(exponents - exponents.max())
    return np.asarray(weights / weights.sum())


def clips(periods: int) -> Integers:
    """Return the candidate clips as quarter octaves from the tail: fine near it, half octaves far above."""
    last = int(np.ceil(4 * np.log2(periods)))
    return np.concatenate([np.arange(-8, min(12, last + last % 2) + 1), np.arange(14, last + last % 2 + 1, 2)])


def limits(periods: int) -> Integers:
    """Return the candidate limits on periods: all of them, and down by half octaves."""
    steps = np.arange(int(2 * np.log2(periods)) + 3)
    return np.unique(np.maximum(1, np.ceil(periods * 2.0 ** (-steps / 2) - 1e-9))).astype(np.int64)


def find_clip_and_periods(crowd: Crowd, mu: float, share: float) -> list[Outcome]:
    """Return every choice of a clip and a limit on periods with its chance and its error."""
    left = mu * np.sqrt(1 - share)
    epsilon = price(share * mu**2 * SPLIT[2])
    ks = limits(crowd.periods)
    weight = np.minimum(1, ks[None, :] / np.maximum(crowd.present, 1)[:, None]).astype(np.float32)
    level, outcomes = crowd.level.astype(np.float32), []
    kept: dict[int, Floats] = {}
    squared: dict[int, Floats] = {}
    for tail, cap, chance in _scales(crowd, mu, share):
        quarters = 2 * tail + clips(crowd.periods)
        lost = np.empty((len(quarters), len(ks)))
        for row, quarter in enumerate(quarters.tolist()):
            if quarter not in kept:
                kept[quarter] = crowd.kept(2.0 ** (quarter / 4))
                squared[quarter] = crowd.squared_error(2.0 ** (quarter / 4), ks)
            each = level[:, None] - weight * kept[quarter].astype(np.float32)[:, None]
            lost[row] = _read(each, cap).sum(0, dtype=float)
        noise = 2.0 ** (quarters / 4)[:, None] * np.sqrt(ks)[None, :] / left
        chances = chance * softmax(-epsilon * np.maximum(lost, noise) / cap)
        errors = np.sqrt(np.stack([squared[quarter] for quarter in quarters.tolist()]) + noise**2)
        outcomes += [Outcome(*pair) for pair in zip(chances.ravel(), errors.ravel(), strict=True)]
    return outcomes


def find_norm(crowd: Crowd, mu: float, share: float) -> list[Outcome]:
    """Return every choice of one l2 bound on a person's series with its chance and its error."""
    left = mu * np.sqrt(1 - share)
    epsilon = price(share * mu**2 * SPLIT[2])
    half = round(2 * np.log2(crowd.periods))
    outcomes = []
    for tail, cap, chance in _scales(crowd, mu, share):
        bounds = 2.0 ** ((2 * tail + np.arange(half - 12, 2 * half + 9)) / 4)
        over = np.where(crowd.norm > 0, crowd.norm, 1)
        lost = np.array([_read(crowd.level * (1 - np.minimum(1, r / over)), cap).sum() for r in bounds])
        chances = chance * softmax(-epsilon * np.maximum(lost, bounds / left) / cap)
        errors = np.sqrt([crowd.squared_error_of_norm(r) + (r / left) ** 2 for r in bounds])
        outcomes += [Outcome(*pair) for pair in zip(chances, errors, strict=True)]
    return outcomes


def _scales(crowd: Crowd, mu: float, share: float) -> Iterator[tuple[int, float, float]]:
    """Yield each tail that the first two steps may find, in half octaves, with its cap and its chance."""
    budget, left = share * mu**2, mu * np.sqrt(1 - share)
    first, second, third = (price(budget * part) for part in SPLIT)
    slope = float(np.clip(0.07 * third * np.sqrt(crowd.periods) / left, 0.1, 16))
    levels = np.sort(crowd.level[crowd.level > 0])
    for median, chance in zip(GRID.tolist(), _median(levels, first), strict=True):
        if chance < RARE:
            continue
        tails = median + np.arange(-2, 21)
        beyond = len(levels) - np.searchsorted(levels, 2.0 ** (tails / 2), side="right")
        # Every count rises by 0 or 1 with a person: monotone, change 1.
        for tail, then in zip(tails.tolist(), softmax(-second * beyond - OCTAVE * np.arange(23) / 2), strict=True):
            if chance * then > RARE:
                scale = 2.0 ** (tail / 2) * 2.0 ** (max(0, tail - median) / 10)
                yield tail, slope * scale, float(chance * then)


def _median(levels: Floats, epsilon: float) -> Floats:
    above = len(levels) - np.searchsorted(levels, 2.0 ** (GRID / 2), side="right")
    lower = np.concatenate([[len(levels)], above[:-1]])
    gap = np.maximum(2 * above - len(levels), len(levels) - 2 * lower) / 2
    return softmax(-epsilon * np.maximum(0, gap))


def _read(lost: Floats, cap: float) -> Floats:
    """Return what each person's loss counts for: itself while small, four times as steep later, never above the cap."""
    return np.asarray(np.minimum(cap, lost + 3 * np.maximum(0, lost - cap / 10)))
