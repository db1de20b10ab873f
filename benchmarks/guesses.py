"""Other ways to get a clip and a limit on periods: exact quantiles, and three published private rules made anew here.

The private ones spend half of the price of choosing on the clip and half on the limit.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logit
from scipy.stats import norm

from benchmarks.crowds import Crowd, Floats, Integers
from benchmarks.finding import Outcome, softmax
from chronodp.series.finding.joint import candidates_up_to

__all__ = ["approx_bounds", "exact_quantile", "get_bounds", "private_quantile"]

OCTAVES = np.arange(-100, 101)
DRAWS = 2000


GRID = np.arange(-40, 81)  # half octaves: 2^-20 to 2^40


def price(squared: float) -> float:
    """Return the epsilon of a bounded-range choice that costs so much of the squared GDP parameter."""
    return float(2 * logit(norm.cdf(np.sqrt(squared) / 2)))


def exact_quantile(crowd: Crowd, mu: float, quantile: float) -> list[Outcome]:
    """Clip and limit at a quantile of the data itself: not private, and nothing paid."""
    clip = float(np.quantile(np.abs(crowd.value), quantile))
    limit = np.array([int(np.ceil(np.quantile(crowd.present[crowd.present > 0], quantile)))])
    return [Outcome(1.0, float(_errors(crowd, clip, limit, mu)[0]))]


def private_quantile(crowd: Crowd, mu: float, share: float, quantile: float) -> list[Outcome]:
    """Choose each by the exponential mechanism on the rank; a person's vote is split over the own values."""
    votes = 1 / np.maximum(crowd.present, 1)
    order = np.argsort(np.abs(crowd.value))
    summed = np.concatenate([[0.0], np.cumsum(votes[crowd.person[order]])])
    below = summed[np.searchsorted(np.abs(crowd.value)[order], 2.0 ** (GRID / 2), side="right")]
    # A person moves the rank by at most max(quantile, 1 - quantile), either way.
    exponents = -price(share * mu**2 / 2) * np.abs(below - quantile * summed[-1]) / (2 * max(quantile, 1 - quantile))
    return _joined(crowd, 2.0 ** (GRID / 2), softmax(exponents), mu, share, quantile)


def approx_bounds(crowd: Crowd, mu: float, share: float) -> tuple[list[Outcome], float]:
    """The rule of Google's ``ApproxBounds``: the highest bin of powers of two whose noisy count passes a threshold.

    One value of each person is counted. Also returned: the chance that no bin passes, which gives no answer.
    """
    epsilon = _pure(share * mu**2 / 2)
    counts = _histogram(crowd)
    threshold = -np.log(2 - 2 * (1 - 1e-9) ** (1 / (len(counts) - 1))) / epsilon
    gap = epsilon * (threshold - counts)
    passes = np.where(gap > 0, np.exp(-np.abs(gap)) / 2, 1 - np.exp(-np.abs(gap)) / 2)
    above = np.concatenate([np.cumprod((1 - passes)[::-1])[::-1][1:], [1.0]])
    highest = passes * above
    answered = float(highest.sum())
    return _joined(crowd, _powers(), highest / answered, mu, share, 0.95), 1 - answered


def get_bounds(crowd: Crowd, mu: float, share: float) -> list[Outcome]:
    """The rule of Tumult Analytics' ``get_bounds``: a walk up the powers of two until 95 % of people seem to be below.

    The sparse vector technique: the threshold has Laplace noise of scale 2/epsilon, every count of 4/epsilon.
    """
    below = np.cumsum(_histogram(crowd))
    rng, scale = np.random.default_rng(1), 4 / _pure(share * mu**2 / 2)
    seen = below - 0.95 * below[-1] + rng.laplace(0, scale, (DRAWS, len(below)))
    passed = seen >= rng.laplace(0, scale / 2, (DRAWS, 1))
    passed[:, -1] = True
    chances = np.bincount(np.argmax(passed, 1), minlength=len(below)) / DRAWS
    return _joined(crowd, _powers(), chances, mu, share, 0.95)


def _powers() -> Floats:
    return np.asarray(2.0**OCTAVES, dtype=np.float64)


def _joined(crowd: Crowd, values: Floats, chances: Floats, mu: float, share: float, quantile: float) -> list[Outcome]:
    """Return the outcomes of a choice of clip, and of a private quantile of how many periods people have."""
    ks, present = np.array(candidates_up_to(crowd.periods)), np.sort(crowd.present[crowd.present > 0])
    rank = np.searchsorted(present, ks, side="right") - quantile * len(present)
    ranks = softmax(-price(share * mu**2 / 2) * np.abs(rank) / (2 * max(quantile, 1 - quantile)))
    outcomes = []
    for value, chance in zip(values, chances, strict=True):
        if chance > 1e-6:
            errors = _errors(crowd, float(value), ks, mu * np.sqrt(1 - share))
            outcomes += [Outcome(float(chance * r), float(e)) for r, e in zip(ranks, errors, strict=True)]
    return outcomes


def _errors(crowd: Crowd, clip: float, ks: Integers, mu: float) -> Floats:
    return np.sqrt(crowd.squared_error(clip, ks) + clip**2 * ks / mu**2)


def _histogram(crowd: Crowd) -> Integers:
    """Return how many people's value lies in each bin (2^(j-1), 2^j]: one value of each, drawn by a fixed seed."""
    order = np.random.default_rng(0).permutation(len(crowd.value))
    _, first = np.unique(crowd.person[order], return_index=True)
    octave = np.ceil(np.log2(np.abs(crowd.value[order][first]))).astype(int)
    return np.bincount(np.clip(octave, OCTAVES[0], OCTAVES[-1]) - OCTAVES[0], minlength=len(OCTAVES))


def _pure(squared: float) -> float:
    """Return the epsilon of a Laplace histogram that costs so much of the squared GDP parameter."""
    beyond = float(norm.cdf(np.sqrt(squared) / 2))
    return float(np.log(beyond / (1 - beyond)))
