"""Looks, once a process and before the first noise, whether this machine computes as the fast path's proof assumes.

The fast path uses + - × ÷ and √, which IEEE 754 fixes to the last bit. That is an assumption about the processor, its
emulation and the libraries in the process, and a machine on which it fails would draw noise of another law without a
sign. So words over every exponent, all of the mantissa and both ends of what the fast path takes are put through it and
compared with fractions, and with Python's own logarithm, sine and cosine, which share no code with it; these are held
to digits that are written down here. Where anything is off, no draw is left to the fast path: the slow one, in whole
numbers, decides all of them.

It carries "The assumption, on this machine" of ``docs/explanation/proofs/noise.md``, which also says what it can miss.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from functools import cache
from typing import TypeVar

import numpy as np

from chronodp.randomness.logarithm import Floats, Words, Workspace
from chronodp.randomness.pairs import Pairs
from chronodp.randomness.stairs import Stairs
from chronodp.randomness.variates import Family

__all__ = ["checked", "holds"]

Kind = TypeVar("Kind", Family, Pairs)

# Far above what the fast path and Python's functions lose together, and below the tolerances, of 2^-46 and 2^-39.2
# (docs/explanation/proofs/noise.md): a product on a step loses 2^-52 of itself, a logarithm 2^-48 up to 16, a
# distance from the curve 2^-32, and a Gaussian variate of a pair 2^-41.2.
_PRODUCT = 2.0**-50  # of itself
_SIZE = 2.0**-46.5
_APART = 2.0**-31
_PAIR = 2.0**-40.5
# ln(3/4), ln(2^-22 · 5/8), and the sine and cosine of 5π/16, rounded from 30 digits.
_KNOWN = (
    (math.log(0.75), -0.2876820724517809274),
    (math.log(0.625 * 2.0**-22), -15.719241601564532360),
    (math.sin(math.pi / 2 * 0.625), 0.83146961230254523707),
    (math.cos(math.pi / 2 * 0.625), 0.55557023301960222474),
)


@cache
def checked(kind: Kind) -> Kind:
    """Return the kind of noise if its fast path can be trusted here; if not, one whose draws are all made slowly."""
    if holds(kind):
        return kind
    warnings.warn(
        "this machine does not compute as the fast path of noise assumes; noise stays exact, and is drawn slowly",
        RuntimeWarning,
        stacklevel=2,
    )
    if isinstance(kind, Pairs):
        return replace(kind, transform=_decide_no_pair)
    return replace(kind, transform=_decide_no_step, judge=_decide_no_point)


def holds(kind: Family | Pairs) -> bool:
    """Return whether the kind's variates, of hard words, are as near the ideal ones as is proved."""
    if not _rounds_to_nearest() or any(abs(found - told) > 2.0**-48 for found, told in _KNOWN):
        return False
    if isinstance(kind, Pairs):
        return _pairs_hold(kind)
    return _steps_hold(kind) and _points_hold(kind)


def _steps_hold(family: Family) -> bool:
    stairs = family.stairs
    words = _hard_words() & -stairs.layers | np.arange(len(_hard_words())) % stairs.layers
    steps = words & (stairs.layers - 1)
    made = _on_steps(family, words, steps)
    moved = _on_steps(family, words[1:], steps[1:])
    chosen = np.flatnonzero(steps >= stairs.spare).tolist()
    edges = [stairs.edges[step - stairs.spare] for step in steps[chosen].tolist()]
    # In whole numbers: x_i w 2^-63 in steps of 2^-91, beside what was made, of which 2^91 is a whole number too.
    for edge, word, value in zip(edges, words[chosen].tolist(), made[chosen].tolist(), strict=True):
        if not abs(int(value * 2.0**91) - edge * word) <= _PRODUCT * abs(edge * word) + 1:
            return False
    return np.array_equal(moved, made[1:], equal_nan=True)


def _points_hold(family: Family) -> bool:
    stairs = family.stairs
    across = _hard_words()
    heights = np.roll(across, 97)
    strips = np.arange(len(across)) * 7 % (2 * len(stairs.shares)) % len(stairs.shares)
    strips[::3] = 0  # the tail is where a place needs a logarithm
    sizes, apart = family.judge(stairs, strips, across, heights)
    moved = family.judge(stairs, strips[1:], across[1:], heights[1:])
    ideal = _ideal_points(stairs, strips, across, heights)
    decided = np.abs(across) * 2.0**-63 >= 2.0**-15
    decided |= strips > 0
    near = np.abs(sizes - ideal[0]) <= _SIZE, np.abs(apart - ideal[1]) <= _APART
    return bool(
        np.all(near[0][decided])
        and np.all((near[1] | np.isnan(apart))[decided])
        and np.all(np.isnan(sizes[~decided]) & np.isnan(apart[~decided]))
        and np.isnan(apart).mean() < 0.25
        and np.array_equal(moved[0], sizes[1:], equal_nan=True)
        and np.array_equal(moved[1], apart[1:], equal_nan=True)
    )


def _ideal_points(stairs: Stairs, strips: Words, across: Words, heights: Words) -> tuple[Floats, Floats]:
    sizes, apart = [], []
    left, width, level, reach = (part.tolist() for part in stairs.boxes)
    for strip, place, height in zip(strips.tolist(), across.tolist(), heights.tolist(), strict=True):
        fall = -math.log(abs(place) * 2.0**-63) if strip == 0 else 0.0
        sizes.append(left[strip] + width[strip] * (abs(place) * 2.0**-63 if strip else fall))
        apart.append(fall - math.log(level[strip] + reach[strip] * abs(height) * 2.0**-63))
    return np.array(sizes), np.array(apart) - stairs.curve.depth(np.array(sizes))


def _pairs_hold(kind: Pairs) -> bool:
    words = _hard_words()
    firsts = [0, len(words)]
    words = np.concatenate([words, np.roll(words, 97)])  # every radius meets several angles
    made = _paired(kind, words)
    # One place further on, in other lanes of a vector and another end of the loop, every number must be the same.
    moved = _paired(kind, np.delete(words, firsts))
    return bool(np.all(np.abs(made - _gaussians(words)) <= _PAIR) and np.array_equal(moved, np.delete(made, firsts)))


def _on_steps(family: Family, words: Words, steps: Words) -> Floats:
    out = np.empty(len(words))
    family.transform(family.stairs, words, steps, out, Workspace(len(words)))
    return out


def _paired(kind: Pairs, words: Words) -> Floats:
    out = np.empty(len(words))
    kind.transform(words, out, Workspace(len(words)))
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


def _decide_no_pair(words: Words, out: Floats, work: Workspace) -> None:  # noqa: ARG001 (a transform's call)
    out.fill(np.nan)


def _decide_no_step(stairs: Stairs, words: Words, steps: Words, out: Floats, work: Workspace) -> None:  # noqa: ARG001
    out.fill(np.nan)


def _decide_no_point(stairs: Stairs, strips: Words, across: Words, heights: Words) -> tuple[Floats, Floats]:  # noqa: ARG001
    return np.full(len(strips), np.nan), np.full(len(strips), np.nan)
