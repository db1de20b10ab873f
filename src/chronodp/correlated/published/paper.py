"""The paper's own formulas, for comparison. None of them is a bound, and nothing here may back a guarantee.

Theorem 1 rests on ln(1 + x (e^y - 1)) ≤ x y, which holds the other way round for x in [0, 1]; Theorem 2 on the same
step. A chain that rarely leaves one state leaks 0.6031 where both say 0.4900, and 0.8321 where the first says 0.0485.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.correlated.ageing import Ages, aged_law, check_ages
from chronodp.correlated.bounds.total_variation import aged_distances
from chronodp.correlated.chain import CouplingMarkovChain, Floats
from chronodp.correlated.joint import JointChain
from chronodp.correlated.published.sensitivity import correlation_degree, k_sensitivity
from chronodp.correlated.query import Query
from chronodp.correlated.simulate import simulate
from chronodp.privacy import check_epsilon, check_whole

__all__ = ["bounded_aged_correlation", "estimate_bounded_aged_correlation", "theorem_1", "theorem_2"]


def theorem_1(
    model: CouplingMarkovChain, *, query: Query, ages: Ages, epsilon: float, degree: int | None = None
) -> float:
    """Return d(k) Δ_k ε_C, eq. 15 of the paper; no bound.

    Δ_k is the largest total variation between the laws of the aged snapshot given two presents that differ in one
    sequence.

    Args:
        model: the chain.
        query: what is asked of the aged states.
        ages: how old what is read is, for all sequences or for each.
        epsilon: sensitivity of the query divided by the scale of the noise (ε_C).
        degree: the k of the formula; that of the model, by Definition 7, if not given. The paper's figures take 2
            whatever the coupling; all sequences of a model that hangs together give the largest d.

    Reference:
        Luo, Zhang, Xu, Chen, Huang, Correlated-sequence differential privacy.

    >>> from chronodp.correlated.query import Mean
    >>> model = CouplingMarkovChain([[0.99, 0.5], [0.01, 0.5]], [[1.0, 0.0], [0.0, 1.0]])
    >>> [round(theorem_1(model, query=Mean(), ages=1, epsilon=1.0, degree=degree), 4) for degree in (None, 2)]
    [0.49, 0.98]
    """
    check_epsilon(epsilon)
    each = check_ages(ages, model.sequences)
    k = correlation_degree(model) if degree is None else check_whole("degree", degree, most=model.sequences)
    worst = 0.0
    for group in range(model.components.max() + 1):
        members = np.flatnonzero(model.components == group)
        joint = JointChain(model.part(members))
        worst = max(worst, float(aged_distances(joint, each[members]).max()))
    return k_sensitivity(query, model.sequences, model.states, k) * worst * epsilon


def theorem_2(model: CouplingMarkovChain, *, ages: Ages, epsilon: float) -> float:
    """Return Δ̄ ε_C, eq. 19 of the paper; no bound."""
    check_epsilon(epsilon)
    each = check_ages(ages, model.sequences)
    worst = 0.0
    for group in range(model.components.max() + 1):
        members = np.flatnonzero(model.components == group)
        joint = JointChain(model.part(members))
        law = aged_law(joint, each[members]) * joint.stationary
        worst = max(worst, bounded_aged_correlation(np.nan_to_num(law), joint.shape))
    return worst * epsilon


def estimate_bounded_aged_correlation(model: CouplingMarkovChain, *, ages: Ages, samples: int, seed: int) -> float:
    """Return Δ̄ with every probability replaced by its share among simulated series, as the paper proposes.

    Neither an upper nor a lower estimate: rare snapshots make it large or infinite, unseen ones are left out.
    """
    check_whole("samples", samples)
    each = check_ages(ages, model.sequences)
    joint = JointChain(model)
    drawn = simulate(model, int(each.max()) + 1, seed=seed, runs=samples)
    aged = drawn[:, each.max() - each, np.arange(model.sequences)]
    places = model.states ** np.arange(model.sequences)[::-1]
    size = len(joint.snapshots)
    counts = np.bincount((aged @ places) * size + drawn[:, -1] @ places, minlength=size * size)
    return bounded_aged_correlation(counts.reshape(size, size) / samples, joint.shape)


def bounded_aged_correlation(law: Floats, shape: tuple[int, ...]) -> float:
    """Return Δ̄, eq. 16, of a joint law P(z, x) of aged snapshots (rows) and present ones (columns)."""
    return max(_one_sequence(law, shape, target) for target in range(len(shape)))


def _one_sequence(law: Floats, shape: tuple[int, ...], target: int) -> float:
    states = shape[target]
    # Axes: z of the others, z of the target, x of the others, x of the target.
    whole = np.moveaxis(law.reshape(*shape, *shape), (target, len(shape) + target), (len(shape) - 1, -1))
    joint: NDArray[np.float64] = whole.reshape(-1, states, law.shape[0] // states, states)
    with np.errstate(divide="ignore", invalid="ignore"):
        seen = joint.sum(axis=1)  # z others, x others, x target
        own_given = seen / seen.sum(axis=2, keepdims=True)  # Pr[x_i | x_-i, z_-i]
        mine = joint.sum(axis=0)  # z target, x others, x target
        others_given = mine / mine.sum(axis=1, keepdims=True)  # Pr[x_-i | x_i, z_i]
        present = joint.sum(axis=(0, 1))  # x others, x target
        base = (present / present.sum(axis=1, keepdims=True)) * (present / present.sum(axis=0))
        high = np.fmax.reduce(own_given) * np.fmax.reduce(others_given) / base
        low = np.fmin.reduce(own_given) * np.fmin.reduce(others_given) / base
        past = mine.sum(axis=1) / mine.sum(axis=(0, 1))  # Pr[z_i | x_i]
    found = 0.0
    for a in range(states):
        for b in range(states):
            if a != b:
                apart = high[:, a, None] * past[:, a] - low[:, b, None] * past[:, b]
                found = max(found, float(np.fmax.reduce(np.maximum(apart, 0).sum(axis=1), initial=0.0)))
    return found
