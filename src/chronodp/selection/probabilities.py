"""How likely each candidate is to be chosen, computed and not simulated. For the owner: utilities are not public.

The integral is that below the table in ``docs/explanation/proofs/selection.md``.
"""

from __future__ import annotations

import itertools
import math
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.selection.design import ChoiceDesign
from chronodp.selection.mechanisms import ExponentialMechanism, NoisyMax, PermuteAndFlip
from chronodp.selection.pick import exponents_of
from chronodp.selection.score_gaps import score_gaps
from chronodp.selection.utilities import MonotoneUtilities, Utilities

__all__ = ["MOST_COMPUTED", "probabilities"]

MOST_COMPUTED = 1024
"""Candidates up to which permute-and-flip and the noisy maximum are computed: the work grows with their square."""

Floats = NDArray[np.float64]

_NODES = 24
_NEVER = 80.0  # e^-80 is nothing; kinks farther apart would need panels without end


def probabilities(design: ChoiceDesign, utilities: Utilities | MonotoneUtilities) -> Floats:
    """Return the probability of each candidate. FOR THE OWNER ONLY: it tells the utilities.

    With x the gap to the best over the scale and p = e^-x:

    * exponential mechanism: p / Σ p;
    * permute-and-flip: p ∫₀¹ Π (1 - p' t) dt over the other candidates' p', a polynomial, integrated exactly;
    * noisy maximum: ∫ density · Π distribution functions of the others, by quadrature between their kinks; noise is
      taken as continuous, which the grid follows to a millionth.

    >>> from chronodp.privacy import User
    >>> from chronodp.selection import PermuteAndFlip, design_choice
    >>> design = design_choice(PermuteAndFlip(), tuple("abcd"), unit=User(), change=1.0, monotone=False, epsilon=1.0)
    >>> probabilities(design, Utilities([-3, -1, 0, -2], change=1.0)).round(6).tolist()
    [0.079477, 0.24767, 0.535633, 0.137219]
    """
    exponents = exponents_of(design, score_gaps(design, utilities))
    if isinstance(design.mechanism, ExponentialMechanism):
        weights: Floats = np.exp(-exponents)
        weights /= weights.sum()
        return weights
    if len(exponents) > MOST_COMPUTED:
        raise InvalidArgument("candidates", len(exponents), f"at most {MOST_COMPUTED:,} for this mechanism")
    match design.mechanism:
        case PermuteAndFlip():
            return _permute_and_flip(np.exp(-exponents))
        case NoisyMax():
            return _noisy_max(-np.minimum(exponents, _NEVER))
        case never:
            assert_never(never)


def _permute_and_flip(chances: Floats) -> Floats:
    # Gauss-Legendre with n / 2 nodes is exact for polynomials of degree n - 1; every term is positive.
    found = np.zeros(len(chances))
    nodes, weights = np.polynomial.legendre.leggauss(len(chances) // 2 + 1)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        logs = np.log1p(-chances * node)
        found += weight * np.exp(logs.sum() - logs)
    return found * chances


def _noisy_max(places: Floats) -> Floats:
    kinks = np.unique(places)
    ends = np.concatenate(([kinks[0] - 40.0], kinks, [kinks[-1] + 40.0]))
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    found = np.zeros(len(places))
    for low, high in itertools.pairwise(ends.tolist()):
        edges = np.linspace(low, high, math.ceil(high - low) + 1)
        for left, right in itertools.pairwise(edges.tolist()):
            apart = ((right - left) / 2 * nodes + (left + right) / 2)[:, None] - places
            tails = np.exp(-np.abs(apart)) / 2
            logs = np.log(np.where(apart < 0, tails, 1 - tails))
            others = np.exp(logs.sum(axis=1, keepdims=True) - logs)
            found += (right - left) / 2 * (weights @ (tails * others))
    return found
