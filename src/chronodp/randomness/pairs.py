"""Gaussian variates in pairs, by the formula of Box and Muller: each is a function of two words alone.

So draws can be made again at any place (`keyed.py`); noise that is drawn in order comes from stairs, which are faster.
Where a bound would be too wide (V near 0, |V| near 1) the variate is NaN, which means: ask the slow path. The formula
stands under "How a draw is made" in ``docs/explanation/proofs/noise.md``, the tolerance under "The bounds".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from chronodp.randomness.logarithm import Floats, Words, Workspace, evaluate, logarithm, magnitudes
from chronodp.randomness.rounding import Bounds

__all__ = ["PAIRS", "Pairs"]

_UNIT = np.array(2.0**-63)
_SIGN_BIT = np.array(-(2**63), dtype=np.int64)
_SMALLEST = 2.0**-23  # below it the unseen θ moves ln|V| by more than 2^-40
_LARGEST = 1 - 2.0**-20  # above it R = sqrt(-2 ln|V|) amplifies the error of the logarithm

# √2 sin(π v / 4) = v P(v²) for |v| <= 1, within 2^-47.5.
_SINE = (
    -2.4558055092412323e-09,
    4.4312742661743144e-07,
    -5.172654695715299e-05,
    0.003521949772830778,
    -0.11419139843708628,
    1.1107207345395869,
)


def unit_gaussian(words: Words, out: Floats, work: Workspace) -> None:
    """Write the Box-Muller pairs of the first half of the words (radius) with the second half (angle).

    With S = √2 sin(π V₂ / 4): R sin(π V₂ / 2) = R S √(2 - S²) and R cos(π V₂ / 2) = R (1 - S²). The first half of
    ``out`` takes the sines, the second the cosines, signed by V₁.
    """
    half = len(out) // 2
    radius_words, angle_words = words[:half], words[half:]
    sines, cosines = out[:half], out[half:]
    square, radius = work.second[:half], work.third[:half]
    magnitudes(radius_words, sines)
    extreme = sines[sines.argmin()] < _SMALLEST or sines[sines.argmax()] > _LARGEST
    hard = np.flatnonzero((sines < _SMALLEST) | (sines > _LARGEST)) if extreme else None
    if hard is not None:
        sines[hard] = 0.5
    logarithm(sines, work)
    np.multiply(sines, -2.0, radius)
    np.sqrt(radius, radius)

    np.copyto(sines, angle_words)
    np.multiply(sines, _UNIT, sines)
    np.multiply(sines, sines, square)
    polynomial = work.first[:half]
    evaluate(_SINE, square, polynomial)
    np.multiply(polynomial, sines, polynomial)
    np.multiply(polynomial, polynomial, square)
    np.subtract(1.0, square, cosines)
    np.multiply(cosines, radius, cosines)
    np.subtract(2.0, square, square)
    np.sqrt(square, square)
    np.multiply(square, polynomial, square)
    np.multiply(square, radius, sines)
    _flip_where_negative(radius_words, cosines, work)
    if hard is not None:
        sines[hard] = np.nan
        cosines[hard] = np.nan


@dataclass(frozen=True, eq=False)
class Pairs:
    """Gaussian noise in pairs: the transform and what is proven of it.

    Attributes:
        transform: writes a batch of unit variates for a batch of words; NaN where the slow path must be asked.
        bounds: of those that are not NaN.
    """

    transform: Callable[[Words, Floats, Workspace], None]
    bounds: Bounds


PAIRS = Pairs(unit_gaussian, Bounds(tolerance=2.0**-39.2, largest=6.0, half=0.5))


def _flip_where_negative(words: Words, values: Floats, work: Workspace) -> None:
    # The sign of a word is the sign of V, also of V in (-2^-63, 0), whose word is -1; a float's sign is its bit 63 too.
    signs = work.bits[: len(values)]
    np.bitwise_and(words, _SIGN_BIT, signs)
    bits = values.view(np.int64)
    np.bitwise_xor(bits, signs, bits)
