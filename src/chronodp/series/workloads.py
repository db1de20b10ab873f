"""What a release is tuned for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_number, check_positive, check_whole, document, settle

__all__ = [
    "CausalFilter",
    "EachPeriod",
    "Ewm",
    "Filter",
    "Hierarchy",
    "Rolling",
    "RunningTotal",
    "Workload",
    "check_workload",
]

_LONGEST_RESPONSE = 4096


@document("each_period")
@dataclass(frozen=True, slots=True)
class EachPeriod:
    """Every period for itself: the error of single periods is made as small as it can be.

    >>> print(EachPeriod())
    each period for itself
    """

    def response(self, horizon: int) -> NDArray[np.float64]:
        """Return the answer's weights on the last periods, the present one first."""
        return _first(horizon, (1.0,))

    def __str__(self) -> str:
        return "each period for itself"


@document("running_total")
@dataclass(frozen=True, slots=True)
class RunningTotal:
    """The sum of everything so far, at every period.

    >>> print(RunningTotal())
    running totals
    """

    def response(self, horizon: int) -> NDArray[np.float64]:
        """Return the answer's weights on the last periods, the present one first."""
        return np.ones(check_whole("horizon", horizon))

    def __str__(self) -> str:
        return "running totals"


@document("rolling")
@dataclass(frozen=True, slots=True)
class Rolling:
    """The mean of the last ``periods`` periods; before so many have passed, what there is counts over all of them.

    >>> print(Rolling(7)), Rolling(4).response(6).tolist()
    rolling means over 7 periods
    (None, [0.25, 0.25, 0.25, 0.25, 0.0, 0.0])
    """

    periods: int

    def __post_init__(self) -> None:
        check_whole("periods", self.periods)

    def response(self, horizon: int) -> NDArray[np.float64]:
        """Return the answer's weights on the last periods, the present one first."""
        weights = np.zeros(check_whole("horizon", horizon))
        weights[: self.periods] = 1 / self.periods
        return weights

    def __str__(self) -> str:
        return f"rolling means over {self.periods} periods"


@document("ewm")
@dataclass(frozen=True, slots=True)
class Ewm:
    """The exponentially weighted mean: ``alpha`` of the present and the rest of the mean before, which starts at 0.

    >>> print(Ewm(0.5)), Ewm(0.5).response(3).tolist()
    exponentially weighted means with weight 0.5
    (None, [0.5, 0.25, 0.125])
    """

    alpha: float

    def __post_init__(self) -> None:
        allowed = "a number above 0 and at most 1"
        if not 0 < check_number("alpha", self.alpha, allowed) <= 1:
            raise InvalidArgument("alpha", self.alpha, allowed)

    def response(self, horizon: int) -> NDArray[np.float64]:
        """Return the answer's weights on the last periods, the present one first."""
        lags = np.arange(check_whole("horizon", horizon))
        with np.errstate(under="ignore"):
            return np.asarray(self.alpha * (1.0 - self.alpha) ** lags, dtype=np.float64)

    def __str__(self) -> str:
        return f"exponentially weighted means with weight {self.alpha:g}"


@document("filter")
@dataclass(frozen=True, slots=True)
class Filter:
    """Any weighted sum of the last periods, by its weights, the present one first.

    >>> print(Filter((0.5, 0.3, 0.2)))
    a filter over 3 periods
    """

    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        allowed = f"1 to {_LONGEST_RESPONSE} finite numbers, not all 0, the present period's first"
        if not isinstance(self.weights, tuple) or not 1 <= len(self.weights) <= _LONGEST_RESPONSE:
            raise InvalidArgument("weights", self.weights, allowed)
        for weight in self.weights:
            check_number("weights", weight, allowed)
        if not any(self.weights):
            raise InvalidArgument("weights", self.weights, allowed)

    def response(self, horizon: int) -> NDArray[np.float64]:
        """Return the answer's weights on the last periods, the present one first."""
        return _first(horizon, self.weights)

    def __str__(self) -> str:
        return f"a filter over {len(self.weights)} periods"


@document("hierarchy")
@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Sums over blocks of periods, at several lengths of block; single periods always belong to it.

    A block begins at every multiple of its length; the last one may be shorter.

    >>> print(Hierarchy((24, 168)))
    sums over blocks of 1, 24 and 168 periods
    """

    levels: tuple[int, ...]

    def __post_init__(self) -> None:
        allowed = "one or more different whole numbers of periods"
        if not isinstance(self.levels, tuple) or not self.levels:
            raise InvalidArgument("levels", self.levels, allowed)
        checked = {check_whole("levels", level) for level in self.levels}
        if len(checked) < len(self.levels):
            raise InvalidArgument("levels", self.levels, allowed)
        settle(self, levels=tuple(sorted(checked | {1})))

    def __str__(self) -> str:
        *most, last = map(str, self.levels)
        return f"sums over blocks of {', '.join(most)} and {last} periods" if most else "sums over blocks of 1 period"


CausalFilter: TypeAlias = EachPeriod | RunningTotal | Rolling | Ewm | Filter
Workload: TypeAlias = CausalFilter | Hierarchy


def check_workload(value: object, name: str = "tuned_for") -> Workload:
    """Return ``value`` if it is a workload whose errors are numbers that can be shown."""
    if not isinstance(value, Workload):
        raise InvalidArgument(
            name, value, "a workload such as EachPeriod(), RunningTotal(), Rolling(7) or Hierarchy((24, 168))"
        )
    match value:
        case Filter():
            largest = max(map(abs, value.weights))
            if not 1e-60 <= largest <= 1e60:  # as of all our numbers: squares stay finite, and are not lost
                raise InvalidArgument("weights", largest, "numbers, the largest of them from 1e-60 to 1e+60")
        case Ewm():
            check_positive("alpha", value.alpha)
    return value


def _first(horizon: int, weights: tuple[float, ...]) -> NDArray[np.float64]:
    response = np.zeros(check_whole("horizon", horizon))
    kept = weights[:horizon]
    response[: len(kept)] = kept
    return response
