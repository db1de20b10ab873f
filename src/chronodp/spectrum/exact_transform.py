"""The coefficients of some harmonics in whole numbers, without rounding: sums of limbs that floats hold exactly.

"Finite precision" of ``docs/explanation/proofs/spectrum.md``. A number of 54 bits and a cosine of 34 are cut so:

    value     … | bits 2b … 3b-1 | bits b … 2b-1 | bits 0 … b-1        b = 53 - 17 - ⌈log2 T⌉
    cosine          bits 17 … 33 | bits 0 … 16                         the highest limb carries the sign

A product of two limbs is below 2^(b + 17), and T of them add up to at most 2^53: no float is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Floats
from chronodp.spectrum.harmonics import is_real

__all__ = ["DIGITS", "MOST_PRODUCTS", "exact_numbers"]

DIGITS = 32
"""Binary digits of the whole numbers that stand for cosines and sines."""
MOST_PRODUCTS = 2**29
"""Harmonics times periods that are computed exactly; beyond, the whole spectrum is the way."""

_VALUE_BITS = 54  # of the series' steps and their sign: the grid keeps them within ±2^52
_WAVE_BITS = 17  # of each of the two limbs of a cosine


def exact_numbers(
    steps: NDArray[np.int64], harmonics: tuple[int, ...], *, progress: Callable[[float], None] = lambda _: None
) -> list[int]:
    """Return Σ_t W_t x_t for each number of each harmonic, where W is 2^32 times cosine, minus sine, or ±1/√2, rounded.

    Every W is within 1 of what it stands for. Both are cut into limbs so short that T products of two stay below
    2^53: matrix products of floats are then exact, in any order of adding.

    >>> exact_numbers(np.array([1, 2, 3, 2]), (1,)) == [-2 * 2**32, 0]
    True
    """
    horizon = len(steps)
    if len(harmonics) * horizon > MOST_PRODUCTS:
        raise InvalidArgument(
            "harmonics",
            len(harmonics),
            f"at most {MOST_PRODUCTS // horizon:,} for {horizon:,} periods; WholeSpectrum() has no limit, and any part "
            "of it is free",
        )
    angles = 2 * np.pi * np.arange(horizon) / horizon
    # Side by side, so that one look-up finds both parts of a cosine and of a sine.
    waves = np.hstack([_limbs(_table(wave), _WAVE_BITS, 2) for wave in (np.cos(angles), -np.sin(angles))])
    # T is rounded up to a power of two, and so b down: shorter limbs are more of them, never wrong ones.
    bits = 53 - _WAVE_BITS - math.ceil(math.log2(max(horizon, 2)))
    values = _limbs(steps, bits, -(-_VALUE_BITS // bits))
    times = np.arange(horizon, dtype=np.int64)
    root = round(2**DIGITS / math.sqrt(2))
    found: list[int] = []
    for done, harmonic in enumerate(harmonics):
        progress(done / len(harmonics))
        sums = np.take(waves, harmonic * times % horizon, axis=0).T @ values
        real, imaginary = _joined(sums[:2], bits), _joined(sums[2:], bits)
        # Where X_k is real, cosines are ±1 and the sum is a whole multiple of 2^32.
        found += [(real >> DIGITS) * root] if is_real(harmonic, horizon) else [real, imaginary]
    return found


def _table(wave: Floats) -> NDArray[np.int64]:
    return np.rint(wave * 2.0**DIGITS).astype(np.int64)


def _limbs(numbers: NDArray[np.int64], bits: int, count: int) -> Floats:
    """Return limbs of so many bits side by side, the lowest first; the highest carries the sign."""
    mask = (1 << bits) - 1
    parts = [(numbers >> (bits * place)) & mask for place in range(count - 1)]
    return np.stack([*parts, numbers >> (bits * (count - 1))], axis=1).astype(np.float64)


def _joined(sums: Floats, bits: int) -> int:
    """Return the sum of products of limbs, each in its place."""
    parts = [[int(part) for part in row] for row in sums.tolist()]
    return sum(
        part << (_WAVE_BITS * wave + bits * value) for wave, row in enumerate(parts) for value, part in enumerate(row)
    )
