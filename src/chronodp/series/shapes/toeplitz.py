"""Noise shapes that are causal filters: white noise, the square root of a workload, and filters of few coefficients.

A shape is an invertible lower triangular matrix C with constant diagonals, given by its first column c. What is
released is y = C x + z with independent noise z, and x̂ = C⁻¹ y estimates the series: the noise on x̂ is C⁻¹ z.

For four periods C is drawn from c, here that of `SquareRoot` for running totals, and of `Banded` with two bands:

    c_0  0    0    0          1      0      0    0          1    0    0    0
    c_1  c_0  0    0          0.5    1      0    0          0.5  1    0    0
    c_2  c_1  c_0  0          0.375  0.5    1    0          0    0.5  1    0
    c_3  c_2  c_1  c_0        0.3125 0.375  0.5  1          0    0    0.5  1

Column t is what a change of period t moves; later columns are shorter pieces of the first. That C is lower triangular
is what "Streams that react" in ``docs/explanation/proofs/shapes.md`` needs. C is the matrix of these floats: noise and
sensitivity are computed from the same ones, so what a root misses of its square costs error, not privacy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_number, check_whole, document
from chronodp.series.shapes.power_series import Floats, inverse_root, product, reciprocal
from chronodp.series.workloads import CausalFilter, EachPeriod, Ewm, Filter, Rolling, RunningTotal

__all__ = ["Banded", "SquareRoot", "White", "binomials"]

_KEPT = 2  # columns of coefficients that stay in memory: eight megabytes each for a million periods
_FEW = 64  # coefficients up to which a recursion beats a Fourier transform
_NOISE = 2.0**-50  # the error of Fourier transforms of columns that begin with 1
_SOUND = 1e-9  # a root that misses its square by more is none


@document("white")
@dataclass(frozen=True, slots=True)
class White:
    """Independent noise on every period: C = I.

    >>> print(White())
    white noise
    """

    def coefficients(self, horizon: int) -> Floats:
        """Return the first column of C."""
        return _unit(horizon)

    def inverse(self, horizon: int) -> Floats:
        """Return the first column of C⁻¹."""
        return _unit(horizon)

    def memory(self, horizon: int) -> int:
        """Return how many numbers a stream must keep."""
        del horizon
        return 0

    def undo(self, noisy: Floats) -> Floats:
        """Return C⁻¹ y, time along the first axis."""
        return noisy.astype(np.float64)

    def __str__(self) -> str:
        return "white noise"


@document("square_root")
@dataclass(frozen=True, slots=True)
class SquareRoot:
    """The square root of a workload: C² = A / a_0, so that half of the filtering is done before the noise.

    With a = a_0 c² as power series, the noise on the workload's answers is filtered by a_0 c again. For running totals

        c_j = c_{j-1} (2j - 1) / (2j),  d_j = d_{j-1} (2j - 3) / (2j),  c_0 = d_0 = 1

    where c is the first column of C and d that of C⁻¹.

    >>> SquareRoot(RunningTotal()).coefficients(4).tolist(), SquareRoot(RunningTotal()).inverse(4).tolist()
    ([1.0, 0.5, 0.375, 0.3125], [1.0, -0.5, -0.125, -0.0625])
    >>> print(SquareRoot(Rolling(7)))
    the square root of rolling means over 7 periods

    References:
        Fichtenberger, Henzinger, Upadhyay (2023), Constant matters. Henzinger, Upadhyay, Upadhyay (2023), Almost tight
        error bounds on differentially private continual counting.
    """

    workload: CausalFilter

    def __post_init__(self) -> None:
        if not isinstance(self.workload, CausalFilter):
            raise InvalidArgument("workload", self.workload, "a filter such as RunningTotal(), Rolling(7) or Ewm(0.1)")
        if isinstance(self.workload, Filter) and self.workload.weights[0] == 0:
            raise InvalidArgument("workload", self.workload.weights, "a filter with weight on the present period")

    def coefficients(self, horizon: int) -> Floats:
        """Return the first column of C."""
        return _roots(self.workload, check_whole("horizon", horizon))[0]

    def inverse(self, horizon: int) -> Floats:
        """Return the first column of C⁻¹."""
        return _roots(self.workload, check_whole("horizon", horizon))[1]

    def memory(self, horizon: int) -> int:
        """Return how many numbers a stream must keep: all the noise so far."""
        return horizon

    def undo(self, noisy: Floats) -> Floats:
        """Return C⁻¹ y, time along the first axis."""
        return product(self.inverse(len(noisy)), noisy, len(noisy))

    def __str__(self) -> str:
        return f"the square root of {self.workload}"


@document("banded")
@dataclass(frozen=True, slots=True)
class Banded:
    """A filter of few coefficients: C has that many diagonals, and a stream keeps one number less.

    >>> Banded.of(RunningTotal(), 3).bands
    (1.0, 0.5, 0.375)
    >>> print(Banded.of(RunningTotal(), 3))
    a filter of 3 bands
    """

    bands: tuple[float, ...]

    def __post_init__(self) -> None:
        allowed = "1 or more finite numbers, the first above 0"
        if not isinstance(self.bands, tuple) or not self.bands:
            raise InvalidArgument("bands", self.bands, allowed)
        first, *_ = [check_number("bands", band, allowed) for band in self.bands]
        if first <= 0:
            raise InvalidArgument("bands", self.bands, allowed)

    @classmethod
    def of(cls, workload: CausalFilter, bands: int) -> Self:
        """Return the first ``bands`` coefficients of the square root of a workload."""
        return cls(tuple(SquareRoot(workload).coefficients(check_whole("bands", bands)).tolist()))

    def coefficients(self, horizon: int) -> Floats:
        """Return the first column of C."""
        return _padded(self.bands, check_whole("horizon", horizon))

    def inverse(self, horizon: int) -> Floats:
        """Return the first column of C⁻¹."""
        return _checked_inverse(self.bands, check_whole("horizon", horizon))

    def memory(self, horizon: int) -> int:
        """Return how many numbers a stream must keep."""
        return min(len(self.bands), horizon) - 1

    def undo(self, noisy: Floats) -> Floats:
        """Return C⁻¹ y, time along the first axis."""
        if len(self.bands) > _FEW:
            return product(self.inverse(len(noisy)), noisy, len(noisy))
        return _recursion(self.bands, noisy)

    def __str__(self) -> str:
        return f"a filter of {len(self.bands)} bands"


def binomials(horizon: int, shift: int, ratio: float = 1.0) -> Floats:
    """Return the coefficients of (1 - ratio z)^(-1/2) for shift 1, and of (1 - ratio z)^(1/2) for shift 3.

    The recurrence b_j = b_{j-1} ratio (2j - shift) / (2j) has positive factors after its first steps: no cancellation.
    """
    twice = 2.0 * np.arange(1, horizon)
    with np.errstate(under="ignore"):
        return np.concatenate(([1.0], np.cumprod(ratio * (twice - shift) / twice)))


@lru_cache(maxsize=_KEPT)
def _roots(workload: CausalFilter, horizon: int) -> tuple[Floats, Floats]:
    """The first columns of C and of its inverse, each beginning with 1."""
    match workload:
        case EachPeriod():
            return _unit(horizon), _unit(horizon)
        case RunningTotal():
            return _kept(binomials(horizon, 1)), _kept(binomials(horizon, 3))
        case Ewm(alpha=alpha):
            return _kept(binomials(horizon, 1, 1.0 - alpha)), _kept(binomials(horizon, 3, 1.0 - alpha))
        case Rolling(periods=periods):
            # (1 - z^n)^(1/2) (1 - z)^(-1/2): the first factor has a coefficient every n periods and falls off slowly.
            root = product(_every(periods, horizon, 3), binomials(horizon, 1), horizon)
            return _cleared(root), _cleared(product(_every(periods, horizon, 1), binomials(horizon, 3), horizon))
        case Filter(weights=weights):
            return _roots_of_filter(_padded(weights, horizon) / weights[0], weights)


def _roots_of_filter(series: Floats, weights: tuple[float, ...]) -> tuple[Floats, Floats]:
    horizon = len(series)
    with np.errstate(over="ignore", invalid="ignore"):
        inverse = inverse_root(series, horizon)
        root = product(series, inverse, horizon)
        missed = np.abs(product(root, root, horizon) - series).max()
    if not (np.isfinite(inverse).all() and missed <= _SOUND * np.abs(series).max()):
        raise InvalidArgument("workload", weights, "a filter whose square root does not grow without bound")
    return _cleared(root), _cleared(inverse)


@lru_cache(maxsize=_KEPT)
def _checked_inverse(bands: tuple[float, ...], horizon: int) -> Floats:
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if len(bands) <= _FEW:
            inverse = _recursion(bands, _unit(horizon))
        else:
            inverse = reciprocal(_padded(bands, horizon), horizon)
    if not np.isfinite(inverse).all():
        raise InvalidArgument("bands", bands, "a filter whose inverse does not grow without bound")
    return _kept(inverse)


def _recursion(bands: tuple[float, ...], noisy: Floats) -> Floats:
    from scipy.signal import lfilter

    return np.asarray(lfilter([1.0], bands, noisy, axis=0), dtype=np.float64)


def _every(periods: int, horizon: int, shift: int) -> Floats:
    sparse = np.zeros(horizon)
    sparse[::periods] = binomials(-(-horizon // periods), shift)
    return sparse


def _unit(horizon: int) -> Floats:
    return _padded((1.0,), check_whole("horizon", horizon))


def _padded(numbers: tuple[float, ...], horizon: int) -> Floats:
    column = np.zeros(horizon)
    kept = numbers[:horizon]
    column[: len(kept)] = kept
    return column


def _cleared(column: Floats) -> Floats:
    """A transform's result that begins with 1 and is 0 where it is no larger than the transform's own error."""
    column[np.abs(column) < _NOISE] = 0.0
    column[0] = 1.0
    return _kept(column)


def _kept(column: Floats) -> Floats:
    column.flags.writeable = False
    return column
