"""How far one unit changes the coefficients of some harmonics together.

"Sensitivity" of ``docs/explanation/proofs/spectrum.md``.
"""

from __future__ import annotations

import math

import numpy as np

from chronodp.privacy import Sensitivity, Touched
from chronodp.spectrum.harmonics import count_numbers, highest

__all__ = ["any_sensitivity", "spectral_sensitivity"]

_ABOVE = 1 + 1e-9  # far more than floats lose in these sums


def spectral_sensitivity(
    harmonics: tuple[int, ...], horizon: int, touched: Touched, *, change: float = 1.0
) -> Sensitivity:
    """Return the most that one unit changes the numbers of these harmonics (see `numbers_of`) together.

    l2² <= Δ² T/2 Σ_{s,t} |r_{s-t}| over the touched periods, with r_j = (1/T) Σ_k c_k cos(2π k j / T); never above
    Δ² T/2 times the touched periods; and l1 <= √m l2, where

    * T is the horizon, Δ the change of one period, m how many numbers there are,
    * c_k is 1 for the total and for Nyquist, 2 for others, so that r_0 = m / T. Of periods that lie anywhere, the
      largest |r_j| are taken.

    For one period that is exact in l2: Δ √(m/2). In the orthonormal basis it is √(2/T) of this: the lowest K harmonics
    have Δ √((2K - 1) / T).

    >>> one = Touched(1, together=True)
    >>> round(spectral_sensitivity((5,), 24, one).l2, 6)               # one coefficient
    1.0
    >>> round(spectral_sensitivity(tuple(range(8)), 168, one).l2 * math.sqrt(2 / 168), 6)
    0.298807

    References:
        Rastogi, Nath (2010), Differentially private aggregation of distributed time-series with transformation and
        encryption.
    """
    numbers, periods = count_numbers(harmonics, horizon), touched.periods
    if periods == 1:
        return any_sensitivity(numbers, horizon, touched, change=change)
    weights = np.zeros(highest(horizon) + 1)
    for harmonic in harmonics:
        weights[harmonic] = 1.0
    # irfft takes every harmonic but the real ones twice, as c_k asks.
    kernel = np.abs(np.fft.irfft(weights, horizon)) + 1e-13  # far more than the transform of so small numbers loses
    if touched.together:
        # Σ over |j| < w of (w - |j|) |r_j|: lag 0 once, each other lag for both its signs.
        square = float(periods * kernel[0] + 2 * (np.arange(periods - 1, 0, -1) @ kernel[1:periods]))
    else:
        square = periods * float(np.sort(kernel)[::-1][:periods].sum())
    most = any_sensitivity(numbers, horizon, touched, change=change)
    l2 = min(most.l2, math.sqrt(square * horizon / 2) * change * _ABOVE)
    return Sensitivity(math.sqrt(numbers) * l2 * _ABOVE, l2)


def any_sensitivity(numbers: int, horizon: int, touched: Touched, *, change: float = 1.0) -> Sensitivity:
    """Return the same for whatever harmonics have so many numbers: l2 <= Δ min(k √(m/2), √(k T/2)), k periods touched.

    >>> round(any_sensitivity(2, 24, Touched(24, together=False)).l2, 3)
    16.971
    """
    periods = touched.periods
    l2 = min(periods * math.sqrt(numbers / 2), math.sqrt(periods * horizon / 2)) * change * _ABOVE
    return Sensitivity(math.sqrt(numbers) * l2 * _ABOVE, l2)
