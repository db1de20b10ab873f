"""Harmonics of a series and the numbers they have: what X_k is, and how a series and its X_k turn into each other.

"Numbers" of ``docs/explanation/proofs/spectrum.md``: X_k / √2 where it is real makes all numbers alike in an
orthonormal basis.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Floats
from chronodp.privacy import as_numbers

__all__ = ["Complexes", "count_numbers", "highest", "is_real", "numbers_of", "to_series", "transform"]

Complexes = NDArray[np.complex128]


def highest(horizon: int) -> int:
    """Return the highest harmonic of so many periods: that of Nyquist, half as many turns as periods.

    >>> highest(24), highest(25)
    (12, 12)
    """
    return horizon // 2


def is_real(harmonic: int, horizon: int) -> bool:
    """Return whether X_k is one number instead of two: the total (k = 0), and Nyquist where periods are even."""
    return harmonic == 0 or 2 * harmonic == horizon


def count_numbers(harmonics: tuple[int, ...], horizon: int) -> int:
    """Return how many real numbers the coefficients of these harmonics are.

    >>> count_numbers((0, 1, 2), 24), count_numbers(tuple(range(13)), 24)
    (5, 24)
    """
    return sum(1 if is_real(harmonic, horizon) else 2 for harmonic in harmonics)


def transform(series: ArrayLike) -> Complexes:
    """Return X_k = Σ_t x_t e^(-2πi k t / T) for k from 0 to Nyquist. Not private by itself.

    >>> transform([1.0, 2.0, 3.0, 2.0]).tolist()
    [(8+0j), (-2+0j), 0j]
    """
    numbers = as_numbers("series", series, "numbers, one a period").astype(np.float64)
    if numbers.ndim != 1 or not len(numbers):
        raise InvalidArgument("series", series, "numbers, one a period", private=True)
    found: Complexes = np.fft.rfft(numbers)
    return found


def numbers_of(coefficients: Complexes, harmonics: tuple[int, ...], horizon: int) -> Floats:
    """Return the numbers of each harmonic in turn: Re X_k and Im X_k; X_k / √2 where it is real.

    Times √(2/T) they are coordinates in an orthonormal basis of all series.
    """
    parts: list[float] = []
    for harmonic, value in zip(harmonics, coefficients.tolist(), strict=True):
        parts += [value.real / np.sqrt(2)] if is_real(harmonic, horizon) else [value.real, value.imag]
    return np.array(parts)


def to_series(coefficients: Complexes, harmonics: tuple[int, ...], horizon: int) -> Floats:
    """Return the series that has these coefficients and no other harmonic.

    >>> to_series(np.array([8.0 + 0j]), (0,), 4).tolist()
    [2.0, 2.0, 2.0, 2.0]
    """
    whole = np.zeros(highest(horizon) + 1, dtype=np.complex128)
    whole[list(harmonics)] = coefficients
    found: Floats = np.fft.irfft(whole, horizon)
    return found
