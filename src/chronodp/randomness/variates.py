"""Unit Laplace, exponential and Gaussian variates in floating point, with a proven distance from the ideal ones.

A variate is a function of a uniform V = (w + θ) / 2^63 on [-1, 1): w is a word of the keystream, θ in [0, 1)
stands for bits nobody has drawn yet. The transforms use only + - * / and square root, which IEEE 754 fixes to
the last bit, so the bounds hold on every machine, whatever its mathematical library. Where a bound would be too
wide (V near 0; for Gaussians also |V| near 1) the variate is NaN, which means: ask the slow path.

The formulas are those of "How a draw is made" in ``docs/explanation/proofs/noise.md``. `_magnitudes` and `_logarithm`
go through the steps of its table "The bounds"; the tolerances of the families stand below it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.randomness import slow

__all__ = ["EXPONENTIAL", "GAUSSIAN", "LAPLACE", "Family", "Floats", "Words", "Workspace"]

Floats: TypeAlias = NDArray[np.float64]
Words: TypeAlias = NDArray[np.int64]

_UNIT = np.array(2.0**-63)
_SIGN_BIT = np.array(-(2**63), dtype=np.int64)
_SMALLEST = 2.0**-23  # below it the unseen θ moves ln|V| by more than 2^-40
_LARGEST = 1 - 2.0**-20  # above it R = sqrt(-2 ln|V|) amplifies the error of the logarithm

# 2 atanh(z) = z Q(z²) for |z| <= (1 - √½)/(1 + √½), within 2^-53.5.
_ATANH = (
    0.16837659970681887,
    0.181219344312151,
    0.2222343454751791,
    0.2857141602110767,
    0.40000000061741614,
    0.6666666666655292,
    2.0000000000000004,
)
# √2 sin(π v / 4) = v P(v²) for |v| <= 1, within 2^-47.5.
_SINE = (
    -2.4558055092412323e-09,
    4.4312742661743144e-07,
    -5.172654695715299e-05,
    0.003521949772830778,
    -0.11419139843708628,
    1.1107207345395869,
)
_CENTRE = float.fromhex("0x1.6a09e667f3bcdp-1")  # √½
_LOG_CENTRE = -0.3465735902799726
_LOG_TWO = 0.6931471805599453


class Workspace:
    """Scratch arrays for one batch, so that a refill allocates nothing."""

    def __init__(self, size: int) -> None:
        self.first, self.second, self.third = (np.empty(size) for _ in range(3))
        self.exponents = np.empty(size, dtype=np.int32)
        self.bits = np.empty(size, dtype=np.int64)


def unit_laplace(words: Words, out: Floats, work: Workspace) -> None:
    """Write Z = sgn(V) ln|V| for every word."""
    _log_magnitudes(words, out, work)
    _flip_where_negative(words, out, work)


def unit_exponential(words: Words, out: Floats, work: Workspace) -> None:
    """Write Z = -ln|V| for every word."""
    _log_magnitudes(words, out, work)
    np.negative(out, out)


def unit_gaussian(words: Words, out: Floats, work: Workspace) -> None:
    """Write the Box-Muller pairs of the first half of the words (radius) with the second half (angle).

    With S = √2 sin(π V₂ / 4): R sin(π V₂ / 2) = R S √(2 - S²) and R cos(π V₂ / 2) = R (1 - S²). The first half of
    ``out`` takes the sines, the second the cosines, signed by V₁.
    """
    half = len(out) // 2
    radius_words, angle_words = words[:half], words[half:]
    sines, cosines = out[:half], out[half:]
    square, radius = work.second[:half], work.third[:half]
    _magnitudes(radius_words, sines)
    extreme = sines[sines.argmin()] < _SMALLEST or sines[sines.argmax()] > _LARGEST
    hard = np.flatnonzero((sines < _SMALLEST) | (sines > _LARGEST)) if extreme else None
    if hard is not None:
        sines[hard] = 0.5
    _logarithm(sines, work)
    np.multiply(sines, -2.0, radius)
    np.sqrt(radius, radius)

    np.copyto(sines, angle_words)
    np.multiply(sines, _UNIT, sines)
    np.multiply(sines, sines, square)
    polynomial = work.first[:half]
    _horner(_SINE, square, polynomial)
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


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of noise: its transform and what is proven of it.

    Attributes:
        transform: writes a batch of unit variates for a batch of words.
        tolerance: most that a variate which is not NaN differs from the ideal one, for every θ.
        largest: no variate which is not NaN is larger in absolute value.
        half: what is added to the scaled variate before the floor: 1/2 rounds to the nearest integer, 0 down.
        slowly: the slow path for one word; None where the two halves of a batch are made from the same words.
    """

    transform: Callable[[Words, Floats, Workspace], None]
    tolerance: float
    largest: float
    half: float
    slowly: Callable[[slow.UniformReal, float], int] | None


LAPLACE = Family(unit_laplace, tolerance=2.0**-39.9, largest=16.0, half=0.5, slowly=slow.laplace)
EXPONENTIAL = Family(unit_exponential, tolerance=2.0**-39.9, largest=16.0, half=0.0, slowly=slow.exponential)
GAUSSIAN = Family(unit_gaussian, tolerance=2.0**-39.2, largest=6.0, half=0.5, slowly=None)


def _log_magnitudes(words: Words, out: Floats, work: Workspace) -> None:
    """Write ln|V| for every word; NaN where |V| is too small."""
    _magnitudes(words, out)
    hard = np.flatnonzero(out < _SMALLEST) if out[out.argmin()] < _SMALLEST else None
    if hard is not None:
        out[hard] = 0.5  # any number will do: it keeps ln 0 and its warning away, and is overwritten below
    _logarithm(out, work)
    if hard is not None:
        out[hard] = np.nan


def _magnitudes(words: Words, out: Floats) -> None:
    np.copyto(out, words)
    np.multiply(out, _UNIT, out)
    np.absolute(out, out)


def _logarithm(x: Floats, work: Workspace) -> None:
    """Replace x in (0, 1] by ln x = e ln 2 + ln √½ + 2 atanh((m - √½) / (m + √½)), where x = m 2^e."""
    ratio, square, exponents = work.first[: len(x)], work.second[: len(x)], work.exponents[: len(x)]
    np.frexp(x, x, exponents)
    np.add(x, _CENTRE, square)
    np.subtract(x, _CENTRE, ratio)  # without rounding: m is within a factor 2 of √½ (Sterbenz)
    np.divide(ratio, square, ratio)
    np.multiply(ratio, ratio, square)
    _horner(_ATANH, square, x)
    np.multiply(x, ratio, x)
    # The large terms are added to each other first: for e = 0 the small one is then rounded once, at its own size.
    np.copyto(square, exponents)
    np.multiply(square, _LOG_TWO, square)
    np.add(square, _LOG_CENTRE, square)
    np.add(x, square, x)


def _horner(coefficients: tuple[float, ...], x: Floats, out: Floats) -> None:
    np.multiply(x, coefficients[0], out)
    np.add(out, coefficients[1], out)
    for coefficient in coefficients[2:]:
        np.multiply(out, x, out)
        np.add(out, coefficient, out)


def _flip_where_negative(words: Words, values: Floats, work: Workspace) -> None:
    # The sign of a word is the sign of V, also of V in (-2^-63, 0), whose word is -1; a float's sign is its bit 63 too.
    signs = work.bits[: len(values)]
    np.bitwise_and(words, _SIGN_BIT, signs)
    bits = values.view(np.int64)
    np.bitwise_xor(bits, signs, bits)
