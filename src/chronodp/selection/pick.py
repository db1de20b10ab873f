"""One choice: design, utilities and entropy in, the place of the chosen candidate out.

The rows of "What is drawn" in ``docs/explanation/proofs/selection.md``; ties of `NoisyMax` are settled by chance, never
by merit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from chronodp.privacy import at_least
from chronodp.randomness import Entropy
from chronodp.selection.design import ChoiceDesign
from chronodp.selection.exponential import draw_exponential, draw_exponentials
from chronodp.selection.mechanisms import ExponentialMechanism, NoisyMax, PermuteAndFlip
from chronodp.selection.score_gaps import Gaps, run_gaps, score_gaps, whole_gaps
from chronodp.selection.utilities import MonotoneUtilities, Utilities

__all__ = ["exponents_of", "pick", "pick_runs", "pick_whole"]


def pick(design: ChoiceDesign, utilities: Utilities | MonotoneUtilities, entropy: Entropy) -> int:
    """Draw once and return the place of the chosen candidate, from 0. Spends nothing: `choose` is what pays.

    Guarantee: the place is epsilon-differentially private for ``design.unit``, exact in finite precision, if one unit
    changes utilities as their type and ``change`` say. The argument stands in ``docs/explanation/proofs/selection.md``.

    >>> from chronodp.privacy import User
    >>> from chronodp.randomness import seeded
    >>> from chronodp.selection import MonotoneUtilities, PermuteAndFlip, design_choice
    >>> names = ("spring", "summer", "autumn")
    >>> design = design_choice(PermuteAndFlip(), names, unit=User(), change=1.0, monotone=True, epsilon=1.0)
    >>> pick(design, MonotoneUtilities([10, 40, 20], change=1.0), seeded(1))
    1
    """
    return _pick(design, score_gaps(design, utilities), entropy)


def pick_whole(design: ChoiceDesign, utilities: Sequence[int], entropy: Entropy) -> int:
    """Draw once by utilities that are whole numbers of any size, as `pick` does."""
    return _pick(design, whole_gaps(design, utilities), entropy)


def pick_runs(
    design: ChoiceDesign, utilities: NDArray[Any], sizes: NDArray[np.int64], entropy: Entropy
) -> NDArray[np.int64]:
    """Draw once for each of many parts of the candidates, independently of each other, as `pick_whole` does.

    Parts stand one after the other in ``utilities``, whole numbers, and ``sizes`` says how long each is. What returns
    are places within the parts. Which parts must be public, or drawn before: then they may hang on nothing but what was
    paid for. Each choice has its own cost: whoever asks adds them up.
    """
    if not len(sizes):
        return np.empty(0, np.int64)
    gaps = run_gaps(design, utilities, sizes)
    match design.mechanism:
        case PermuteAndFlip():
            return _any_of_runs(entropy.exponential_coins(exponents_of(design, gaps)), sizes, entropy)
        case ExponentialMechanism():
            return draw_exponentials(exponents_of(design, gaps), sizes, entropy)
        case NoisyMax():
            noisy = entropy.laplace(at_least(design.scale), gaps.shape) - gaps
            largest = np.maximum.reduceat(noisy, np.cumsum(sizes) - sizes)
            return _any_of_runs(noisy == np.repeat(largest, sizes), sizes, entropy)
        case never:
            assert_never(never)


def _pick(design: ChoiceDesign, gaps: Gaps, entropy: Entropy) -> int:
    match design.mechanism:
        case PermuteAndFlip():
            return _flip(exponents_of(design, gaps), entropy)
        case ExponentialMechanism():
            return draw_exponential(exponents_of(design, gaps), entropy)
        case NoisyMax():
            noisy = entropy.laplace(at_least(design.scale), gaps.shape) - gaps
            return _any(np.flatnonzero(noisy == noisy.max()), entropy)
        case never:
            assert_never(never)


def exponents_of(design: ChoiceDesign, gaps: Gaps) -> NDArray[np.float64]:
    """Return gap × slope of each candidate; the product of two such short numbers is a float without rounding."""
    return np.multiply(gaps, float(design.slope), dtype=np.float64)


def _flip(exponents: NDArray[np.float64], entropy: Entropy) -> int:
    # The first to fall in, in random order, is any of those that fall in, equally likely. The best always does.
    return _any(np.flatnonzero(entropy.exponential_coins(exponents)), entropy)


def _any(places: NDArray[np.intp], entropy: Entropy) -> int:
    return int(places[int(entropy.integers(len(places)))])


def _any_of_runs(fell: NDArray[np.bool_], sizes: NDArray[np.int64], entropy: Entropy) -> NDArray[np.int64]:
    """Return a place of each run, any of those that fell in, equally likely; in every run at least one did."""
    starts = np.cumsum(sizes) - sizes
    counts = np.add.reduceat(fell, starts, dtype=np.int64)
    chosen = np.cumsum(counts) - counts + entropy.integers(counts)
    return np.asarray(np.flatnonzero(fell)[chosen] - starts)
