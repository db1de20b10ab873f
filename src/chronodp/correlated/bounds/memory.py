"""A bound for the adversary who knows nothing else, from what any past can tell about one sequence.

Pr[x_t^(i) = a | snapshot A steps ago] = Σ_k [Q^A]_{(i,a),(k,z_k)} is linear in the indicators of z. Its ratio for two
states a, b over all z has a log range h_A, found exactly as a separable fractional programme; whatever reads only
snapshots at least A old leaks at most h_A, and less through noise (`blunted`). For A = 1 it is the one-step bound.

*Memory* under "Bounds" in ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

import itertools

import numpy as np

from chronodp.correlated.bounds.one_step import blunted, log_range
from chronodp.correlated.bounds.ratios import least_separable_ratio
from chronodp.correlated.chain import CouplingMarkovChain, Floats
from chronodp.correlated.joint import LEAST

__all__ = ["memory", "memory_ranges"]

_MOST_ENTRIES = 20_000_000


def memory_ranges(model: CouplingMarkovChain, age: int) -> Floats:
    """Return h_A of each sequence for A = ``age``, or the oldest age below it whose matrix is not too full.

    It is also the oldest whose entries floats can hold.

    >>> model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[1.0, 0.0], [0.0, 1.0]])
    >>> memory_ranges(model, 3).round(4).tolist()
    [0.2564, 0.2564]
    """
    power = step = model.block_matrix
    for _ in range(age - 1):
        if power.data[power.data > 0].min() * model.smallest < LEAST:
            break
        following = (power @ step).tocsr()
        if following.nnz > _MOST_ENTRIES:
            break
        power = following
    m, s = model.states, model.sequences
    dense = power.tobsr(blocksize=(m, m))
    dense.sort_indices()
    worst = np.zeros(s)
    starts = dense.indptr.astype(np.int64)
    for a, b in itertools.combinations(range(m), 2):
        up, down = dense.data[:, a], dense.data[:, b]
        least, least_back = least_separable_ratio(up, down, starts), least_separable_ratio(down, up, starts)
        worst = np.maximum(worst, log_range(least, least_back))
    return worst


def memory(model: CouplingMarkovChain, age: int, *, heard: Floats) -> Floats:
    """Return the bound for every sequence; ``age`` is the least of all released ages, at least 1."""
    return blunted(memory_ranges(model, age), heard)
