"""A noise shape with a few decaying buffers: nearly as good as the square root, in constant memory.

The filter is rational, of as many poles as it has buffers, and its inverse is another of the same kind. Poles lie as
close to 1 as one part in 10^9, where polynomials lose all digits; everything here works with sums over single poles
and with their distances from 1.

*Buffers* under "Errors" in ``docs/explanation/proofs/shapes.md``. For four periods and one buffer, with w for omega
and x for theta, C is

    1      0    0    0
    w      1    0    0
    w x    w    1    0        period t enters row s > t as w x^(s-t-1): one number remembers all of the past
    w x²   w x  w    1
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_number, check_whole, document
from chronodp.series.shapes.power_series import Floats

__all__ = ["BufferedLinear"]

_MOST = 12


@document("buffered_linear")
@dataclass(frozen=True, slots=True)
class BufferedLinear:
    """A filter for running totals that is a sum of geometric decays.

        c_0 = 1,  c_j = Σ_i omega_i theta_i^(j-1)  for j ≥ 1

    where ``theta`` are the decays of the buffers, falling, between 0 and 1, and ``omega`` their weights, positive and
    with a sum of at most 1, so that c never rises.

    >>> shape = BufferedLinear(theta=(0.99, 0.6), omega=(0.1, 0.3))
    >>> shape.coefficients(3).round(6).tolist(), shape.inverse(3).round(6).tolist()
    ([1.0, 0.4, 0.279], [1.0, -0.4, -0.119])
    >>> print(shape)
    2 decaying buffers

    References:
        Dvijotham, McMahan, Pillutla, Steinke, Thakurta (2024), Efficient and near-optimal noise generation for
        streaming differential privacy.
    """

    theta: tuple[float, ...]
    omega: tuple[float, ...]

    def __post_init__(self) -> None:
        for name, numbers in (("theta", self.theta), ("omega", self.omega)):
            if not isinstance(numbers, tuple) or not 1 <= len(numbers) <= _MOST:
                raise InvalidArgument(name, numbers, f"1 to {_MOST} numbers")
        allowed = "falling numbers between 0 and 1"
        theta = [check_number("theta", number, allowed) for number in self.theta]
        if not (theta[-1] > 0 and theta[0] < 1) or any(a <= b for a, b in itertools.pairwise(theta)):
            raise InvalidArgument("theta", self.theta, allowed)
        allowed = f"{len(theta)} numbers above 0 with a sum of at most 1"
        omega = [check_number("omega", number, allowed) for number in self.omega]
        if len(omega) != len(theta) or min(omega) <= 0 or math.fsum(omega) > 1:
            raise InvalidArgument("omega", self.omega, allowed)

    def inverse_parameters(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the decays and weights of C⁻¹, which is such a sum too, with weights below 0."""
        return _inverted(self.theta, self.omega)

    def coefficients(self, horizon: int) -> Floats:
        """Return the first column of C."""
        return _sum_of_decays(self.theta, self.omega, check_whole("horizon", horizon))

    def inverse(self, horizon: int) -> Floats:
        """Return the first column of C⁻¹."""
        return _sum_of_decays(*self.inverse_parameters(), check_whole("horizon", horizon))

    def memory(self, horizon: int) -> int:
        """Return how many numbers a stream must keep."""
        return min(len(self.theta), horizon)

    def undo(self, noisy: Floats) -> Floats:
        """Return C⁻¹ y, time along the first axis."""
        from scipy.signal import lfilter

        plain = noisy.astype(np.float64)
        estimate = plain.copy()
        for decay, weight in zip(*self.inverse_parameters(), strict=True):
            estimate += lfilter([0.0, weight], [1.0, -decay], plain, axis=0)
        return estimate

    def endless_square(self) -> float:
        """Return the squared length of c without end: 1 + Σ_ij omega_i omega_j / (1 - theta_i theta_j)."""
        far = [1.0 - decay for decay in self.theta]
        terms = [
            a * b / (x + y - x * y)
            for a, x in zip(self.omega, far, strict=True)
            for b, y in zip(self.omega, far, strict=True)
        ]
        return 1.0 + math.fsum(terms)

    def __str__(self) -> str:
        return f"{len(self.theta)} decaying buffers" if len(self.theta) > 1 else "1 decaying buffer"


def _sum_of_decays(decays: tuple[float, ...], weights: tuple[float, ...], horizon: int) -> Floats:
    """1, then Σ_i w_i x_i^(j-1): as a product of powers of x^m and of x, m about the root of the horizon."""
    column = np.ones(horizon)
    wide = 1 << (horizon.bit_length() + 1) // 2
    base = np.array(decays)[:, None]
    with np.errstate(under="ignore"):
        near = base ** np.arange(wide, dtype=np.float64)
        far = np.array(weights)[:, None] * base ** (wide * np.arange(-(-horizon // wide), dtype=np.float64))
        column[1:] = (far.T @ near).ravel()[: horizon - 1]
    return column


@lru_cache(maxsize=256)
def _inverted(theta: tuple[float, ...], omega: tuple[float, ...]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The poles of 1/c(z) are the zeros of c(z).

    In the distance y of 1/z from 1 they solve 1 + Σ omega_i / (d_i - y) = 0 with d_i = 1 - theta_i. The left side rises
    from -∞ to ∞ between two neighbouring d_i, and from -∞ to above 0 between the last and 2: one zero each.
    """
    from scipy.optimize import brentq

    distances = [1.0 - decay for decay in theta]

    def secular(y: float) -> float:
        return 1.0 + math.fsum(weight / (d - y) for weight, d in zip(omega, distances, strict=True))

    zeros = []
    for low, high in zip(distances, [*distances[1:], 2.0], strict=True):
        start, stop = math.nextafter(low, 3.0), math.nextafter(high, 0.0)
        zeros.append(float(brentq(secular, start, stop, xtol=1e-300, rtol=9e-16, maxiter=1000)))
    weights = []
    for i, y in enumerate(zeros):
        above = math.prod(d - y for d in distances)
        weights.append(above / math.prod(other - y for j, other in enumerate(zeros) if j != i))
    return tuple(1.0 - y for y in zeros), tuple(weights)
