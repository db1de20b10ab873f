"""Sums over stretches of periods: running totals, rolling windows, coarser periods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, check_whole

__all__ = ["Windows", "coarser", "each", "rolling", "running"]


@dataclass(frozen=True, slots=True)
class Windows:
    """Stretches of periods to add up.

    Attributes:
        starts: the first period of each stretch.
        stops: the period after its last.
        labels: the period whose beginning dates it.
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    labels: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many periods each stretch has."""
        return self.stops - self.starts

    def at(self, places: NDArray[np.int64]) -> Windows:
        """Return some of the stretches."""
        return Windows(self.starts[places], self.stops[places], self.labels[places])

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of values along their first axis."""
        if (self.lengths == 1).all():  # nothing to add up: no second array of all that is before
            return values if len(self.starts) == len(values) else values[self.starts]
        before = np.concatenate((np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)))
        sums: NDArray[np.float64] = before[self.stops] - before[self.starts]
        return sums


def each(horizon: int) -> Windows:
    """Return every period by itself."""
    periods = np.arange(horizon)
    return Windows(periods, periods + 1, periods)


def running(horizon: int) -> Windows:
    """Return all periods up to each one."""
    periods = np.arange(horizon)
    return Windows(np.zeros(horizon, np.int64), periods + 1, periods)


def rolling(horizon: int, length: int) -> Windows:
    """Return each period with the ones before it, ``length`` in all; the first whole stretch comes first."""
    check_whole("n", length, most=horizon)
    stops = np.arange(length, horizon + 1)
    return Windows(stops - length, stops, stops - 1)


def coarser(calendar: Calendar, every: str) -> Windows:
    """Return the periods that fill each longer one from the start on; a last one that is not filled is left out."""
    outer = calendar.divided(every)
    if len(outer) < 2:
        raise InvalidArgument("every", every, f"no longer than the series, {calendar.start} to {calendar.end}")
    places = np.searchsorted(calendar.edges, outer)
    if not np.array_equal(calendar.edges[places], outer):
        raise InvalidArgument("every", every, f"a period that periods of {calendar.every} fill without rest")
    return Windows(places[:-1], places[1:], places[:-1])
