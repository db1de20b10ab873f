"""Words to floats, and the logarithm of floats, with proven bounds: + - * / and nothing else.

IEEE 754 fixes these to the last bit, so the bounds hold on every machine, whatever its mathematical library.
`logarithm` goes through the steps of the table "The bounds" in ``docs/explanation/proofs/noise.md``.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Words", "Workspace", "evaluate", "logarithm", "magnitudes"]

Floats: TypeAlias = NDArray[np.float64]
Words: TypeAlias = NDArray[np.int64]

_UNIT = np.array(2.0**-63)

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
_CENTRE = float.fromhex("0x1.6a09e667f3bcdp-1")  # √½
_LOG_CENTRE = -0.3465735902799726
_LOG_TWO = 0.6931471805599453


class Workspace:
    """Scratch arrays for one batch, so that a refill allocates nothing."""

    def __init__(self, size: int) -> None:
        self.first, self.second, self.third = (np.empty(size) for _ in range(3))
        self.exponents = np.empty(size, dtype=np.int32)
        self.bits = np.empty(size, dtype=np.int64)


def magnitudes(words: Words, out: Floats) -> None:
    """Write |w| 2^-63 for every word."""
    np.copyto(out, words)
    np.multiply(out, _UNIT, out)
    np.absolute(out, out)


def logarithm(x: Floats, work: Workspace) -> None:
    """Replace x in (0, 1] by ln x = e ln 2 + ln √½ + 2 atanh((m - √½) / (m + √½)), where x = m 2^e."""
    ratio, square, exponents = work.first[: len(x)], work.second[: len(x)], work.exponents[: len(x)]
    np.frexp(x, x, exponents)
    np.add(x, _CENTRE, square)
    np.subtract(x, _CENTRE, ratio)  # without rounding: m is within a factor 2 of √½ (Sterbenz)
    np.divide(ratio, square, ratio)
    np.multiply(ratio, ratio, square)
    evaluate(_ATANH, square, x)
    np.multiply(x, ratio, x)
    # The large terms are added to each other first: for e = 0 the small one is then rounded once, at its own size.
    np.copyto(square, exponents)
    np.multiply(square, _LOG_TWO, square)
    np.add(square, _LOG_CENTRE, square)
    np.add(x, square, x)


def evaluate(coefficients: tuple[float, ...], x: Floats, out: Floats) -> None:
    """Write a polynomial, its coefficients from the highest down, by Horner's rule."""
    np.multiply(x, coefficients[0], out)
    np.add(out, coefficients[1], out)
    for coefficient in coefficients[2:]:
        np.multiply(out, x, out)
        np.add(out, coefficient, out)
