"""How far each candidate is behind the best, in whole steps of a public grid.

u* - u_i of ``docs/explanation/proofs/selection.md``, with the roundings of "Finite precision" there.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.selection.design import FARTHEST, ChoiceDesign
from chronodp.selection.utilities import MonotoneUtilities, Utilities

__all__ = ["Gaps", "check_utilities", "run_gaps", "score_gaps", "whole_gaps"]

Gaps = NDArray[np.int64]

_MOST_STEPS = 2.0**53
_MOST_WHOLE = 2**62  # two of them are not so far apart that 64 bits could not tell how far


def score_gaps(design: ChoiceDesign, utilities: Utilities | MonotoneUtilities) -> Gaps:
    """Return steps behind the best candidate, from 0 to `FARTHEST`, each computed without rounding error.

    ⌊value / step⌋ commutes with whole steps and keeps order, so that one unit still moves a candidate by at most
    ``design.reach`` steps and in its direction. Moving values beyond 2^53 steps there, and candidates beyond `FARTHEST`
    behind the best up to it, brings no two inputs farther apart.
    """
    check_utilities(design, utilities)
    values: NDArray[np.float64] = utilities.values
    limit = _MOST_STEPS * design.step
    # Down for all: ⌊(x + K g) / g⌋ = ⌊x / g⌋ + K, so rounding adds no step. The division by a power of two is exact.
    steps = np.floor(np.minimum(np.maximum(values, -limit), limit) / design.step).astype(np.int64)
    behind: Gaps = np.minimum(steps.max() - steps, FARTHEST)
    return behind


def whole_gaps(design: ChoiceDesign, utilities: Sequence[int]) -> Gaps:
    """Return the same of utilities that are whole numbers of any size, without rounding but down to the grid."""
    if len(utilities) != len(design.candidates):
        allowed = f"as many as there are candidates, {len(design.candidates)}"
        raise InvalidArgument("utilities", f"{len(utilities)} values", allowed)
    most = max(Fraction(design.step).numerator, *map(abs, utilities))
    numbers = np.array(utilities, np.int64 if most < _MOST_WHOLE else object)
    return run_gaps(design, numbers, np.array([len(numbers)]))


def run_gaps(design: ChoiceDesign, utilities: NDArray[Any], sizes: NDArray[np.int64]) -> Gaps:
    """Return the same of many parts of the candidates, one after the other in one array, each behind its own best.

    Utilities are whole numbers: int64, or Python's own.
    """
    step = Fraction(design.step)
    # One of both is 1: the step is a power of two. Behind the best first, in whole numbers; then down, as above.
    if step.denominator == 1:
        return np.asarray(np.minimum(_behind(utilities // step.numerator, sizes), FARTHEST), np.int64)
    behind = np.minimum(_behind(utilities, sizes), -(-FARTHEST // step.denominator))
    return np.asarray(np.minimum(behind * step.denominator, FARTHEST), np.int64)


def _behind(steps: NDArray[Any], sizes: NDArray[np.int64]) -> NDArray[Any]:
    best = np.maximum.reduceat(steps, np.cumsum(sizes) - sizes)
    return np.asarray(np.repeat(best, sizes) - steps)


def check_utilities(design: ChoiceDesign, utilities: object) -> None:
    """Raise unless the utilities are bounded as the design says, one for each candidate."""
    wanted = MonotoneUtilities if design.monotone else Utilities
    if not isinstance(utilities, Utilities | MonotoneUtilities) or type(utilities) is not wanted:
        raise InvalidArgument("utilities", utilities, f"{wanted.__name__}(values, change)", private=True)
    if utilities.change != design.change:
        raise InvalidArgument("utilities", utilities.change, f"of the design's change, {design.change:g}")
    if len(utilities) != len(design.candidates):
        allowed = f"as many as there are candidates, {len(design.candidates)}"
        raise InvalidArgument("utilities", f"{len(utilities)} values", allowed)
