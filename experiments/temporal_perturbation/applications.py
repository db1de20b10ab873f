"""Errors of counts and moving averages of prices after perturbation, and what unit costs foretell of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from chronodp.randomness import seeded
from chronodp.temporal import UnitCosts, frequency_counting, moving_average
from experiments.claims import computation
from experiments.claims.computations import inverted, scaled
from experiments.temporal_perturbation.costs import KINDS
from experiments.temporal_perturbation.data import Floats, daily_prices

__all__ = [
    "BUDGETS",
    "NOISE",
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
RUNS = 48
BUDGETS = tuple(float(epsilon) for epsilon in range(1, 9))
REPORTED = "randomised response, as reported"
UNBIASED = "randomised response, unbiased"
NOISE = "Laplace noise"
_NOISY_RUNS = 4  # of noise on values, whose errors hardly differ from run to run


@computation(inverted=inverted)
def counting_error(path: Path | None, kind: str, epsilon: float) -> float:
    """Return the mean squared error of the running count of days on which the price rose."""
    return float(np.mean(_count_errors(path, kind, epsilon)))


@computation(other_sign=scaled(-1.0))
def count_bias(path: Path | None, kind: str, epsilon: float) -> float:
    """Return by how much the last count is too large, on average."""
    return float(np.mean(_errors(path, kind, epsilon).too_large))


@computation(inverted=inverted)
def average_error(path: Path | None, kind: str, epsilon: float, *, lag_removed: bool = False) -> float:
    """Return the mean squared error of moving averages over ten days, by the clock or at the best constant lag."""
    errors = _noise_errors(path, epsilon) if kind == NOISE else _errors(path, kind, epsilon).averages
    lags = errors.mean(axis=0)
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
    errors = _count_errors(path, kind, epsilon)
    return float(np.std(errors, ddof=1) / math.sqrt(len(errors)) / np.mean(errors))


def _count_errors(path: Path | None, kind: str, epsilon: float) -> Floats:
    if kind in KINDS:
        return _errors(path, kind, epsilon).counts
    return _response_errors(path, epsilon, unbiased=kind == UNBIASED)[0]


def _cost(kind: str, epsilon: float, costs: UnitCosts) -> float:
    return float(KINDS[kind](WINDOW, epsilon).expected.cost(costs))


@cache
def _rises(path: Path | None) -> Floats:
    prices = daily_prices(path)
    return (np.diff(prices, prepend=prices[0]) > 0).astype(np.float64)


@dataclass(frozen=True)
class _Errors:
    """Of every run: the error of its counts, by how much the last is too large, and that of its averages by lag."""

    counts: Floats
    too_large: Floats
    averages: Floats


@cache
def _errors(path: Path | None, kind: str, epsilon: float) -> _Errors:
    """Return what runs of a temporal mechanism do to counts and averages."""
    prices, rises = daily_prices(path), _rises(path)
    days = np.broadcast_to(np.arange(len(prices)), (RUNS, len(prices)))
    source = KINDS[kind](WINDOW, epsilon).perturb_panel(days, entropy=seeded(f"{kind} {epsilon}")).source
    there = source >= 0
    counts = _count_gaps(np.where(there, rises[source], 0.0), rises)
    return _Errors(*counts, _lagged_errors(np.where(there, prices[source], np.nan), prices, WINDOW))


@cache
def _response_errors(path: Path | None, epsilon: float, *, unbiased: bool) -> tuple[Floats, Floats]:
    """Return what randomised response does to counts, its answers counted as they are or made unbiased."""
    rises = _rises(path)
    truth = 1 / (1 + math.exp(-epsilon / 2))  # e^{ε/2} times as often as not
    coins = seeded(f"responses {epsilon}").coins(math.floor(truth * 2**53), 2**53, RUNS * len(rises))
    answers = np.where(coins.reshape(RUNS, len(rises)), rises, 1 - rises)
    return _count_gaps((answers - (1 - truth)) / (2 * truth - 1) if unbiased else answers, rises)


@cache
def _noise_errors(path: Path | None, epsilon: float) -> Floats:
    """Return what Laplace noise on each price does to averages."""
    prices = daily_prices(path)
    step = 2 * float(np.ptp(prices)) / epsilon / 2**20
    noise = seeded(f"noise {epsilon}").laplace(2.0**20, (_NOISY_RUNS, len(prices)))
    return _lagged_errors(prices + step * noise, prices, 1)


def _count_gaps(released: Floats, truth: Floats) -> tuple[Floats, Floats]:
    gaps = np.cumsum(released, axis=1) - np.cumsum(truth)
    return np.mean(gaps**2, axis=1), gaps[:, -1]


def _lagged_errors(released: Floats, prices: Floats, lags: int) -> Floats:
    """Return the error of moving averages when they are read so many days late, runs by lags."""
    found, truth = _moving(released)[:, 2 * WINDOW :], _moving(prices[None])[0]
    there = np.isfinite(found)
    middle = truth.mean()  # squares are multiplied out, and lose the fewest digits around it
    shown = np.where(there, found - middle, 0.0)
    late = np.stack([truth[2 * WINDOW - lag : len(truth) - lag] for lag in range(lags)], axis=1) - middle
    totals = (shown**2).sum(axis=1)[:, None] - 2 * shown @ late + there @ late**2
    return np.asarray(totals / there.sum(axis=1)[:, None], dtype=np.float64)


def _moving(rows: Floats) -> Floats:
    """Return means over the last ten days, of those on which there is a value."""
    there = np.isfinite(rows)
    totals, counts = np.cumsum(np.where(there, rows, 0.0), axis=1), np.cumsum(there, axis=1)
    totals[:, WINDOW:] -= totals[:, :-WINDOW].copy()
    counts[:, WINDOW:] -= counts[:, :-WINDOW].copy()
    return np.asarray(totals / np.where(counts, counts, np.nan), dtype=np.float64)
