"""The Kalman models written out as one large normal law, to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chronodp.postprocess import Motion, Trend

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Dense:
    """One series of samples (NaN where missing) under a motion with known paces and an unknown start."""

    values: Floats
    deviation: Floats
    motion: Motion

    @property
    def order(self) -> int:
        return 2 if isinstance(self.motion, Trend) else 1

    @cached_property
    def starts(self) -> Floats:
        """What a start of 1 in each number adds to each period."""
        times = np.arange(len(self.values), dtype=np.float64)
        return np.stack((np.ones_like(times), times), axis=1)[:, : self.order]

    @cached_property
    def moves(self) -> Floats:
        """The covariance of what the truth has moved since the start."""
        count = len(self.values)
        lower = np.tril(np.ones((count, count)), -1)  # a step at t moves all later values
        covariance = np.square(self.motion.step or 0.0) * lower @ lower.T
        if isinstance(self.motion, Trend):
            twice = lower @ lower  # a bend at t moves all later slopes
            covariance += np.square(self.motion.bend or 0.0) * twice @ twice.T
        return np.asarray(covariance)

    def estimate(self, period: int, until: int) -> tuple[float, float]:
        """The best linear unbiased estimate of a period from the samples before ``until``, and its variance."""
        seen = np.flatnonzero(~np.isnan(self.values[:until]))
        if len(seen) < self.order:
            return np.nan, np.inf
        inverse = np.linalg.inv(self.moves[np.ix_(seen, seen)] + np.diag(self.deviation[seen] ** 2))
        starts, shared = self.starts[seen], self.moves[period, seen]
        covariance = np.linalg.inv(starts.T @ inverse @ starts)
        start = covariance @ starts.T @ inverse @ self.values[seen]
        reach = self.starts[period] - shared @ inverse @ starts
        value = self.starts[period] @ start + shared @ inverse @ (self.values[seen] - starts @ start)
        return float(value), float(self.moves[period, period] - shared @ inverse @ shared + reach @ covariance @ reach)

    def log_likelihood(self) -> float:
        """Of all contrasts that no start can change, scaled as if the start had a flat prior."""
        seen = np.flatnonzero(~np.isnan(self.values))
        covariance = self.moves[np.ix_(seen, seen)] + np.diag(self.deviation[seen] ** 2)
        starts, inverse = self.starts[seen], np.linalg.inv(covariance)
        information = starts.T @ inverse @ starts
        rest = inverse - inverse @ starts @ np.linalg.inv(information) @ starts.T @ inverse
        logs = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(information)[1]
        free = (len(seen) - self.order) * np.log(2 * np.pi)
        return float(-0.5 * (logs + self.values[seen] @ rest @ self.values[seen] + free))
