"""The paper's first bound, mended: ε_S ≤ ln(1 + Δ (e^{d ε_C} - 1)).

Δ is the largest total variation between the laws of the aged snapshot given two presents that differ in one sequence,
d the span of the query over the group divided by its sensitivity. The paper goes on to d Δ ε_C, which is smaller and
no bound.

*Total variation* under "Bounds" in ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.correlated.ageing import aged_law
from chronodp.correlated.chain import Floats
from chronodp.correlated.joint import JointChain

__all__ = ["aged_distances", "from_distance", "total_variation"]


def aged_distances(joint: JointChain, ages: NDArray[np.int64]) -> Floats:
    """Return Δ for each sequence of a group (the paper's Φ is the largest of them).

    >>> from chronodp.correlated.chain import CouplingMarkovChain
    >>> model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.75, 0.25], [0.25, 0.75]])
    >>> aged_distances(JointChain(model), np.array([2, 2])).round(6).tolist()
    [0.1, 0.1]
    """
    law = aged_law(joint, ages).reshape(-1, *joint.shape)
    found = np.zeros(joint.model.sequences)
    for target in range(joint.model.sequences):
        cases = np.moveaxis(law, target + 1, 0)
        for first in range(joint.model.states):
            for second in range(first):
                apart = np.abs(cases[first] - cases[second]).sum(axis=0) / 2
                found[target] = max(found[target], np.fmax.reduce(apart.ravel(), initial=0.0))
    return np.minimum(found, 1.0)


def from_distance(distance: Floats, heard: Floats) -> Floats:
    """Return ln(1 + Δ (e^L - 1)), without overflow."""
    with np.errstate(divide="ignore"):
        large = heard + np.log(distance + (1 - distance) * np.exp(-heard))
    return np.asarray(np.where(heard < 1, np.log1p(distance * np.expm1(np.minimum(heard, 1))), large))


def total_variation(joint: JointChain, ages: NDArray[np.int64], *, heard: Floats) -> Floats:
    """Return the bound for each sequence of a group; ``heard`` is d ε_C.

    Δ is a sum of differences, each right to the digits of what was subtracted: what they may hide is added.
    """
    hidden = len(joint.snapshots) * (int(ages.max()) + 2) * 2.0**-53
    return from_distance(np.minimum(aged_distances(joint, ages) + hidden, 1.0), heard)
