"""A bound by spreading differences forward in time, for chains that look the same backwards.

With C_jk = λ_jk · (largest total variation between columns of P^(jk)), two futures of presents that differ in
sequence i differ in sequence j after A steps with probability at most [C^A]_{ji}. Only for a reversible chain are
these the pasts as well; for others the formula is no bound at all, and fails about one time in four.

*Forward Dobrushin* under "Bounds" in ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chronodp.correlated.bounds.total_variation import from_distance
from chronodp.correlated.chain import CouplingMarkovChain, Floats
from chronodp.correlated.joint import JointChain
from chronodp.errors import InvalidArgument

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["contraction", "forward_distances", "forward_dobrushin"]


def contraction(model: CouplingMarkovChain) -> csr_array:
    """Return C: with what probability a difference in sequence k (column) becomes one in j (row) a step later."""
    from scipy.sparse import coo_array

    apart = np.abs(model.moves[:, :, :, None] - model.moves[:, :, None, :]).sum(axis=1).max(axis=(1, 2)) / 2
    size = (model.sequences, model.sequences)
    return coo_array((apart, (model.heads, model.tails)), shape=size).tocsr()


def forward_distances(model: CouplingMarkovChain, ages: NDArray[np.int64]) -> Floats:
    """Return min(1, Σ_j [C^{A_j}]_{ji}) for each sequence i: a bound on the future, not always one on the past."""
    spread = contraction(model)
    total = np.zeros(model.sequences)
    for age in np.unique(ages):
        row = (ages == age).astype(np.float64)
        for _ in range(int(age)):
            row = np.minimum(row @ spread, 1.0 * model.sequences)
        total += row
    return np.minimum(1.0, total)


def forward_dobrushin(joint: JointChain, ages: NDArray[np.int64], *, heard: Floats) -> Floats:
    """Return the bound for each sequence of a group whose reversibility is checked state by state."""
    if not joint.is_reversible:
        raise InvalidArgument("model", joint.model, "a reversible chain: this one looks different backwards in time")
    return from_distance(forward_distances(joint.model, ages), heard)
