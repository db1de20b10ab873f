"""Arithmetic of causal filters: products, reciprocals and square roots of power series, in n log n.

A causal filter with coefficients c is the series c_0 + c_1 z + c_2 z² + …; applying one filter after another
multiplies their series. Products go through the fast Fourier transform in double precision: their absolute error is
some units of 2^-53 times the Euclidean lengths of both factors, so a coefficient much smaller than that has no correct
digits. Nothing here carries a guarantee by itself: where a sensitivity needs such a product, `reach` adds 2^-40 of the
squared length, far above its error ("Finite precision" of ``docs/explanation/proofs/shapes.md``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "inverse_root", "product", "reciprocal"]

Floats = NDArray[np.float64]


def product(first: Floats, second: Floats, terms: int) -> Floats:
    """Return the first ``terms`` coefficients of a product; ``second`` may have columns.

    >>> product(np.array([1.0, 1.0]), np.array([1.0, 2.0, 3.0]), 3).round(12).tolist()
    [1.0, 3.0, 5.0]
    """
    from scipy import fft

    first, second = first[:terms], second[:terms]
    length = fft.next_fast_len(len(first) + len(second) - 1, real=True)
    spectrum = fft.rfft(first, length)
    if second.ndim > 1:
        spectrum = spectrum[:, None]
    both = fft.irfft(spectrum * fft.rfft(second, length, axis=0), length, axis=0)[:terms]
    if len(both) == terms:
        return np.ascontiguousarray(both, dtype=np.float64)
    padded = np.zeros((terms, *second.shape[1:]))
    padded[: len(both)] = both
    return padded


def reciprocal(series: Floats, terms: int) -> Floats:
    """Return the first ``terms`` coefficients of 1 / series, whose first coefficient must not be 0.

    Newton's step g ← g + g (1 - c g) doubles the number of correct coefficients and corrects its own rounding.

    >>> reciprocal(np.array([1.0, -1.0]), 4).round(12).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    found = np.array([1.0 / series[0]])
    while len(found) < terms:
        size = min(2 * len(found), terms)
        rest = -product(found, series, size)
        rest[0] += 1.0
        found = np.concatenate((found, np.zeros(size - len(found)))) + product(found, rest, size)
    return found


def inverse_root(series: Floats, terms: int) -> Floats:
    """Return the first ``terms`` coefficients of 1 / √series, whose first coefficient must be above 0.

    Newton's step g ← g + g (1 - a g²) / 2.

    >>> inverse_root(np.array([1.0, -1.0]), 4).round(12).tolist()      # 1, 1/2, 3/8, 5/16
    [1.0, 0.5, 0.375, 0.3125]
    """
    from scipy import fft

    found = np.array([1.0 / np.sqrt(series[0])])
    while len(found) < terms:
        size = min(2 * len(found), terms)
        # g² has fewer than size + 1 coefficients and a has size: their product does not wrap round.
        length = fft.next_fast_len(2 * size, real=True)
        spectrum = fft.rfft(found, length)
        rest = -fft.irfft(spectrum * spectrum * fft.rfft(series[:size], length), length)[:size]
        rest[0] += 1.0
        step = fft.irfft(spectrum * fft.rfft(rest, length), length)[:size] / 2
        step[: len(found)] += found
        found = step
    return found
