"""Where noise must end so that a key which one unit alone holds is hardly ever published.

"The threshold" of ``docs/explanation/proofs/keys.md``: s, t, w_d and B there are ``scale``, ``threshold``, ``weights``
and ``blocks`` here. Public arithmetic alone: floats propose, and 200 bits of mpmath decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri_exp

from chronodp.privacy import at_least

__all__ = ["Held", "Law", "lone_probability", "threshold_for"]

Law = Literal["laplace", "gaussian"]

_BITS = 200
_ROOM = Fraction(1, 2**100)  # relative: far above all error of 200 bits, far below what a threshold notices
_NEAR = 1e-6  # relative: floats tell exponents apart that differ by more; they err by less than 1e-10


@dataclass(frozen=True, slots=True)
class Held:
    """What one unit may hold alone.

    Attributes:
        weights: what each of d keys of one block adds, for d = 1, 2, …, in steps.
        blocks: how many blocks one unit can touch.
        replace: whether a unit takes another's place: keys of the former one are then looked at with nobody in them.
    """

    weights: Sequence[int]
    blocks: int = 1
    replace: bool = False


def threshold_for(scale: float, delta: Fraction, held: Held, *, law: Law = "gaussian") -> int:
    """Return the least whole t at which keys that one unit alone holds pass with probability at most ``delta``.

    y = W + ⌊s Z + ½⌋ ≥ t means s Z ≥ t − W − ½. With z the upper quantile of the noise's law at scale 1, this is
    max over d of ⌈w_d + ½ + s z(1 − (1 − delta)^(1 / (B d)))⌉, and a little more where units are replaced.
    """
    high = _proposed(scale, float(delta), held, law)
    step = 1
    while not _is_rare(scale, high, delta, held, law):
        high, step = high + step, 2 * step
    low, step = high - 1, 1
    while _is_rare(scale, low, delta, held, law):
        high, low, step = low, low - step, 2 * step
    while high - low > 1:  # rare at high, not at low: the probability falls as the threshold rises
        middle = (low + high) // 2
        low, high = (low, middle) if _is_rare(scale, middle, delta, held, law) else (middle, high)
    return high


def lone_probability(scale: float, threshold: int, held: Held, *, law: Law = "gaussian") -> float:
    """Return the most, over all d, that some key which one unit alone holds passes with; rounded up."""
    import mpmath

    with mpmath.workprec(_BITS):
        sign, mantissa, exponent, _ = (-mpmath.expm1(-_exponent(scale, threshold, held, law)))._mpf_
    if sign:
        raise AssertionError("a probability is not below 0")
    return at_least(Fraction(int(mantissa)) * Fraction(2) ** int(exponent) * (1 + _ROOM))


def _is_rare(scale: float, threshold: int, delta: Fraction, held: Held, law: Law) -> bool:
    import mpmath

    with mpmath.workprec(_BITS):
        allowed = -mpmath.log1p(-mpmath.mpf(delta.numerator) / delta.denominator)
        room = 1 - mpmath.mpf(_ROOM.numerator) / _ROOM.denominator
        return bool(_exponent(scale, threshold, held, law) <= allowed * room)


def _exponent(scale: float, threshold: int, held: Held, law: Law) -> Any:
    """−ln P(no lone key passes) of the unit that is likeliest to have one that does."""
    # Each of B blocks has its own d; the worst d of one is the worst of all. Floats leave out those far from it.
    keys, found = _exponents(scale, threshold, held, law)
    near = keys[found >= found.max() * (1 - _NEAR)]
    former = len(held.weights) if held.replace else 0
    empty = _silence(scale, threshold, law)
    return held.blocks * max(
        int(d) * _silence(scale, threshold - held.weights[int(d) - 1], law) + former * empty for d in near
    )


def _silence(scale: float, short: int, law: Law) -> Any:
    """−ln P(a key that is so many steps short of the threshold does not pass)."""
    import mpmath

    far = (short - mpmath.mpf(1) / 2) / mpmath.mpf(scale)
    if law == "gaussian":
        above = mpmath.erfc(far / mpmath.sqrt(2)) / 2
    else:
        above = mpmath.exp(-far) / 2 if far > 0 else 1 - mpmath.exp(far) / 2
    return -mpmath.log1p(-above)


def _exponents(scale: float, threshold: int, held: Held, law: Law) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    keys = np.arange(1, len(held.weights) + 1)
    near = (np.asarray(held.weights, np.float64) + 0.5 - threshold) / scale
    if law == "gaussian":
        passing = ndtr(near)
    else:
        passing = np.where(near < 0, np.exp(np.minimum(near, 0)) / 2, 1 - np.exp(-np.maximum(near, 0)) / 2)
    with np.errstate(divide="ignore"):  # a threshold far too low passes for sure: infinite
        exponents: NDArray[np.float64] = -np.log1p(-passing) * keys
    return keys, exponents


def _proposed(scale: float, delta: float, held: Held, law: Law) -> int:
    keys = np.arange(1, len(held.weights) + 1)
    each = -np.expm1(np.log1p(-delta) / (keys * held.blocks))
    quantile = -ndtri_exp(np.log(each)) if law == "gaussian" else -np.log(2 * each)
    wanted = np.asarray(held.weights, np.float64) + 0.5 + scale * quantile
    return int(np.ceil(wanted.max()))
