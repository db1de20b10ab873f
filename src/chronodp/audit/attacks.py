"""Membership in a noisy sum by somebody who knows the background: its law, or all of it.

A release is y = trace + background + noise if a person is in it, background + noise if not. The best that an adversary
can make of it is a likelihood ratio, of background and noise together: weighing readings by the law of the background
alone is best only where there is no noise. Between two Gaussians of one covariance C the best test gains
2 Φ(d / 2) - 1 over guessing, d² = traceᵀ C⁻¹ trace. Nobody gains more than who knows the background, so that C is the
noise alone, and that is the total variation that a guarantee bounds.

"Who knows the background" of ``docs/explanation/proofs/accounting.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_positive

__all__ = ["MembershipAdvantages", "MembershipTest", "membership_advantages"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MembershipAdvantages:
    """How much adversaries gain over guessing whether somebody is in a sum: right minus wrong guesses, as a share.

    Attributes:
        one_reading: of who looks at the one reading that tells most.
        average: of who compares the sum of all readings with what it would be.
        likelihood_ratio: of who knows the law of the background, and of the noise.
        background_known: of who knows the background itself; the total variation between the two releases.
    """

    one_reading: float
    average: float
    likelihood_ratio: float
    background_known: float


class MembershipTest:
    """The likelihood ratio of a release with somebody's trace in it against one without.

    Args:
        inside: covariance of background and noise together, if the trace is in it.
        outside: the same if it is not; as inside if not given.

    >>> test = MembershipTest([[4.0]])
    >>> test.log_ratio([3.0], [2.0]), test.log_ratio([1.0], [2.0])
    (1.0, 0.0)
    """

    def __init__(self, inside: ArrayLike, outside: ArrayLike | None = None) -> None:
        self._inside = _whitening("inside", inside)
        self._outside = self._inside if outside is None else _whitening("outside", outside)
        if len(self._outside) != len(self._inside):
            raise InvalidArgument("outside", len(self._outside), f"a covariance of {len(self._inside)} readings")
        self._size = float(np.log(np.diag(self._inside)).sum() - np.log(np.diag(self._outside)).sum())

    def log_ratio(self, released: ArrayLike, trace: ArrayLike) -> float:
        """Return ln p(released | inside) / p(released | outside); above 0 it is likelier that the trace is in it."""
        size = len(self._inside)
        seen, known = _series("released", released, size), _series("trace", trace, size)
        with_it, without = _white(self._inside, seen - known), _white(self._outside, seen)
        return float(without @ without - with_it @ with_it) / 2 - self._size

    def advantage(self, trace: ArrayLike) -> float:
        """Return 2 Φ(d / 2) - 1: what it gains over guessing, where inside and outside have one covariance."""
        if self._outside is not self._inside:
            raise InvalidArgument("outside", "another covariance", "left out: only one covariance has a closed form")
        return _gain(float(np.linalg.norm(_white(self._inside, _series("trace", trace, len(self._inside))))))


def membership_advantages(trace: ArrayLike, *, background: ArrayLike, sigma: float) -> MembershipAdvantages:
    """Return what adversaries gain who know more and more, against independent Gaussian noise.

    Args:
        trace: what the person adds to each reading.
        background: covariance of what all others add, a Gaussian series.
        sigma: deviation of the noise on each reading.

    >>> from chronodp.correlated import autoregressive_covariance
    >>> found = membership_advantages([1.0] * 48, background=autoregressive_covariance(48, memory=0.8), sigma=48**0.5)
    >>> round(found.likelihood_ratio, 4), round(found.background_known, 4)
    (0.3561, 0.3829)
    """
    known = _series("trace", trace, None)
    covariance = _numbers("background", background)
    if covariance.shape != (len(known), len(known)):
        raise InvalidArgument("background", covariance.shape, "a covariance with a row for each reading of the trace")
    seen = covariance + np.eye(len(known)) * check_positive("sigma", sigma) ** 2
    best = MembershipTest(seen).advantage(known)
    return MembershipAdvantages(
        one_reading=_gain(float((np.abs(known) / np.sqrt(np.diag(seen))).max())),
        average=_gain(abs(float(known.sum())) / math.sqrt(float(seen.sum()))),
        likelihood_ratio=best,
        background_known=_gain(float(np.linalg.norm(known)) / sigma),
    )


def _gain(distance: float) -> float:
    return math.erf(distance / math.sqrt(8))


def _whitening(name: str, covariance: ArrayLike) -> Floats:
    """Return the lower triangle L with L Lᵀ the covariance."""
    table = _numbers(name, covariance)
    allowed = "a covariance: a square matrix that equals its transpose and is positive definite"
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not np.allclose(table, table.T):
        raise InvalidArgument(name, table.shape, allowed)
    try:
        return np.asarray(np.linalg.cholesky(table))
    except np.linalg.LinAlgError:
        raise InvalidArgument(name, table.shape, allowed) from None


def _series(name: str, values: ArrayLike, length: int | None) -> Floats:
    numbers = _numbers(name, values)
    if numbers.ndim != 1 or not numbers.size or length not in (None, len(numbers)):
        allowed = "a number for each reading" if length is None else f"{length} numbers, one for each reading"
        raise InvalidArgument(name, numbers.shape, allowed)
    return numbers


def _numbers(name: str, values: ArrayLike) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise InvalidArgument(name, values, "an array of finite numbers", private=True) from None
    if not np.isfinite(numbers).all():
        raise InvalidArgument(name, values, "an array of finite numbers", private=True)
    return numbers


def _white(triangle: Floats, series: Floats) -> Floats:
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(triangle, series, lower=True))
