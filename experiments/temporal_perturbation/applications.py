"""Errors of counts and moving averages of a series of prices after perturbation, and what unit costs foretell of them."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from chronodp.randomness import Entropy, seeded
from chronodp.temporal import UnitCosts, frequency_counting, moving_average
from experiments.claims import computation
from experiments.claims.computations import inverted, scaled
from experiments.temporal_perturbation.costs import KINDS, PAPERS
from experiments.temporal_perturbation.data import Floats, daily_prices

__all__ = [
    "BUDGETS",
    "REPORTED",
    "RUNS",
    "UNBIASED",
    "average_error",
    "count_bias",
    "counting_error",
    "predicted_average_ratio",
    "predicted_counting_ratio",
    "spread",
]

WINDOW = 10
RUNS = 24
BUDGETS = tuple(float(epsilon) for epsilon in range(1, 9))
REPORTED = "randomised response, as reported"
UNBIASED = "randomised response, unbiased"
_NOISY_RUNS = 4  # of noise on values, whose errors hardly differ from run to run


@computation(inverted=inverted)
def counting_error(path: Path | None, kind: str, epsilon: float) -> float:
    """Return the mean squared error of the running count of days on which the price rose."""
    return float(np.mean(_counting(path, kind, epsilon)[0]))


@computation(other_sign=scaled(-1.0))
def count_bias(path: Path | None, kind: str, epsilon: float) -> float:
    """Return by how much the last count is too large, on average."""
    return float(np.mean(_counting(path, kind, epsilon)[1]))


@computation(inverted=inverted)
def average_error(path: Path | None, kind: str, epsilon: float, *, lag_removed: bool = False) -> float:
    """Return the mean squared error of moving averages over ten days, by the clock or at the best constant lag."""
    lags = np.mean(_averages(path, kind, epsilon), axis=0)
    return float(lags.min() if lag_removed else lags[0])


@computation(inverted=inverted, ten_times=scaled(10.0))
def predicted_counting_ratio(path: Path | None, epsilon: float) -> float:
    """Return the expected cost of Backward over that of Threshold, by the printed unit costs of counting."""
    share = float(_rises(path).mean())
    costs = frequency_counting(window=WINDOW, length=len(_rises(path)), share=share, other_share=1 - share)
    return _cost("Backward", epsilon, costs) / _cost("Threshold", epsilon, costs)


@computation(inverted=inverted, ten_times=scaled(10.0))
def predicted_average_ratio(epsilon: float, delay: float | None = None) -> float:
    """Return the expected cost of Forward over that of Threshold, by the unit costs of moving averages.

    The variance cancels. A delay costs k M / d as printed, or what is given.
    """
    printed = moving_average(window=WINDOW, length=WINDOW, variance=1.0)
    costs = printed if delay is None else UnitCosts(printed.missing, printed.repeated, printed.empty, delay)
    return _cost("Forward", epsilon, costs) / _cost("Threshold", epsilon, costs)


def spread(path: Path | None, kind: str, epsilon: float) -> float:
    """Return the standard error of a counting error, as a share of it."""
    errors = _counting(path, kind, epsilon)[0]
    return float(np.std(errors, ddof=1) / math.sqrt(len(errors)) / np.mean(errors))


def _cost(kind: str, epsilon: float, costs: UnitCosts) -> float:
    return float(KINDS[kind](WINDOW, epsilon).expected.cost(costs))


@cache
def _rises(path: Path | None) -> Floats:
    prices = daily_prices(path)
    return (np.diff(prices, prepend=prices[0]) > 0).astype(np.float64)


@cache
def _counting(path: Path | None, kind: str, epsilon: float) -> tuple[Floats, Floats]:
    """Return the error of every run, and by how much its last count is too large."""
    rises = _rises(path)
    if kind in KINDS:
        source = _sources(kind, epsilon, len(rises))
        released = np.where(source >= 0, rises[source], 0.0)
    else:
        released = _responses(rises, epsilon, unbiased=kind == UNBIASED)
    gaps = np.cumsum(released, axis=1) - np.cumsum(rises)
    return np.mean(gaps**2, axis=1), gaps[:, -1]


@cache
def _averages(path: Path | None, kind: str, epsilon: float) -> Floats:
    """Return the error of every run at each lag from 0 to k - 1."""
    prices = daily_prices(path)
    truth = _moving(prices[None])[0]
    if kind in KINDS:
        source = _sources(kind, epsilon, len(prices))
        released = np.where(source >= 0, prices[source], np.nan)
    else:
        released = _laplace(np.tile(prices, (_NOISY_RUNS, 1)), 2 * float(np.ptp(prices)) / epsilon, seeded(f"{kind} {epsilon}"))
    found = _moving(released)
    lags = range(WINDOW if kind in PAPERS else 1)
    return np.stack([np.nanmean((found[:, 2 * WINDOW :] - truth[2 * WINDOW - lag : len(truth) - lag]) ** 2, axis=1) for lag in lags], axis=1)


def _sources(kind: str, epsilon: float, length: int) -> Any:
    """Return, run by run, the day that each day's released value comes from."""
    days = np.broadcast_to(np.arange(length), (RUNS, length))
    return KINDS[kind](WINDOW, epsilon).perturb_panel(days, entropy=seeded(f"{kind} {epsilon}")).source


def _moving(rows: Floats) -> Floats:
    """Return means over the last ten days, of those on which there is a value."""
    there = np.isfinite(rows)
    totals, counts = np.cumsum(np.where(there, rows, 0.0), axis=1), np.cumsum(there, axis=1)
    totals[:, WINDOW:] -= totals[:, :-WINDOW].copy()
    counts[:, WINDOW:] -= counts[:, :-WINDOW].copy()
    return np.asarray(totals / np.where(counts, counts, np.nan), dtype=np.float64)


def _laplace(values: Floats, scale: float, entropy: Entropy) -> Floats:
    step = scale / 2**20
    return np.asarray(values + step * entropy.laplace(2.0**20, values.shape), dtype=np.float64)


def _responses(bits: Floats, epsilon: float, *, unbiased: bool) -> Floats:
    """Return answers that are true e^{ε/2} times as often as not, counted as they are or made unbiased."""
    truth = 1 / (1 + math.exp(-epsilon / 2))
    entropy = seeded(f"responses {epsilon}")
    lies = ~entropy.coins(math.floor(truth * 2**53), 2**53, RUNS * len(bits)).reshape(RUNS, len(bits))
    answers = np.where(lies, 1 - bits, bits)
    return (answers - (1 - truth)) / (2 * truth - 1) if unbiased else answers
