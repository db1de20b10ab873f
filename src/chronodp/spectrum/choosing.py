"""Which harmonics are the strongest, chosen privately one after another.

*Strongest* under "Mechanisms" in ``docs/explanation/proofs/spectrum.md``; "Finite precision" there is `_change`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from chronodp.randomness import Entropy
from chronodp.selection import ChoiceDesign, PermuteAndFlip, Utilities, design_choice, pick
from chronodp.spectrum.design import SpectrumDesign
from chronodp.spectrum.exact_transform import DIGITS
from chronodp.spectrum.harmonics import is_real
from chronodp.spectrum.sensitivity import any_sensitivity
from chronodp.spectrum.wanted import Strongest

__all__ = ["choice_among", "choose_harmonics", "strengths"]

_FINE = 2**12  # steps that one unit changes a strength by, about
_LARGEST = 2**53


def strengths(design: SpectrumDesign, numbers: list[int]) -> Utilities:
    """Return |X_k| of harmonics 1, 2, … (of Nyquist |X_k| / √2) as utilities in whole steps; for the owner only.

    Their squares are the harmonics' shares of the series' energy. One unit changes the numbers of a harmonic by at most
    the l2 sensitivity of two numbers, and their length by no more.
    """
    change, shift = _change(design)
    values, place = [], 1
    for harmonic in range(1, len(design.harmonics)):
        real = is_real(harmonic, design.horizon)
        squares = numbers[place] ** 2 + (0 if real else numbers[place + 1] ** 2)
        values.append(min(math.isqrt(squares) >> shift, _LARGEST))
        place += 1 if real else 2
    return Utilities(np.array(values, dtype=np.float64), change=change)


def choose_harmonics(
    design: SpectrumDesign, wanted: Strongest, numbers: list[int], entropy: Entropy
) -> tuple[int, ...]:
    """Return the chosen harmonics and 0, in order: permute-and-flip, once for each, among those that are left.

    Guarantee: each choice is ``design.choice``-differentially private, exact in finite precision.
    """
    utilities = strengths(design, numbers)
    values: NDArray[np.float64] = utilities.values
    left = list(range(1, len(design.harmonics)))
    chosen = [0]
    for _ in range(wanted.count):
        choice = choice_among(design, left)
        among = Utilities(values[[harmonic - 1 for harmonic in left]], change=utilities.change)
        chosen.append(left.pop(pick(choice, among, entropy)))
    return tuple(sorted(chosen))


def choice_among(design: SpectrumDesign, harmonics: list[int]) -> ChoiceDesign:
    """Return how one of these harmonics is chosen; refuses an epsilon with which none can be. Reads no data."""
    return design_choice(
        PermuteAndFlip(),
        [f"harmonic {harmonic}" for harmonic in harmonics],
        unit=design.unit,
        change=_change(design)[0],
        monotone=False,
        epsilon=design.choice,
        purpose="strength",
    )


def _change(design: SpectrumDesign) -> tuple[float, int]:
    """The most that one unit changes a strength, in steps; and the binary digits of the exact numbers in a step."""
    # In units of the exact numbers, rounded up: the change, and 1 for each rounded cosine of each changed period.
    touched, most = design.touched, design.change + design.grid
    change = any_sensitivity(2, design.horizon, touched, change=most).l2 / design.grid * 2.0**DIGITS
    # A harmonic has two numbers, each off by that much: their length by no more than the sum of both.
    change += 2 * touched.periods * most / design.grid
    shift = max(0, math.frexp(change / _FINE)[1])
    # Two roundings down, of the root and of the shift.
    return math.ceil(change / 2**shift) + 2.0, shift
