"""Looks, once a process and before the first noise, whether this machine computes as the fast path's proof assumes.

The transforms use + - × ÷ and √, which IEEE 754 fixes to the last bit. That is an assumption about the processor, its
emulation and the libraries in the process, and a machine on which it fails would draw noise of another law without a
sign. So words over every exponent, all of the mantissa and both ends of what the fast path takes are put through the
transforms and compared with Python's own logarithm, sine and cosine, which share no code with them; these are held to
digits that are written down here. Where anything is off, no draw is left to the fast path: the slow one, in whole
numbers, decides all of them.

It carries "The assumption, on this machine" of ``docs/explanation/proofs/noise.md``, which also says what it can miss.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from chronodp.randomness import slow
from chronodp.randomness.variates import Family, Floats, Words, Workspace

__all__ = ["checked", "holds"]

# Far above what the transforms and Python's functions lose together (2^-48 for a logarithm up to 16, 2^-41.2 for a
# Gaussian variate: docs/explanation/proofs/noise.md), and below the tolerances, of 2^-39.9 and 2^-39.2.
_LOGARITHM = 2.0**-46
_PAIR = 2.0**-40.5
# ln(3/4), ln(2^-22 · 5/8), and the sine and cosine of 5π/16, rounded from 30 digits.
_KNOWN = (
    (math.log(0.75), -0.2876820724517809274),
    (math.log(0.625 * 2.0**-22), -15.719241601564532360),
    (math.sin(math.pi / 2 * 0.625), 0.83146961230254523707),
    (math.cos(math.pi / 2 * 0.625), 0.55557023301960222474),
)


@cache
def checked(family: Family) -> Family:
    """Return the family if its fast path can be trusted here; if not, one of which every draw takes the slow path."""
    if holds(family):
        return family
    warnings.warn(
        "this machine does not compute as the fast path of noise assumes; noise stays exact, and is drawn slowly",
        RuntimeWarning,
        stacklevel=2,
    )
    return replace(family, transform=_leave_to_the_slow_path)


def holds(family: Family) -> bool:
    """Return whether the family's variates, of hard words, are as near the ideal ones as is proved."""
    if not _rounds_to_nearest() or any(abs(found - told) > 2.0**-48 for found, told in _KNOWN):
        return False
    words = _hard_words()
    firsts = [0]
    if family.slowly is None:  # pairs: every radius meets several angles
        firsts = [0, len(words)]
        words = np.concatenate([words, np.roll(words, 97)])
        ideal, apart = _gaussians(words), _PAIR
    else:
        ideal, apart = _logarithms(words, signed=family.slowly is not slow.exponential), _LOGARITHM
    made = _transformed(family.transform, words)
    # One place further on, in other lanes of a vector and another end of the loop, every number must be the same.
    moved = _transformed(family.transform, np.delete(words, firsts))
    return bool(np.all(np.abs(made - ideal) <= apart) and np.array_equal(moved, np.delete(made, firsts)))


def _transformed(transform: Callable[[Words, Floats, Workspace], None], words: Words) -> Floats:
    out = np.empty(len(words))
    transform(words, out, Workspace(len(words)))
    return out


@cache
def _hard_words() -> Words:
    """Words over 23 exponents and 64 mantissas, exact as floats, with the ends of what the fast path takes."""
    mantissas = np.arange(64, 128, dtype=np.int64) << 46  # 53 bits at most: no rounding on the way to a float
    mantissas = mantissas | np.arange(64, dtype=np.int64) << 3
    words = np.concatenate([mantissas << shift for shift in range(10)] + [mantissas >> shift for shift in range(3)])
    far = np.concatenate([(mantissas >> shift) & -8 for shift in range(3, 13)])
    ends = np.array([2**40, 2**40 + 2**11, 2**62, 2**62 - 2**10, 2**63 - 2**43, 3 * 2**61], dtype=np.int64)
    magnitudes = np.concatenate([words, far, ends])
    signs = np.where(np.arange(len(magnitudes)) % 3 == 0, -1, 1)
    return magnitudes * signs


def _logarithms(words: Words, *, signed: bool) -> Floats:
    sizes = np.array([-math.log(abs(word) * 2.0**-63) for word in words.tolist()])
    return np.where(words < 0, sizes, -sizes) if signed else sizes


def _gaussians(words: Words) -> Floats:
    half = len(words) // 2
    sines, cosines = [], []
    for radius, angle in zip(words[:half].tolist(), words[half:].tolist(), strict=True):
        length = math.sqrt(-2 * math.log(abs(radius) * 2.0**-63))
        turn = math.pi / 2 * (angle * 2.0**-63)
        sines.append(length * math.sin(turn))
        cosines.append(math.copysign(length, radius) * math.cos(turn))
    return np.array(sines + cosines)


def _rounds_to_nearest() -> bool:
    """Return whether halves go to the even number, from both sides."""
    one, half = np.array([1.0, -1.0]), np.array([2.0**-53, -(2.0**-53)])
    up = np.array([3 * 2.0**-54, -3 * 2.0**-54])
    return bool(np.all(one + half == one) and np.all(one + up != one) and np.all(one + 3 * half == one + 4 * half))


def _leave_to_the_slow_path(words: Words, out: Floats, work: Workspace) -> None:  # noqa: ARG001 (a transform's call)
    out.fill(np.nan)
