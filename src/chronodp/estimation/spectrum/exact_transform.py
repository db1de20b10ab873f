"""The coefficients of some harmonics in whole numbers, without rounding: sums of limbs that floats hold exactly."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.estimation.columns import Floats
from chronodp.estimation.spectrum.harmonics import is_real

__all__ = ["DIGITS", "MOST_PRODUCTS", "exact_numbers"]

DIGITS = 32
"""Binary digits of the whole numbers that stand for cosines and sines."""
MOST_PRODUCTS = 2**29
"""Harmonics times periods that are computed exactly; beyond, the whole spectrum is the way."""

_VALUE_BITS = 53  # of the series' steps: the grid keeps them within ±2^52


def exact_numbers(
    steps: NDArray[np.int64], harmonics: tuple[int, ...], *, progress: Callable[[float], None] = lambda _: None
) -> list[int]:
    """Return Σ_t W_t x_t for each number of each harmonic, where W is 2^32 times cosine, minus sine, or ±1/√2, rounded.

    Every W is within 1 of what it stands for. A product of two limbs is below 2^(2 bits), and T of them below 2^53, so
    that matrix products of floats are exact in any order of adding.

    >>> exact_numbers(np.array([1, 2, 3, 2]), (1,)) == [-2 * 2**32, 0]
    True
    """
    horizon = len(steps)
    if len(harmonics) * horizon > MOST_PRODUCTS:
        raise InvalidArgument(
            "harmonics",
            len(harmonics),
            f"at most {MOST_PRODUCTS // horizon:,} for {horizon:,} periods; Whole() has no limit, and any part of it "
            "is free",
        )
    bits = (53 - math.ceil(math.log2(max(horizon, 2)))) // 2
    angles = 2 * np.pi * np.arange(horizon) / horizon
    cosines, sines = (_limbs(_table(wave), bits, DIGITS + 2) for wave in (np.cos(angles), -np.sin(angles)))
    values = _limbs(steps, bits, _VALUE_BITS)
    times = np.arange(horizon, dtype=np.int64)
    root = round(2**DIGITS / math.sqrt(2))
    found: list[int] = []
    for done, harmonic in enumerate(harmonics):
        progress(done / len(harmonics))
        places = harmonic * times % horizon
        real = _product(cosines[:, places], values, bits)
        if is_real(harmonic, horizon):
            found.append((real >> DIGITS) * root)  # a whole multiple: these cosines are ±1
        else:
            found += [real, _product(sines[:, places], values, bits)]
    return found


def _table(wave: Floats) -> NDArray[np.int64]:
    return np.rint(wave * 2.0**DIGITS).astype(np.int64)


def _limbs(numbers: NDArray[np.int64], bits: int, width: int) -> Floats:
    """Return limbs of so many bits, the lowest first; the highest carries the sign."""
    count = -(-width // bits)
    mask = (1 << bits) - 1
    parts = [(numbers >> (bits * place)) & mask for place in range(count - 1)]
    return np.array([*parts, numbers >> (bits * (count - 1))], dtype=np.float64)


def _product(left: Floats, right: Floats, bits: int) -> int:
    sums = left @ right.T
    return sum(
        int(sums[i, j]) << (bits * (i + j)) for i in range(sums.shape[0]) for j in range(sums.shape[1]) if sums[i, j]
    )
