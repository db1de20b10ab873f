"""What temporal perturbation does to a series, counted or expected, and what it costs an analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_fraction, check_number, check_positive, check_whole, settle

__all__ = ["Damage", "UnitCosts", "average_damage", "count_damage", "frequency_counting", "moving_average"]


@dataclass(frozen=True, slots=True)
class Damage:
    """What happens to a value on average; of a finished run, what happened. Of a run it is for the owner only.

    Attributes:
        missing: share of values that are never released.
        repeated: releases of a value beyond its first, per value.
        empty: share of times at which nothing is released.
        delay: periods from a value's own time to its first release, 0 for one that is missing or early, per value.
        displacement: periods between a released value's own time and the time it is released for, either way.
    """

    missing: float
    repeated: float
    empty: float
    delay: float
    displacement: float

    def cost(self, unit_costs: UnitCosts) -> float:
        """Return the total cost per value: missing M + repeated N + empty E + delay D."""
        return (
            self.missing * unit_costs.missing
            + self.repeated * unit_costs.repeated
            + self.empty * unit_costs.empty
            + self.delay * unit_costs.delay
        )


@dataclass(frozen=True, slots=True)
class UnitCosts:
    """What one missing, repeated or empty value, and one period of delay, cost an analysis (M, N, E and D).

    >>> UnitCosts.relative(20).missing              # a missing value is as bad as the longest delay
    20.0
    """

    missing: float
    repeated: float
    empty: float
    delay: float

    def __post_init__(self) -> None:
        costs = {name: check_number(name, getattr(self, name)) for name in ("missing", "repeated", "empty", "delay")}
        for name, cost in costs.items():
            if cost < 0:
                raise InvalidArgument(name, cost, "a finite number of at least 0")
        settle(self, **costs)

    @classmethod
    def relative(
        cls, window: int, *, missing: float = 1.0, repeated: float = 1.0, empty: float = 1.0, delay: float = 1.0
    ) -> UnitCosts:
        """Return costs with those of missing, repeated and empty values in windows of delay: M/k, N/k, E/k."""
        check_whole("window", window)
        return cls(missing * window, repeated * window, empty * window, delay)


def frequency_counting(*, window: int, length: int, share: float, other_share: float) -> UnitCosts:
    """Return the unit costs for counting how often a value has occurred so far (mean squared error).

    N = ((f - f') l / 2)², E = (f l / 2)² and D = (f (k-1) / 2)², where l is the ``length``, f the ``share`` of the
    counted value, f' that of the value repeated in its place and k the ``window``. Only M + N and M + E are determined,
    since a missing value always comes with a repeated or an empty one: M = 0 here.
    """
    check_whole("window", window)
    check_whole("length", length)
    check_fraction("share", share)
    check_fraction("other_share", other_share)
    return UnitCosts(
        missing=0.0,
        repeated=((share - other_share) * length / 2) ** 2,
        empty=(share * length / 2) ** 2,
        delay=(share * (window - 1) / 2) ** 2,
    )


def moving_average(*, window: int, length: int, variance: float) -> UnitCosts:
    """Return the unit costs for a mean over the last ``length`` periods (mean squared error).

    M = N = V, E = 0 and D = k V / d, where V is the ``variance`` of values near each other, k the ``window`` and d the
    ``length``.
    """
    check_whole("window", window)
    check_whole("length", length)
    spread = check_positive("variance", variance)
    return UnitCosts(missing=spread, repeated=spread, empty=0.0, delay=window * spread / length)


def count_damage(source: NDArray[np.int64]) -> Damage:
    """Return what happened, from the index released at each time (-1 for none); one series a row."""
    rows = np.atleast_2d(source)
    users, length = rows.shape
    count = max(1, rows.size)
    held = np.flatnonzero(rows.reshape(-1) >= 0)
    times = held % max(1, length)
    cells = (held - times) + rows.reshape(-1)[held]
    releases = np.bincount(cells, minlength=users * length)
    first = np.zeros(users * length, dtype=np.int64)
    first[cells[::-1]] = held[::-1]  # of several releases the earliest is written last
    early = first - np.arange(users * length)
    late = np.where(releases > 0, np.maximum(early, 0), 0)
    return Damage(
        missing=float(np.count_nonzero(releases == 0)) / count,
        repeated=float(np.maximum(releases - 1, 0).sum()) / count,
        empty=float(rows.size - len(held)) / count,
        delay=float(late.sum()) / count,
        displacement=float(np.abs(cells - held).mean()) if len(held) else 0.0,
    )


def average_damage(parts: Sequence[tuple[Damage, int]]) -> Damage:
    """Return the damage of several series together, from that of each and its number of values."""
    values = sum(size for _, size in parts)
    seen = sum(size * (1 - part.empty) for part, size in parts)
    return Damage(
        missing=sum(part.missing * size for part, size in parts) / values,
        repeated=sum(part.repeated * size for part, size in parts) / values,
        empty=sum(part.empty * size for part, size in parts) / values,
        delay=sum(part.delay * size for part, size in parts) / values,
        displacement=sum(part.displacement * size * (1 - part.empty) for part, size in parts) / seen if seen else 0.0,
    )
