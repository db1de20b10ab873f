"""Running totals of a finished series from one grand total and one rotation-like transform.

The matrix A of running totals is (J + S) / 2: J is all ones, S is 1 on and below the diagonal and -1 above it. S is
skew-circulant, diagonal in odd Fourier modes, so its square root R is known in closed form. Released are the grand
total and R x, each with noise. R is not lower triangular: the first number released already depends on the last period.

*Group algebra* of ``docs/explanation/proofs/shapes.md``. For four periods, with r the first column of R:

           1  1  1  1              1 -1 -1 -1                r_0 -r_3 -r_2 -r_1
    J  =   1  1  1  1       S  =   1  1 -1 -1         R  =   r_1  r_0 -r_3 -r_2       C  =  1 1 1 1
           1  1  1  1              1  1  1 -1                r_2  r_1  r_0 -r_3                R
           1  1  1  1              1  1  1  1                r_3  r_2  r_1  r_0

What leaves a column of R below comes back at its top with the other sign.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.privacy import check_whole, document
from chronodp.series.shapes.power_series import Floats

__all__ = ["GroupAlgebra", "skew_product"]


@document("group_algebra")
@dataclass(frozen=True, slots=True)
class GroupAlgebra:
    """The grand total and the skew-circulant square root of running totals; for finished series only.

        total(t) = (1ᵀx + (R R x)_t) / 2,  of variance (1 + s) / 4,  s = (1/n) Σ_k 1 / sin((2k+1)π / 2n)

    where R is the root, n the horizon and 1 + s the squared length of each column of C. The error is the same for every
    period.

    >>> shape = GroupAlgebra()
    >>> shape.root(2).round(6).tolist(), round(shape.variance(1024) * 4, 6)
    ([1.098684, 0.45509], 6.375235)
    >>> print(shape)
    the group-algebra shape

    References:
        Henzinger, Upadhyay (2025), Improved differentially private continual observation using group algebra.
    """

    def root(self, horizon: int) -> Floats:
        """Return the first column of R; each next one is the last moved on, what falls out coming back negated."""
        angles = _angles(horizon)
        return _from_modes(np.exp(1j * (np.pi - angles) / 4) / np.sqrt(np.sin(angles / 2)))

    def gram(self, horizon: int) -> Floats:
        """Return, by the distance of two periods, the product of their columns: 1 + |S|."""
        return 1.0 + _from_modes(1 / np.sin(_angles(horizon) / 2))

    def memory(self, horizon: int) -> int:
        """Return how many numbers are kept: the series is finished before anything is released."""
        return horizon

    def variance(self, horizon: int) -> float:
        """Return the variance of each running total for noise of variance 1."""
        return (1.0 + float((1 / np.sin(_angles(horizon) / 2)).mean())) / 4

    def window_variances(self, starts: NDArray[np.int64], stops: NDArray[np.int64], horizon: int) -> Floats:
        """Return the variance of sums over [start, stop): of the difference of two running totals."""
        gram = self.gram(horizon)
        lags = np.where(starts == 0, 0, stops - starts)
        variances: Floats = np.where(starts == 0, gram[0] / 4, (gram[0] - gram[lags]) / 2)
        return variances

    def totals(self, grand: Floats, rooted: Floats) -> Floats:
        """Return the running totals that a noisy grand total and a noisy R x give, time along the first axis."""
        return (grand + skew_product(self.root(len(rooted)), rooted)) / 2

    def __str__(self) -> str:
        return "the group-algebra shape"


def skew_product(column: Floats, series: Floats) -> Floats:
    """Return the product of the skew-circulant matrix with this first column and a series, or its columns."""
    horizon = len(column)
    turn = np.exp(-1j * np.pi * np.arange(horizon) / horizon)
    shaped = turn.reshape(-1, *[1] * (series.ndim - 1))
    modes = np.fft.fft(column * turn).reshape(shaped.shape) * np.fft.fft(series * shaped, axis=0)
    return np.ascontiguousarray((np.fft.ifft(modes, axis=0) * shaped.conj()).real)


def _angles(horizon: int) -> Floats:
    return np.asarray(np.pi * (2 * np.arange(check_whole("horizon", horizon)) + 1) / horizon, dtype=np.float64)


def _from_modes(modes: NDArray[np.generic]) -> Floats:
    """The real first column with these eigenvalues on the modes exp(i angle t), the angles odd multiples of π / n."""
    horizon = len(modes)
    return np.ascontiguousarray((np.fft.fft(modes) * np.exp(-1j * np.pi * np.arange(horizon) / horizon)).real / horizon)
